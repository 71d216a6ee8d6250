# SPDX-License-Identifier: Apache-2.0
"""
FAISS behind FastAPI and uvicorn: what one writes in an afternoon.  One process, the index in memory.

faiss_server.py ROWS.npy INDEX --build     makes the index where it is not there
faiss_server.py ROWS.npy INDEX --port N    serves it
"""

import argparse
import os

import faiss
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("rows")
parser.add_argument("index")
parser.add_argument("--kind", choices=["hnsw", "flat"], default="hnsw")
parser.add_argument("--build", action="store_true")
parser.add_argument("--port", type=int, default=7791)
options = parser.parse_args()


def build():
    rows = numpy.load(options.rows)
    bits = rows.shape[1] * 8
    index = faiss.IndexBinaryHNSW(bits, 32) if options.kind == "hnsw" else faiss.IndexBinaryFlat(bits)
    if options.kind == "hnsw":
        index.hnsw.efConstruction = 100
    index.add(rows)
    faiss.write_index_binary(index, options.index)


def serve():
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel

    faiss.omp_set_num_threads(1)  # a query by itself gains nothing from more
    index = faiss.read_index_binary(options.index)
    application = FastAPI()

    class Asked(BaseModel):
        signature: str
        k: int = 10

    @application.get("/effort/{effort}")
    def effort(effort: int):
        if options.kind == "hnsw":
            index.hnsw.efSearch = effort
        return {"effort": effort}

    @application.post("/search")
    def search(asked: Asked):  # not async: in a thread of a pool, for FAISS gives up the interpreter's lock
        row = numpy.frombuffer(bytes.fromhex(asked.signature), dtype=numpy.uint8)[None, :]
        distances, ids = index.search(row, asked.k)
        return {"ids": ids[0].tolist(), "distances": distances[0].tolist()}

    uvicorn.run(application, host="127.0.0.1", port=options.port, log_level="error", access_log=False)


if options.build:
    if not os.path.exists(options.index):
        build()
else:
    serve()
