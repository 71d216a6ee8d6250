# SPDX-License-Identifier: Apache-2.0
"""Checks what contenders are judged by: self_test.py NIGH, the tool.  Exit 1 with the first thing that is wrong."""

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

import documents
import numpy
import peers
import tables
import truth
from contender import recall_of
from contest_nearest import farthest

TEXTS = ["a b c d e f g h i j k l m n o p", "a b c d e f g h i j k l m n o p", "A b c d e f g h i j k l m n o, q!",
         "r s t u v", "r s t u v w", "one", "ONE", "two"]


def close(found, **wanted):
    assert all(abs(found[name] - value) < 1e-9 for name, value in wanted.items()), (found, wanted)


def truth_of(tool, texts, folder):
    path = folder / f"{len(texts)}.jsonl"
    documents.write_texts(texts, path)
    return truth.make(tool, path, folder)


def check_truth(tool, folder):
    """The tool's exact pairs are those of comparing every text with every other."""
    for texts in TEXTS, list(documents.generated_texts(0.6, 5)):
        found = truth_of(tool, texts, folder)
        plain = truth.compared_plainly(list(dict.fromkeys(texts)))
        assert {*zip(found.first.tolist(), found.second.tolist())} == plain, (found.first, found.second, plain)
        assert found.disagree == 0
    assert len(plain) > 30, len(plain)


def check_judging(tool, folder):
    """Alike are 0, 1 (its copy) and 2; and 5 and 6."""
    exact = truth_of(tool, TEXTS, folder)
    close(truth.judge_removed(exact, numpy.array([1, 2, 6])), precision=1, recall=1, f1=1)
    close(truth.judge_removed(exact, numpy.array([0, 1, 5])), precision=1, recall=1)  # whichever stays
    close(truth.judge_removed(exact, numpy.array([0, 1, 2, 6])), precision=1 / 4, recall=1)  # 0 to 2 are lost
    close(truth.judge_removed(exact, numpy.array([1, 7])), precision=1 / 2, recall=1 / 3)
    close(truth.judge_removed(exact, numpy.array([], int)), precision=1, recall=0, f1=0)
    close(truth.judge_flagged(exact, numpy.array([0, 1, 7])), precision=2 / 3, recall=2 / 5)
    close(truth.judge_pairs(exact, [(1, 0), (2, 1), (0, 2), (3, 4)]), precision=1 / 2, recall=1 / 2)
    close(truth.judge_clusters(exact, [[0, 1, 2, 3]]), precision=1 / 3, recall=1 / 2)


def check_nearest():
    rows = numpy.random.Generator(numpy.random.PCG64(3)).integers(256, size=(200, 8), dtype=numpy.uint8)
    queries, k = rows[:5] ^ 1, 10
    distances = numpy.bitwise_count(rows[None] ^ queries[:, None]).sum(2)
    limits = farthest(rows, queries, k)
    assert (limits == numpy.sort(distances, 1)[:, k - 1]).all()
    answers = numpy.argsort(distances, 1, kind="stable")[:, :k]
    assert recall_of(answers, rows, queries, limits) == 1
    answers[:, 1] = answers[:, 0]  # the same twice counts once
    answers[0, 2] = -1
    assert abs(recall_of(answers, rows, queries, limits) - (50 - 6) / 50) < 1e-9


def check_verdicts():
    """What is not reached is said."""
    quality = {"removed": {"precision": 1, "recall": 1, "f1": 1.0}}
    poorer = {"removed": {"precision": 1, "recall": 0.5, "f1": 0.67}}
    ours = {"contender": "nigh default", "threads": 1, "rate": 40.0, "processor_rate": 40.0, "quality": quality}
    for rate, found, word in (2.0, poorer, " reached"), (2.1, poorer, "NOT reached"), (2.0, quality, "NOT reached"):
        peer = {"contender": "peer", "threads": 1, "rate": rate, "processor_rate": rate, "quality": found}
        assert tables.dedup_verdict([ours, peer], 1).endswith(word), (rate, word)
    near = [{"contender": name, "points": [{"threads": 1, "setting": 1, "recall": recall, "rate": rate}]}
            for name, recall, rate in (("nigh graph", 0.96, 299), ("quick", 0.94, 1000), ("good", 0.95, 100))]
    assert tables.nearest_verdict(near, 1, 0.95).endswith("best peer (good): 3 times NOT reached")


def check_joined(folder):
    """Of what was measured twice the later file counts, and rows of both stand in one table."""
    point = {"threads": 1, "setting": 1, "recall": 0.96, "rate": 300, "processor_rate": 300}
    row = {"rows": 10, "build": 1, "build_processor": 1, "index_bytes": 10, "call": "called"}
    runs = {"first": {"nigh graph": 7, "peer": 100}, "second": {"nigh graph": 300}}
    for name, rates in runs.items():
        rows = [{**row, "contender": found, "points": [{**point, "rate": rate}]} for found, rate in rates.items()]
        told = {"tables": [{"task": "nearest", "set": "rows", "about": "some", "rows": rows}]}
        (folder / name).write_text(json.dumps(told))
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        peers.show_joined([folder / name for name in runs])
    assert "nigh graph 3.0 times the best peer (peer): 3 times reached" in shown.getvalue(), shown.getvalue()


def main():
    tool = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        check_truth(tool, Path(folder))
        check_judging(tool, Path(folder))
        check_joined(Path(folder))
    check_nearest()
    check_verdicts()


if __name__ == "__main__":
    main()
