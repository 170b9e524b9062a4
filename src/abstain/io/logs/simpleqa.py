"""SimpleQA style grades: CORRECT, INCORRECT, NOT_ATTEMPTED or A, B, C, as a judge wrote them.

A judge asked for one letter may answer in a sentence, and "the correct answer is Lima" is no
CORRECT. So a grade counts where it is all of the cell, a line of its own, a line such as
"Grade: A", or the grade of a JSON object; what else a cell says is unscored, never a verdict.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from abstain.errors import InputError, nearest, option, shown
from abstain.io.files import Opened
from abstain.io.log_rows import RIGHT, WRONG, LogRows, accepted, numbered, plain_text
from abstain.io.readers import Reader
from abstain.io.tables import ROW, Table, read_table

MEANINGS = {"A": RIGHT, "B": WRONG, "C": "declined"}
WORDS = {"CORRECT": RIGHT, "INCORRECT": WRONG, "NOTATTEMPTED": "declined"}
LETTER = r"(?P<letter{0}>[ABC])"
WORD = r"(?P<word{0}>NOT[ _-]?ATTEMPTED|INCORRECT|CORRECT)"
OPENS, CLOSES = r"[\s\"'“‘(\[{*_`<#>]*", r"[\s\"'”’)\]}*_`>.,;!]*"
"""What may stand around a grade: quotes, brackets, emphasis; "A-" and "B?" are no grades."""
LABEL = (
    r"(?:(?:the|my|final|overall)\s+)*(?:grade|verdict|judge?ment|grading)"
    r"[\s\"'”*_`]*(?::|=|\bis\b:?)"
)
BETWEEN = rf"{CLOSES}[:=-]?{OPENS}"
VERDICT = re.compile(
    rf"{OPENS}(?:{LABEL})?{OPENS}"
    rf"(?:{LETTER.format(1)}(?:{BETWEEN}{WORD.format(1)})?"
    rf"|{WORD.format(2)}(?:{BETWEEN}{LETTER.format(2)})?){CLOSES}",
    re.IGNORECASE,
)
FENCE = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
KEYS = ("grade", "verdict", "judgement", "judgment", "grade_letter")
MOST_LINE = 200
"""A longer line is no grade."""
KNOWN_FORMS = "A, B, C, CORRECT, INCORRECT or NOT_ATTEMPTED, alone or in a line 'Grade: A'"

GRADES = ("grade", "grader_response", "judgement", "judgment", "grade_letter", "outcome")
FLAGS = {"is_correct": RIGHT, "is_incorrect": WRONG, "is_not_attempted": "declined"}
QUESTIONS = ("question_id", "id", "qid", "index", "original_index", "question", "problem")
EXACT = ("question_id", "id", "qid", "index", "original_index")
"""Columns that name a question once."""
ANSWERS = ("predicted_answer", "prediction", "response", "model_answer", "model_response", "answer")
TARGETS = ("target", "correct", "gold", "reference", "answer")


def grade_of(text: str) -> str | None:
    """What a judge's grade says, or None where there is none, or several that differ.

    >>> grade_of("B"), grade_of("A: CORRECT"), grade_of("It fits.\\nGrade: (C)"), grade_of("C.")
    ('wrong', 'right', 'declined', 'declined')
    >>> grade_of("not correct"), grade_of("A or B"), grade_of("The correct answer is Lima.")
    (None, None, None)
    """
    found = {grade for part in _parts(text) for grade in _graded(part)}
    return found.pop() if len(found) == 1 else None


def _parts(text: str) -> Iterator[str]:
    """Where a grade may stand: in the lines, or in the JSON that a judge was asked for."""
    fenced = FENCE.search(text)
    body = fenced[1] if fenced else text.strip()
    if not body.startswith("{"):
        yield from text.splitlines()
        return
    try:
        own = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    for key, value in own.items():
        if key.strip().lower() in KEYS and isinstance(value, str):
            yield value


def _graded(line: str) -> Iterator[str]:
    """The grades of a line that says nothing else: a letter, a word, or both."""
    if len(line) > MOST_LINE or not (found := VERDICT.fullmatch(line)):
        return
    if letter := found["letter1"] or found["letter2"]:
        yield MEANINGS[letter.upper()]
    if word := found["word1"] or found["word2"]:
        yield WORDS[re.sub(r"[ _-]", "", word.upper())]


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """A table of graded responses; the column of grades is named or one of the usual."""
    raw = read_table(opened)
    if raw.verdicts is not None:
        raise InputError("is a log of another tool, expected a table of grades", opened.name)
    flags = [c for c in FLAGS if c in raw.columns]
    column = _column(raw, picks.get("grade"), GRADES)
    if column is None and not flags:
        have = ", ".join(raw.columns[:20])
        raise InputError(
            f"has no column of grades (its columns: {have}); name it: "
            f"{option('pick', {'grade': 'NAME'})}",
            opened.name,
        )
    own = _column(raw, picks.get("question"), QUESTIONS)
    answer = _column(raw, None, ANSWERS)
    target = next((c for c in TARGETS if c in raw.columns and c != answer), None)
    used = {ROW, column, own, answer, target, *flags, "run", "confidence"}
    others = [c for c in raw.columns if c not in used]
    rows = LogRows(opened, "simpleqa")
    seen: Counter[tuple[str, str]] = Counter()
    unread: list[tuple[int, str]] = []
    for number, row in enumerate(raw.frame.collect().iter_rows(named=True)):
        text = plain_text(row[column]) if column else None
        outcome = grade_of(text) if text is not None else _flagged(row, flags)
        reason = None
        if outcome is None:
            reason = "the flags read " + ", ".join(f"{f} {row[f]}" for f in flags)
            if text is not None:
                reason = f"the grade reads {shown(text, most=40)}"
            unread.append((row[ROW], reason))
        said = plain_text(row[answer]) if answer else ""
        question = plain_text(row[own]) if own else str(number + 1)
        run = plain_text(row["run"]) if "run" in raw.columns else ""
        seen[run, question] += 1
        if seen[run, question] > 1:
            if "question" in picks or own in EXACT:
                raise InputError(f"question {shown(question)} appears twice", raw.place(row[ROW]))
            question = numbered(question, seen[run, question])  # a text may well be asked twice
        rows.add(
            question,
            outcome or "unscored",
            said=said,
            reason=reason,
            correct=accepted([row[target]]) if target else None,
            confidence=_confidence(row, raw),
            run=run or None,
            attributes={c: row[c] for c in others},
        )
    if unread:
        at, reason = unread[0]
        place = raw.place(at)
        where = f"row {place.row}" if place.line is None else f"line {place.line}"
        rows.notes.append(
            f"{len(unread):,} of {rows.height:,} grades cannot be read as one grade and are "
            f"unscored (expected {KNOWN_FORMS}; the first, {where}: {reason})"
        )
    return rows.table()


def _column(raw: Table, picked: str | None, usual: tuple[str, ...]) -> str | None:
    """The column that was named, or the first of the usual ones."""
    if picked is not None and picked not in raw.columns:
        near = nearest(picked, raw.columns)
        hint = f" (nearest: {', '.join(near)})" if near else ""
        raise InputError(f"has no column {shown(picked)}{hint}", raw.name)
    return picked or next((c for c in usual if c in raw.columns), None)


def _flagged(row: Mapping[str, Any], flags: list[str]) -> str | None:
    true = [FLAGS[f] for f in flags if str(row[f]).strip().lower() in ("true", "1", "1.0", "yes")]
    return true[0] if len(true) == 1 else None


def _confidence(row: Mapping[str, Any], raw: Table) -> float | None:
    """A number from 0 to 1, or an empty cell: what else stands there is refused, as elsewhere."""
    cell = row.get("confidence")
    text = plain_text(cell)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(
            f"the confidence is {shown(text)}, expected a number from 0 to 1", raw.place(row[ROW])
        )
    return value


READER = Reader(
    name="simpleqa",
    tool="SimpleQA style grades",
    versions="A/B/C and CORRECT/INCORRECT/NOT_ATTEMPTED",
    files="a table (CSV, TSV, JSONL, Parquet) with a column of grades",
    picks={"grade": "the column of grades", "question": "the column that names questions"},
    read=read,
)
