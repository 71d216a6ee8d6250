#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/server.md print what it says, and the example clients work."""

import os
import re
import shutil
import subprocess
import unittest

from _serving import Server, nigh

SOURCE = os.environ["NIGH_SOURCE_DIR"]


def commands():
    """Yields (command, what it prints) of the blocks of the page that begin with a prompt."""
    with open(os.path.join(SOURCE, "docs", "server.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```\n(\$ .*?)```", file.read(), re.DOTALL)
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = next(output for command, output in commands() if command.startswith("cat"))
        with open("news.jsonl", "w", encoding="utf-8") as file:
            file.write(listed)
        nigh("index", "-q", "news.nigh", "news.jsonl")
        with open("nothing.jsonl", "w", encoding="utf-8"):
            pass
        nigh("against", "-q", "--add", "--stream", "seen.nigh", "nothing.jsonl")
        cls.server = Server("news.nigh", "seen.nigh")

    @classmethod
    def tearDownClass(cls):
        with cls.server:
            pass

    def test_page_of_documentation(self):
        if shutil.which("curl") is None:
            self.skipTest("there is no curl here")
        count = 0
        for command, output in commands():
            here = command.replace("127.0.0.1:7700", f"{self.server.host}:{self.server.port}")
            told = subprocess.run(["bash", "-c", here], capture_output=True, text=True, check=True).stdout
            self.assertEqual(told, output, command)
            count += 1
        self.assertGreater(count, 6)

    def client(self, *command):
        told = subprocess.run([*command, self.server.address, "news", "rain in the valley"], capture_output=True, text=True,
                              check=True).stdout.splitlines()
        self.assertIn("flood", told[0])
        self.assertIn("exact", told[-1])

    def test_client_in_python(self):
        self.client("python3", os.path.join(SOURCE, "examples", "ask_server.py"))

    def test_client_in_javascript(self):
        if shutil.which("node") is None:
            self.skipTest("there is no node here")
        self.client("node", os.path.join(SOURCE, "examples", "ask_server.mjs"))


if __name__ == "__main__":
    unittest.main()
