"""The browser that the tests use: one that is there, else one that is fetched.

`python -m tests.browser.chromium` prints where it is, and installs one if there is none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def find():
    """Give the path of a Chromium or Chrome, or None."""
    there = [os.environ.get("CHROME"), *map(shutil.which, NAMES)]
    return next((path for path in there if path), None) or _playwrights_own()


def _playwrights_own():
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install():
    """Install the platform's own where we may, else the one that Playwright brings."""
    may_apt = shutil.which("apt-get") and os.geteuid() == 0
    if may_apt:
        subprocess.run(["apt-get", "update", "--quiet"], check=False)
        subprocess.run(["apt-get", "install", "--yes", "--quiet", "chromium"], check=False)
    if not find():
        # Ubuntu has Chromium as a snap only, and a container has none of the libraries.
        libraries = ["--with-deps"] if may_apt else []
        playwright = [sys.executable, "-m", "playwright", "install", *libraries, "chromium"]
        subprocess.run(playwright, check=True)


if __name__ == "__main__":
    if not find():
        install()
    print(find() or sys.exit("There is no Chromium. Install one, or set CHROME to its path."))  # noqa: T201
