"""SQuAD 2: a data set, predictions, no-answer probabilities.

An empty prediction says that the text has no answer: right where there is none, a blank where
there is one. With a threshold an answer whose no-answer probability is above it is held back, and
stays the candidate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from abstain.errors import InputError, UsageError, nearest, option, plural, shown
from abstain.io.documents import document
from abstain.io.files import Opened, open_plain
from abstain.io.log_rows import RIGHT, WRONG, LogRows, number_picked
from abstain.io.normalise import squad
from abstain.io.readers import Reader
from abstain.io.tables import Table

HAS, NONE = "HasAns", "NoAns"
DATA_SET = re.compile(rb'"data"\s*:\s*\[')
"""What a data set has and predictions, whose values are texts, have not."""


class Answer(msgspec.Struct):
    text: str


class Item(msgspec.Struct):
    id: str
    answers: list[Answer] = []
    is_impossible: bool | None = None


class Paragraph(msgspec.Struct):
    qas: list[Item]


class Article(msgspec.Struct):
    paragraphs: list[Paragraph]
    title: str = ""


class Data(msgspec.Struct):
    data: list[Article]
    version: str | None = None


class Question(Struct, frozen=True):
    """A question of the data set: the texts that are right, none where it has no answer."""

    id: str
    golds: tuple[str, ...]
    title: str

    def cells(self) -> dict[str, Any]:
        """What a row says of it."""
        kind = HAS if self.golds else NONE
        return {"correct": list(self.golds), "own": {"kind": kind, "title": self.title}}


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """Predictions judged by the data set; or the data set, whose questions are a gold."""
    is_data = DATA_SET.search(opened.head(4096)) is not None
    if "gold" not in picks:
        if is_data:
            return _questions(opened)
        raise InputError(
            "are predictions, which need their data set to be judged: name the data set, as in "
            f"{option('pick', {'gold': 'dev-v2.0.json'})}",
            opened.name,
        )
    questions = read_data(open_plain(picks["gold"]))
    if is_data:
        raise InputError("is a data set, expected predictions ({question: text})", opened.name)
    said = read_predictions(opened, questions)
    threshold = number_picked(picks, "threshold")
    if threshold is not None and "na-prob" not in picks:
        raise UsageError("threshold needs the no-answer probabilities: na-prob=FILE")
    sure = _sure(open_plain(picks["na-prob"]), questions) if "na-prob" in picks else None
    rows = LogRows(opened, "squad")
    lacking = sum(own.id not in said for own in questions)
    for own in questions:
        chance = sure[own.id] if sure else None
        _add(rows, own, said.get(own.id), chance, threshold)
    if lacking:
        rows.notes.append(f"{plural(lacking, 'question has', 'questions have')} no prediction")
    return rows.table(by_match=True)


def _sure(opened: Opened, questions: list[Question]) -> dict[str, float]:
    """No-answer probabilities, of which confidences can be made: from 0 to 1."""
    chances = read_chances(opened, questions)
    for own, chance in chances.items():
        if not 0 <= chance <= 1:
            raise InputError(
                f"the no-answer probability of question {shown(own)} is {chance:g}, expected 0 to "
                "1 (`abstain squad` takes scores of any size)",
                opened.name,
            )
    return chances


def _add(
    rows: LogRows, own: Question, said: str | None, chance: float | None, threshold: float | None
) -> None:
    held = bool(said) and threshold is not None and chance is not None and chance > threshold
    given = "" if held else (said or "")
    cells = own.cells()
    if chance is not None:  # how sure it is of what it says, which may be that there is no answer
        cells["confidence"] = 1 - chance if given or (held and own.golds) else chance
    if said is None:
        rows.add(own.id, "missing", **cells)
    elif own.golds:
        fits = squad(said) in {squad(g) for g in own.golds}
        if given:
            rows.add(own.id, RIGHT if fits else WRONG, answer=said, response=said, **cells)
        elif held:
            outcome = "unanswered_right" if fits else "unanswered_wrong"
            rows.add(own.id, outcome, candidate=said, response=said, **cells)
        else:
            rows.add(own.id, "declined", **cells)
    else:
        empty = not squad(given)  # as SQuAD has it: nothing is left of "the" either
        outcome, answer = (RIGHT, "none") if empty else (WRONG, given)
        rows.add(own.id, outcome, answer=answer, response=said or None, **cells)


def _questions(opened: Opened) -> Table:
    rows = LogRows(opened, "squad")
    for own in read_data(opened):
        rows.add(own.id, RIGHT, **own.cells())
    return rows.gold("answer")


def read_data(opened: Opened) -> list[Question]:
    """The questions of a data set; an answer that normalises to nothing is none, as in SQuAD."""
    data = document(opened, Data, what="SQuAD 2 data set")
    found: dict[str, Question] = {}
    data.data.reverse()
    while data.data:  # what was taken in is let go: a data set may be large
        article = data.data.pop()
        for paragraph in article.paragraphs:
            for item in paragraph.qas:
                if item.id in found:
                    raise InputError(f"has question {shown(item.id)} twice", opened.name)
                golds = tuple(a.text for a in item.answers if squad(a.text))
                if item.is_impossible and golds:
                    raise InputError(
                        f"has question {shown(item.id)} with answers, although it is marked "
                        "is_impossible",
                        opened.name,
                    )
                found[item.id] = Question(item.id, golds, article.title)
    if not found:
        raise InputError(f"has no questions (version seen: {data.version})", opened.name)
    return list(found.values())


def read_predictions(opened: Opened, questions: list[Question]) -> dict[str, str]:
    """Question to text; a question that the data set lacks is refused."""
    said = document(opened, dict[str, str], what="SQuAD prediction file")
    _refuse_unknown(said, questions, opened)
    return said


def read_chances(opened: Opened, questions: list[Question]) -> dict[str, float]:
    """Question to the probability that it has no answer; every question needs one."""
    chances = document(opened, dict[str, float], what="SQuAD file of no-answer probabilities")
    _refuse_unknown(chances, questions, opened)
    for own in questions:
        if own.id not in chances or math.isnan(chances[own.id]):
            raise InputError(f"has no probability for question {shown(own.id)}", opened.name)
    return chances


def _refuse_unknown(given: Mapping[str, Any], questions: list[Question], opened: Opened) -> None:
    known = {own.id for own in questions}
    for name in given:
        if name not in known:
            near = nearest(name, list(known)[:5000])
            hint = f" (nearest: {shown(near[0])})" if near else ""
            raise InputError(
                f"has question {shown(name)}, which the data set lacks{hint}", opened.name
            )


READER = Reader(
    name="squad",
    tool="SQuAD 2",
    versions="v2.0",
    files="predictions ({question: text}) with gold=FILE, or the data set itself",
    sniff=re.compile(rb'\{\s*"version"\s*:\s*"v2\.0"\s*,\s*"data"\s*:\s*\['),
    picks={
        "gold": "the data set (dev-v2.0.json)",
        "na-prob": "the file of no-answer probabilities",
        "threshold": "an answer is left blank if its no-answer probability is above this",
    },
    read=read,
)
