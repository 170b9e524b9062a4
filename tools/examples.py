"""Write anew what the examples of the manual show: run each command, keep what it prints.

    python tools/examples.py README.md docs/scoring.md …

The tests compare the same output with the same code; read the difference before you commit it.
Blocks that need real data (`console data=FOLDER`) are left alone where the data is not here. What a
block draws (`--chart NAME.svg`) is kept in `docs/images/gallery`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.test_docs import Block, commands, here_is, lay_out, run_block, said, spans  # noqa: E402

KEPT = ROOT / "docs" / "images" / "gallery"


TYPED = re.compile(r"^\$ (?:.*\\\n)*.*$", re.M)
"""A command as it stands, a backslash continues it."""


def shown(block: Block, folder: Path) -> str:
    """The block's commands as they stand, each followed by what it prints now."""
    parts: list[str] = []
    for typed, (command, before) in zip(
        TYPED.findall(block.text), commands(block.text), strict=True
    ):
        ours = command.split()[0] == "abstain"
        parts += [typed, said(command, folder) if ours else before]
    return "".join(f"{line.rstrip()}\n" for part in parts for line in part.rstrip().splitlines())


def rewrite(document: Path) -> bool:
    """Whether what a document shows has changed."""
    text = before = document.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        memory: dict[str, object] = {}
        parts, at = [], 0
        for block, start, end in spans(text):
            if block.data is not None and not here_is(block.data):
                continue
            if block.data is not None:
                lay_out(block.data, folder)
            if block.language != "console":
                run_block(block, folder, document.name, memory)
                continue
            parts += [text[at:start], shown(block, folder)]
            at = end
        text = "".join([*parts, text[at:]])
        for chart in folder.glob("*.svg"):
            KEPT.mkdir(parents=True, exist_ok=True)
            shutil.copy(chart, KEPT / chart.name)
        os.chdir(ROOT)
    document.write_text(text, encoding="utf-8")
    return text != before


if __name__ == "__main__":
    for given in sys.argv[1:]:
        path = Path(given).resolve()
        print(f"{given}: {'written anew' if rewrite(path) else 'as it was'}")
