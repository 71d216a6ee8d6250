# SPDX-License-Identifier: Apache-2.0
"""What is done to a collection, step after step, by a seed, and what must be there afterwards.

The model is a list of documents, (id, signature), in the order of the collection.  A step says how to run the tool,
and which lists may be found once it was cut short: that of before or that of after, and of a stream any that has what
was answered.  Whoever cuts it short asks `expect()` whether what is found is one of them.
"""
import json
import os
import random
import shutil
import subprocess

NIGH = os.environ["NIGH"]
MOST = 400  # documents: small collections, many kills


class Wrong(Exception):
    """Something acknowledged is lost, something deleted is there, or a collection is not sound."""


def nigh(*arguments):
    return subprocess.run([NIGH, *arguments], capture_output=True, check=False)


def must(*arguments):
    done = nigh(*arguments)
    if done.returncode != 0:
        raise Wrong(f"nigh {' '.join(arguments)}: exit {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


class Step:
    def __init__(self, name, arguments, before, after, stdin=None):
        self.name = name
        self.arguments = arguments
        self.before, self.after = before, after
        self.stdin = stdin  # of a stream, the file with its lines

    def answered(self, output):
        """Of a stream, how many documents were acknowledged, which came in their order."""
        count = 0
        for line in output.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            answer = json.loads(line)
            wanted = self.after[len(self.before) + count][0]
            if answer.get("id") != wanted or not answer.get("new"):
                raise Wrong(f"answered {line!r} where '{wanted}' is new")
            count += 1
        return count

    def expect(self, found, finished, output=b""):
        """Fails unless `found` may be there; `finished`: it was told that all was done."""
        answered = self.answered(output) if self.stdin is not None else 0
        if found == self.after or (not finished and answered == 0 and found == self.before):
            return
        if self.stdin is not None and not finished:
            if len(found) >= len(self.before) + answered and found == self.after[: len(found)]:
                return
        lost = [document for document in self.before if document in self.after and document not in found]
        returned = [document for document in found if document not in self.before and document not in self.after]
        raise Wrong(
            f"{self.name}: {len(self.before)} documents before, {len(self.after)} after, {len(found)} found"
            f"{', finished' if finished else ''}; lost {lost[:3]}, never given or deleted {returned[:3]}"
        )


class Workload:
    def __init__(self, folder, seed, place=None):
        self.folder = folder
        self.place = place or f"{folder}/c.nigh"  # the collection
        self.rng = random.Random(seed)
        self.serial = 0
        self.documents = []  # what is there
        first = self.fresh(30)
        self.begin = Step("index", ["index", self.place, self.file("first.hex", first), "-q"], [], first)

    def fresh(self, count):
        """New documents: ids never used before, signatures that nothing else has."""
        made = []
        for _ in range(count):
            self.serial += 1
            made.append((f"d{self.serial}", f"{self.rng.getrandbits(64):016x}"))
        return made

    def file(self, name, documents):
        path = f"{self.folder}/{name}"
        with open(path, "w", encoding="ascii") as out:
            out.writelines(f"{name}\t{signature}\n" for name, signature in documents)
        return path

    def some(self, share):
        return [document for document in self.documents if self.rng.random() < share]

    def step(self):
        makers = [self.index, self.delete, self.replace, self.merge, self.stream, self.adopt, self.graph]
        if len(self.documents) > MOST:
            return self.delete(0.8)
        return self.rng.choice(makers)()

    def index(self):
        new = self.fresh(self.rng.randrange(1, 40))
        arguments = ["index", self.place, self.file("new.hex", new), "-q"]
        return Step("index", arguments, self.documents, self.documents + new)

    def delete(self, share=0.1):
        gone = self.some(share) or self.documents[:1]
        if not gone:
            return self.index()
        path = f"{self.folder}/gone.ids"
        with open(path, "w", encoding="ascii") as out:
            out.writelines(f"{name}\n" for name, _ in gone)
        left = set(self.documents) - set(gone)
        after = [document for document in self.documents if document in left]
        return Step("delete", ["delete", self.place, "--ids", path, "-q"], self.documents, after)

    def replace(self):
        names = {name for name, _ in self.some(0.1)}
        new = [(name, f"{self.rng.getrandbits(64):016x}") for name in sorted(names)] + self.fresh(self.rng.randrange(1, 9))
        after = [document for document in self.documents if document[0] not in names] + new
        arguments = ["index", self.place, "--replace", self.file("new.hex", new), "-q"]
        return Step("replace", arguments, self.documents, after)

    def merge(self):
        return Step("merge", ["merge", self.place, "-q"], self.documents, self.documents)

    def graph(self):
        return Step("graph", ["index", self.place, "--graph", "-q"], self.documents, self.documents)

    def stream(self):
        new = self.fresh(self.rng.randrange(1, 60))
        path = self.file("lines.hex", new)
        arguments = ["against", "-q", "--add", "--stream", "--radius", "0", "--group", str(self.rng.choice([1, 4, 16])),
                     "--log-size", self.rng.choice(["4K", "4K", "64M"]),
                     "--sync", self.rng.choice(["group", "group", "each"]), self.place]
        return Step("stream", arguments, self.documents, self.documents + new, path)

    def adopt(self):
        """Another collection of two segments, of which one document is deleted."""
        other = f"{self.folder}/other.nigh"
        new = self.fresh(self.rng.randrange(3, 20))
        shutil.rmtree(other, ignore_errors=True)
        must("index", other, self.file("part.hex", new[:2]), "-q")
        must("index", other, self.file("part.hex", new[2:]), "-q", "--no-merge")
        must("delete", other, new[0][0], "-q")
        return Step("adopt", ["adopt", self.place, other, "-q"], self.documents, self.documents + new[1:])


def has_log(place):
    return any(name.startswith("log-") and not name.endswith(".tmp") for name in os.listdir(place))


def take_up(place):
    """The command that makes a segment of a log that was left."""
    return ["against", "-q", "--add", "--stream", "--radius", "0", place, "/dev/null"]


def contents(place):
    """What lives, in order, in a collection that checks sound."""
    done = nigh("check", place)
    if done.returncode != 0:
        raise Wrong(f"check: {done.stdout.decode()}{done.stderr.decode()}")
    if has_log(place):
        must(*take_up(place))
        must("check", place)
    lines = must("export", place, "--format", "hex", "-o", "-", "-q").splitlines()
    return [tuple(line.split("\t")) for line in lines]
