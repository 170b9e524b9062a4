"""`tasks`: benchmarks with a blank, as files for the harness that runs them."""

import os
from importlib.resources import files
from pathlib import Path

from abstain.errors import InputError, check_name
from abstain.io.output import together, write_text

TOOLS = ("lm-eval",)
"""Harnesses; the files for each stand in a folder of its name."""


def tasks(tool: str, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the tasks for a harness into a folder, which may have other files; their paths.

    For lm-evaluation-harness ("lm-eval"): QA4MRE 2011 to 2013 with the option "I don't know"
    (`qa4mre_idk`) and with a threshold on the likelihoods (`qa4mre_threshold`).
    """
    check_name("harness", tool, TOOLS)
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InputError("is a file, expected a folder", str(target))
    target.mkdir(parents=True, exist_ok=True)
    sources = sorted((files(__package__) / tool).iterdir(), key=lambda source: source.name)
    with together():
        for source in sources:
            write_text(target / source.name, source.read_text(encoding="utf-8"))
    return [target / source.name for source in sources]
