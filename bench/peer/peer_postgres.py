#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
PostgreSQL 15 as a peer for term signature files, on a server of its own:

    peer_postgres.py bloom ROWS QUERIES COLUMNS LENGTH HASHES   contrib's bloom index
    peer_postgres.py gin ROWS QUERIES                           GIN over int[]: exact, PostgreSQL's own way

The server has a new data folder under $TMPDIR, listens on a socket in it and nowhere else,
and is stopped and removed at the end; clusters of the system are not looked at.  It does not
run as root: where we are, it runs as the user postgres or nobody.

ROWS is a file for COPY: "document TAB word TAB word ..." (COLUMNS of them, \\N for none), or for
gin "document TAB {word,word,...}".  A line of QUERIES is "column:word column:word ...", columns
from 1.  A document of bloom may have several rows: it is found when each word is in one of them.

Prints "load SECONDS", "index SECONDS BYTES", "table BYTES", and for each query
"query MILLISECONDS INDEX_MILLISECONDS CPU_MILLISECONDS ANSWERS CANDIDATES REMOVED": of EXPLAIN ANALYZE the
whole execution and the part that reads the index, what the server's process took of a processor (planning
included; negative: not known), documents, rows that the index gave, and those of them that were wrong.
"""
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = Path("/usr/lib/postgresql/15/bin")  # where Debian has it
SETTINGS = {
    "listen_addresses": "''",
    "shared_buffers": "2GB",
    "work_mem": "256MB",
    "maintenance_work_mem": "1GB",
    "max_wal_size": "16GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
}
DONE = "-- done --"


def end(why):
    sys.exit(f"peer_postgres: {why}")


def other_user():
    """Who the server runs as: it refuses to be root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    end("no user to run the server as")


class Server:
    """A data folder and a server on it, for as long as the block lasts."""

    def __init__(self):
        self.process = None
        self.user = other_user()
        self.folder = Path(tempfile.mkdtemp(prefix="nigh-postgres-"))

    def as_user(self):
        return {} if self.user is None else {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        if self.user is not None:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        data = self.folder / "data"
        initdb = [PROGRAMS / "initdb", "--pgdata", data, "--username", "nigh", "--auth", "trust", "--no-sync",
                  "--locale", "C", "--encoding", "UTF8"]
        made = subprocess.run(initdb, cwd=self.folder, capture_output=True, text=True, **self.as_user())
        if made.returncode != 0:
            end(f"initdb: {made.stderr.strip()}")
        options = [f"--{name}={value.strip(chr(39))}" for name, value in SETTINGS.items()]
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(
            [PROGRAMS / "postgres", "-D", data, "-k", self.folder, *options],
            cwd=self.folder, stdout=self.log, stderr=self.log, **self.as_user())
        self.wait()

    def wait(self):
        for _ in range(600):
            if subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder]).returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        end("the server does not start: " + (self.folder / "log").read_text()[-2000:])

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # a fast shutdown
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Session:
    """psql over a pipe: one statement, one answer."""

    def __init__(self, server):
        self.psql = subprocess.Popen(
            [PROGRAMS / "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", server.folder, "-U", "nigh", "postgres"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.backend = int(self.ask("SELECT pg_backend_pid();"))

    def ask(self, statement):
        self.psql.stdin.write(f"{statement}\n\\echo {DONE}\n")
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line.rstrip("\n") == DONE:
                return "".join(lines).strip()
            lines.append(line)
        end(f"this failed: {statement[:200]}")

    def processor_time(self):
        """Nanoseconds that the server's process for this session has run; None where that is not told."""
        try:
            return int(Path(f"/proc/{self.backend}/schedstat").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()


def timed(session, statement):
    start = time.monotonic()
    session.ask(statement)
    return time.monotonic() - start


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def run_query(session, statement):
    before = session.processor_time()
    answer = json.loads(session.ask(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement};"))[0]
    after = session.processor_time()
    index_time, candidates, removed = 0.0, 0, 0
    for node in nodes(answer["Plan"]):
        if node["Node Type"] == "Bitmap Index Scan":
            index_time += node["Actual Total Time"] * node["Actual Loops"]
            candidates += node["Actual Rows"]
        if node["Node Type"] == "Seq Scan":
            end("the index was not used")
        removed += node.get("Rows Removed by Index Recheck", 0)
    processor = -1.0 if before is None or after is None else (after - before) / 1e6
    print(f"query {answer['Execution Time']:.4f} {index_time:.4f} {processor:.4f} {answer['Plan']['Actual Rows']} "
          f"{candidates} {removed}")


def load(session, definition, rows):
    session.ask(f"CREATE UNLOGGED TABLE documents ({definition});")
    print(f"load {timed(session, copy_of(rows)):.3f}")


def copy_of(rows):
    return f"\\copy documents FROM '{rows}'"


def index(session, statement):
    seconds = timed(session, statement)
    session.ask("VACUUM (ANALYZE) documents;")
    session.ask("SET enable_seqscan = off;")
    print(f"index {seconds:.3f} {session.ask('SELECT pg_relation_size(' + repr('by_words') + ');')}")
    print(f"table {session.ask('SELECT pg_table_size(' + repr('documents') + ');')}")


def words_of(line):
    return [part.split(":") for part in line.split()]


def bloom_statement(words, several_rows):
    """Of documents with one row each the words are asked for together, and the index is read once."""
    conditions = [f"word{column} = {word}" for column, word in words]
    if not several_rows:
        return f"SELECT document FROM documents WHERE {' AND '.join(conditions)}"
    return " INTERSECT ".join(f"SELECT document FROM documents WHERE {condition}" for condition in conditions)


def run_bloom(session, rows, queries, columns, length, hashes):
    columns = int(columns)
    names = [f"word{i}" for i in range(1, columns + 1)]
    session.ask("CREATE EXTENSION bloom;")
    load(session, "document int, " + ", ".join(f"{name} int" for name in names), rows)
    bits = ", ".join(f"col{i} = {hashes}" for i in range(1, columns + 1))
    index(session, f"CREATE INDEX by_words ON documents USING bloom ({', '.join(names)}) WITH (length = {length}, {bits});")
    several = session.ask("SELECT count(*) > count(DISTINCT document) FROM documents;") == "t"
    return [bloom_statement(words_of(line), several) for line in open(queries)]


def run_gin(session, rows, queries):
    load(session, "document int, words int[]", rows)
    index(session, "CREATE INDEX by_words ON documents USING gin (words) WITH (fastupdate = off);")
    return [f"SELECT document FROM documents WHERE words @> ARRAY[{','.join(word for _, word in words_of(line))}]"
            for line in open(queries)]


def main(arguments):
    ways = {("bloom", 6): run_bloom, ("gin", 3): run_gin}
    way = ways.get((arguments[0] if arguments else "", len(arguments)))
    if way is None:
        sys.exit(__doc__.strip())
    if not (PROGRAMS / "postgres").exists():
        end(f"there is no PostgreSQL 15 in {PROGRAMS}; Debian calls it postgresql-15")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Server() as server:
        session = Session(server)
        statements = way(session, *arguments[1:])
        session.ask("SELECT count(*) FROM documents;")
        for statement in statements[:5]:  # for the caches
            session.ask(statement + ";")
        for statement in statements:
            run_query(session, statement)
            sys.stdout.flush()
        session.close()


if __name__ == "__main__":
    main(sys.argv[1:])
