# SPDX-License-Identifier: Apache-2.0
"""The notebook in examples/ is whole, kept with its outputs, and gives them again; and results show themselves in one."""

import json
import pathlib
import re

import pytest

import nigh

NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples/python_tour.ipynb"


def outputs(notebook):
    """What each cell shows as plain text."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            results = [output for output in cell["outputs"] if output["output_type"] == "execute_result"]
            shown.append(["".join(output["data"].get("text/plain", "")) for output in results])  # bars come and go
    return shown


def test_the_notebook_is_kept_with_its_outputs():
    notebook = json.loads(NOTEBOOK.read_text())
    assert notebook["nbformat"] == 4 and notebook["metadata"]["kernelspec"]["language"] == "python"
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] and not any(o["output_type"] == "error" for o in cell["outputs"]) for cell in code)
    html = ["".join(o["data"].get("text/html", "")) for cell in code for o in cell["outputs"] if "data" in o]
    assert any("<iframe srcdoc=" in shown and "clusters" in shown for shown in html), "the report is inside"
    assert any("<th>similarity</th>" in shown for shown in html)


def test_the_notebook_gives_its_outputs_again(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pyarrow")
    kept = nbformat.read(NOTEBOOK, 4)
    run = nbformat.read(NOTEBOOK, 4)
    nbformat.validate(kept)
    nbclient.NotebookClient(run, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert outputs(run) == outputs(kept)


def test_a_result_shows_its_report(tmp_path):
    texts = ["one two three four five", "one two three four five", "<b>six</b> seven"]
    _, result = nigh.dedup(texts)
    result.report(tmp_path / "report.html")
    page, said = (tmp_path / "report.html").read_text(encoding="utf-8"), result.report_html()
    assert len(said) == pytest.approx(len(page), abs=20) and said[:5000] == page[:5000]  # it tells memory and time, too
    shown = result._repr_html_()
    assert "<td>kept</td><td>2</td>" in shown and shown.count("<iframe") == 1
    inside = re.search(r'srcdoc="([^"]*)"', shown)
    assert inside and "&lt;html" in inside[1] and "<" not in inside[1]


def test_a_long_report_is_left_to_a_file(monkeypatch):
    from nigh import _dedup

    monkeypatch.setattr(_dedup, "_MOST_SHOWN", 10)
    assert "writes it to a file" in nigh.dedup(["a", "b"])[1]._repr_html_()
