# SPDX-License-Identifier: Apache-2.0
"""What docs/python.md, other pages and the docstrings show is run, and gives what they say; and types are checked."""

import contextlib
import doctest
import importlib
import io
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import nigh

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs/python.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
OTHERS = [block for page in ("README.md", "docs/getting-started.md")
          for block in re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)]
MODULES = [f"nigh.{module.name}" for module in pkgutil.iter_modules(nigh.__path__) if module.name not in ("_core", "__main__")]


def test_the_page_begins_with_two_examples():
    begin = PAGE.split("##")[0]
    assert "Parquet" in begin and "embeddings" in begin and begin.count("```python") == 2
    for block in BLOCKS[:2]:
        assert len([line for line in block.splitlines() if line.strip()]) <= 10


def test_other_pages_have_examples():
    assert len(OTHERS) == 2


@pytest.mark.parametrize("number", range(len(BLOCKS + OTHERS)))
def test_examples(number, tmp_path, monkeypatch):
    block = [*BLOCKS, *OTHERS][number]
    for name in re.findall(r"^import (numpy|pyarrow)", block, re.M):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(block, "an example", "exec"), {})
    expected = re.findall(r"print\(.*\) +# (.*)", block)
    assert expected and said.getvalue().splitlines() == expected


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    pytest.importorskip("numpy")
    if name == "nigh.sklearn":
        pytest.importorskip("sklearn")
    if name == "nigh.datatrove":
        pytest.importorskip("datatrove")
    if name == "nigh.spark":
        pytest.importorskip("pyspark")
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


def test_types(tmp_path):
    pytest.importorskip("mypy")
    check = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path)]
    done = subprocess.run([*check, str(ROOT / "python/nigh")], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "nigh._core"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_public_names_have_docstrings():
    for name in nigh.__all__:
        if name != "__version__":
            assert getattr(nigh, name).__doc__, name
