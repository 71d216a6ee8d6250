#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bench_python [--megabytes N] [--rows N]
#
# What Python pays beside C and the tool, in one run; see bench/python/python_speed.py.  pyarrow and NumPy are those
# that the tests of the package take, from PyPI.
set -euo pipefail
source=@PROJECT_SOURCE_DIR@ build=@PROJECT_BINARY_DIR@
"$source/tools/python-venv" "$build/bench/python-venv" "$source/python/requirements-build.txt" \
    "$source/python/requirements-test.txt"
PYTHONPATH=$build/python exec "$build/bench/python-venv/bin/python" "$source/bench/python/python_speed.py" \
    "$build" "$@"
