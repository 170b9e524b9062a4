"""A campaign as a folder: tables in three formats, results, a summary and a page.

The folder appears whole or not at all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec

from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.result import CampaignResult
from abstain.errors import InputError, UsageError, option
from abstain.report.campaign.page import campaign_page
from abstain.report.campaign.summary import sentences
from abstain.report.campaign.tables import all_tables
from abstain.report.grid import Grid, markdown_text
from abstain.report.pieces import PageTable, render
from abstain.report.view import ENDINGS, LOOKS
from abstain.report.words import policy_sentence

WIDEST, LONGEST = 40, 2_000
"""Markdown and LaTeX are for reading and pasting: larger tables are left to CSV."""


def write_campaign(
    result: CampaignResult, folder: str | Path, *, force: bool = False
) -> list[PageTable]:
    """Write everything; the tables that were written."""
    with whole_folder(folder, force=force) as draft:
        c = Overview(result)
        tables = [replace(table, filed=_endings(table.grid)) for table in all_tables(c)]
        (draft / "tables").mkdir()
        for table in tables:
            for ending in table.filed:
                text = LOOKS[ENDINGS[f".{ending}"]](table.grid, 2)
                _write(draft / "tables" / f"{table.name}.{ending}", text)
        _write(draft / "summary.md", summary_text(c))
        _write(draft / "results.json", msgspec.json.encode(result).decode() + "\n")
        _write(draft / "index.html", render(campaign_page(c, tables, in_folder=True)))
    return tables


def _endings(grid: Grid) -> tuple[str, ...]:
    """Of the files that a table is written to."""
    small = len(grid.columns) <= WIDEST and len(grid.rows) <= LONGEST
    return ("csv", "md", "tex") if small else ("csv",)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def summary_text(c: Overview) -> str:
    """The summary as Markdown."""
    result = c.result
    lines = [f"# {markdown_text(result.title)}", ""]
    if result.about:
        lines += [markdown_text(result.about), ""]
    lines += [f"- {markdown_text(sentence)}" for sentence in sentences(c)]
    lines += ["", markdown_text(policy_sentence(result.policy, result.touched)), ""]
    return "\n".join(lines)


def whole_folder_free(target: Path, *, force: bool) -> None:
    """Refuse a folder that may not be written, before any work is done."""
    if target.exists() and not target.is_dir():
        raise InputError("is a file, expected a folder to write", str(target))
    if not target.exists() or not any(target.iterdir()):
        return
    if not force:
        raise UsageError(f"{target} exists; {option('force', value=True)} replaces it")
    if not (target / "results.json").exists():
        raise UsageError(f"{target} is not a campaign's folder; it is left as it is")


@contextmanager
def whole_folder(folder: str | Path, *, force: bool) -> Iterator[Path]:
    """A folder to fill that takes its place at the end, or leaves no trace on any failure."""
    target = Path(folder)
    whole_folder_free(target, force=force)
    try:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.absolute().parent))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(target)) from None
    try:
        yield draft
        draft.chmod(0o755)
        old = draft.with_name(draft.name + ".old")
        if target.exists():
            os.replace(target, old)
        try:
            os.replace(draft, target)
        except OSError:
            if old.exists():
                os.replace(old, target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(target)) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
