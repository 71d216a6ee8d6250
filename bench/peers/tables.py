# SPDX-License-Identifier: Apache-2.0
"""What was measured, as tables for people, and how far ahead nigh is."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
import figures  # noqa: E402

WANTED_DEDUP, WANTED_NEAREST, MARK = 20, 3, 0.95


def share(number):
    """A share without its leading 0; 1 is 1."""
    return "1" if number > 0.99995 else f"{number:.4f}".lstrip("0")


def quality(found, *names):
    for name in names:
        if name in found:
            scores = found[name]
            return " ".join(share(scores[part]) for part in ("precision", "recall", "f1"))
    return "-"


# ------------------------------------------------------------ de-duplication --


def dedup_row(row):
    if "skipped" in row:
        return [row["contender"], str(row["threads"]), "-", "-", "-", "-", "-", row["skipped"]]
    removed = quality(row["quality"], "removed", "flagged") + (" *" if "flagged" in row["quality"] else "")
    return [row["contender"], str(row["threads"]), f"{row['rate']:.2f}", f"{row['processor_rate']:.2f}",
            f"{row['peak_bytes'] / 1e6:,.0f}", removed, quality(row["quality"], "pairs", "clusters"), row["call"]]


def fastest(rows):
    return max(rows, key=lambda row: row["rate"], default=None)


def f1_of(row):
    found = row["quality"]
    return next(found[name]["f1"] for name in ("removed", "flagged") if name in found)


def dedup_ahead(rows, threads):
    """The default, and the fastest peer that tells which documents should go, or flags them; None: there is none."""
    there = [row for row in rows if "rate" in row and row["threads"] == threads
             and {"removed", "flagged"} & set(row["quality"])]
    ours = next((row for row in there if row["contender"] == "nigh default"), None)
    return ours, fastest([row for row in there if not row["contender"].startswith("nigh")])


def dedup_verdict(rows, threads):
    ours, best = dedup_ahead(rows, threads)
    if ours is None or best is None:
        return None
    ratio = ours["rate"] / best["rate"]
    processor = ours["processor_rate"] / best["processor_rate"]
    better = "higher" if f1_of(ours) > f1_of(best) else "NO higher"
    reached = "reached" if ratio >= WANTED_DEDUP and better == "higher" else "NOT reached"
    return (f"{threads} thread{'s' * (threads > 1)}: {ratio:.1f} times the fastest peer ({best['contender']}), "
            f"{processor:.1f} by processor time, at {better} F1 ({share(f1_of(ours))} against {share(f1_of(best))}): "
            f"{WANTED_DEDUP} times {reached}")


def dedup_note(name, rows):
    for threads in sorted({row["threads"] for row in rows}):
        ours, best = dedup_ahead(rows, threads)
        if ours is not None:
            figures.note("peers", f"dedup of {name}, {threads} thread{'s' * (threads > 1)}", ours[rate_by], "MB/s",
                         beside=best and best[rate_by], other=best and best["contender"], quality=f1_of(ours))


def dedup_table(name, about, rows):
    yield f"{name}: {about}"
    heads = ["", "threads", "MB/s", "MB/cpu s", "peak MB", "removed: P R F1", "pairs: P R F1", "called with"]
    yield from figures.lines_of(heads, [dedup_row(row) for row in rows])
    verdicts = [dedup_verdict(rows, threads) for threads in sorted({row["threads"] for row in rows})]
    yield from filter(None, verdicts)
    if any("flagged" in row.get("quality", {}) for row in rows):
        yield "* flags what has a near-copy, and does not say what stays"
    yield ""


# ------------------------------------------------------------------- nearest --


# "processor_rate" on a machine that others share: what it would be with so many cores to itself.
rate_by = "rate"


def at_mark(points, mark):
    """The fastest point that reaches a recall, or the best there is and a word that says so."""
    good = [point for point in points if point["recall"] >= mark]
    if good:
        return max(good, key=lambda point: point[rate_by]), True
    return max(points, key=lambda point: point["recall"], default=None), False


def nearest_cell(points, threads, mark):
    point, reached = at_mark([point for point in points if point["threads"] == threads], mark)
    if point is None:
        return "-"
    setting = "" if point["setting"] is None else f" @{point['setting']}"
    return f"{'' if reached else 'not: '}{point[rate_by]:,.0f} ({share(point['recall'])}{setting})"


def nearest_row(row, columns):
    if "skipped" in row:
        return [row["contender"], *["-"] * (len(columns) + 2), row["skipped"]]
    cells = [nearest_cell(row["points"], threads, mark) for threads, mark in columns]
    build = row["build"] if rate_by == "rate" else row["build_processor"]
    return [row["contender"], *cells, f"{build:.1f}", f"{row['index_bytes'] / row['rows']:,.0f}", row["call"]]


def nearest_ahead(rows, threads, mark):
    """What reaches the mark, with its rate; and the names of ours and of the fastest peer, or None."""
    found = {}
    for row in rows:
        point, reached = at_mark([p for p in row.get("points", []) if p["threads"] == threads], mark)
        if reached:
            found[row["contender"]] = point[rate_by]
    ours = max((name for name in found if name.startswith("nigh")), key=found.get, default=None)
    best = max((name for name in found if not name.startswith("nigh")), key=found.get, default=None)
    return found, ours, best


def nearest_verdict(rows, threads, mark):
    found, ours, best = nearest_ahead(rows, threads, mark)
    if ours is None or best is None:
        return f"{threads} threads, recall {mark}: reached by {ours or best or 'none'} alone"
    ratio = found[ours] / found[best]
    return (f"{threads} thread{'s' * (threads > 1)}, recall {mark}: {ours} {ratio:.1f} times the best peer ({best}): "
            f"{WANTED_NEAREST} times {'reached' if ratio >= WANTED_NEAREST else 'NOT reached'}")


def nearest_note(name, rows):
    for threads in sorted({point["threads"] for row in rows for point in row.get("points", [])}):
        found, ours, best = nearest_ahead(rows, threads, MARK)
        if ours is not None:
            figures.note("peers", f"nearest of {name}, recall {MARK}, {threads} thread{'s' * (threads > 1)}", found[ours],
                         "queries/s", beside=found.get(best), other=best)


def nearest_table(name, about, rows):
    threads = sorted({point["threads"] for row in rows for point in row.get("points", [])})
    yield f"{name}: {about}"
    columns = [(count, mark) for count in threads for mark in (0.90, MARK, 0.98)]
    if rate_by == "processor_rate":
        yield "queries a second of processor time and thread, times the threads"
    heads = ["", *[f"{count} thr, recall {mark:.2f}" for count, mark in columns], "build s", "bytes/row", "called with"]
    yield from figures.lines_of(heads, [nearest_row(row, columns) for row in rows])
    for count in threads:
        yield nearest_verdict(rows, count, MARK)
    yield ""
