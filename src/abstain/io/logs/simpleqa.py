"""SimpleQA style grades: CORRECT, INCORRECT, NOT_ATTEMPTED or A, B, C, as a judge wrote them.

A judge asked for one letter may answer in a sentence, and "the correct answer is Lima" is no
CORRECT. So a grade counts where it is all of the cell, a whole line, a line such as
"Grade: A", or the grade of a JSON object; what else a cell says is unscored, never a verdict.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from abstain.errors import InputError, nearest, option, shown
from abstain.io.files import Opened
from abstain.io.readers import LogRows, Reader, accepted, numbered, plain_text
from abstain.io.tables import ROW, Table, read_table

MEANINGS = {"A": "right", "B": "wrong", "C": "declined"}
MEANINGS |= {"CORRECT": "right", "INCORRECT": "wrong", "NOTATTEMPTED": "declined"}
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
EXACT = ("question_id", "id", "qid", "index", "original_index")
"""Columns that name a question once."""
QUESTIONS = (*EXACT, "question", "problem")
ANSWERS = ("predicted_answer", "prediction", "response", "model_answer", "model_response", "answer")
TARGETS = ("target", "correct", "gold", "reference", "answer")


def grade_of(text: str) -> str | None:
    """What a judge's grade says, or None where there is none, or several that differ.

    >>> grade_of("B"), grade_of("A: CORRECT"), grade_of("It fits.\\nGrade: (C)"), grade_of("C.")
    ('wrong', 'right', 'declined', 'declined')
    >>> grade_of("not correct"), grade_of("A or B"), grade_of("The correct answer is Lima.")
    (None, None, None)
    """
    fenced = FENCE.search(text)
    body = fenced[1] if fenced else text.strip()
    lines = text.splitlines()
    if body.startswith("{"):  # the JSON that a judge was asked for
        lines = []
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            items = msgspec.json.decode(body).items()
            lines = [v for k, v in items if k.strip().lower() in KEYS and isinstance(v, str)]
    grades = {grade for line in lines for grade in _graded(line)}
    return grades.pop() if len(grades) == 1 else None


def _graded(line: str) -> Iterator[str]:
    """The grades of a line that says nothing else: a letter, a word, or both."""
    if len(line) > MOST_LINE or not (match := VERDICT.fullmatch(line)):
        return
    if letter := match["letter1"] or match["letter2"]:
        yield MEANINGS[letter.upper()]
    if word := match["word1"] or match["word2"]:
        yield MEANINGS[re.sub(r"[ _-]", "", word.upper())]


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """A table of graded responses; the column of grades is named or one of the usual."""
    raw = read_table(opened)
    if raw.verdicts is not None:
        raise InputError("is a log of another tool, expected a table of grades", opened.name)
    column = _column(raw, picks.get("grade"), GRADES)
    if column is None:
        have, how = ", ".join(raw.columns[:20]), option("pick", {"grade": "NAME"})
        raise InputError(f"has no column of grades (its columns: {have}); name it: {how}", raw.name)
    id_column = _column(raw, picks.get("question"), QUESTIONS)
    answer = _column(raw, None, ANSWERS)
    target = next((c for c in TARGETS if c in raw.columns and c != answer), None)
    used = {ROW, column, id_column, answer, target, "run", "confidence"}
    rows = LogRows(opened, "simpleqa")
    seen: Counter[tuple[str, str]] = Counter()
    unread: list[tuple[int, str]] = []
    for number, row in enumerate(raw.frame.collect().iter_rows(named=True)):
        grade = plain_text(row[column])
        outcome = grade_of(grade) or "unscored"
        reason = f"the grade reads {shown(grade, most=40)}" if outcome == "unscored" else None
        if reason:
            unread.append((row[ROW], reason))
        question = plain_text(row[id_column]) if id_column else str(number + 1)
        run = plain_text(row.get("run"))
        seen[run, question] += 1
        if seen[run, question] > 1 and ("question" in picks or id_column in EXACT):
            raise InputError(f"question {shown(question)} appears twice", raw.place(row[ROW]))
        rows.add(
            numbered(question, seen[run, question]),  # a text may well be asked twice
            outcome,
            text=plain_text(row[answer]) if answer else "",
            reason=reason,
            correct=accepted([row[target]]) if target else None,
            confidence=_confidence(row, raw),
            run=run or None,
            metadata={c: row[c] for c in raw.columns if c not in used},
        )
    if unread:
        at, reason = unread[0]
        rows.notes.append(
            f"{len(unread):,} of {rows.height:,} grades cannot be read as one grade and are "
            f"unscored (expected {KNOWN_FORMS}; the first, {raw.place(at)}: {reason})"
        )
    return rows.table()


def _column(raw: Table, picked: str | None, usual: tuple[str, ...]) -> str | None:
    """The column that was named, or the first of the usual ones."""
    if picked is not None and picked not in raw.columns:
        near = ", ".join(nearest(picked, raw.columns)) or "none"
        raise InputError(f"has no column {shown(picked)} (nearest: {near})", raw.name)
    return picked or next((c for c in usual if c in raw.columns), None)


def _confidence(row: Mapping[str, Any], raw: Table) -> float | None:
    text = plain_text(row.get("confidence"))
    if not text:
        return None
    with contextlib.suppress(ValueError):
        if 0 <= (value := float(text)) <= 1:
            return value
    what = f"the confidence is {shown(text)}, expected a number from 0 to 1"
    raise InputError(what, raw.place(row[ROW]))


READER = Reader(
    name="simpleqa",
    tool="SimpleQA style grades",
    versions="A/B/C and CORRECT/INCORRECT/NOT_ATTEMPTED",
    files="a table (CSV, TSV, JSONL, Parquet) with a column of grades",
    picks={"grade": "the column of grades", "question": "the column that names questions"},
    read=read,
)
