# SPDX-License-Identifier: Apache-2.0
"""
text-dedup's command for MinHash, which reads and writes with Hugging Face's datasets.

It cuts words by itself: at every character that is none, so that two of those in a row make an empty word; its
shingles are therefore nearly those of the others.  It removes all but one of what is connected.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

from contender import Found

VARIANTS = {"minhash": "text_dedup.minhash --ngram 3 --threshold 0.8 --num_perm 256 --min_length 1 --hash_func xxh3"}


def command(job, folder):
    words = f"{sys.executable} -m {VARIANTS[job['variant']]}".split()
    return [*words, "--path", "json", "--data_files", job["documents"], "--split", "train", "--column", "text",
            "--cache_dir", str(folder / "cache"), "--output", str(folder / "output"), "--num_proc",
            str(job["threads"]), "--debug"]


def dedup(job):
    folder = Path(job["folder"])
    environment = {**os.environ, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command(job, folder), env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    with open(folder / "output" / "uf.pkl", "rb") as file:
        parents = pickle.load(file)
    return found_by(parents.parent if hasattr(parents, "parent") else parents)


def found_by(parents):
    """Its union-find: the number of each document to one of its cluster, and in the end to the one that stays."""
    clusters = {}
    for number in parents:
        root = number
        while parents.get(root, root) != root:
            root = parents[root]
        clusters.setdefault(root, []).append(number)
    removed = [number for root, members in clusters.items() for number in members if number != root]
    return Found(removed=removed, clusters=list(clusters.values()))
