# SPDX-License-Identifier: Apache-2.0
"""The policy of the report names the hashes of its style and its script: here they are computed by other means."""
import base64
import hashlib
import os
import re
import sys


def check(kind, end):
    """Of src/dedup/report_KIND.h, whose text ends in `end`."""
    path = os.path.join(os.environ["NIGH_SOURCE_DIR"], "src", "dedup", f"report_{kind}.h")
    with open(path, encoding="utf-8") as file:
        source = file.read()
    name = f"NIGH__REPORT_{kind.upper()}"
    named = re.search(rf'#define {name}_HASH "([^"]*)"', source)[1]
    body = source[source.index(f"nigh__report_{kind}[]") : source.index(f"#define {name}_PARTS")]
    body = re.sub(r"^\s*/\*.*\*/$", "", body, flags=re.MULTILINE)
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', body)
    text = re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), "".join(parts))
    if len(text) < 1000 or not text.endswith(end):
        sys.exit(f"{path}: it could not be read")
    if kind == "script" and re.search("[<&]", text):
        sys.exit(f"{path}: there is a '<' or a '&' in it")
    computed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    if computed != named:
        sys.exit(f"{path}: {name}_HASH must be {computed}")


check("style", "}\n")
check("script", "})();\n")
