#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: long
# needs: documents
# Ten minutes of tests/property/test_torture.c: 20 readers and a writer, every answer from one state.
import os
import subprocess
import sys

os.environ.setdefault("NIGH_TORTURE_SECONDS", "600")
sys.exit(subprocess.run([f"{os.environ['NIGH_BUILD_DIR']}/tests/test_torture"], check=False).returncode)
