# SPDX-License-Identifier: Apache-2.0
# tier: full
# needs: documents
# long: 1000
"""Cuts the power below a real ext4.

usage: test_ext4.py [CUTS [SEED]]

A collection lives on an ext4 whose disk records every write and every flush (nbdkit, nbdfuse and a loop mount;
_recorder.py).  It is indexed, deleted from, replaced, merged, streamed to and adopted into (_workload.py), while noting
what was acknowledged at which moment.  Then, for random moments of the record, a disk is made as the power may leave
it: all that was written before the last flush, and of what came after it some, also sectors of a write.  It is mounted,
`nigh check` must find nothing, all that was acknowledged is there, and nothing deleted.  And the other way round: where
syncs do nothing, the same must be noticed.

Skipped where such mounts are not allowed, or the programs are not there.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import _recorder
from _workload import NIGH, Workload, Wrong, contents

MEGABYTES = 16
STEPS = 40
SECTOR = 512
PRELOAD = os.path.join(os.environ.get("NIGH_BUILD_DIR", ""), "tests", "kill_at_call.so")


class NotHere(Exception):
    """Something that this needs cannot be had; says what."""


def call(*arguments):
    done = subprocess.run(arguments, capture_output=True, check=False)
    if done.returncode != 0:
        raise NotHere(f"{' '.join(arguments[:4])}: {done.stderr.decode().strip() or done.returncode}")


def wait_for(path, process):
    for _ in range(600):
        if os.path.exists(path):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise NotHere(f"{process.args[0]} does not come up: {process.stderr.read().decode().strip()}")


class Disk:
    """An ext4 on a disk that records, mounted at `mounted` while it is open."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.image, self.log = f"{self.folder}/image", f"{self.folder}/record"
        self.mounted = f"{self.folder}/mounted"
        self.undo = []  # what closes it, the last first

    def __enter__(self):
        try:
            self.open()
        except NotHere:
            self.__exit__()
            raise
        return self

    def open(self):
        with open(self.image, "wb") as image:
            image.truncate(MEGABYTES << 20)
        call("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-J", "size=4", self.image)
        os.makedirs(f"{self.folder}/fuse")
        os.makedirs(self.mounted)
        socket = f"{self.folder}/socket"
        server = self.process("nbdkit", "-f", "-U", socket, "python", os.path.abspath(_recorder.__file__),
                              f"image={self.image}", f"log={self.log}")
        wait_for(socket, server)
        device = f"{self.folder}/fuse/disk"
        wait_for(device, self.process("nbdfuse", device, f"nbd+unix:///?socket={socket}"))
        self.undo.append(lambda: subprocess.run(["umount", f"{self.folder}/fuse"], check=False, capture_output=True))
        call("mount", "-o", "loop", device, self.mounted)
        self.undo.append(lambda: call("umount", self.mounted))

    def process(self, *arguments):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.undo.append(lambda: self.end(process))
        return process

    def end(self, process):
        process.terminate()
        process.wait()

    def __exit__(self, *_):
        while self.undo:
            self.undo.pop()()

    def moment(self):
        """How far the record is."""
        return os.stat(self.log).st_size


class Told:
    """A step that was done: from when to when, and what was answered by which moment."""

    def __init__(self, step, begin):
        self.step, self.begin, self.end = step, begin, None
        self.lines = []  # (moment, line)

    def output(self, moment):
        return b"".join(line for at, line in self.lines if at <= moment)


def do_step(disk, step, environment):
    told = Told(step, disk.moment())
    with open(step.stdin or os.devnull, "rb") as lines:
        process = subprocess.Popen([NIGH, *step.arguments], stdin=lines, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, **environment})
    for line in process.stdout:
        told.lines.append((disk.moment(), line))
    errors = process.stderr.read().decode()
    if process.wait() != 0:
        raise Wrong(f"{step.name}: exit {process.returncode}: {errors}")
    told.end = disk.moment()
    return told


def record(folder, seed, environment):
    """What was done and told, and the record of the disk."""
    os.makedirs(folder)
    with Disk(folder) as disk:
        work = Workload(folder, seed, f"{disk.mounted}/c.nigh")
        done = [do_step(disk, work.begin, environment)]
        for _ in range(STEPS):
            work.documents = done[-1].step.after
            done.append(do_step(disk, work.step(), environment))
    return disk, done, _recorder.read_log(disk.log)


# ------------------------------------------------------------- what the power leaves --


def leave_write(image, offset, data, rng):
    """A write that was not safe: whole, or sector by sector."""
    if rng.random() < 0.8:
        image[offset : offset + len(data)] = data
        return
    for at in range(0, len(data), SECTOR):
        if rng.random() < 0.5:
            image[offset + at : offset + min(at + SECTOR, len(data))] = data[at : at + SECTOR]


def leave(safe, unsafe, rng):
    """The disk that is found: what was safe, and some of the writes since the last flush."""
    image = bytearray(safe)
    odds = rng.choice([0.0, 1.0, 0.1, 0.5, 0.5, 0.9])
    for offset, data in unsafe:
        if rng.random() < odds:
            leave_write(image, offset, data, rng)
    return image


def moments(records, first, count, rng):
    """Records before which the power fails, in order; some just before a flush and some just behind one."""
    begin = next(number for number, record in enumerate(records) if record[0] > first)
    flushes = [number for number in range(begin, len(records)) if records[number][2] is None]
    chosen = [rng.randrange(begin, len(records) + 1) for _ in range(count - count // 4)]
    chosen += [rng.choice(flushes) + rng.randrange(2) for _ in range(count // 4)]
    return sorted(chosen)


def expect(told, moment, place):
    """The last step that had begun decides."""
    step = [entry for entry in told if entry.begin <= moment][-1]
    finished = step.end <= moment
    step.step.expect(contents(place), finished, step.output(moment))
    return step.step.name


def look(folder, number, image, told, moment):
    # A name of its own: the loop device of the last one goes some time after it is unmounted, and until then a mount of
    # the same file takes that device, with what it remembers of the file.
    path, mounted = f"{folder}/found-{number}", f"{folder}/looked"
    with open(path, "wb") as out:
        out.write(image)
    os.makedirs(mounted, exist_ok=True)
    call("mount", "-o", "loop", path, mounted)
    try:
        return expect(told, moment, f"{mounted}/c.nigh")
    finally:
        call("umount", mounted)
        os.remove(path)


def cut(disk, told, records, count, rng):
    """Cuts the power `count` times; returns how often within which step."""
    with open(f"{disk.folder}/image", "rb") as image:
        safe = bytearray(image.read())
    unsafe, at, seen = [], 0, {}
    for place, number in enumerate(moments(records, told[0].end, count, rng)):
        while at < number:
            _, offset, data = records[at]
            at += 1
            if data is not None:
                unsafe.append((offset, data))
                continue
            for start, written in unsafe:
                safe[start : start + len(written)] = written
            unsafe = []
        moment = records[number - 1][0]
        try:
            name = look(disk.folder, place, leave(safe, unsafe, rng), told, moment)
        except Wrong as wrong:
            raise Wrong(f"before record {number} of {len(records)}: {wrong}") from wrong
        seen[name] = seen.get(name, 0) + 1
    return seen


def notices_no_syncs(folder, seed):
    """Where syncs do nothing, something acknowledged must be missing soon."""
    if not os.path.exists(PRELOAD) or os.environ.get("NIGH_SANITIZE"):
        return "not tried without syncs"
    disk, told, records = record(folder, seed, {"LD_PRELOAD": PRELOAD, "NIGH_NO_SYNC": "1"})
    try:
        cut(disk, told, records, 20, random.Random(seed))
    except Wrong:
        return "noticed that syncs were left out"
    raise Wrong("nobody noticed that syncs did nothing")


CONTAINED = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def contain():
    """Begins anew where processes and mounts go with this one, however it ends; stays where that is not allowed."""
    if "NIGH_CONTAINED" in os.environ or shutil.which("unshare") is None:
        return
    if subprocess.run([*CONTAINED, "true"], check=False, capture_output=True).returncode == 0:
        os.environ["NIGH_CONTAINED"] = "1"
        os.execvp(CONTAINED[0], [*CONTAINED, sys.executable, *sys.argv])


def main():
    contain()
    cuts = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    missing = [name for name in ("nbdkit", "nbdfuse", "mkfs.ext4", "mount") if shutil.which(name) is None]
    if missing:
        print(f"skipped: there is no {', '.join(missing)} here")
        return 77
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ext4-") as folder:
        try:
            disk, told, records = record(f"{folder}/a", seed, {})
        except NotHere as reason:
            print(f"skipped: no file system below which the power can be cut: {reason}")
            return 77
        try:
            recorded = time.monotonic() - begin
            seen = cut(disk, told, records, cuts, random.Random(seed))
            noticed = notices_no_syncs(f"{folder}/b", seed)
        except Wrong as wrong:
            print(f"FAILED: seed {seed}: {wrong}")
            return 1
    print(f"seed {seed}: {len(records)} writes and flushes recorded in {recorded:.0f} s, {cuts} power cuts in "
          f"{time.monotonic() - begin - recorded:.0f} s: {dict(sorted(seen.items()))}; {noticed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
