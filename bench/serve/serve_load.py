#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What nigh serve answers under load, beside the library alone and beside what people build themselves.

nearest   ROWS signatures of 1,024 bits with a graph, the 10 nearest: by the library on one core, by HTTP on 64
          connections kept alive, at half of half of the library's rate, at half of that of the connections, and 16
          queries a request; FAISS behind FastAPI, as PyPI has it, at the least effort that finds as much; PostgreSQL
          by bit_count()
hashes    HASHES hashes of 256 bits, all within 31 bits, exact: alone, and beside 1,000 adds a second

Where a rate is given, requests come at moments that chance chose before, and a latency counts from there (paced.c);
beside it stands the same for /healthz, which asks nothing: that is the machine's own part.  Else wrk asks as fast as it
is answered.

Server and clients share the machine.  What cannot be had is skipped and said.  --real FILE has hashes of images in
hex, one a line.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path[:0] = [str(SOURCE / "tests" / "server"), str(SOURCE / "bench")]
import figures  # noqa: E402
from _beside import Beside  # noqa: E402

CONNECTIONS = 64
WITHIN = 31
K = 10


def say(*words):
    print(*words, flush=True)


# -------------------------------------------------------------------------- tools --


class Nigh:
    """The tool of a build."""

    def __init__(self, path):
        self.path = path

    def run(self, *arguments):
        return subprocess.run([self.path, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def stats(self, *arguments):
        told = Path("stats.json")
        self.run(*arguments, "--stats", told)
        return json.loads(told.read_text())


class Served:
    """A server on a port of its own."""

    def __init__(self, command, address):
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = address or self.process.stdout.readline().strip().rstrip("/")
        self.host, port = self.address.removeprefix("http://").rsplit(":", 1)
        self.port = int(port)

    def wait_until_ready(self, path, seconds=120):
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.ask("GET", path)
                return True
            except OSError:
                time.sleep(0.2)
        return False

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)


def wrk(served, path, bodies, seconds, connections=CONNECTIONS):
    """A run of wrk; what load.lua says of it, and the rate."""
    done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", HERE / "load.lua",
                           served.address, "--", path, bodies, "0"], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    return dict(told, rate=told["requests"] / told["seconds"])


def paced(options, served, path, bodies, rate):
    """So many a second, whatever becomes of those before."""
    done = subprocess.run([options.paced, served.host, str(served.port), path, bodies, str(CONNECTIONS), str(rate),
                           str(options.seconds)], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    return dict(told, rate=told["requests"] / told["seconds"])


def show_paced(name, options, served, path, bodies, rate):
    told = paced(options, served, path, bodies, rate)
    show(name, told, more=f"{told['late_p99_ms']:.1f} of the p99 before it was sent")
    show(f"/healthz at {rate:,.0f}/s", paced(options, served, "/healthz", "-", rate))


def show(name, told, queries=1, more=""):
    say(f"{name:46} {told['rate'] * queries:9.0f} {told['p50_ms']:8.2f} {told['p99_ms']:8.2f} {told['max_ms']:8.1f} "
        f"{told['errors']:6}  {more}")


def note(what, told, queries=1, **more):
    """The rate, and what most requests wait."""
    figures.note("serve", what, told["rate"] * queries, "queries/s", **more)
    figures.note("serve", f"{what}, p99", told["p99_ms"], "ms", less=True)


def heading(what):
    say(f"\n{what:46} {'queries/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8} {'errors':>6}")


# ------------------------------------------------------------------------ nearest --


def rows_of_npy(path):
    raw = path.read_bytes()
    begin = 10 + int.from_bytes(raw[8:10], "little")
    shape = re.search(rb"'shape': \((\d+), (\d+)", raw[:begin])
    count, width = int(shape[1]), int(shape[2])
    return [raw[begin + i * width:begin + (i + 1) * width] for i in range(count)]


def write_bodies(path, queries, together=1, **more):
    with open(path, "w", encoding="ascii") as out:
        for at in range(0, len(queries) - together + 1, together):
            some = [{"signature": row} for row in queries[at:at + together]]
            body = dict(some[0] if together == 1 else {"queries": some}, **more)
            out.write(json.dumps(body) + "\n")
    return path


def ids_found(served, path, body):
    return [[match["id"] for match in result["matches"]] for result in json.loads(served.ask("POST", path, body))["results"]]


def recall(found, truth):
    """Of the nearest so many; where several are equally far any of them counts, by distance."""
    hits = sum(sum(distance <= true[-1] for distance in got[:len(true)]) for got, true in zip(found, truth))
    return hits / sum(len(true) for true in truth)


def distances_of(text):
    """Of the tool's table, query by query."""
    out = {}
    for line in text.splitlines():
        query, _, distance, _ = line.split("\t")[:4]
        out.setdefault(query, []).append(int(distance))
    return [out[key] for key in sorted(out, key=int)]


def make_once(nigh, name, make, *sizes):
    """Unless this very tool made it of these sizes before."""
    told, tool = Path(f"{name}.made"), os.stat(nigh.path)
    of = " ".join(map(str, (tool.st_size, tool.st_mtime_ns, *sizes)))
    if not told.exists() or told.read_text(encoding="utf-8") != of:
        told.unlink(missing_ok=True)
        make()
        told.write_text(of, encoding="utf-8")


def make_nearest(nigh, rows):
    nigh.run("generate", "-q", "-n", rows, "-o", "near.npy")
    nigh.run("generate", "-q", "-n", rows, "--queries", 2000, "-o", "near-queries.npy")
    shutil.rmtree("near.nigh", ignore_errors=True)
    nigh.run("index", "-q", "near.nigh", "near.npy", "--graph", "--lists", "none")


def nearest(nigh, options):
    make_once(nigh, "near", lambda: make_nearest(nigh, options.rows), options.rows)
    queries = [row.hex() for row in rows_of_npy(Path("near-queries.npy"))]
    bodies = write_bodies("near.bodies", queries, k=K)
    several = write_bodies("near-16.bodies", queries, 16, k=K)
    truth = distances_of(nigh.run("search", "-q", "--output", "tsv", "-k", K, "--exact", "near.nigh", "near-queries.npy"))
    found = distances_of(nigh.run("search", "-q", "--output", "tsv", "-k", K, "near.nigh", "near-queries.npy"))
    goal = recall(found, truth)
    heading(f"{options.rows:,} x 1,024 bits, graph, {K} nearest")
    path = "/v1/collections/near/search"
    with Served([nigh.path, "serve", "near.nigh", "--listen", "127.0.0.1:0", "--read-only", "--threads", 2], None) as served:
        for _ in range(options.repeat):
            wrk(served, path, bodies, 2)
            alone = nigh.stats("search", "-q", "-k", K, "--threads", 1, "--output", "tsv", "near.nigh", "near-queries.npy")
            library = alone["queries"] / alone["search_seconds"]
            say(f"{'the library alone, one core':46} {library:9.0f} {'':26} recall {goal:.3f}")
            whole = wrk(served, path, bodies, options.seconds)
            show(f"HTTP, {CONNECTIONS} connections", whole, more=f"{whole['rate'] / library:.2f} of the library's")
            show_paced("HTTP, at half of half of the library's rate", options, served, path, bodies, library / 4)
            show_paced(f"HTTP, at half of what {CONNECTIONS} connections got", options, served, path, bodies, whole["rate"] / 2)
            together = wrk(served, path, several, options.seconds)
            show("HTTP, 16 queries a request", together, 16)
        note("nearest", whole, beside=library, other="the library, 1 thread", quality=goal)
        note("nearest, 16 a request", together, 16, beside=library, other="the library, 1 thread", quality=goal)
    for peer in options.peer:
        if peer == "postgres":
            rate, other = postgres_server(options), "PostgreSQL, bit_count"
        else:
            rate, other = faiss_server(options, peer, queries, truth, goal), "FAISS behind FastAPI"
        if rate:
            figures.note("serve", "nearest", whole["rate"], "queries/s", beside=rate, other=other, quality=goal)


def postgres_server(options):
    """PostgreSQL, by comparing all; two cores, so two at once.  A query is a transaction of pgbench, without HTTP."""
    command = [sys.executable, HERE / "postgres_bits.py", "near.npy", "near-queries.npy", K, options.seconds, 2]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = " ".join((done.stdout + done.stderr).split())[-200:]
        say(f"PostgreSQL: skipped, {why}")
        figures.lacking("PostgreSQL", why)
        return None
    told = json.loads(done.stdout)
    say(f"{'PostgreSQL, bit_count, 2 connections':46} {told['rate']:9.1f} {told['mean_ms']:8.2f} by the mean; recall 1")
    return told["rate"]


def faiss_server(options, kind, queries, truth, goal):
    """FAISS behind FastAPI and uvicorn, one process, as people do it; the rate at the least effort with that recall."""
    folder = Path("venv-faiss")
    made = subprocess.run([SOURCE / "tools" / "python-venv", folder, HERE / "requirements-faiss.txt"], capture_output=True,
                          text=True, check=False)
    if made.returncode != 0:
        why = " ".join((made.stdout + made.stderr).split())[-200:]
        say(f"FAISS behind FastAPI: skipped, {why}")
        figures.lacking("FAISS behind FastAPI", why)
        return None
    command = [folder / "bin" / "python", HERE / "faiss_server.py", "near.npy", f"near-{options.rows}-faiss-{kind}.index",
               "--kind", kind]
    subprocess.run([*command, "--build"], check=True)
    with Served([*command, "--port", 7791], "http://127.0.0.1:7791") as served:
        if not served.wait_until_ready("/effort/16"):
            say("FAISS behind FastAPI: it did not start")
            return None
        for effort in (16, 32, 64, 128, 256, 512, 1024) if kind == "hnsw" else (0,):
            served.ask("GET", f"/effort/{effort}")
            got = [json.loads(served.ask("POST", "/search", json.dumps({"signature": row, "k": K})))["distances"]
                   for row in queries[:300]]
            share = recall(got, truth[:300])
            if share >= goal - 0.005:
                break
        bodies = write_bodies("faiss.bodies", queries, k=K)
        name = f"HNSW M 32, effort {effort}" if kind == "hnsw" else "flat"
        told = wrk(served, "/search", bodies, options.seconds)
        show(f"FAISS {name}, behind FastAPI", told, more=f"recall {share:.3f}")
        return told["rate"]


# ------------------------------------------------------------------------- hashes --


def make_hashes(nigh, options):
    subprocess.run([options.make_hashes, str(options.hashes), options.real or "-", "hashes.npy", "hash-queries.hex", "5000"],
                   check=True)
    subprocess.run([options.make_hashes, "200000", "-", "fresh.npy", "fresh.hex", "1"], check=True)
    shutil.rmtree("hashes.nigh", ignore_errors=True)
    nigh.run("index", "-q", "hashes.nigh", "hashes.npy", "--lists", "slices", "--slice-width", 24)


class Adder(Beside):
    """Adds so many hashes a second, in a request each second, and notes how long each took."""

    def __init__(self, served, rows, rate):
        super().__init__()
        self.served, self.rows, self.rate = served, rows, rate
        self.took, self.added = [], 0

    def go(self):
        begun = time.monotonic()
        while not self.ending.is_set() and self.added + self.rate <= len(self.rows):
            lines = "".join(json.dumps({"signature": row.hex()}) + "\n" for row in self.rows[self.added:self.added + self.rate])
            start = time.perf_counter()
            answer = self.served.ask("POST", "/v1/collections/hashes/documents", lines)
            self.took.append(time.perf_counter() - start)
            assert answer.count(b'"added":true') == self.rate, answer[:300]
            self.added += self.rate
            self.ending.wait(max(0, begun + self.added / self.rate - time.monotonic()))


def hashes(nigh, options):
    make_once(nigh, "hashes", lambda: make_hashes(nigh, options), options.hashes, options.real)
    work = Path("hashes-added") / "hashes.nigh"  # what is added goes into a copy
    shutil.rmtree(work.parent, ignore_errors=True)
    shutil.copytree("hashes.nigh", work)
    queries = Path("hash-queries.hex").read_text(encoding="ascii").split()
    asked = {"radius": WITHIN, "exact": True}
    bodies = write_bodies("hash.bodies", queries, **asked)
    several = write_bodies("hash-16.bodies", queries, 16, **asked)
    fresh = rows_of_npy(Path("fresh.npy"))
    path = "/v1/collections/hashes/search"
    heading(f"{options.hashes:,} x 256 bits, all within {WITHIN}, exact")
    with Served([nigh.path, "serve", work, "--listen", "127.0.0.1:0", "--threads", 2], None) as served:
        check_hashes(nigh, served, path, queries[:200], asked)
        for _ in range(options.repeat):
            wrk(served, path, bodies, 2)
            whole, together = (wrk(served, path, some, options.seconds) for some in (bodies, several))
            show(f"HTTP, {CONNECTIONS} connections", whole)
            show("HTTP, 16 queries a request", together, 16)
            show_paced("HTTP, at 1,000/s", options, served, path, bodies, 1000)
            with Adder(served, fresh, 1000) as adder:
                beside = wrk(served, path, bodies, options.seconds)
                gentle = paced(options, served, path, bodies, 1000)
            took = sorted(adder.took)
            fresh = fresh[adder.added:]
            rate = adder.added / (2 * options.seconds)
            show(f"beside {rate:.0f} adds/s", beside, more=f"1,000 added in {took[len(took) // 2] * 1e3:.0f} ms, at most {took[-1] * 1e3:.0f}")
            show(f"at 1,000/s beside {rate:.0f} adds/s", gentle)
        note("hashes", whole)
        note("hashes, 16 a request", together, 16)
        note("hashes beside adding", beside, beside=whole["rate"], other="in quiet")


def check_hashes(nigh, served, path, queries, asked):
    """What is answered is what comparing every hash finds."""
    Path("hash-check.hex").write_text("".join(row + "\n" for row in queries), encoding="ascii")
    told = {}
    for line in nigh.run("search", "-q", "--output", "tsv", "-r", WITHIN, "-k", 1000, "--method", "exact", "hashes.nigh", "hash-check.hex").splitlines():
        query, document = line.split("\t")[:2]
        told.setdefault(int(query), []).append(document)
    for number, row in enumerate(queries):
        found = ids_found(served, path, json.dumps(dict(asked, signature=row)))[0]
        if found != told.get(number, []):
            sys.exit(f"query {number}: {len(found)} found, {len(told.get(number, []))} by comparing all")
    say(f"answers of {len(queries)} queries are those of comparing every hash, "
        f"{sum(map(len, told.values())) / len(queries):.1f} matches each")


# --------------------------------------------------------------------------- main --


def peers_of(text):
    wanted = [] if text == "none" else text.split(",")
    if set(wanted) - {"hnsw", "flat", "postgres"}:
        raise argparse.ArgumentTypeError(f"there is no peer '{text}'")
    return wanted


def main():
    parser = argparse.ArgumentParser(prog="./run bench serve", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="where the tool was built")
    parser.add_argument("--make-hashes", default="build/bench/make_hashes")
    parser.add_argument("--paced", default="build/bench/paced")
    parser.add_argument("--work", default="build/bench/serve", help="where data is kept")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--hashes", type=int, default=10_000_000)
    parser.add_argument("--real", metavar="FILE", help="hashes of images, which come first and are asked for")
    parser.add_argument("--seconds", type=int, default=10, help="of each run (default 10)")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--peer", type=peers_of, metavar="A,B", default=["hnsw"],
                        help="hnsw: FAISS by a graph, whose index takes long to make; flat: FAISS by comparing all; "
                             "postgres: PostgreSQL by comparing all; none (default hnsw)")
    parser.add_argument("--only", choices=["nearest", "hashes"])
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        say("there is no wrk here, which asks")
        sys.exit(77)
    nigh = Nigh(os.path.realpath(os.path.join(options.build, "nigh")))
    options.make_hashes = os.path.realpath(options.make_hashes)
    options.paced = os.path.realpath(options.paced)
    options.real = options.real and os.path.realpath(options.real)
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    if options.only != "hashes":
        nearest(nigh, options)
    if options.only != "nearest":
        hashes(nigh, options)


if __name__ == "__main__":
    main()
