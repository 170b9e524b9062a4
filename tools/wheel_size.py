"""Print what installing abstain costs: the wheel's size, its installed size, its dependencies.

    python tools/wheel_size.py [WHEEL]

Without a wheel it builds one of this checkout. Direct dependencies are those that the wheel
declares; all of them, and their size on disk, are counted in the environment that runs the script.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from email.parser import HeaderParser
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIB = 1 << 20


def build(folder: str) -> Path:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = Path(folder).glob("*.whl")
    return wheel


def plain(name: str) -> str:
    """A distribution's name as an index writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(lines: list[str]) -> list[str]:
    """The distributions that are always needed here: not those of extras or other platforms."""
    from packaging.requirements import Requirement

    found = [Requirement(line) for line in lines]
    return [
        plain(own.name) for own in found if own.marker is None or own.marker.evaluate({"extra": ""})
    ]


def direct(wheel: Path) -> list[str]:
    """The dependencies that a wheel declares."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        facts = HeaderParser().parsestr(archive.read(name).decode())
    return sorted(needed(facts.get_all("Requires-Dist") or []))


def everything(names: list[str]) -> dict[str, Distribution | None]:
    """Those and all that they need in turn, as far as they are installed here."""
    found: dict[str, Distribution | None] = {}
    left = list(names)
    while left:
        name = left.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            found[name] = None
            continue
        left += needed(found[name].requires or [])  # type: ignore[union-attr]
    return found


def on_disk(installed: Distribution) -> int:
    """The bytes of a distribution's files."""
    paths = [Path(str(installed.locate_file(own))) for own in installed.files or []]
    return sum(path.stat().st_size for path in paths if path.is_file())


def report(wheel: Path) -> list[str]:
    """The lines to print."""
    with zipfile.ZipFile(wheel) as archive:
        size = sum(own.file_size for own in archive.infolist())
        files = len(archive.infolist())
    names = direct(wheel)
    whole = everything(names)
    there = {name: on_disk(own) for name, own in whole.items() if own is not None}
    absent = sorted(whole.keys() - there.keys())
    largest = sorted(there, key=lambda name: -there[name])[:3]
    lines = [
        f"wheel: {wheel.name}, {wheel.stat().st_size / MIB:.2f} MiB",
        f"installed: {size / MIB:.2f} MiB in {files} files",
        f"dependencies: {len(names)} direct ({', '.join(names)})",
        f"in all: {len(whole)} distributions, {sum(there.values()) / MIB:.1f} MiB",
        "largest: " + ", ".join(f"{name} {there[name] / MIB:.1f} MiB" for name in largest),
    ]
    return lines + ([f"not installed here: {', '.join(absent)}"] if absent else [])


def main() -> None:
    """Print the report of a wheel, given or built."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(sys.argv[1]) if sys.argv[1:] else build(folder)
        print("\n".join(report(wheel)))


if __name__ == "__main__":
    main()
