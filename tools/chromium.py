"""Make sure that there is a chromium for the tests of pages, and say so where there cannot be.

    python tools/chromium.py

Debian's package, where this runs as root and apt-get knows it. Never fails: tests that need a
browser skip without one and say why.
"""

from __future__ import annotations

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser")
MINUTES = 10


def found() -> bool:
    """Whether one is here."""
    return any(shutil.which(name) for name in NAMES)


def main() -> None:
    """Install it once; a second time costs nothing."""
    if found():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        print("no chromium here: the tests of pages are skipped (apt-get install chromium)")
        return
    print("installing chromium for the tests of pages…", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"]
    for command in (install, ["apt-get", "update", "-qq"], install):
        try:
            subprocess.run(
                command, env=environment, timeout=60 * MINUTES, check=False, capture_output=True
            )
        except (OSError, subprocess.TimeoutExpired):
            break
        if found():
            return
    print("chromium could not be installed: the tests of pages are skipped")


if __name__ == "__main__":
    main()
