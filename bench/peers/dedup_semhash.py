# SPDX-License-Identifier: Apache-2.0
"""
semhash: near by meaning, by the cosine of embeddings, with its own threshold of .9.

Its model is on a hub that is no package index; instead one is taken that was distilled in the same way from the
model that embeddings.py runs.  What it finds alike is meant to be more than near-copies, so that its precision here
says how far that is from them, and not that it fails at what it is for.
"""

import os

import documents
import numpy
from contender import Found
from model2vec import StaticModel
from semhash import SemHash
from tokenizers import Tokenizer

VARIANTS = {"static": "SemHash.from_records(model=a static one of MiniLM).self_deduplicate(.9)"}


def dedup(job):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job["threads"]])
    tokenizer = Tokenizer.from_file(os.path.join(job["model"], "tokenizer.json"))
    model = StaticModel(numpy.load(job["static"]), tokenizer, normalize=True)
    texts = documents.read(job["documents"])
    records = [{"text": text, "number": number} for number, text in enumerate(texts)]
    result = SemHash.from_records(records, columns=["text"], model=model).self_deduplicate(threshold=0.9)
    removed = set(range(len(texts))) - {record["number"] for record in result.selected}
    documents.write_kept(job["documents"], job["output"], removed)
    return Found(removed=removed)
