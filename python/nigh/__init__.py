# SPDX-License-Identifier: Apache-2.0
"""Near-duplicates and nearest documents, by binary signatures.

    kept, result = nigh.dedup(table)                  without near-copies, as the same kind
    news = nigh.Collection("news.nigh")               search by text or by bits
    nigh.IndexBinary(1024)                            shaped like FAISS
"""

from . import eval
from ._core import kernel, version as __version__
from ._dedup import Cluster, DedupResult, Pair, dedup
from ._errors import (
    BusyError,
    CancelledError,
    DamagedError,
    ExistsError,
    FileError,
    FormatError,
    InvalidError,
    LimitError,
    MismatchError,
    NighError,
    NotFoundError,
    UnsupportedError,
    VersionError,
)
from .collection import AgainstResult, Answers, Collection, Match, Proof, add, adopt
from .index_binary import IndexBinary, read_index_binary, write_index_binary
from .live import Found, Live
from .lsh import MinHash, MinHashLSH
from .models import Feature, Model, train
from .signatures import Pairs, binarise, distance, minhash, pairs, sign, simhash, topsig

__all__ = [
    "AgainstResult", "Answers", "BusyError", "CancelledError", "Cluster", "Collection", "DamagedError", "DedupResult",
    "ExistsError", "Feature", "FileError", "FormatError", "Found", "IndexBinary", "InvalidError", "LimitError", "Live", "Match", "MinHash", "MinHashLSH", "MismatchError", "Model",
    "NighError", "NotFoundError", "Pair", "Pairs", "Proof", "UnsupportedError", "VersionError", "__version__", "add", "adopt",
    "binarise", "dedup", "distance", "eval", "kernel", "minhash", "pairs", "read_index_binary", "sign", "simhash", "topsig", "train",
    "write_index_binary",
]  # fmt: skip
