"""A campaign as a folder: tables in three formats, results, a summary and a page.

The folder appears whole or not at all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from abstain.analyses.campaign.overview import Overview
from abstain.analyses.campaign.result import CampaignResult
from abstain.errors import InputError, UsageError, option
from abstain.report.campaign.page import campaign_page
from abstain.report.campaign.summary import sentences
from abstain.report.campaign.table import Table
from abstain.report.campaign.tables import all_tables
from abstain.report.grid import Grid, markdown_text, to_csv, to_latex, to_markdown
from abstain.report.pieces import render
from abstain.report.scores import policy_sentence


def write_campaign(
    result: CampaignResult,
    folder: str | Path,
    *,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Table]:
    """Write everything; the tables that were written."""
    with whole_folder(folder, force=force) as draft:
        progress("making tables")
        c = Overview(result)
        tables = all_tables(c)
        (draft / "tables").mkdir()
        for table in tables:
            progress(f"writing {table.name}")
            _write_table(draft / "tables", table)
        _write(draft / "summary.md", summary_text(c))
        _write(draft / "results.json", msgspec.json.encode(result).decode() + "\n")
        progress("writing the page")
        _write(draft / "index.html", render(campaign_page(c, tables, in_folder=True)))
    return tables


def _write_table(folder: Path, table: Table) -> None:
    looks: dict[str, Callable[[Grid], str]] = {
        "csv": to_csv,
        "md": lambda grid: to_markdown(grid, digits=2),
        "tex": lambda grid: to_latex(grid, digits=2),
    }
    for ending in table.endings:
        _write(folder / f"{table.name}.{ending}", looks[ending](table.grid))


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
