"""Make sure that there is a Java for Spark: Debian's package, where this runs as root.

python tools/java.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGES = ("openjdk-17-jre-headless", "default-jre-headless")


def main() -> None:
    """Install it once; a second time costs nothing."""
    if shutil.which("java"):
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing Java for Spark…", flush=True)
        quiet = ["apt-get", "-qq"]
        subprocess.run([*quiet, "update"], env=environment, check=False, capture_output=True)
        for package in PACKAGES:
            install = [*quiet, "install", "-y", "--no-install-recommends", package]
            subprocess.run(install, env=environment, check=False, capture_output=True)
            if shutil.which("java"):
                return
    sys.exit("there is no Java here: Spark needs version 17 or newer")


if __name__ == "__main__":
    main()
