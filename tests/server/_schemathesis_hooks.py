# SPDX-License-Identifier: Apache-2.0
"""What schemathesis has to be told: lines of JSON, and which collections and documents there are."""

import itertools
import json

import schemathesis

COLLECTIONS = itertools.cycle(["news", "copies", "hashes"])
NUMBERS = itertools.count()


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    """A document is a line by itself; half of the time it stands there twice."""
    line = json.dumps(value).encode()
    return line + b"\n" if next(NUMBERS) % 2 else line + b"\n" + line + b"\n"


@schemathesis.deserializer("application/x-ndjson")
def first_line(_context, response):
    """Each line of an answer fits the schema; it is the first that is looked at here, test_api.py looks at all."""
    return json.loads(response.content.splitlines()[0])


@schemathesis.hook
def map_path_parameters(_context, path_parameters):
    """Mostly what is there, for what is not there is soon told."""
    number = next(NUMBERS)
    if path_parameters and "c" in path_parameters and number % 8:
        path_parameters["c"] = next(COLLECTIONS)
    if path_parameters and "id" in path_parameters and number % 3 == 0:
        path_parameters["id"] = f"d{number % 50}"
    return path_parameters


@schemathesis.hook
def map_body(_context, body):
    """A search for what is there, half of the time; as it was made, the other half."""
    number = next(NUMBERS)
    if isinstance(body, dict) and number % 2:
        if isinstance(body.get("id"), str):
            body["id"] = f"d{number % 50}"
        if isinstance(body.get("signature"), str):
            body["signature"] = f"{number * 0x9e3779b97f4a7c15 % (1 << 64):016x}"
    return body
