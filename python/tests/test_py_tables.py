# SPDX-License-Identifier: Apache-2.0
"""Tables of every kind give what the list of their texts gives, as the same kind."""

import pytest

import nigh

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def table(texts):
    return pa.table({"n": range(len(texts)), "text": texts})


def kinds():
    return [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("kind", kinds(), ids=str)
def test_types_of_strings(texts, stays, kind):
    values = pa.array(texts)
    values = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    table = pa.table({"n": range(len(texts)), "text": values})
    kept, _ = nigh.dedup(table)
    assert kept.column("n").to_pylist() == stays and kept.schema == table.schema


def test_chunks_offsets_and_nulls(texts, stays):
    values: list = list(texts)
    values.insert(7, None)
    table = pa.table({"n": range(len(values)), "body": values})
    cut = pa.concat_tables([table.slice(0, 50), table.slice(50, 0), table.slice(50, 101), table.slice(151)])
    kept, result = nigh.dedup(cut, "body")
    expected = [number + (number >= 7) for number in stays]
    assert kept.column("n").to_pylist() == sorted(expected + [7])
    assert result.clusters == nigh.dedup(table, "body")[1].clusters


def test_batch_reader_and_dataset(table, stays):
    import pyarrow.dataset

    batch = table.combine_chunks().to_batches()[0]
    assert nigh.dedup(batch)[0].column("n").to_pylist() == stays
    kept, _ = nigh.dedup(table.to_reader())
    assert isinstance(kept, pa.RecordBatchReader) and kept.read_all().column("n").to_pylist() == stays
    kept, _ = nigh.dedup(pyarrow.dataset.dataset(table))
    assert kept.to_table().column("n").to_pylist() == stays


def test_scores_and_ids(table):
    short, long = "a b c d e f g h i j k l m n", "a b c d e f g h i j k l m n o"
    small = pa.table({"text": [short, long, "x y z"], "q": [1, 2, None], "name": ["a", "b", "c"]})
    kept, result = nigh.dedup(small, keep="score", score="q", id="name")
    assert kept.column("name").to_pylist() == ["b", "c"]
    assert result._core.id(1) == "b"


def test_no_copy_of_a_large_table():
    """What is allocated by Arrow does not grow with the table."""
    table = pa.table({"text": [f"word{i} " * 50 for i in range(5000)]})
    before = pa.total_allocated_bytes()
    peak = []
    nigh.dedup(table, progress=lambda *_: peak.append(pa.total_allocated_bytes()))
    assert max([before, *peak]) - before < table.nbytes / 4


def test_pandas(texts, stays):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": range(len(texts)), "text": texts}, index=[f"r{i}" for i in range(len(texts))])
    kept, _ = nigh.dedup(frame)
    assert list(kept["n"]) == stays and list(kept.index) == [f"r{i}" for i in stays]
    series, _ = nigh.dedup(frame["text"])
    assert list(series) == [texts[number] for number in stays]
    assert len(nigh.dedup(frame.iloc[0:0])[0]) == 0
    with pytest.raises(nigh.InvalidError, match="no text"):
        nigh.dedup(frame, "n")


def test_polars(texts, stays):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"n": range(len(texts)), "text": texts})
    assert nigh.dedup(frame)[0]["n"].to_list() == stays
    assert nigh.dedup(frame["text"])[0].to_list() == [texts[number] for number in stays]
    assert nigh.dedup(frame.lazy())[0].collect()["n"].to_list() == stays
    with pytest.raises(nigh.InvalidError, match="no text"):
        nigh.dedup(frame, "n")


def test_hugging_face(texts, stays):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"n": list(range(len(texts))), "text": texts})
    assert nigh.dedup(data)[0]["n"][:] == stays
    turned = data.select(range(len(texts) - 1, -1, -1))
    assert nigh.dedup(turned)[0]["text"][:] == nigh.dedup(texts[::-1])[0]


def test_whatever_speaks_arrow(table, stays):
    class Speaks:
        def __arrow_c_stream__(self, requested_schema=None):
            return table.__arrow_c_stream__(requested_schema)

    assert nigh.dedup(Speaks())[0].column("n").to_pylist() == stays


def test_a_column_that_is_not_there(table):
    with pytest.raises(nigh.InvalidError, match="no column 'body'; there are: 'n', 'text'"):
        nigh.dedup(table, "body")
    with pytest.raises(nigh.InvalidError, match="int64, which is no text"):
        nigh.dedup(table, "n")


def test_a_table_that_changes(table):
    """The second pass gives other texts: refused, not half done."""
    from nigh._inputs import Columns, streamed

    passes = []

    def batches():
        passes.append(1)
        yield pa.RecordBatch.from_pydict({"text": [f"{len(passes)} {i} a b c d e" for i in range(200)]})

    source = streamed(pa.schema([("text", pa.string())]), batches, Columns())
    from nigh import _core

    with pytest.raises(nigh.DamagedError):
        core = _core.dedup_source(source, {}, None, None, None, None)
        core.write(b"/dev/null", False, None)


def test_a_table_that_fails_in_the_middle():
    from nigh import _core
    from nigh._inputs import Columns, streamed

    def batches():
        yield pa.RecordBatch.from_pydict({"text": ["one two three"]})
        raise LookupError("the disk is gone")

    source = streamed(pa.schema([("text", pa.string())]), batches, Columns())
    with pytest.raises(LookupError, match="^.the disk is gone.$|^the disk is gone$"):
        _core.dedup_source(source, {}, None, None, None, None)
