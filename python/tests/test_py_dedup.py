# SPDX-License-Identifier: Apache-2.0
"""nigh.dedup of lists, generators and files, against the plain way and the tool."""

import json
import os
import pathlib
import subprocess

import pytest

import nigh


def test_list_equals_the_plain_way(texts, stays):
    kept, result = nigh.dedup(texts)
    assert kept == [texts[number] for number in stays]
    assert result.stats["kept"] == len(stays) and result.stats["documents"] == len(texts)
    assert [number for number, stay in enumerate(result.mask) if stay] == stays


@pytest.mark.parametrize("method", ["minhash", "exact"])
@pytest.mark.parametrize("threads", [1, 2])
def test_same_by_any_method_and_threads(texts, stays, method, threads):
    assert nigh.dedup(texts, method=method, threads=threads)[0] == [texts[number] for number in stays]


def test_kinds_of_sequences(texts, stays):
    expected = [texts[number] for number in stays]
    assert nigh.dedup(tuple(texts))[0] == tuple(expected)
    assert nigh.dedup(text for text in texts)[0] == expected
    records = [{"body": text, "n": number} for number, text in enumerate(texts)]
    assert [record["n"] for record in nigh.dedup(records, "body")[0]] == stays


def test_clusters_and_pairs(texts, stays):
    _, result = nigh.dedup(texts)
    members = [number for cluster in result.clusters for number in cluster.members]
    assert len(members) == len(set(members))
    gone = set(range(len(texts))) - set(stays)
    assert gone == {pair.second for pair in result.pairs} | {pair.first for pair in result.pairs} - set(stays)
    for cluster in result.clusters:
        assert cluster.keep in stays and cluster.keep in cluster.members


def test_all_pairs_are_those_of_the_plain_way():
    from conftest import jaccard, make_texts

    texts = make_texts(90, 5)
    _, result = nigh.dedup(texts, method="exact", all_pairs=True)
    expected = {(a, b) for b in range(len(texts)) for a in range(b) if jaccard(texts[a], texts[b]) >= 0.8}
    assert {(pair.first, pair.second) for pair in result.pairs} == expected
    for pair in result.pairs:
        assert pair.similarity == pytest.approx(jaccard(texts[pair.first], texts[pair.second]))


def test_keep_rules():
    short, long = "a b c d e f g h i j k l m n", "a b c d e f g h i j k l m n o"
    assert nigh.dedup([short, long])[0] == [short]
    assert nigh.dedup([short, long], keep="longest")[0] == [long]
    records = [{"text": short, "q": 1}, {"text": long, "q": 2.5}, {"text": short, "q": None}]
    assert nigh.dedup(records, keep="score", score="q")[0] == [records[1]]


def test_what_has_no_text_is_kept():
    given = [None, "", None, "one two three four", "one two three four", ""]
    assert nigh.dedup(given)[0] == [None, "", None, "one two three four", ""]
    assert nigh.dedup([])[0] == []


def test_files_equal_the_tool(tmp_path, texts, stays):
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "body": text}) + "\n" for n, text in enumerate(texts)))
    written, result = nigh.dedup(path, "body", output=out)
    assert written == [out]
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == [str(number) for number in stays]
    if "NIGH" in os.environ:
        tool = tmp_path / "tool.jsonl"
        subprocess.run([os.environ["NIGH"], "dedup", path, "--text-key", "body", "-o", tool, "--quiet"], check=True)
        assert tool.read_bytes() == out.read_bytes()


def test_several_paths_and_report(tmp_path, texts, stays):
    half = len(texts) // 2
    (tmp_path / "a.txt").write_text("\n".join(texts[:half]) + "\n")
    (tmp_path / "b.txt").write_text("\n".join(texts[half:]) + "\n")
    reading = {"format": "lines"}
    kept, result = nigh.dedup([tmp_path / "a.txt", tmp_path / "b.txt"], reading=reading, progress=False)
    assert kept is None and result.stats["kept"] == len(stays)
    result.report(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text().lower()


def test_report_and_write_of_data_of_the_program(tmp_path, texts, stays):
    _, result = nigh.dedup(texts)
    result.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1000
    assert result.write(tmp_path / "kept.jsonl")[0] == len(stays)
    lines = (tmp_path / "kept.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == [texts[number] for number in stays]


def test_against_a_collection(tmp_path, texts, stays):
    old, new = texts[:200], texts[200:]
    kept, _ = nigh.dedup(old)
    nigh.add(tmp_path / "old.nigh", kept, scheme="minhash", threshold=0.8)
    added, result = nigh.dedup(new, against=tmp_path / "old.nigh")
    assert added == [texts[number] for number in stays if number >= 200]
    assert result.there and all(0 <= there < len(kept) for there in result.there.values())


def test_prints(texts):
    _, result = nigh.dedup(texts)
    assert "documents kept" in repr(result) and "<table>" in result._repr_html_()


def test_paths_of_any_kind(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("one two three four\none two three four\n")
    for given in (path, str(path), os.fsencode(path), [pathlib.Path(path)]):
        assert nigh.dedup(given, reading={"format": "lines"})[1].stats["kept"] == 1


def test_signatures():
    np = pytest.importorskip("numpy")
    rows = np.random.default_rng(2).integers(0, 256, (50, 8), np.uint8)
    rows[7] = rows[3] ^ np.array([1, 0, 0, 0, 0, 0, 0, 128], np.uint8)
    kept, result = nigh.dedup(rows)
    assert (kept == np.delete(rows, 7, axis=0)).all() and result.clusters == [nigh.Cluster(3, [3, 7])]
    assert len(nigh.dedup(rows, distance=1)[0]) == 50
    for wrong in (rows.astype(np.float32), rows[0], rows[:, :0]):
        with pytest.raises(nigh.InvalidError):
            nigh.dedup(wrong)
    assert nigh.dedup(np.array(["one two three", "one two three"]).tolist())[0] == ["one two three"]
