"""QA4MRE XML: golds (`test-set`) and runs (`output`) of 2011 to 2013, read with care.

A question's id is `topic/test/question`, as in `1/7/12`, made of t_id, r_id and q_id: numbers
restart in every test, so q_id alone names nothing. A level without an id is left out.

Tags are told one by one and no tree is kept, so a file is as cheap as its questions, whatever
documents it carries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from abstain.errors import InputError, Place, shown
from abstain.io.files import Opened
from abstain.io.normalise import plain
from abstain.io.safe_xml import Listener, parse
from abstain.io.tables import ROW, Table

LEVEL = "/"
"""Separates topic, test and question in a question's id."""

NONE_OF_THE_ABOVE = "none of the above"
SPLIT = "|"
JOINED = "\x1f"

MAX_QUESTIONS = 1_000_000
MAX_ANSWERS = 1_000
MAX_TEXT = 1 << 20
MAX_ID = 1_000
MAX_ATTRIBUTES = 100

EXPECTED = "expected QA4MRE XML: <test-set> (a gold) or <output> (a run)"
DERIVED = ("test", "nca")
"""What follows from the file, unless a question says otherwise in an attribute of its own."""
RUN_EXTRAS = ("confidence", "why")


def question_id(*levels: str | None) -> str | None:
    """The id of a question from its t_id, r_id and q_id; None where the question has none.

    >>> question_id("1", "7", "12"), question_id(None, None, "q1"), question_id("1", "7", None)
    ('1/7/12', 'q1', None)
    """
    return LEVEL.join(level for level in levels if level) if levels[-1] else None


def id_levels(question: str) -> tuple[str | None, str | None, str]:
    """The t_id, r_id and q_id that make up an id; an id of another form is a q_id alone.

    >>> id_levels("1/7/12"), id_levels("q1")
    (('1', '7', '12'), (None, None, 'q1'))
    """
    parts = question.split(LEVEL)
    if len(parts) == 3 and all(part and part == part.strip() for part in parts):
        return parts[0], parts[1], parts[2]
    return None, None, question


def is_none_of_the_above(text: str) -> bool:
    """Whether an option says that none of the others is right.

    >>> is_none_of_the_above("None of the above."), is_none_of_the_above("none")
    (True, False)
    """
    return plain(text) == NONE_OF_THE_ABOVE


def says_none(right: Sequence[str], options: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a right option of a question says that none of the others is right."""
    said = [text for option, text in zip(options, texts, strict=True) if option in right]
    return any(map(is_none_of_the_above, said))


def read_qa4mre(opened: Opened) -> Table:
    """A gold or a run as a table; which of them it is, its root says."""
    reader = _Reader(opened.name)
    parse(opened, reader, expected=EXPECTED)
    if not reader.questions:
        raise InputError(f"has no questions, {EXPECTED}", Place(opened.name, reader.root_line))
    frame = _gold_frame(reader) if reader.root == "test-set" else _run_frame(reader)
    return Table(
        opened.name,
        "qa4mre",
        tuple(frame.columns),
        frame.with_row_index(ROW).lazy(),
        opened,
        lines=[question.line for question in reader.questions],
        run_id=(reader.run, reader.root_line) if reader.run else None,
    )


@dataclass(slots=True)
class _Question:
    id: str | None
    line: int
    topic: str | None
    test: tuple[str | None, str | None]
    attributes: dict[str, str]
    text: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    right: list[str] = field(default_factory=list)


class _Reader(Listener):
    """What the parser tells its tags to; it keeps the questions and nothing else."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.root, self.root_line = "", 1
        self.run: str | None = None
        self.questions: list[_Question] = []
        self._topic: tuple[str | None, str | None] = (None, None)
        self._test: str | None = None
        self._question: _Question | None = None
        self._text: list[str] | None = None
        self._size = 0
        self._document = 0
        self._names: set[str] = set()

    def opens(self, tag: str, attributes: Mapping[str, str]) -> None:
        depth = len(self.open)
        if depth == 1:
            self._start_root(tag, attributes)
        elif self._document:
            return
        elif tag == "doc":
            self._document = depth
        elif tag == "topic":
            self._topic = self._id(attributes, "t_id"), self._id(attributes, "t_name")
        elif tag == "reading-test":
            self._test = self._id(attributes, "r_id")
        elif tag in ("q", "question"):
            self._start_question(tag, attributes)
        elif self._question is not None and tag == "q_str" and self.root == "test-set":
            self._listen(self._question.text)
        elif self._question is not None and tag == "answer":
            self._start_answer(self._question, attributes)

    def closes(self, tag: str) -> None:
        if self._document:
            self._document *= len(self.open) != self._document
        elif tag == "topic":
            self._topic = (None, None)
        elif tag == "reading-test":
            self._test = None
        elif tag in ("q", "question"):
            self._question = None
        elif tag in ("q_str", "answer"):
            self._text = None

    def data(self, text: str) -> None:
        if self._text is not None and not self._document:
            self._size += len(text)
            if self._size > MAX_TEXT:
                raise self.fail(f"has a text of more than {MAX_TEXT:,} characters in a question")
            self._text.append(text)

    def _start_root(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag not in ("test-set", "output"):
            raise self.fail(f"has the root {shown(f'<{tag}>')}, {EXPECTED}")
        self.root, self.root_line = tag, self.line
        if tag == "output":
            self.run = self._id(attributes, "run_id")

    def _start_question(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._question is not None:
            raise self.fail(
                f"has a <{tag}> inside another question, expected the end of that question first"
            )
        if len(self.questions) == MAX_QUESTIONS:
            raise self.fail(f"has more than {MAX_QUESTIONS:,} questions")
        t_id, t_name = self._topic
        own = {
            name: value
            for name in attributes
            if name != "q_id" and (value := self._id(attributes, name))
        }
        self._names |= own.keys()
        if len(self._names) > MAX_ATTRIBUTES:
            raise self.fail(f"has more than {MAX_ATTRIBUTES} different attributes of questions")
        self._question = _Question(
            question_id(t_id, self._test, self._id(attributes, "q_id")),
            self.line,
            t_name or t_id,
            (t_id, self._test),
            own,
        )
        self.questions.append(self._question)

    def _start_answer(self, question: _Question, attributes: Mapping[str, str]) -> None:
        own = self._id(attributes, "a_id")
        if self.root == "output":
            if question.answers:
                raise self.fail(
                    f"is a second answer to question {shown(question.id or '')}, expected one"
                )
            question.answers.append(own or "")
            return
        if own is None:
            raise self.fail("has an <answer> without an a_id, expected one")
        if SPLIT in own:
            raise self.fail(f"has the a_id {shown(own)}, expected no {SPLIT} in an id")
        if own in question.answers:
            raise self.fail(
                f"has the a_id {shown(own)} twice in question {shown(question.id or '')}"
            )
        if len(question.answers) == MAX_ANSWERS:
            raise self.fail(f"has more than {MAX_ANSWERS:,} answers to one question")
        question.answers.append(own)
        question.texts.append([])
        if attributes.get("correct", "").strip():
            question.right.append(own)
        self._listen(question.texts[-1])

    def _listen(self, to: list[str]) -> None:
        self._text, self._size = to, 0

    def _id(self, attributes: Mapping[str, str], name: str) -> str | None:
        value = attributes.get(name, "").strip()
        if len(value) > MAX_ID:
            raise self.fail(
                f"has an attribute {shown(name)} with {len(value):,} characters, "
                f"expected at most {MAX_ID:,}"
            )
        return value or None


def _run_frame(reader: _Reader) -> pl.DataFrame:
    questions = reader.questions
    columns: dict[str, list[Any]] = {
        "question": [q.id for q in questions],
        "answer": [q.answers[0] if q.answers else "" for q in questions],
        "answered": [q.attributes.get("answered") for q in questions],
    }
    for name in RUN_EXTRAS:
        if any(name in q.attributes for q in questions):
            columns[name] = [q.attributes.get(name) for q in questions]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _gold_frame(reader: _Reader) -> pl.DataFrame:
    questions = reader.questions
    option_texts = [[_flat(text) for text in q.texts] for q in questions]
    topics_of: dict[str | None, set[str | None]] = {}
    for q in questions:
        topics_of.setdefault(q.test[1], set()).add(q.test[0])
    restarts = any(len(topics) > 1 for topics in topics_of.values())
    columns: dict[str, list[Any]] = {
        "question": [q.id for q in questions],
        "correct": [q.right for q in questions],
        "options": [q.answers for q in questions],
        "topic": [q.topic for q in questions],
        "test": [question_id(*q.test) if restarts else q.test[1] for q in questions],
        "nca": [
            "yes" if says_none(q.right, q.answers, texts) else "no"
            for q, texts in zip(questions, option_texts, strict=True)
        ],
        "text": [_flat(q.text) for q in questions],
        "option_texts": option_texts,
    }
    lists = ("correct", "options", "option_texts")
    for name in dict.fromkeys(name for q in questions for name in q.attributes):
        if name in DERIVED:
            columns[name] = [
                q.attributes.get(name, derived)
                for q, derived in zip(questions, columns[name], strict=True)
            ]
        elif name not in columns and name != ROW:
            columns[name] = [q.attributes.get(name) for q in questions]
    return pl.DataFrame(
        [
            _lists(name, values) if name in lists else pl.Series(name, values, dtype=pl.String)
            for name, values in columns.items()
        ]
    )


def _lists(name: str, values: Sequence[Sequence[str]]) -> pl.Series:
    """Lists of texts, made from joined ones: much faster, and no text in XML has the sign."""
    joined = [JOINED.join(items) if items else None for items in values]
    series = pl.Series(name, joined, dtype=pl.String).str.split(JOINED)
    return series.fill_null(pl.Series([[]], dtype=pl.List(pl.String)).first())


def _flat(pieces: Sequence[str]) -> str:
    return " ".join("".join(pieces).split())
