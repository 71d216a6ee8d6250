# SPDX-License-Identifier: Apache-2.0
"""
datatrove's four stages of MinHash with the local executor: signatures, buckets, clusters, filter.

Words are cut by the same function as for the others, given as its word tokenizer; it would take spaCy, which is slower.
Its files are its shards, so that the input is cut into one for each process beforehand, which is not timed by itself
but takes no part worth naming.  It keeps one of a cluster, not always the first.
"""

import struct
from pathlib import Path

import documents
from contender import Found
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup.minhash import (MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster,
                                              MinhashDedupFilter, MinhashDedupSignature)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.logging import logger
from datatrove.utils.text import TextNormConfig
from datatrove.utils.word_tokenizers import WordTokenizer

VARIANTS = {"minhash": "MinhashConfig(n_grams=3, num_buckets=14, hashes_per_bucket=8), LocalPipelineExecutor"}


class Words(WordTokenizer):
    def word_tokenize(self, text):
        return documents.words(text)

    def sent_tokenize(self, text):
        raise NotImplementedError

    def span_tokenize(self, text):
        raise NotImplementedError


def plainly():
    """Nothing is changed in the text before it is cut into words."""
    names = ("lowercase", "norm_whitespace", "remove_punctuation", "norm_unicode_diacritics", "norm_numbers")
    return TextNormConfig(**dict.fromkeys(names, False))


def split(path, parts, folder):
    """Files of lines in a row; gives the number of the first line of each."""
    lines = Path(path).read_bytes().splitlines(keepends=True)
    starts = [len(lines) * part // parts for part in range(parts + 1)]
    folder.mkdir(parents=True)
    for part, (first, end) in enumerate(zip(starts, starts[1:])):
        (folder / f"{part:05d}.jsonl").write_bytes(b"".join(lines[first:end]))
    return starts


def run(stages, tasks, workers, folder):
    executor = LocalPipelineExecutor(pipeline=stages, tasks=tasks, workers=workers, logging_dir=str(folder),
                                     start_method="fork")
    executor.run()


def numbers(path, count):
    data = path.read_bytes() if path.exists() else b""
    return struct.iter_unpack(f"<{count}I", data)


def told(folder, starts):
    """What is to be removed, and the clusters, by number of document."""
    removed, clusters = [], {}
    for part, first in enumerate(starts[:-1]):
        removed += [first + number for number, in numbers(folder / f"{part:06d}.remove", 1)]
        for number, cluster in numbers(folder / f"{part:06d}.clusters", 2):
            clusters.setdefault(cluster, []).append(first + number)
    return Found(removed=removed, clusters=list(clusters.values()))


def dedup(job):
    logger.remove()
    folder, threads = Path(job["folder"]), job["threads"]
    starts = split(job["documents"], threads, folder / "input")
    config = MinhashConfig(n_grams=documents.LENGTH, num_buckets=14, hashes_per_bucket=8, norm_config=plainly())
    name = {part: str(folder / part) for part in ("input", "signatures", "buckets", "clusters", "output")}

    def reader():
        return JsonlReader(name["input"], file_progress=False)

    run([reader(), MinhashDedupSignature(name["signatures"], config, language=Words())], threads, threads,
        folder / "logs1")
    run([MinhashDedupBuckets(name["signatures"], name["buckets"], config=config)], config.num_buckets, threads,
        folder / "logs2")
    run([MinhashDedupCluster(name["buckets"], name["clusters"], config=config, save_cluster_id=True)], 1, 1,
        folder / "logs3")
    run([reader(), MinhashDedupFilter(name["clusters"]), JsonlWriter(name["output"], compression=None)], threads,
        threads, folder / "logs4")
    return told(folder / "clusters", starts)
