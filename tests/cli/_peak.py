# SPDX-License-Identifier: Apache-2.0
"""Usage: _peak.py FILE COMMAND...   runs COMMAND; its peak memory in bytes and its seconds go to FILE."""
import os
import sys
import time

started = time.monotonic()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write(f"{usage.ru_maxrss * 1024} {time.monotonic() - started:.3f}\n")
sys.exit(os.waitstatus_to_exitcode(status))
