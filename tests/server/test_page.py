#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: full
"""The page of nigh serve in a real browser: see browse.mjs.  Skipped, with a reason, where there is none.

Pictures are left in the folder of the test, for people to look at."""

import os
import shutil
import subprocess
import sys

from _serving import Server, nigh, text_of, write_lines

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("playwright-core@1.49.1", "axe-core@4.10.2")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def need_packages():
    """node_modules in the build folder, which outlives the folder of the test."""
    folder = os.path.join(os.environ.get("NIGH_BUILD_DIR", "."), "server-page")
    if not os.path.exists(os.path.join(folder, "node_modules", "axe-core")):
        os.makedirs(folder, exist_ok=True)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"npm cannot install {' and '.join(PACKAGES)}")
    return folder


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    for name, there in (("chromium", browser), ("node", shutil.which("node")), ("npm", shutil.which("npm"))):
        if not there:
            skip(f"there is no {name} here")
    folder = need_packages()
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
        environment = dict(os.environ, CHROMIUM=browser)
        pictures = os.getcwd()
        done = subprocess.run(["node", os.path.join(HERE, "browse.mjs"), server.address, pictures], cwd=folder,
                              env=environment)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
