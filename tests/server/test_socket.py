#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files for systemd in examples/, and a socket that systemd hands over.

Skipped, with a reason, where systemd's programs are not there; no unit is started, for that takes a system."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

from _serving import NIGH, SLOW, nigh, text_of, write_lines

EXAMPLES = os.path.join(os.environ["NIGH_SOURCE_DIR"], "examples")
WORST_EXPOSURE = 2.0  # as systemd-analyze counts it, of 10


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Socket(unittest.TestCase):
    def units(self):
        """The files, with the program where it is."""
        for name in ("nigh-serve.service", "nigh-serve.socket"):
            with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
                text = file.read()
            with open(name, "w", encoding="utf-8") as file:
                file.write(text.replace("/usr/local/bin/nigh", NIGH))
        return os.path.abspath("nigh-serve.service"), os.path.abspath("nigh-serve.socket")

    def test_units_are_sound(self):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *self.units()], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_units_are_hardened(self):
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", self.units()[0]], capture_output=True, text=True)
        told = [line for line in done.stdout.splitlines() if "Overall exposure level" in line]
        if not told:
            self.skipTest(f"systemd-analyze does not tell: {done.stderr.strip()[-200:]}")
        exposure = float(told[0].split(":")[1].split()[0])
        self.assertLessEqual(exposure, WORST_EXPOSURE, done.stdout)

    def test_a_socket_is_handed_over(self):
        """The first connection starts it; the connection is answered, and it ends as always."""
        write_lines("news.jsonl", [{"id": f"d{i}", "text": text_of(i)} for i in range(5)])
        nigh("index", "-q", "news.nigh", "news.jsonl")
        port = free_port()
        process = subprocess.Popen(["systemd-socket-activate", "-l", f"127.0.0.1:{port}", NIGH, "serve", "--listen", "systemd",
                                    "news.nigh"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        until = time.monotonic() + 30 * SLOW
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/collections", timeout=60) as answer:
                    self.assertIn(b'"news"', answer.read())
                break
            except OSError:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.05)
        self.assertIn(f"127.0.0.1:{port}", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 0)
        process.stdout.close()

    def test_no_socket_was_handed_over(self):
        write_lines("news.jsonl", [{"id": "a", "text": text_of(1)}])
        nigh("index", "-q", "alone.nigh", "news.jsonl")
        done = subprocess.run([NIGH, "serve", "--listen", "systemd", "alone.nigh"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no socket was handed over", done.stderr)


if __name__ == "__main__":
    for program in ("systemd-socket-activate", "systemd-analyze"):
        if shutil.which(program) is None:
            print(f"skipped: there is no {program} here (Debian: systemd)")
            sys.exit(77)
    unittest.main()
