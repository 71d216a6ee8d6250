# SPDX-License-Identifier: Apache-2.0
"""The policies of pages name the hashes of their styles and scripts: here they are computed by other means."""
import base64
import hashlib
import os
import re
import sys


def check(path, name, end):
    """Of a header whose text is in the array NAME, lower case, and ends in `end`."""
    path = os.path.join(os.environ["NIGH_SOURCE_DIR"], path)
    with open(path, encoding="utf-8") as file:
        source = file.read()
    named = re.search(rf'#define {name}_HASH "([^"]*)"', source)[1]
    body = source[source.index(f"{name.lower()}[]") : source.index(f"#define {name}_PARTS")]
    body = re.sub(r"^\s*/\*.*\*/$", "", body, flags=re.MULTILINE)
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', body)
    text = re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), "".join(parts))
    if len(text) < 1000 or not text.endswith(end):
        sys.exit(f"{path}: it could not be read")
    if name.endswith("SCRIPT") and re.search("[<&]", text):
        sys.exit(f"{path}: there is a '<' or a '&' in it")
    computed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    if computed != named:
        sys.exit(f"{path}: {name}_HASH must be {computed}")


check("src/dedup/report_style.h", "NIGH__REPORT_STYLE", "}\n")
check("src/dedup/report_script.h", "NIGH__REPORT_SCRIPT", "})();\n")
check("cli/page_style.h", "CLI_PAGE_STYLE", "}\n")
