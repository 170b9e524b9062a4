"""SimpleQA style grades: CORRECT, INCORRECT, NOT_ATTEMPTED or A, B, C, as a judge wrote them.

A judge asked for one letter may answer in a sentence. Only whole words count, and only when they
leave no doubt; what cannot be read is unscored, never wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from abstain.errors import InputError, nearest, shown
from abstain.formats.files import Opened
from abstain.formats.logs.rows import RIGHT, WRONG, LogRows, plain_text
from abstain.formats.tables import ROW, UNTOLD, Table, read_table

MEANINGS = {"A": RIGHT, "B": WRONG, "C": "declined"}
WORDS = {"CORRECT": RIGHT, "INCORRECT": WRONG, "NOT_ATTEMPTED": "declined"}
WORD = re.compile(r"(?<!\w)(NOT[ _-]?ATTEMPTED|INCORRECT|CORRECT)(?!\w)", re.IGNORECASE)
LETTER = re.compile(r"(?<!\w)([ABC])(?!\w|['’]\w)")
ALONE = re.compile(r"\W*([ABCabc])\W*")
DENIED = re.compile(r"(?<!\w)(?:not|n't|isn't|never)\s+(?:quite\s+|entirely\s+)?CORRECT", re.I)

GRADES = ("grade", "grader_response", "judgement", "judgment", "grade_letter", "outcome")
FLAGS = {"is_correct": RIGHT, "is_incorrect": WRONG, "is_not_attempted": "declined"}
QUESTIONS = ("question_id", "id", "qid", "index", "original_index", "question", "problem")
EXACT = ("question_id", "id", "qid", "index", "original_index")
"""Columns that name a question once."""
ANSWERS = ("predicted_answer", "prediction", "response", "model_answer", "model_response", "answer")
TARGETS = ("target", "correct", "gold", "reference", "answer")


def grade_of(text: str) -> str | None:
    """What a judge's words say, or None where they leave it open.

    >>> grade_of("B"), grade_of("A: CORRECT"), grade_of("The grade is (C)."), grade_of("C.")
    ('wrong', 'right', 'declined', 'declined')
    >>> grade_of("INCORRECT"), grade_of("not correct"), grade_of("A or B"), grade_of("A good try")
    ('wrong', None, None, None)
    """
    if found := ALONE.fullmatch(text):
        return MEANINGS[found[1].upper()]
    if DENIED.search(text):
        return None
    words = {WORDS[_word(w)] for w in WORD.findall(text)}
    letters = LETTER.findall(text)
    if words:
        begun = re.match(r"\W*([ABC])\s*[:.)\]-]", text)
        said = {MEANINGS[begun[1]]} if begun else set()
        return next(iter(words)) if len(words | said) == 1 else None
    if len(set(letters)) != 1 or not _is_grade(text, letters[0]):
        return None
    return MEANINGS[letters[0]]


def _word(text: str) -> str:
    upper = text.upper()
    return "NOT_ATTEMPTED" if upper.startswith("NOT") else upper


def _is_grade(text: str, letter: str) -> bool:
    """Whether a letter stands as a grade does: marked, or as the last word; "A" is also a word."""
    quoted = rf"[\"'(\[*`]{letter}[\"')\]*`]"
    told = rf"\b(?:is|grade|answer)\s*:?\s*{letter}(?=\W*(?:$|\n))"
    marked = re.search(f"{quoted}|{told}", text)
    last = re.search(rf"\b{letter}\W*$", text)
    return bool(marked or last)


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """A table of graded responses; the column of grades is named or one of the usual."""
    raw = read_table(opened)
    if raw.verdicts is not None:
        raise InputError("is a log of another tool, expected a table of grades", opened.name)
    frame = raw.frame.collect()
    column = picks.get("grade") or next((c for c in GRADES if c in raw.columns), None)
    flags = [c for c in FLAGS if c in raw.columns]
    if column is None and not flags:
        have = ", ".join(raw.columns[:20])
        raise InputError(
            f"has no column of grades (its columns: {have}); name it: --from simpleqa:grade=NAME",
            opened.name,
        )
    if column is not None and column not in raw.columns:
        near = nearest(column, raw.columns)
        hint = f" (nearest: {', '.join(near)})" if near else ""
        raise InputError(f"has no column {shown(column)}{hint}", opened.name)
    own = picks.get("question") or next((c for c in QUESTIONS if c in raw.columns), None)
    answer = next((c for c in ANSWERS if c in raw.columns), None)
    target = next((c for c in TARGETS if c in raw.columns and c != answer), None)
    used = {ROW, column, own, answer, target, *flags, "run", "confidence"}
    others = [c for c in raw.columns if c not in used]
    rows = LogRows(opened, "simpleqa")
    seen: Counter[tuple[str, str]] = Counter()
    unread = 0
    for number, row in enumerate(frame.iter_rows(named=True)):
        text = plain_text(row[column]) if column else None
        outcome = grade_of(text) if text is not None else _flagged(row, flags)
        unread += outcome is None
        said = plain_text(row[answer]) if answer else ""
        question = plain_text(row[own]) if own else str(number + 1)
        run = plain_text(row["run"]) if "run" in raw.columns else ""
        seen[run, question] += 1
        if seen[run, question] > 1:
            if "question" in picks or own in EXACT:
                raise InputError(f"question {shown(question)} stands twice", raw.place(number))
            question += f"#{seen[run, question]}"  # a text may well be asked twice
        rows.add(
            question,
            outcome or "unscored",
            answer=said,
            response=said or None,
            reason=None if outcome else f"the grade reads {shown(text or '', most=40)}",
            correct=[plain_text(row[target]) or UNTOLD] if target else None,
            confidence=_number(row.get("confidence")),
            run=run or None,
            attributes={c: row[c] for c in others},
        )
    if unread:
        rows.notes.append(f"{unread:,} of {rows.height:,} grades leave it open: unscored")
    return rows.table()


def _flagged(row: Mapping[str, Any], flags: list[str]) -> str | None:
    true = [FLAGS[f] for f in flags if str(row[f]).strip().lower() in ("true", "1", "1.0", "yes")]
    return true[0] if len(true) == 1 else None


def _number(cell: Any) -> float | None:
    try:
        return None if cell in (None, "") else float(cell)
    except (TypeError, ValueError):
        return None
