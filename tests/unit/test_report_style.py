# SPDX-License-Identifier: Apache-2.0
"""The policy of the report names the hash of its style: here it is computed by other means."""
import base64
import hashlib
import os
import re
import sys

path = os.path.join(os.environ["NIGH_SOURCE_DIR"], "src", "dedup", "report_style.h")
with open(path, encoding="utf-8") as file:
    source = file.read()

named = re.search(r'#define NIGH__REPORT_STYLE_HASH "([^"]*)"', source)[1]
body = source[source.index("nigh__report_style[]") : source.index("#define NIGH__REPORT_STYLE_PARTS")]
body = re.sub(r"^\s*/\*.*\*/$", "", body, flags=re.MULTILINE)
parts = re.findall(r'"((?:[^"\\]|\\.)*)"', body)
style = re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), "".join(parts))
if len(style) < 1000 or not style.endswith("}\n"):
    sys.exit(f"{path}: the style could not be read")
computed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
if computed != named:
    sys.exit(f"{path}: NIGH__REPORT_STYLE_HASH must be {computed}")
