"""Saved results, read back: which command wrote one, and whether it holds what it should."""

from __future__ import annotations

from pathlib import Path

import msgspec

from abstain.errors import InputError, plural, shown
from abstain.io.files import open_plain
from abstain.report.grid import clean
from abstain.report.results.saved import (
    KINDS,
    CampaignResults,
    CampaignTable,
    Compare,
    Curve,
    Meta,
    Result,
)

MOST_BYTES = 512 << 20
COUNTED = {"leaderboard": ("right", "wrong", "unanswered")}
"""Columns of a campaign's tables that are drawn, so that they must be numbers."""

POINTS = {
    "risk": ("run", "coverage"),
    "measure": ("run", "coverage"),
    "reliability": ("run", "confidence", "accuracy", "answers"),
    "roc": ("run",),
    "decision": ("run", "t", "S"),
}
"""Fields that a curve is drawn from."""

SIGNS = {
    "campaign": {"tables", "summary"},
    "compare": {"pairs"},
    "curve": {"view", "along"},
    "meta": {"trials", "measures"},
    "score": {"results"},
}
"""By which keys a result is known that does not name its kind; the first that fits."""


def read_result(path: str | Path) -> Result:
    """Read a saved result; anything else is refused with what was expected."""
    name = str(path)
    with open_plain(path).stream() as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise InputError(f"has more than {MOST_BYTES >> 20} MiB, expected a saved result", name)
    kind = _kind(text, name)
    try:
        found: Result = msgspec.json.decode(text, type=KINDS[kind])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InputError(f"is no whole result of `abstain {kind}`: {_told(error)}", name) from None
    _fits(found, name)
    return found


def _kind(text: bytes, name: str) -> str:
    try:
        head = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"is no JSON of a result, expected what `abstain score --format json` and its kin "
            f"write: {_told(error)}",
            name,
        ) from None
    if "abstain" not in head:
        raise InputError(
            "is no result of abstain: it has no field 'abstain', expected what `abstain score "
            "--format json` and its kin write",
            name,
        )
    if "kind" in head:
        try:
            kind = msgspec.json.decode(head["kind"], type=str)
        except msgspec.MsgspecError:
            raise InputError("has a 'kind' that is no text", name) from None
        if kind not in KINDS:
            raise InputError(
                f"is a result of kind {shown(kind)}, expected {', '.join(KINDS)}", name
            )
        return kind
    for kind, needed in SIGNS.items():
        if needed <= set(head):
            return kind
    raise InputError(f"is a result without a page, expected one of {', '.join(KINDS)}", name)


def _told(error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text[:1].lower() + text[1:]


def _fits(result: Result, name: str) -> None:
    """What types cannot say."""
    if isinstance(result, (Compare, CampaignResults)) and not result.results:
        raise InputError("has no results, expected at least one run", name)
    if isinstance(result, CampaignResults):
        for table, own in result.tables.items():
            if clean(table) != table:
                raise InputError(f"table {shown(table)}: expected a name of plain text", name)
            bad = next((n for n, r in enumerate(own.rows, 1) if len(r) != len(own.columns)), None)
            if bad is not None:
                cells = plural(len(own.columns), "cell")
                raise InputError(f"table {shown(table)}, row {bad}: expected {cells}", name)
            _counted(table, own, name)
    if isinstance(result, Curve):
        _drawable(result, name)
    if isinstance(result, Meta):
        _complete(result, name)


def _drawable(result: Curve, name: str) -> None:
    """Every point of a curve has a run and a place."""
    for view, rows in (*result.curves.items(), (result.view, result.results)):
        for number, row in enumerate(rows, 1):
            gone = [key for key in POINTS.get(view, ()) if key not in row]
            if gone or (view in POINTS and not isinstance(row["run"], str)):
                field = gone[0] if gone else "run"
                raise InputError(f"{view}, point {number}: expected a {field}", name)
    if result.decision is not None:
        size = len(result.decision.t)
        for run, curve in result.decision.curves.items():
            if {len(curve.S), len(curve.low), len(curve.high)} != {size}:
                raise InputError(f"the decision curve of {shown(run)} lacks points", name)


def _complete(result: Meta, name: str) -> None:
    """Every measure has what the tables set beside one another."""
    levels = [[point.fuzziness for point in own.curve] for own in result.stability]
    if any(own != levels[0] for own in levels):
        raise InputError("the stability of measures has other levels than the first", name)
    if any(not row.width > 0 for row in result.sensitivity):
        raise InputError("a sensitivity has bins of no width, expected more than 0", name)
    if not result.sensitivity:
        return
    known = {(row.questions, row.measure) for row in result.required_by_questions}
    sizes = {size for size, _ in known}
    judged = {row.measure for row in result.sensitivity}
    for own in result.measures:
        if own not in judged or any((size, own) not in known for size in sizes):
            raise InputError(f"the sensitivity of {shown(own)} is not whole", name)


def _counted(table: str, own: CampaignTable, name: str) -> None:
    for column in COUNTED.get(table, ()):
        at = own.columns.index(column) if column in own.columns else None
        for number, row in enumerate(own.rows, 1):
            if at is not None and isinstance(row[at], str):
                raise InputError(
                    f"table {shown(table)}, row {number}: expected a number of {column}, got "
                    f"{shown(str(row[at]))}",
                    name,
                )
