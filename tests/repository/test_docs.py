#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
No page may say what is not so: links lead somewhere, commands are understood by the tool, and those of README.md and
docs/getting-started.md are run and print what stands there.

In every page, each `nigh ...` in a block of code, and each that stands between backquotes, goes through the tool's own
option tables.  In the two pages that are run, a block is run where it begins with a prompt, in a copy of examples/data,
in the order of the page; a block in which nothing has a prompt is for machines that are larger, or not here, and is
only parsed.  Times, rates, kernels, numbers of threads and sizes of work files may be others than on the page.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from _docs_pages import NIGH, SOURCE, blocks_of, command_lines, link_problems, name_of, nigh_commands, pages, parse_problem

RUN = ("README.md", "docs/getting-started.md")
EVALUATION_WORDS = 3000  # of docs/evaluation.md: results; how they came to be is in docs/lab


# ---------------------------------------------------------------------- parsed


def spans_of(text):
    """(line, command) of what stands between backquotes in the text of a page and begins with the tool's name."""
    for number, line in enumerate(text.splitlines(), 1):
        for span in re.findall(r"(?<!`)`(nigh [^`]+)`(?!`)", line):
            yield number, span


# Words that stand for the rest of a command line, or for one of several.
def is_sketch(words):
    return any(word == "..." or "|" in word or word.endswith("...") for word in words)


def command_problems(page, text):
    for number, line in [*command_lines(text), *spans_of(text)]:
        for words in nigh_commands(line):
            problem = None if is_sketch(words) else parse_problem(words)
            if problem:
                yield f"{name_of(page)}:{number}: {problem}"


# ------------------------------------------------------------------------- run

CHANGING = [
    (r"\d+(\.\d+)? (s|ms|us)\b", "T"),
    (r"[\d,]+/s\b", "R"),
    (r"\d+ MB/s\b", "R"),
    (r"\d+ KB of work files", "W"),
    (r"kernel \w+", "kernel K"),
    (r"\d+ threads?", "N threads"),
    (r"nigh-[\w.-]+\.(whl|deb)", "PACKAGE"),
]


def settled(text):
    for pattern, instead in CHANGING:
        text = re.sub(pattern, instead, text)
    return [line.rstrip() for line in text.strip().splitlines()]


def steps_of(block):
    """(command, what it prints) of a block with prompts."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        part = re.sub(r"\\\n", "\0", part)
        command, _, output = part.partition("\n")
        yield command.replace("\0", "\\\n"), output


def line_fits(line, wanted):
    """The page may cut a long line, and ends it with dots then."""
    return line.startswith(wanted[:-3]) if wanted.endswith("...") else line == wanted


def step_problem(folder, command, output):
    environment = {**os.environ, "PATH": f"{Path(NIGH).parent}:{os.environ['PATH']}", "COLUMNS": "100"}
    run = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    said, wanted = settled(run.stdout), settled(output)
    if len(said) != len(wanted) or not all(map(line_fits, said, wanted)):
        return f"prints (exit code {run.returncode}):\n{run.stdout}"
    return None


def run_problems(name, text):
    """Runs the blocks of a page one after the other; they build on each other."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SOURCE / "examples/data", folder, dirs_exist_ok=True)
        count = 0
        for language, first, block in blocks_of(text):
            if language not in ("", "sh") or not block.startswith("$ "):
                continue
            for command, output in steps_of(block):
                count += 1
                problem = step_problem(folder, command, output)
                if problem:
                    yield f"{name}:{first}: '{command}' {problem}"
        if count < 4:
            yield f"{name}: {count} commands are run, no more"


# ----------------------------------------------------------------- it can fail

SPOILT = [
    ("docs/getting-started.md", "nigh dedup news.jsonl", "nigh dedupe news.jsonl", "unknown command 'dedupe'"),
    ("docs/getting-started.md", "--report", "--rapport", "unknown option '--rapport'"),
    ("docs/living.md", "nigh delete news.nigh --ids", "nigh delete news.nigh --idz", "unknown option '--idz'"),
    ("README.md", "(docs/getting-started.md)", "(docs/getting-startled.md)", "there is no docs/getting-startled.md"),
    ("docs/search.md", "tune.md#columns", "tune.md#colons", "has no heading #colons"),
]


def spoilt_problems(texts):
    for name, right, wrong, notice in SPOILT:
        page = SOURCE / name
        if right not in texts[page]:
            yield f"{name} has no '{right}' that could be spoilt"
            continue
        spoilt = texts[page].replace(right, wrong, 1)
        if not any(notice in problem for problem in [*link_problems(page, spoilt), *command_problems(page, spoilt)]):
            yield f"nobody noticed '{wrong}' in {name}"
    page = texts[SOURCE / RUN[1]]
    if "8 kept" not in page or not list(run_problems(RUN[1], page.replace("8 kept", "9 kept", 1))):
        yield "nobody noticed that a command prints something else"


def all_problems(texts):
    for page, text in texts.items():
        yield from link_problems(page, text)
        yield from command_problems(page, text)
    written = subprocess.run([SOURCE / "tools/write-commands", NIGH], capture_output=True, text=True, check=True).stdout
    if written != texts[SOURCE / "docs/commands.md"]:
        yield "docs/commands.md is not what the tool says: tools/write-commands build/nigh > docs/commands.md"
    words = len(texts[SOURCE / "docs/evaluation.md"].split())
    if words > EVALUATION_WORDS:
        yield f"docs/evaluation.md has {words} words; results alone belong there, the rest in docs/lab"
    for name in RUN:
        yield from run_problems(name, texts[SOURCE / name])


def main():
    texts = pages()
    problems = list(all_problems(texts)) or list(spoilt_problems(texts))
    for problem in problems:
        print(problem)
    if not problems:
        print(f"links and commands of {len(texts)} pages are right; {len(RUN)} of them are run")
    return 1 if problems else 0


sys.exit(main())
