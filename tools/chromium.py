"""Make sure that there is a chromium for the tests of pages, and say so where there cannot be.

    python tools/chromium.py

Debian's package, where this runs as root and apt-get knows it: the shell that is made for having no
window, or else the whole browser. Without one this does not fail: tests that need a browser are
skipped and say why. ABSTAIN_CHROMIUM names another executable; it fails where that is none.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser")
MINUTES = 10


def installed(*names: str) -> bool:
    """Whether one of them is here."""
    return any(shutil.which(name) for name in names)


def apt_get(*words: str) -> None:
    """Run it quietly; whether it helped is seen afterwards."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            ["apt-get", "-qq", *words],
            env=environment,
            timeout=60 * MINUTES,
            check=False,
            capture_output=True,
        )


def main() -> None:
    """Install it once; a second time costs nothing."""
    if named := os.environ.get("ABSTAIN_CHROMIUM"):
        if not installed(named):
            sys.exit(f"ABSTAIN_CHROMIUM must name a browser's executable (got {named!r})")
        return
    if installed(SHELL):
        return
    before = installed(*NAMES)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        if not before:
            print("no chromium here: the tests of pages are skipped (apt-get install chromium)")
        return
    print("installing chromium for the tests of pages…", flush=True)
    install = ("install", "-y", "--no-install-recommends")
    apt_get(*install, SHELL)
    if before or installed(SHELL):
        return
    apt_get("update")
    for name in NAMES:
        apt_get(*install, name)
        if installed(name):
            return
    print("chromium could not be installed: the tests of pages are skipped")


if __name__ == "__main__":
    main()
