#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
docs/papers.md names commands, options, files, functions, tests and sections of other
pages.  Whatever of these is not there is a failure, so that the page cannot rot.  At the
end the page is spoiled in every way that is looked for, and each must be noticed.

What a command is:

    `nigh eval nearest COLLECTION --breadth 0-3`    options as of 'nigh help eval nearest'
    `--breadth 0-3`                                 as of a command that stands before it in the row
    `./run bench slices --build`                    options as in bench/micro/bench_slices.c
"""

import re
import shlex
import subprocess
import sys

from _docs_pages import NIGH, SOURCE, link_problems

PAGE = SOURCE / "docs/papers.md"
VERDICTS = ("**as published**", "**holds**", "**in part**", "**no**", "**not tested**")
LETTERS = "TIPSC"  # of the papers' commands
helps = {}


def helped(words):
    """What 'nigh help WORDS' prints; '' where there is no such command."""
    if words not in helps:
        run = subprocess.run([NIGH, "help", *words], capture_output=True, text=True, check=False)
        helps[words] = run.stdout if run.returncode == 0 else ""
    return helps[words]


def option_help(words, option):
    """The lines of the help on an option, as one; None where the command has no such option."""
    found = re.search(rf"^ +(?:-\w, )?{re.escape(option)}(?![\w-])(.*(?:\n {{26}}.*)*)", helped(words), re.MULTILINE)
    return " ".join(found[1].split()) if found else None


def command_words(words):
    """The command that words begin with: one word, or two where it has commands of its own."""
    inner = len(words) > 1 and helped((words[0], words[1])) != "" and words[0] in ("eval", "terms")
    return tuple(words[: 2 if inner else 1])


def value_problem(command, option, value):
    """Words that are given to an option with a list of choices must be among them."""
    text = option_help(command, option) or ""
    choices = re.search(r": ((?:[\w:-]+, )+[\w:-]+)", text)
    if choices is None or not re.fullmatch(r"[a-z][a-z0-9,-]*", value):
        return None
    known = {choice.split(":")[0] for choice in choices[1].split(", ")}
    wrong = [word for word in value.split(",") if word not in known]
    return f"'nigh {' '.join(command)} {option}' does not take {wrong[0]}" if wrong else None


def option_problems(command, words):
    """Of the words behind a command, or of an option that stands alone."""
    for at, word in enumerate(words):
        if not word.startswith("-") or word == "-":
            continue
        if option_help(command, word) is None:
            yield f"'nigh {' '.join(command)}' has no option {word}"
        elif at + 1 < len(words):
            problem = value_problem(command, word, words[at + 1])
            if problem:
                yield problem


def nigh_problems(words):
    command = command_words(words)
    if not helped(command):
        return [f"there is no command 'nigh {' '.join(command)}'"]
    return list(option_problems(command, words[len(command) :]))


def bench_problems(words):
    source = SOURCE / f"bench/micro/bench_{words[0]}.c"
    if not source.is_file():
        return [f"there is no benchmark {words[0]}"]
    known = set(re.findall(r'\.name = "([\w-]+)"', source.read_text())) | {"quick"}
    return [f"bench {words[0]} has no option {w}" for w in words[1:] if w.startswith("--") and w[2:] not in known]


def path_problem(path):
    places = [SOURCE / path, SOURCE / "src" / path]
    return None if any(place.exists() for place in places) else f"there is no {path}"


def test_problem(name):
    folder, stem = name.split(".", 1)
    found = [f for f in (SOURCE / "tests" / folder).glob("*") if f.stem in (stem, f"test_{stem}")]
    return None if found else f"there is no test {name}"


def function_problem(name, headers):
    return None if re.search(rf"\b{name}\(", headers) else f"no header declares {name}()"


def span_problems(span, before, headers):
    """Of one `span` of code; `before` are the commands in front of it that an option alone may belong to."""
    words = shlex.split(span)
    if words[0] == "nigh":
        before.append(command_words(words[1:]))
        return nigh_problems(words[1:])
    if words[:2] == ["./run", "bench"]:
        return bench_problems(words[2:])
    if words[0].startswith("-"):
        problems = [list(option_problems(command, words)) for command in before]
        return [] if any(not problem for problem in problems) else [f"no command in front of `{span}` has it"]
    if re.fullmatch(r"nigh_\w+\(\)", span):
        problem = function_problem(span[:-2], headers)
    elif re.fullmatch(r"(unit|property|golden|oracle|cli|repository)\.\w+", span):
        problem = test_problem(span)
    elif re.fullmatch(r"[\w/]+(/|/[\w.]+\.[ch])", span):
        problem = path_problem(span)
    else:
        problem = None
    return [problem] if problem else []


def spans_of(text):
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)


# Where an option stands alone in a row, it may belong to any command that is usual for the paper.
USUAL = {
    "topk-signatures-2013": ["search", "index", "eval nearest"],
    "issl-2015": ["search", "index", "eval nearest"],
    "psm-2011": ["against", "sign"],
    "s3h-2011": ["train", "eval learned", "index"],
    "coca-2011": ["terms index", "eval terms"],
}


def row_problems(cells, labels):
    if len(cells) != 5:
        yield f"{len(cells)} cells, not 5"
        return
    if not cells[4].startswith(VERDICTS):
        yield "no verdict"
    if not cells[3] and not cells[4].startswith("**not tested**"):
        yield "nothing repeats it"
    for label in re.findall(rf"\b[{LETTERS}]\d+\b", cells[3]):
        if label not in labels:
            yield f"there is no command {label}"


def page_problems(text, headers):
    labels = set(re.findall(rf"^\| ([{LETTERS}]\d+) \|", text, re.MULTILINE))
    usual = []
    rows = 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            usual = [tuple(words.split()) for words in USUAL[line[3:]]]
        problems = []
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if usual and line.startswith("| ") and cells[0] not in labels | {"", "in the paper"}:
            rows += 1
            problems += row_problems(cells, labels)
        before = list(usual)
        for span in spans_of(line):
            problems += span_problems(span, before, headers)
        yield from (f"{number}: {problem}" for problem in problems)
    if rows < 150:
        yield f"{rows} rows only"


# ----------------------------------------------------------------- it can fail

SPOILT = [
    ("--rings 16", "--wrings 16", "has no option --wrings"),
    ("--method slices-plain --stop", "--method slices-plane --stop", "does not take slices-plane"),
    ("`nigh eval nearest --rings`", "`nigh evil nearest --rings`", "there is no command 'nigh evil'"),
    ("./run bench neardup --series", "./run bench neardup --serious", "bench neardup has no option --serious"),
    ("./run bench terms", "./run bench turns", "there is no benchmark turns"),
    ("`slices/slice_plain.c`", "`slices/slice_plane.c`", "there is no slices/slice_plane.c"),
    ("`unit.simhash`", "`unit.simhush`", "there is no test unit.simhush"),
    ("nigh_growing_finder_add()", "nigh_growing_finder_sub()", "no header declares nigh_growing_finder_sub()"),
    ("`--admit`", "`--omit`", "no command in front of `--omit` has it"),
    ("| T1 | **holds**", "| T1 | holds", "no verdict"),
    ("| T1 | **holds**", "| T99 | **holds**", "there is no command T99"),
    ("| T1 | **holds**", "| | **holds**", "nothing repeats it"),
    ("lab/radius-search.md#cost-model", "lab/radius-search.md#cost-muddle", "has no heading #cost-muddle"),
    ("(train.md#", "(trane.md#", "there is no trane.md"),
]


def spoilt_problems(text, headers):
    for right, wrong, notice in SPOILT:
        if right not in text:
            yield f"the page has no '{right}' that could be spoilt"
            continue
        spoilt = text.replace(right, wrong, 1)
        found = [*page_problems(spoilt, headers), *link_problems(PAGE, spoilt)]
        if not any(notice in problem for problem in found):
            yield f"nobody noticed '{wrong}': {found}"


def main():
    text = PAGE.read_text()
    headers = "".join(header.read_text() for header in (SOURCE / "include").rglob("*.h"))
    problems = [*page_problems(text, headers), *link_problems(PAGE, text)]
    problems = problems or list(spoilt_problems(text, headers))
    for problem in problems:
        print(problem)
    if not problems:
        print(f"what papers.md names is there; {len(SPOILT)} ways to spoil it are noticed")
    return 1 if problems else 0


sys.exit(main())
