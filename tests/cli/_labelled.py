# SPDX-License-Identifier: Apache-2.0
"""Writes labelled documents: each has words of its label, among words that all have.

    _labelled.py FILE LABELS DOCUMENTS SEED [PART]

Lines {"id", "text", "label"}, and "part" where it is given.
"""
import json
import random
import sys

path, labels, documents, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
generator = random.Random(seed)
topics = ["cooking", "sailing", "physics", "gardens", "banking", "weather", "history", "cycling"]
common = ["common%d" % i for i in range(200)]
with open(path, "w") as file:
    for number in range(documents):
        topic = topics[number % labels]
        own = ["%sword%d" % (topic, i) for i in range(60)]
        words = generator.choices(own, k=12) + generator.choices(common, k=20)
        generator.shuffle(words)
        record = {"id": "%d-%d" % (seed, number), "text": " ".join(words), "label": topic}
        if len(sys.argv) > 5:
            record["part"] = sys.argv[5]
        file.write(json.dumps(record) + "\n")
