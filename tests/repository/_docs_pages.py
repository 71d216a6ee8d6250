# SPDX-License-Identifier: Apache-2.0
"""What the tests of pages share: which pages there are, their links, and the command lines in them."""

import functools
import os
import re
import shlex
import subprocess
from pathlib import Path

SOURCE = Path(os.environ["NIGH_SOURCE_DIR"])
NIGH = os.environ["NIGH"]
FAMILIES = ("eval", "terms", "vocabulary")  # commands that have commands of their own


def pages():
    """Every page that people read, with what it says."""
    found = [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")]
    return {page: page.read_text() for page in sorted(found)}


def name_of(page):
    return str(page.relative_to(SOURCE))


# ---------------------------------------------------------------------- links


def prose_of(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def slugs_of(text):
    """The anchors of a page's headings; of equal ones the second has -1 behind it."""
    seen = {}
    for heading in re.findall(r"^#+ (.*)$", prose_of(text), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        times = seen.get(slug, 0)
        seen[slug] = times + 1
        yield slug if times == 0 else f"{slug}-{times}"


def link_problems(page, text):
    """Links to pages, files and headings that are not there."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        if not place.exists():
            yield f"{name_of(page)}: there is no {path}"
        elif anchor and anchor not in slugs_of(text if place == page else place.read_text()):
            yield f"{name_of(page)}: {path or page.name} has no heading #{anchor}"


# ------------------------------------------------------------------- commands


def blocks_of(text):
    """(language, first line, block) of each block of code."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield match[1], text.count("\n", 0, match.start()) + 2, match[2]


def command_lines(text):
    """(line, command) of the shell in a page's blocks of code, without prompts; what a command prints is no command."""
    for language, first, block in blocks_of(text):
        if language not in ("", "sh"):
            continue
        prompts = bool(re.search(r"^\$ ", block, re.MULTILINE))
        joined = re.sub(r"\\\n\s*", lambda lines: " " * len(lines[0]), block)
        number = first
        for line in joined.split("\n"):
            if not prompts or line.startswith("$ "):
                yield number, line.removeprefix("$ ")
            number += 1


def split_shell(line):
    """The commands of a line, each as its words; `a | b > c # why` has two."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split = True
    command, skip = [], False
    for word in lexer:
        if set(word) <= set("|;&"):
            yield command
            command = []
        elif set(word) <= set("<>"):
            skip = True
        elif skip:
            skip = False
        else:
            command.append(word)
    yield command


def nigh_commands(line):
    """The words behind `nigh` of each call of it in a line."""
    try:
        commands = list(split_shell(line))
    except ValueError:
        return []
    return [command[1:] for command in commands if command[:1] == ["nigh"]]


@functools.cache
def helped_by(words):
    """What the tool says against words with --help among them; None where nothing."""
    run = subprocess.run([NIGH, *words], capture_output=True, text=True, check=False)
    return None if run.returncode == 0 else run.stderr.splitlines()[0]


def parse_problem(words):
    """What the tool's own tables say against a command: with --help it looks at every word, and does nothing.

    Words in capitals stand for something; a command that is only named may end in an option without its value."""
    at = 1 if len(words) < 2 or words[0] not in FAMILIES else 2
    problem = helped_by((*words[:at], "--help", *words[at:]))
    return None if problem is None or re.search(r"not '[A-Z]+'$|needs a value|command 'COMMAND'", problem) else problem
