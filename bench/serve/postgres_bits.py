#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Usage: postgres_bits.py ROWS.npy QUERIES.npy K SECONDS CONNECTIONS

The K nearest by PostgreSQL 15 as Debian has it, which orders by bit_count(a # b) and compares every row: for an index
over bits it needs pgvector, which is no package of Debian 12 and on PyPI only a client.  On a server of its own (see
bench/peer/peer_postgres.py).  Writes a line of JSON: queries a second, and milliseconds of one by the mean.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "peer")]
from peer_postgres import PROGRAMS, Server, Session  # noqa: E402
from serve_load import rows_of_npy  # noqa: E402


def copy_in(server, table, path):
    """Rows of bytes, numbered from 0, as PostgreSQL writes bits in hex."""
    rows = rows_of_npy(path)
    session = Session(server)
    session.ask(f"CREATE UNLOGGED TABLE {table} (id int PRIMARY KEY, bits bit({len(rows[0]) * 8}) NOT NULL);")
    session.close()
    command = [PROGRAMS / "psql", "-XqAt", "-h", server.folder, "-U", "nigh", "-c", f"COPY {table} FROM STDIN", "postgres"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as psql:
        psql.stdin.writelines(f"{number}\tx{row.hex()}\n" for number, row in enumerate(rows))
    if psql.returncode != 0:
        sys.exit(f"psql: {psql.returncode}")
    return len(rows)


def told(pattern, text):
    return float(re.search(pattern, text)[1])


def main(rows, queries, k, seconds, connections):
    with Server() as server:
        copy_in(server, "documents", Path(rows))
        asked = copy_in(server, "queries", Path(queries))
        script = server.folder / "ask.sql"
        script.write_text(f"\\set n random(0, {asked - 1})\nSELECT id FROM documents ORDER BY bit_count(bits # "
                          f"(SELECT bits FROM queries WHERE id = :n)) LIMIT {k};\n", encoding="ascii")
        command = [PROGRAMS / "pgbench", "-n", "-h", server.folder, "-U", "nigh", "-f", script, "-T", seconds, "-c",
                   connections, "-M", "prepared", "postgres"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        print(json.dumps({"rate": told(r"tps = ([\d.]+)", said), "mean_ms": told(r"latency average = ([\d.]+)", said)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
