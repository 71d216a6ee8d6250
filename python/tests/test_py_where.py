# SPDX-License-Identifier: Apache-2.0
"""search(where=...) against a loop over the records, and what is kept of them."""

import json

import nigh
import pytest

RECORDS = [
    {"id": "a", "text": "rain and wind in the north tonight", "lang": "en", "year": 2024, "site": {"name": "x y"}},
    {"id": "b", "text": "the parliament votes on the budget", "lang": "en", "year": 2023.5},
    {"id": "c", "text": "a new museum opens in spring", "lang": "de", "year": "2024", "site": {"name": "z"}},
    {"id": "d", "text": "trains are late again this morning", "lang": ["en"], "year": None},
    {"id": "e", "text": "ships carry grain across the sea", "lang": True, "year": 2**70, "site": "none"},
]
CONDITIONS = {
    "lang = en": "ab",
    "lang != en": "ce",
    "not lang = en": "cde",
    "year >= 2024 and lang in (en, true)": "ae",
    "year = '2024' or site.name = 'x y'": "ac",
    "year < 2023.75": "b",
}


@pytest.fixture
def made(tmp_path):
    place = tmp_path / "news.nigh"
    keys = ["lang", "year", "site.name"]
    with nigh.Collection.create(place, RECORDS, id="id", scheme="simhash", keep_keys=keys, progress=False) as news:
        yield news


def found(news, where, **options):
    return "".join(sorted(match.id for match in news.search("rain", k=20, where=where, **options).matches()))


def test_records(made):
    for where, wanted in CONDITIONS.items():
        assert found(made, where) == wanted, where
    assert found(made, "lang = en", method="scan") == "ab" and found(made, None) == "abcde"
    rows = made.search(made.signatures(0, 1), k=20, where="lang = de")
    assert [match.id for match in rows.matches()] == ["c"]
    assert made.info["keep_keys"] == 3


def test_files_keep_the_same(tmp_path, made):
    lines = tmp_path / "news.jsonl"
    lines.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    place = tmp_path / "files.nigh"
    keys = ("lang", "year", "site.name")
    with nigh.Collection.create(place, lines, id="id", scheme="simhash", keep_keys=keys, progress=False) as news:
        for where, wanted in CONDITIONS.items():
            assert found(news, where) == wanted, where


def test_what_is_added_later(made):
    made.add([{"id": "f", "text": "snow in the hills", "lang": "en", "year": 1999}], id="id", progress=False)
    assert found(made, "lang = en and year < 2000") == "f"
    made.add(["a text without keys"], ids=["g"], progress=False)
    assert found(made, "lang = en") == "abf" and "g" in found(made, "not lang = en")
    made.merge(progress=False)
    assert found(made, "lang = en") == "abf"


def test_what_is_refused(made, tmp_path):
    with pytest.raises(nigh.InvalidError, match="no key 'tongue' is kept; these are: lang, year, site.name"):
        made.search("rain", where="tongue = en")
    with pytest.raises(nigh.InvalidError, match="column 8 of the condition"):
        made.search("rain", where="lang = ")
    with pytest.raises(nigh.NighError, match="it keeps the keys lang, year, site.name, and not lang"):
        made.add(RECORDS[:1], id="id", keep_keys=["lang"], progress=False)
    with pytest.raises(nigh.InvalidError, match="kept twice"):
        nigh.Collection.create(tmp_path / "x.nigh", RECORDS, keep_keys=["a", "a"], progress=False)


def test_tables(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["rain", "sun"], "lang": ["en", "de"]})
    with pytest.raises(nigh.InvalidError, match="to_pylist"):
        nigh.Collection.create(tmp_path / "t.nigh", table, scheme="simhash", keep_keys=["lang"], progress=False)
    with nigh.Collection.create(
        tmp_path / "t.nigh", table.to_pylist(), scheme="simhash", keep_keys=["lang"], progress=False
    ) as news:
        assert len(news.search("rain", where="lang = de").matches()) == 1


@pytest.fixture
def kept(tmp_path):
    """A path of a collection by texts that keeps two keys."""
    record = {"id": "a", "text": "rain and wind in the north of the land tonight", "lang": "en", "site": {"name": "x"}}
    place = tmp_path / "kept.nigh"
    nigh.add(place, [record], id="id", scheme="minhash", threshold=0.8, keep_keys=["lang", "site.name"], progress=False)
    return place


def ids_where(place, where):
    with nigh.Collection(place) as news:
        return "".join(sorted(match.id for match in news.search("rain", k=20, where=where).matches()))


def test_live_brings_values(kept):
    records = [
        {"id": "b", "text": "the parliament votes on the budget of next year", "lang": "en", "site": {"name": "y"}},
        {"id": "c", "text": "Rain and wind in the north of the land tonight!", "lang": "de"},  # there already
        {"id": "d", "text": "a new museum opens its doors to all in spring", "other": 1},
    ]
    with nigh.Live(kept) as live:
        assert [found.new for found in live.find_or_add_many(iter(records), id="id")] == [True, False, True]
        assert live.find_or_add("trains are late again this morning and no one knows why", "e", {"lang": "de"}).new
        assert live.find_or_add("ships carry grain across the sea as they did before", "f").new
        assert live.find_or_add_many(["a list of texts has nothing but these words"], ids=["g"])[0].new
    assert ids_where(kept, "lang = en") == "ab" and ids_where(kept, "lang = de") == "e"
    assert ids_where(kept, "site.name = y") == "b" and ids_where(kept, "not lang in (en, de)") == "dfg"


def test_live_makes_one_that_keeps_keys(tmp_path):
    place, keys = tmp_path / "new.nigh", ["lang", "site.name"]
    with nigh.Live(place, keep_keys=keys) as live:
        assert live.find_or_add("trains are late again this morning and no one knows why", "a", {"lang": "de"}).new
    with nigh.Live(place, keep_keys=keys) as live:
        record = {"id": "b", "text": "the parliament votes on the budget of next year", "site": {"name": "y"}}
        assert live.find_or_add_many([record], id="id")[0].new
    assert ids_where(place, "lang = de") == "a" and ids_where(place, "site.name = y") == "b"
    with pytest.raises(nigh.NighError, match="it keeps the keys lang, site.name, and not lang"):
        nigh.Live(place, keep_keys=["lang"])
    with pytest.raises(nigh.InvalidError, match="twice"):
        nigh.Live(tmp_path / "other.nigh", keep_keys=["a", "a"])
    assert not (tmp_path / "other.nigh").exists()


def test_live_refuses_values(kept, tmp_path):
    with nigh.Live(kept) as live:
        core = live._core
        with pytest.raises(nigh.InvalidError, match="1 values, where 2 keys are kept"):
            core.take(("a text of a few words",), 1, ("b",), (("en",),), True)
        with pytest.raises(ValueError, match="values of as many documents"):
            core.take(("a text of a few words",), 1, ("b",), (), True)
        with pytest.raises(TypeError, match="no tuple, or too many"):
            core.take(("a text of a few words",), 1, ("b",), (("en",) * 17,), True)
        with pytest.raises(UnicodeEncodeError):
            live.find_or_add("a text of a few words", "b", {"lang": "\ud800"})
        assert len(live) == 1
    with nigh.Live(tmp_path / "none.nigh") as live:  # keeps no keys: what comes under them is left out
        assert live.find_or_add("a text of a few words", values={"lang": "en"}).new
