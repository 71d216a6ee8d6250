#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: full
"""The page of nigh serve in a real browser: see browse.mjs.  Skipped, with a reason, where there is none.

Pictures are left in the folder of the test, for people to look at."""

import os
import sys

from _browser import browse, need_browser
from _serving import Server, nigh, text_of, write_lines


def main():
    need_browser()
    hostile = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1"> hostile script alert image onerror'
    documents = [{"id": f"story-{i}", "text": text_of(i)} for i in range(400)]
    documents += [{"id": f"story-{i}-again", "text": text_of(i) + " once more"} for i in range(0, 60, 3)]
    documents += [{"id": "report-17", "text": "After days of rain the river flooded the valley; two bridges were swept away "
                   "and the old market stood under water until the evening."},
                  {"id": "report-18", "text": "After days of rain the river flooded the valley; three bridges were swept away "
                   "and the new market stood under water until the morning."},
                  {"id": '"><img src=x onerror=window.hacked=1>', "text": hostile},
                  {"id": "harbour", "text": "A storm by the harbour tore the roofs from the houses."}]
    write_lines("news.jsonl", documents)
    nigh("index", "-q", "news.nigh", "news.jsonl")
    nigh("generate", "-q", "-n", "300", "--bits", "64", "-o", "rows.npy")
    nigh("index", "-q", "hashes.nigh", "rows.npy")
    with Server("news.nigh", "hashes.nigh") as server:
        sys.exit(browse("browse.mjs", server.address, os.getcwd()))


if __name__ == "__main__":
    main()
