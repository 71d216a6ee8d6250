# SPDX-License-Identifier: Apache-2.0
"""Asks nigh serve: python3 ask_server.py http://127.0.0.1:7700 news "flood in the valley"."""
import json
import os
import sys
import urllib.request


def ask(address, collection, **question):
    headers = {"Content-Type": "application/json"}
    if "NIGH_TOKEN" in os.environ:
        headers["Authorization"] = "Bearer " + os.environ["NIGH_TOKEN"]
    request = urllib.request.Request(f"{address.rstrip('/')}/v1/collections/{collection}/search",
                                     data=json.dumps(question).encode(), headers=headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["results"][0]


found = ask(*sys.argv[1:3], text=sys.argv[3], k=5)
for match in found["matches"]:
    print(f"{match['similarity']:7.2%}  {match['id']}  {match.get('snippet', '')[:60]}")
print(found["proof"]["says"])
