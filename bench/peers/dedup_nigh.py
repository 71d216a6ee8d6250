# SPDX-License-Identifier: Apache-2.0
"""nigh's own, from file to file."""

import nigh
import numpy  # loaded before the time is taken, as it is of others
from contender import Found

VARIANTS = {
    "default": "dedup(PATH, output=PATH)",
    "pairs": "dedup(PATH, output=PATH, all_pairs=True)",
    "exact": "dedup(PATH, output=PATH, method='exact')",
}
OPTIONS = {"pairs": {"all_pairs": True}, "exact": {"method": "exact"}}


def dedup(job):
    options = OPTIONS.get(job["variant"], {})
    _, result = nigh.dedup(job["documents"], output=job["output"], threads=job["threads"], progress=False, **options)
    removed = numpy.flatnonzero(~result.mask)
    found = Found(removed=removed)
    if job["variant"] == "pairs":
        found.pairs = [(pair.first, pair.second) for pair in result.pairs]
    return found
