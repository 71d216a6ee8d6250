# SPDX-License-Identifier: Apache-2.0
"""Models learned from labels, and evaluations as tables: the same as the tool's, from data of any kind."""

import csv
import io
import json
import os
import pickle
import random
import subprocess

import pytest

import nigh

np = pytest.importorskip("numpy")

TOPICS = {"cats": "cat purr sleep mouse fur tail", "stocks": "stock fell market noon price bank"}


def records(count=60):
    chance = random.Random(3)
    made = []
    for number in range(count):
        label = "cats" if number % 2 else "stocks"
        words = chance.choices(TOPICS[label].split(), k=8) + chance.choices(["the", "day", "then", "other"], k=4)
        made.append({"id": f"d{number}", "text": " ".join(words), "label": label, "split": "test" if number % 5 == 0 else "train"})
    return made


@pytest.fixture(scope="module")
def given():
    return records()


def as_rows(table):
    """A DataFrame or a list of dicts, as a list of dicts."""
    return table if isinstance(table, list) else table.to_dict("records")


@pytest.fixture
def tool(tmp_path, given):
    if "NIGH" not in os.environ:
        pytest.skip("no tool is named by NIGH")
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in given))

    def run(*arguments):
        command = [os.environ["NIGH"], *map(str, arguments), str(path), "--quiet"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    run.path = path
    return run


@pytest.mark.parametrize("method", ["codewords", "s3h", "s3h-f", "simhash", "chi"])
def test_train_gives_the_model_of_the_tool(tmp_path, tool, given, method):
    tool("train", "--method", method, "--bits", 24, "-o", tmp_path / "m")
    model = nigh.train(given, method=method, width_bits=24)
    assert bytes(model) == (tmp_path / "m").read_bytes() == bytes(nigh.train(tool.path, method=method, width_bits=24))
    assert bytes(nigh.Model.load(tmp_path / "m")) == bytes(model)


def test_any_kind_of_data_gives_the_same(given):
    texts, labels = [r["text"] for r in given], [r["label"] for r in given]
    expected = bytes(nigh.train(given))
    assert bytes(nigh.train(texts, labels)) == expected
    assert bytes(nigh.train(texts, [[label] for label in labels])) == expected
    assert bytes(nigh.train(texts, labels, threads=1)) == expected
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"body": texts, "kind": labels})
    assert bytes(nigh.train(table, column="body", label="kind")) == expected
    lists = pa.table({"text": texts, "label": [[label] for label in labels]})
    assert bytes(nigh.train(lists)) == expected


def test_parts(tmp_path, tool, given):
    tool("train", "--part-key", "split", "-o", tmp_path / "m")
    model = nigh.train(given, part="split")
    assert bytes(model) == (tmp_path / "m").read_bytes() and model.stats["labelled"] == 48


def test_model(tmp_path, given):
    model = nigh.train(given, width_bits=16)
    assert model.method == "codewords" and model.width_bits == 16 and len(model) > 5
    assert model.stats["classes"] == 2 and model.stats["problems"] == [] and model.info["language"] == "en"
    best = model.features(3)
    assert len(best) == 3 and abs(best[0].weight) >= abs(best[1].weight) and isinstance(best[0].text, str)
    assert model.coefficients(0).shape == (16,)
    with pytest.raises(IndexError):
        model.coefficients(len(model))
    signed = nigh.sign([record["text"] for record in given], model=model)
    assert signed.shape == (60, 2) and (signed == model.sign([record["text"] for record in given])).all()
    same = nigh.distance(signed[0::2], signed[0]).mean()
    assert same < nigh.distance(signed[1::2], signed[0]).mean()
    model.save(tmp_path / "m.model")
    assert os.listdir(tmp_path) == ["m.model"]
    assert bytes(pickle.loads(pickle.dumps(model))) == bytes(model) == (tmp_path / "m.model").read_bytes()
    with nigh.Collection.create(tmp_path / "c.nigh", given, id="id", model=model, progress=False) as stored:
        assert stored.scheme["kind"] == "learned" and (stored.signatures() == signed).all()
        assert stored.search("a cat with fur and tail", k=3).matches()[0].id in {f"d{i}" for i in range(1, 60, 2)}
        stored.add([{"text": "the cat and the mouse", "id": "new"}], id="id", progress=False)
        assert len(stored) == 61


def test_iterations_can_be_watched_and_ended(given):
    seen = []

    def watch(number, objective):
        seen.append((number, objective))
        return len(seen) == 2

    model = nigh.train(given, method="s3h", iteration=watch)
    assert len(seen) == 2 and model.stats["stopped"]

    def broken(number, objective):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nigh.train(given, method="s3h", iteration=broken)


def test_train_refuses(tmp_path, given):
    texts = [record["text"] for record in given]
    with pytest.raises(nigh.InvalidError):
        nigh.train(texts, ["one"] * len(texts))
    with pytest.raises(nigh.InvalidError):
        nigh.train(texts, [None] * len(texts))
    with pytest.raises(ValueError, match="not as many labels"):
        nigh.train(texts, ["a", "b"])
    with pytest.raises(nigh.InvalidError, match="no other columns"):
        nigh.train(texts)
    with pytest.raises(nigh.InvalidError, match="there are"):
        nigh.train(given, column="body")
    with pytest.raises(ValueError, match="codewords, s3h"):
        nigh.train(given, method="magic")
    with pytest.raises(TypeError, match="no option"):
        nigh.train(given, nonsense=1)
    with pytest.raises(nigh.InvalidError, match="name the key"):
        nigh.train(tmp_path, ["a"])
    for wrong in (b"", b"no model", bytes(nigh.train(given))[:-1]):
        with pytest.raises(nigh.NighError):
            nigh.Model(wrong)
    with pytest.raises(TypeError):
        nigh.sign(texts, model="m.model")  # type: ignore[arg-type]


# ------------------------------------------------------------------- eval --


def test_eval_signatures(tool, given):
    table = nigh.eval.signatures(given, "simhash", id="id", alike=0.7)
    rows = as_rows(table)
    said = list(map(json.loads, tool("eval", "signatures", "--scheme", "simhash", "--cosine", "0.7", "--output", "jsonl").splitlines()))
    assert table.attrs["pairs"] == 60 * 59 // 2 and sum(row["pairs"] for row in rows if row["length"] == "all") == 1770
    by_distance = {row["distance"]: row for row in rows if row["length"] == "all"}
    checked = 0
    for line in said:
        if line.get("length", "all") == "all" and line.get("distance") in by_distance and "pairs" in line:
            assert by_distance[line["distance"]]["pairs"] == line["pairs"]
            checked += 1
    assert checked > 5
    truth = np.unpackbits(nigh.simhash([r["text"] for r in given])[:, None] ^ nigh.simhash([r["text"] for r in given])[None], axis=2).sum(axis=2)
    for distance, row in by_distance.items():
        assert row["pairs"] == (truth[np.triu_indices(60, 1)] == distance).sum()


def test_eval_ranked(tmp_path, given):
    judgements = tmp_path / "qrels"
    judgements.write_text("".join(f"{r['label']} 0 {r['id']} 1\n" for r in given))
    table = nigh.eval.ranked(given, judgements)
    rows = {row["ranking"]: row for row in as_rows(table)}
    assert set(rows) == {"bits", "touched", "weighted", "unrounded", "vectors"} and table.attrs["topics"] == 2
    assert 0.5 < rows["bits"]["map"] <= 1 and 0.5 < rows["vectors"]["precision"] <= 1
    queries = [{"id": label, "text": TOPICS[label]} for label in TOPICS]
    asked = nigh.eval.ranked(given, judgements, queries)
    assert asked.attrs["rankings"] == 2 and as_rows(asked)[0]["map"] > 0.8
    with pytest.raises(nigh.NotFoundError):
        nigh.eval.ranked(given, tmp_path / "none")


def test_eval_duplicates(texts, tmp_path):
    table = nigh.eval.duplicates(texts[:120])
    rows = {row["method"]: row for row in as_rows(table)}
    assert rows["nigh dedup"]["precision"] == 1 and rows["nigh dedup"]["recall"] > 0.95
    assert table.attrs["documents"] + table.attrs["copies"] == 120 and table.attrs["pairs"] > 10
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts[:120]))
    pa = pytest.importorskip("pyarrow")
    for other in (path, pa.table({"text": texts[:120]})):
        assert nigh.eval.duplicates(other).attrs["pairs"] == table.attrs["pairs"]


def test_eval_nearest(tmp_path):
    rows = np.random.default_rng(1).integers(0, 256, (3000, 8), np.uint8)
    with nigh.Collection.create(tmp_path / "c.nigh", rows, progress=False) as collection:
        collection.build("graph", min_rows=1, progress=False)
        collection.delete(range(100))
        table = nigh.eval.nearest(collection, [{"method": "scan"}, {"method": "graph", "effort": 16}], ask=40)
        scan, graph = as_rows(table)
        assert scan["recall"] == scan["cdr"] == scan["proven"] == 1 and 0.2 < graph["recall"] <= 1
        assert graph["way"] == "method graph, effort 16" and graph["distances"] < scan["distances"]
        assert as_rows(nigh.eval.nearest(collection, queries=rows[:5], k=3))[0]["queries"] == 5
        with pytest.raises(nigh.InvalidError):
            nigh.eval.nearest(collection, queries=rows[:, :7])
        with pytest.raises(TypeError):
            nigh.eval.nearest(collection, [{"nonsense": 1}])


def test_eval_learned(tool, given):
    table = nigh.eval.learned(given, methods=["codewords", "simhash"], widths=[16], seeds=1, part="split")
    rows = {row["method"]: row for row in as_rows(table)}
    assert rows["codewords"]["map"] > rows["simhash"]["map"] > 0.4 and table.attrs["queries"] == 12
    said = tool("eval", "learned", "--methods", "codewords,simhash", "--bits", "16", "--seeds", 1, "--part-key", "split", "--output", "jsonl")
    for line in map(json.loads, said.splitlines()):
        if line.get("method") in rows:
            assert rows[line["method"]]["map"] == pytest.approx(line["map"], abs=1e-5)
    with pytest.raises(nigh.InvalidError, match="there are: codewords"):
        nigh.eval.learned(given, methods=["magic"])


def test_eval_psm_and_terms(texts):
    tables = nigh.eval.psm(texts, radius=3)
    attempts, recall = as_rows(tables.attempts), as_rows(tables.recall)
    assert {row["weights"] for row in attempts} == {"gaussian", "linear"} and tables.attempts.attrs["documents"] == 300
    assert all(0 <= row["any"] <= 1 for row in recall) and recall[0]["probes"] == 1
    table = nigh.eval.terms(texts[:100], ratios=[4, 8])
    rows = as_rows(table)
    assert {row["filter"] for row in rows} == {"bloom", "coca", "hybrid"} and len(rows) == 6
    errors = {(row["filter"], row["ratio"]): row["error"] for row in rows}
    assert errors["bloom", 8.0] < errors["bloom", 4.0]


def test_tables_are_frames_where_pandas_is(given, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    table = nigh.eval.signatures(given, "simhash")
    assert isinstance(table, list) and table.attrs["documents"] == 60
    out = io.StringIO()
    csv.DictWriter(out, table[0]).writerows(table)
    assert out.getvalue().startswith("all,")
    monkeypatch.undo()
    pandas = pytest.importorskip("pandas")
    frame = nigh.eval.signatures(given, "simhash")
    assert isinstance(frame, pandas.DataFrame) and frame.to_dict("records") == list(table) and frame.attrs == table.attrs
