# SPDX-License-Identifier: Apache-2.0
"""
What is alike, exactly, and how near a contender comes to it.

The truth is every pair of different texts whose sets of three words in a row have a Jaccard index of .8 or more, as
`nigh dedup --method exact` lists them with no limit; exact copies are taken together first, and count as one text in
pairs.  The index of each pair listed is computed again here, from the shingles that the peers get.

    removed     right where a document that is alike stays, so that nothing is lost; missed is what a pass over all
                that stays would still remove, by the exact pairs.  Which of a cluster stays does not matter.
    flagged     right where there is any other document that is alike.
    pairs       of different texts; of a contender that has clusters only, every two of a cluster.

NumPy is needed; the module runs in the environment of the package.
"""

import json
import subprocess
from pathlib import Path

import documents
import numpy

THRESHOLD = 0.8
NO_LIMIT = 2_000_000_000


class Truth:
    """groups: of each document the number of its text; pairs: of texts, the lower number first, as one number."""

    def __init__(self, groups, texts, pairs):
        self.groups, self.texts = groups, texts
        self.first, self.second = pairs
        self.keys = numpy.sort(self.first * texts + self.second)

    def neighbours(self):
        """Of each text those that are alike: places in a list, and the list."""
        ends = numpy.concatenate([self.first, self.second])
        others = numpy.concatenate([self.second, self.first])
        order = numpy.argsort(ends, kind="stable")
        places = numpy.searchsorted(ends[order], numpy.arange(self.texts + 1))
        return places, others[order]


# ------------------------------------------------------------------- making --


def grouped(texts):
    """The number of each text among the different ones, and these."""
    seen = {}
    groups = [seen.setdefault(text, len(seen)) for text in texts]
    return numpy.array(groups, numpy.int64), list(seen)


def exact_pairs(tool, path, folder):
    pairs, stats = folder / "pairs.jsonl", folder / "stats.json"
    subprocess.run([tool, "dedup", path, "--method", "exact", "--threshold", str(THRESHOLD), "--budget",
                    str(NO_LIMIT), "--pairs-limit", str(NO_LIMIT), "--pairs", pairs, "--stats", stats, "--quiet"],
                   check=True)
    told = json.loads(stats.read_text())
    if told.get("truncated") or told.get("pairs_cut") or told.get("pairs_untold"):
        raise RuntimeError(f"the truth about {path} is not whole: {told}")
    found = []
    with open(pairs, encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            found.append((pair["number1"], pair["number2"], pair["similarity"]))
    pairs.unlink()
    return found


def disagreements(texts, found):
    """Of how many pairs the shingles of the peers give another index: words of other scripts are cut differently."""
    cache = {}

    def of(number):
        if number not in cache:
            cache[number] = documents.shingles(texts[number])
        return cache[number]

    return sum(abs(documents.jaccard(of(first), of(second)) - index) > 1e-4 for first, second, index in found)


def make(tool, path, folder):
    """Of a prepared file; kept in the folder beside it."""
    kept = folder / (Path(path).stem + ".truth.npz")
    groups, texts = grouped(documents.read(path))
    if not kept.exists():
        different = folder / "different.jsonl"
        documents.write_texts(texts, different)
        found = exact_pairs(tool, different, folder)
        columns = numpy.array([(min(a, b), max(a, b)) for a, b, _ in found], numpy.int64).reshape(-1, 2)
        numpy.savez(kept, pairs=columns, other=disagreements(texts, found))
        different.unlink()
    stored = numpy.load(kept)
    truth = Truth(groups, len(texts), (stored["pairs"][:, 0], stored["pairs"][:, 1]))
    truth.disagree = int(stored["other"])
    return truth


def compared_plainly(texts):
    """Every text with every other, for tests: the truth must be this."""
    sets = [documents.shingles(text) for text in texts]
    return {(first, second) for second in range(len(sets)) for first in range(second)
            if documents.jaccard(sets[first], sets[second]) >= THRESHOLD}


# ------------------------------------------------------------------ judging --


def scores(right, given, wanted):
    precision = right / given if given else 1.0
    recall = right / wanted if wanted else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def still_to_go(truth, stays):
    """How many of the documents that stay a pass in their order would remove."""
    groups = truth.groups[stays]
    order = list(dict.fromkeys(groups.tolist()))
    places, others = truth.neighbours()
    kept = numpy.zeros(truth.texts, bool)
    missed = len(groups) - len(order)
    for group in order:
        near = others[places[group] : places[group + 1]]
        if kept[near].any():
            missed += 1
        else:
            kept[group] = True
    return missed


def judge_removed(truth, removed):
    stays = numpy.ones(len(truth.groups), bool)
    stays[removed] = False
    kept = numpy.zeros(truth.texts, bool)
    kept[truth.groups[stays]] = True
    alike = kept.copy()
    alike[truth.first[kept[truth.second]]] = True
    alike[truth.second[kept[truth.first]]] = True
    right = int(alike[truth.groups[removed]].sum())
    missed = still_to_go(truth, stays)
    return scores(right, len(removed), right + missed)


def judge_flagged(truth, flagged):
    alike = numpy.bincount(truth.groups, minlength=truth.texts) > 1
    alike[truth.first] = alike[truth.second] = True
    wanted = alike[truth.groups]
    return scores(int(wanted[flagged].sum()), len(flagged), int(wanted.sum()))


def judge_pairs(truth, pairs):
    ends = truth.groups[numpy.array(pairs, numpy.int64).reshape(-1, 2)]
    low, high = ends.min(1), ends.max(1)
    keys = numpy.unique((low * truth.texts + high)[low != high])
    right = int(numpy.isin(keys, truth.keys, assume_unique=True).sum())
    return scores(right, len(keys), len(truth.keys))


def judge_clusters(truth, clusters):
    """Without listing the pairs of large ones."""
    label = numpy.arange(truth.texts, dtype=numpy.int64)
    for cluster in clusters:
        groups = truth.groups[cluster]
        label[groups] = groups.min()
    sizes = numpy.bincount(label, minlength=truth.texts)
    right = int((label[truth.first] == label[truth.second]).sum())
    return scores(right, int((sizes * (sizes - 1) // 2).sum()), len(truth.keys))


def judge(truth, measured):
    """What a contender told, as precision, recall and F1 by what was told."""
    judges = {"removed": judge_removed, "flagged": judge_flagged, "pairs": judge_pairs, "clusters": judge_clusters}
    found = {}
    for name, function in judges.items():
        if name in measured:
            told = measured.pop(name)
            found[name] = function(truth, told if name == "clusters" else numpy.array(told, numpy.int64))
            found[name]["count"] = len(told)
    return found
