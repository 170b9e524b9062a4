"""PAN authorship verification: truth.jsonl (`id`, `same`) and answers.jsonl (`id`, `value`).

`value` is how sure a system is that both texts have one author. Above 0.5 it says "same", below
"different", and exactly 0.5 is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from abstain.errors import InputError, Place, shown
from abstain.io.documents import records
from abstain.io.files import Opened
from abstain.io.log_rows import LogRows, as_float
from abstain.io.readers import Reader
from abstain.io.tables import Table

SAME, DIFFERENT = "same", "different"
WHAT = "line of PAN's truth or answers"


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """A truth as a gold, answers as a run; which of them it is, every line says."""
    rows = LogRows(opened, "pan")
    kinds: set[str] = set()
    for line, record in records(opened, dict[str, Any], what=WHAT):
        place = Place(opened.name, line)
        own = record.get("id")
        if not isinstance(own, (str, int)) or isinstance(own, bool) or own == "":
            raise InputError("has no 'id', expected the id of the problem", place)
        kinds |= {"truth"} if "same" in record else {"answers"}
        if len(kinds) > 1:
            raise InputError("has both 'same' and 'value' lines, expected one kind", place)
        if "same" in record:
            _add_truth(rows, str(own), record, place)
        else:
            _add_answer(rows, str(own), record, place)
    return rows.gold("answer") if kinds == {"truth"} else rows.gold()


def _add_truth(rows: LogRows, own: str, record: Mapping[str, Any], place: Place) -> None:
    if not isinstance(record["same"], bool):
        raise InputError(f"'same' is {shown(str(record['same']))}, expected true or false", place)
    rows.add(
        own,
        "right",
        line=place.line,
        correct=[SAME if record["same"] else DIFFERENT],
        options=[SAME, DIFFERENT],
        own={"same": "yes" if record["same"] else "no"},
    )


def _add_answer(rows: LogRows, own: str, record: Mapping[str, Any], place: Place) -> None:
    value = value_of(record.get("value"), place)
    if value == 0.5:
        rows.add(own, "declined", line=place.line, confidence=0.5, value=value)
        return
    said = SAME if value > 0.5 else DIFFERENT
    sure = max(value, 1 - value)
    rows.add(own, "right", line=place.line, answer=said, confidence=sure, value=value)


def value_of(value: Any, place: Place) -> float:
    """A value from 0 to 1; one system of 2020 wrote a list of one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"'value' is {shown(str(value))}, expected a number from 0 to 1", place)
    number = as_float(value)
    if not (math.isfinite(number) and 0 <= number <= 1):
        raise InputError(f"'value' is {number:g}, expected 0 to 1", place)
    return number


READER = Reader(
    name="pan",
    tool="PAN authorship verification",
    versions="PAN 2020 to 2023",
    files="truth.jsonl (id, same) and answers.jsonl (id, value)",
    read=read,
)
