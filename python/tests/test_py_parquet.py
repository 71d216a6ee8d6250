# SPDX-License-Identifier: Apache-2.0
"""Parquet files come out with schema, types, metadata, compression, order and row groups intact."""

import os
import subprocess
import sys

import pytest

import nigh

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def files(tmp_path, texts):
    """Two files in two folders, with odd types, metadata, and a compression for each column."""
    schema = pa.schema(
        [
            pa.field("n", pa.int32(), nullable=False, metadata={"unit": "rows"}),
            pa.field("text", pa.string()),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("when", pa.timestamp("us", tz="UTC")),
            pa.field("price", pa.decimal128(9, 2)),
        ],
        metadata={"origin": "here"},
    )
    rows = [{"n": n, "text": t, "tags": ["a"] * (n % 3), "when": n, "price": None} for n, t in enumerate(texts)]
    paths = []
    for name, part in (("a/one.parquet", rows[:140]), ("b/two.parquet", rows[140:])):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True)
        compression = {"n": "none", "text": "zstd", "tags.list.element": "gzip", "when": "snappy", "price": "snappy"}
        pq.write_table(pa.Table.from_pylist(part, schema), path, row_group_size=60, compression=compression)
        paths.append(path)
    return paths


def check_same_form(before, after):
    old, new = pq.ParquetFile(before), pq.ParquetFile(after)
    assert new.schema_arrow.equals(old.schema_arrow, check_metadata=True)
    assert new.schema.equals(old.schema)
    assert new.metadata.num_row_groups == old.metadata.num_row_groups
    for column in range(old.metadata.num_columns):
        first, second = old.metadata.row_group(0).column(column), new.metadata.row_group(0).column(column)
        assert (first.path_in_schema, first.compression) == (second.path_in_schema, second.compression)


def test_files(tmp_path, files, stays):
    written, result = nigh.dedup(files, output=tmp_path / "clean")
    assert written == [str(tmp_path / "clean/a/one.parquet"), str(tmp_path / "clean/b/two.parquet")]
    rows = [row for path in written for row in pq.read_table(path).to_pylist()]
    assert [row["n"] for row in rows] == stays
    originals = [row for path in files for row in pq.read_table(path).to_pylist()]
    assert rows == [originals[number] for number in stays]
    for before, after in zip(files, written):
        check_same_form(before, after)
    assert result.stats["kept"] == len(stays)


def test_folder_and_command(tmp_path, files, stays):
    out = tmp_path / "clean"
    command = [sys.executable, "-m", "nigh", "dedup", str(tmp_path / "in"), "-o", str(out), "--report", str(tmp_path / "r.html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and f"300 documents: {len(stays)} kept" in done.stderr
    assert sorted(os.listdir(out)) == ["a", "b"] and (tmp_path / "r.html").exists()
    assert sum(pq.read_table(p).num_rows for p in out.rglob("*.parquet")) == len(stays)


def test_errors(tmp_path, files, capsys):
    from nigh.__main__ import main

    def run(*arguments):
        code = main(["dedup", *map(str, arguments)])
        return code, capsys.readouterr().err

    code, said = run(files[0], "--column", "body")
    assert code == 2 and "there are: 'n', 'text'" in said
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    code, said = run(tmp_path / "x.parquet")
    assert code == 2 and "x.parquet" in said
    code, said = run(files[0], tmp_path / "nothing.parquet")
    assert code == 2 and "nothing.parquet" in said
    (tmp_path / "t.txt").write_text("a text")
    code, said = run(files[0], tmp_path / "t.txt")
    assert code == 2 and "is no Parquet file" in said
    code, said = run(files[0], "-o", tmp_path / "clean.parquet")
    assert code == 2 and "names a file" in said and not (tmp_path / "clean.parquet").exists()


def test_an_input_is_never_overwritten(tmp_path, files):
    before = files[0].read_bytes()
    with pytest.raises(nigh.InvalidError, match="is an input"):
        nigh.dedup(files[0], output=files[0].parent)
    assert files[0].read_bytes() == before


def test_a_failure_leaves_nothing(tmp_path, files, monkeypatch):
    import nigh._parquet as module

    def fail(opened, target, mask):
        open(target, "wb").write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(module, "_copy", fail)
    with pytest.raises(OSError, match="no space"):
        nigh.dedup(files, output=tmp_path / "clean")
    assert [path for path in (tmp_path / "clean").rglob("*") if path.is_file()] == []


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of 40 MB of text is read in pieces: Arrow never holds half of it."""
    path = tmp_path / "large.parquet"
    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for group in range(10):
            rows = [f"{group} {i} " + "word " * 800 for i in range(1000)]
            writer.write_table(pa.table({"text": rows}, schema))
    del rows
    before, peak = pa.total_allocated_bytes(), []
    nigh.dedup(path, progress=lambda *_: peak.append(pa.total_allocated_bytes()))
    assert max([before, *peak]) - before < 20_000_000
