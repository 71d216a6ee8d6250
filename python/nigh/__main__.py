# SPDX-License-Identifier: Apache-2.0
"""python -m nigh dedup: what the tool does, for Parquet files too."""

from __future__ import annotations

import argparse
import pathlib
import sys

import nigh


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m nigh", description="Removes near-copies from files, Parquet files too.")
    parser.add_argument("--version", action="version", version=f"nigh {nigh.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    dedup = commands.add_parser("dedup", help="write files, Parquet files too, without near-copies")
    dedup.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE", help="files or folders")
    dedup.add_argument("-o", "--output", type=pathlib.Path, help="for Parquet files a folder, otherwise a file")
    dedup.add_argument("--column", default="text", help="the column or key of the text (default: text)")
    dedup.add_argument("--threshold", type=float, default=0.8, help="texts are near-copies from this Jaccard index on (default: 0.8)")
    keeps = ["first", "longest", "shortest", "score"]
    dedup.add_argument("--keep", default="first", choices=keeps, help="which of near-copies stays (default: first)")
    dedup.add_argument("--score", help="the column of the score, for --keep score")
    dedup.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write a page that shows what was removed")
    dedup.add_argument("--threads", type=int, default=0, help="threads (default: one a core)")
    dedup.add_argument("--quiet", action="store_true", help="no progress and no summary")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs one command. Returns the exit code: 0 done, 2 error, 130 interrupted."""
    given = _parser().parse_args(arguments)
    try:
        _, result = nigh.dedup(
            given.files, given.column, given.threshold, given.keep, output=given.output, score=given.score,
            threads=given.threads, progress=False if given.quiet else None,
        )  # fmt: skip
        if given.report is not None:
            result.report(given.report)
    except KeyboardInterrupt:
        print("nigh: interrupted", file=sys.stderr)
        return 130
    except (nigh.NighError, OSError, ImportError, ValueError) as error:
        print(f"nigh: {error}", file=sys.stderr)
        return 2
    if not given.quiet:
        stats = result.stats
        removed = stats["documents"] - stats["kept"]
        near = removed - stats["copies"]
        print(
            f"{stats['documents']:,} documents: {stats['kept']:,} kept, {removed:,} removed "
            f"({stats['copies']:,} exact copies, {near:,} near-copies)",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
