#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Every benchmark, and one table of what is worth comparing: the figure, that of a limit or a peer in the same run, and
how many times as good ours is.

  ./run bench all --quick                    at reduced size, some 15 minutes on two quiet cores, by its parts
  ./run bench all                            at full size: hours
  ./run bench all --quick --against FILE     beside an earlier run: what is worse by more than 15 % is marked
  ./run bench all --show FILE --against FILE beside each other, and nothing is run

What was measured is kept in bench/results/DATE-MACHINE/all-SIZE-COMMIT.jsonl (with --only: in build/bench/all), a line
of JSON each, and what each benchmark printed in build/bench/all.  What cannot run here, for a peer or PyPI is not to be
had, is skipped and said.  Exit 1 where a benchmark failed, or something is marked.

The machine may be busy, or another one.  So a figure that is worse is marked only where its ratio to the limit or the
peer is worse too; and of another machine's run ratios alone are compared.
"""

import argparse
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import figures

WORSE = 0.15  # a share of the figure before
LOST = 0.01  # of a quality
LONGEST_SCRATCH = 40  # letters of $TMPDIR, which sockets and benchmarks put more behind
SKIPPED = 77


class Benchmark(NamedTuple):
    name: str
    program: str  # of build/bench; or a verb of ./run bench
    quick: str  # its arguments
    full: str
    of_text: bool = False  # asks for what tools/demo-corpus makes


BENCHMARKS = [
    Benchmark("scan", "bench_scan", "--rows 500000 --runs 5 --no-kernels", "--no-kernels"),
    Benchmark("weighted", "bench_weighted", "--megabytes 16 --runs 3", ""),
    Benchmark("sign", "bench_sign", "--runs 5 --no-profile", "--no-profile", of_text=True),
    Benchmark("dedup", "bench_dedup", "--megabytes 100 --runs 2 --cpu", "--cpu", of_text=True),
    Benchmark("dedup-2-threads", "bench_dedup", "--megabytes 100 --runs 2 --threads 2", "--threads 2", of_text=True),
    Benchmark("scale", "bench_scale", "--documents 500000", ""),
    Benchmark("neardup", "bench_neardup", "--rows 3000000 --batch 500000 --runs 3", ""),
    Benchmark("neardup-grow", "bench_neardup", "--grow --rows 200000 --cpu", "--grow --cpu"),
    Benchmark("slices", "bench_slices", "--count 200000 --peer-count 0 --queries 100 --runs 2 --cpu",
              "--peer-count 0 --cpu"),
    Benchmark("slices-scaling", "bench_slices", "--scaling --most 1048576 --queries 100 --runs 2 --cpu",
              "--scaling --cpu"),
    Benchmark("slices-build", "bench_slices", "--build --count 200000 --runs 3", "--build"),
    Benchmark("topk", "bench_topk",
              "--count 100000 --queries 400 --runs 2 --methods scan,graph,hnsw,hnswlib32", ""),
    Benchmark("topk-documents", "bench_topk",
              "--set documents --queries 400 --runs 2 --methods scan,graph,hnsw,hnswlib32 TEXT",
              "--set documents TEXT", of_text=True),
    Benchmark("text", "bench_text", "--documents 200000 --queries 100 --runs 2 --graph", "--graph"),
    Benchmark("filter", "bench_filter", "--documents 300000 --queries 200 --cpu", "--cpu"),
    Benchmark("live", "bench_live", "--rows 1000000 --seconds 2 --texts 20000 --log 8", ""),
    Benchmark("terms", "bench_terms", "--blocks 60000 --peer-count 5000 --queries 200 --peer-queries 50 --cpu", "--cpu"),
    Benchmark("learn", "bench_learn",
              "--documents 60000 --classes 100 --attractions 80000 --repulsions 100000 --steps 1 --ask 200", ""),
    Benchmark("python", "bench_python", "", ""),
    Benchmark("serve", "serve", "--rows 50000 --hashes 500000 --seconds 3 --peer flat", ""),
    Benchmark("peers", "peers",
              "--tasks dedup,clustered --only nigh,rensa,usearch,hnswlib,faiss --megabytes 5 --rows 20000 --queries 200 "
              "--threads 1 --cpu", "--cpu"),
    Benchmark("spark", "spark", "--documents 50000 --peer-documents 5000", ""),
]
TEXT = "text/documents.jsonl"  # of build/bench


# -------------------------------------------------------------------------- runs --


def command_of(benchmark, build, size):
    bench = build / "bench"
    arguments = [str(bench / TEXT) if word == "TEXT" else word for word in shlex.split(getattr(benchmark, size))]
    if benchmark.program.startswith("bench_"):
        return [str(bench / benchmark.program), *arguments]
    return ["./run", "bench", benchmark.program, *arguments]


def last_line(path):
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].strip()[:200] if lines else "it said nothing"


def end(process):
    """All that it started too; what has files of its own gets the time to remove them."""
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(20)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def skipped(benchmark, why):
    return {"name": benchmark.name, "state": "skipped", "why": why}


def run(benchmark, options, scratch):
    """How it went, and what it noted; what was noted before it failed or was ended counts."""
    if benchmark.of_text and not (options.build / "bench" / TEXT).exists():
        return skipped(benchmark, "there is no text here, which tools/demo-corpus makes"), []
    noted, log = scratch / "figures", options.folder / f"{benchmark.name}.txt"
    noted.write_text("")
    environment = dict(os.environ, BENCH_FIGURES=str(noted))
    if len(str(scratch)) <= LONGEST_SCRATCH:
        environment["TMPDIR"] = str(scratch)
    command = command_of(benchmark, options.build, options.size)
    began, worked = time.monotonic(), processor_seconds()
    state, why = "done", None
    with open(log, "wb") as out:
        try:
            process = subprocess.Popen(command, cwd=figures.SOURCE, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            return skipped(benchmark, f"{benchmark.program}: {error.strerror}"), []
        try:
            code = process.wait(options.limit_seconds)
            if code != 0:
                state, why = "skipped" if code == SKIPPED else "failed", last_line(log)
        except subprocess.TimeoutExpired:
            end(process)
            state, why = "failed", f"took longer than {options.limit_seconds} s"
        except KeyboardInterrupt:
            end(process)
            raise
    told = {"name": benchmark.name, "state": state, "seconds": round(time.monotonic() - began, 1),
            "processor_seconds": round(processor_seconds() - worked, 1)}
    lines = [json.loads(line) for line in noted.read_text().splitlines()]
    return dict(told, why=why) if why else told, [{"name": benchmark.name, **line} for line in lines]


def run_all(options, keep):
    """Writes each line as it comes, for a run may be ended; whether it was not."""
    def write(line):
        keep.parent.mkdir(parents=True, exist_ok=True)
        with open(keep, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")

    write({"run": {**figures.machine(), "size": options.size}})
    for benchmark in BENCHMARKS:
        if options.only and benchmark.name not in options.only:
            continue
        print(f"{benchmark.name} ...", end=" ", file=sys.stderr, flush=True)
        scratch = Path(tempfile.mkdtemp(prefix="nigh-all-"))
        try:
            told, noted = run(benchmark, options, scratch)
        except KeyboardInterrupt:
            print("ended", file=sys.stderr)
            return False
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        print(f"{told['state']}, {told.get('seconds', 0):.0f} s", file=sys.stderr, flush=True)
        for line in [told, *noted]:
            write(line)
    return True


# -------------------------------------------------------------------------- files --


def host():
    """As folders of results are named: "epyc-zen4"."""
    told = figures.processor()
    name = told.get("model name", "unknown")
    brand = next((brand for brand in ("epyc", "ryzen", "xeon") if brand in name.lower()), None)
    family, wide = told.get("cpu family"), "avx512f" in told.get("flags", "")
    generation = {"23": "-zen2", "25": "-zen4" if wide else "-zen3", "26": "-zen5"}.get(family, "")
    return f"{brand}{generation}" if brand else re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30]


def place(options):
    """A file that is not there yet."""
    about = figures.machine()
    folder = figures.SOURCE / "bench" / "results" / f"{about['date'][:10]}-{host()}"
    stem = f"all-{options.size}-{about['commit'] or 'unknown'}"
    for number in range(1, 1000):
        path = (options.folder if options.only else folder) / f"{stem}{f'-{number}' if number > 1 else ''}.jsonl"
        if not path.exists():
            return path
    sys.exit(f"bench: '{folder}' is full of '{stem}'")


class Results(NamedTuple):
    about: dict
    benchmarks: list  # how each went
    figures: dict
    lacking: list


def key_of(figure):
    return figure["name"], figure["what"], figure.get("other")


def read(path):
    try:
        lines = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
        return Results(about=lines[0]["run"], benchmarks=[line for line in lines if "state" in line],
                       figures={key_of(line): line for line in lines if "what" in line},
                       lacking=[line for line in lines if "lacking" in line])
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        sys.exit(f"bench: '{path}': not what a run of all has kept: {error}")


# -------------------------------------------------------------------------- table --


def ratio(figure):
    """How many times as good as what is beside it."""
    if not figure.get("beside"):
        return None
    return figure["beside"] / figure["value"] if figure["less"] else figure["value"] / figure["beside"]


def changes(figure, before, same_machine):
    """How many times as good as before: of the figure, and of its ratio; None: not to be compared."""
    times = before["value"] / figure["value"] if figure["less"] else figure["value"] / before["value"]
    ours, theirs = ratio(figure), ratio(before)
    return times if same_machine else None, ours / theirs if ours and theirs else None


def mark(figure, before, same_machine):
    if before.get("quality", 0) - figure.get("quality", 0) > LOST:
        return "LESS QUALITY"
    known = [change for change in changes(figure, before, same_machine) if change is not None]
    return "WORSE" if known and max(known) < 1 - WORSE else ""


def number(value):
    """Four digits that count, and no more than it takes to tell thousands apart."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if value >= 0.001 else f"{value:.1e}"


def percent(change):
    return "" if change is None else f"{(change - 1) * 100:+.0f} %"


def row_of(figure):
    times = ratio(figure)
    return [figure["name"], figure["what"], number(figure["value"]), figure["unit"],
            number(figure["beside"]) if times else "", figure["other"] if times else "",
            f"{times:.2f}" if times else "", f"{figure['quality']:.3f}" if "quality" in figure else ""]


def table(results, earlier=None):
    """Its lines, and whether something is marked."""
    heads = ["benchmark", "what", "figure", "", "beside", "", "ratio", "quality"]
    rows, marked = [], False
    if earlier is None:
        rows = [row_of(figure) for figure in results.figures.values()]
        return list(figures.lines_of(heads, rows, {0, 1, 3, 5})), marked
    same_machine = results.about["processor"] == earlier.about["processor"]
    for key, figure in results.figures.items():
        before = earlier.figures.get(key)
        more = ["", "", "", "new"]
        if before:
            word = mark(figure, before, same_machine)
            marked = marked or bool(word)
            more = [number(before["value"]), *map(percent, changes(figure, before, same_machine)), word]
        rows.append(row_of(figure) + more)
    return list(figures.lines_of([*heads, "before", "change", "of ratio", ""], rows, {0, 1, 3, 5, 11})), marked


def about(run):
    return (f"{run['date']}, {run['commit'] or 'no commit'}, {run['processor']}, {run['cores']} cores, "
            f"load {run['load']} before, {run['size']} size")


def gone(results, earlier):
    """What was measured then alone, of benchmarks that ran now too; not what stood beside a peer that is not here now."""
    ran = {told["name"] for told in results.benchmarks if told["state"] != "skipped"}
    alone = {line["name"] for line in results.lacking}
    return [key for key in earlier.figures if key not in results.figures and key[0] in ran
            and not (key[0] in alone and key[2])]


def show(results, earlier):
    """Prints all; whether something is marked."""
    print(about(results.about))
    if earlier:
        print(f"beside {about(earlier.about)}")
        if results.about["processor"] != earlier.about["processor"]:
            print("another processor: ratios alone are compared")
    lines, marked = table(results, earlier)
    print("", *lines, sep="\n")
    print("\nratio: times as good as what is beside it; quality: recall, precision or F1"
          + ("; change: + is better" if earlier else ""))
    for told in results.benchmarks:
        if told["state"] != "done":
            print(f"{told['state']}: {told['name']}: {told['why']}")
    for line in results.lacking:
        print(f"{line['name']}: without {line['lacking']}: {line['why']}")
    missing = gone(results, earlier) if earlier else []
    for name, what, other in missing:
        print(f"NO LONGER MEASURED: {name}: {what}{f', beside {other}' if other else ''}")
    took = [sum(told.get(name, 0) for told in results.benchmarks) for name in ("seconds", "processor_seconds")]
    print(f"{len(results.figures)} figures of {len(results.benchmarks)} benchmarks in {took[0]:.0f} s, {took[1]:.0f} s "
          "of processor time")
    return marked or bool(missing)


# --------------------------------------------------------------------------- main --


def arguments():
    parser = argparse.ArgumentParser(prog="./run bench all", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="at reduced size")
    parser.add_argument("--only", metavar="A,B", type=lambda text: text.split(","),
                        help="of " + ", ".join(benchmark.name for benchmark in BENCHMARKS))
    parser.add_argument("--against", metavar="FILE", help="an earlier run of the same size")
    parser.add_argument("--show", metavar="FILE", help="run nothing: the table of what was kept")
    parser.add_argument("--keep", metavar="FILE", type=Path, help="where to keep what is measured")
    parser.add_argument("--limit-seconds", metavar="N", type=int,
                        help="for one benchmark (default 600 with --quick, or 14400)")
    parser.add_argument("--build", metavar="FOLDER", type=Path, default=Path("build"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.only or []) - {benchmark.name for benchmark in BENCHMARKS}
    if unknown:
        parser.error(f"there is no benchmark '{min(unknown)}'")
    options.size = "quick" if options.quick else "full"
    options.limit_seconds = options.limit_seconds or (600 if options.quick else 14400)
    options.build = options.build.resolve()
    options.folder = options.build / "bench" / "all"
    return options


def check_size(options, earlier, size):
    if earlier and earlier.about["size"] != size:
        sys.exit(f"bench: '{options.against}' was a run of {earlier.about['size']} size, and this is one of {size}")


def main():
    options = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):  # the first may be ignored, which benchmarks would inherit
        signal.signal(number, signal.default_int_handler)
    earlier = options.against and read(options.against)
    if not options.show:
        check_size(options, earlier, options.size)
    keep, ended = options.show, False
    if not keep:
        keep = options.keep or place(options)
        options.folder.mkdir(parents=True, exist_ok=True)
        ended = not run_all(options, keep)
    results = read(keep)
    check_size(options, earlier, results.about["size"])
    marked = show(results, earlier)
    if not options.show:
        print(f"kept in {os.path.relpath(keep)}")
    if ended:
        return 130
    return 1 if marked or any(told["state"] == "failed" for told in results.benchmarks) else 0


if __name__ == "__main__":
    sys.exit(main())
