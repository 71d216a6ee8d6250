# SPDX-License-Identifier: Apache-2.0
"""What tests of pages in a real browser need: Chromium, and what drives it.  Skipped, with a reason, where it is missing."""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("playwright-core@1.49.1", "axe-core@4.10.2")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def need_browser():
    """The path of a browser."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    for name, there in (("chromium", browser), ("node", shutil.which("node")), ("npm", shutil.which("npm"))):
        if not there:
            skip(f"there is no {name} here")
    return browser


def need_packages():
    """node_modules in the build folder, which outlives the folder of the test."""
    folder = os.path.join(os.environ.get("NIGH_BUILD_DIR", "."), "server-page")
    if not os.path.exists(os.path.join(folder, "node_modules", "axe-core")):
        os.makedirs(folder, exist_ok=True)
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"npm cannot install {' and '.join(PACKAGES)}")
    return folder


def browse(script, *arguments):
    """Runs a script of this folder; the exit code."""
    browser = need_browser()
    folder = need_packages()
    return subprocess.run(["node", os.path.join(HERE, script), *arguments], cwd=folder,
                          env=dict(os.environ, CHROMIUM=browser)).returncode
