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
from typing import Any

import msgspec

from abstain import __version__
from abstain.analyses.campaign.campaign import Campaign
from abstain.analyses.campaign.summary import sentences
from abstain.analyses.campaign.table import LONGEST, Table
from abstain.analyses.campaign.tables import all_tables
from abstain.errors import InputError, UsageError, option
from abstain.report.grid import Grid, markdown_text, to_csv, to_latex, to_markdown
from abstain.report.page import campaign_page
from abstain.report.scores import policy_sentence


def write_campaign(
    c: Campaign,
    folder: str | Path,
    *,
    title: str = "Campaign",
    about: str = "",
    command: str = "",
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Table]:
    """Write everything; the tables that were written."""
    words = {"title": title, "about": about, "command": command}
    with whole_folder(folder, force=force) as draft:
        progress("making tables")
        tables = all_tables(c)
        (draft / "tables").mkdir()
        for table in tables:
            progress(f"writing {table.name}")
            _write_table(draft / "tables", table)
        said = list(sentences(c))
        _write(draft / "summary.md", summary_text(c, said, title=title, about=about))
        _write(draft / "results.json", results_text(c, tables, said, **words))
        progress("writing the page")
        _write(draft / "index.html", campaign_page(c, tables, said, **words))
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


def summary_text(c: Campaign, said: list[str], *, title: str, about: str) -> str:
    """The summary as Markdown."""
    lines = [f"# {markdown_text(title)}", ""]
    if about:
        lines += [markdown_text(about), ""]
    lines += [f"- {markdown_text(sentence)}" for sentence in said]
    lines += ["", markdown_text(policy_sentence(c.policy, c.touched)), ""]
    return "\n".join(lines)


def results_text(
    c: Campaign, tables: list[Table], said: list[str], *, title: str, about: str, command: str = ""
) -> str:
    """Everything as JSON."""
    data: dict[str, Any] = {
        "abstain": __version__,
        "kind": "campaign",
        **({"command": command} if command else {}),
        "title": title,
        "about": about,
        "questions": c.matrix.questions.height,
        "runs": len(c.runs),
        "measure": str(c.measure),
        "pass_mark": c.pass_mark,
        "seed": c.seed,
        "policy": c.policy.to_dict(),
        "touched": c.touched,
        "notes": list(c.notes),
        "summary": said,
        "results": [
            {
                "run": c.runs[i],
                "slice": {},
                "counts": _whole(c.overall[i].to_dict()),
                "scores": {str(c.measure): _plain(float(c.scores[i]))},
                "intervals": {str(c.measure): [_plain(x) for x in _ends(c, i)]},
                "undefined": _reasons(c, i),
            }
            for i in c.order
        ],
        "tables": {table.name: _table_data(table) for table in tables},
    }
    return msgspec.json.encode(data, enc_hook=_plain_number).decode() + "\n"


def _reasons(c: Campaign, run: int) -> dict[str, str]:
    reason = c.measure.why_undefined(c.overall[run])
    return {str(c.measure): reason} if reason else {}


def _ends(c: Campaign, i: int) -> tuple[float, float]:
    return c.intervals[i].low, c.intervals[i].high


def _table_data(table: Table) -> dict[str, Any]:
    keep = [i for i, column in enumerate(table.grid.columns) if column.kind != "bar"]
    return {
        "title": table.title,
        "reading": table.reading,
        "columns": [table.grid.columns[i].name for i in keep],
        "rows": [[row[i] for i in keep] for row in table.grid.rows[:LONGEST]],
        **({"rows_in_all": len(table.grid.rows)} if len(table.grid.rows) > LONGEST else {}),
    }


def _whole(numbers: dict[str, float | None]) -> dict[str, float | None]:
    return {k: int(v) if v is not None and float(v).is_integer() else v for k, v in numbers.items()}


def _plain_number(value: Any) -> float | None:
    """A score that knows why it is undefined, as JSON has it: null."""
    if not isinstance(value, float):
        raise TypeError(f"{type(value).__name__} has no place in a table")
    return None if value != value else float(value)


def _plain(cell: Any) -> Any:
    return None if isinstance(cell, float) and cell != cell else cell


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
