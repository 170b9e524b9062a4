"""QA4MRE XML: golds (`test-set`) and runs (`output`) of 2011 to 2013, read with care and written.

A question's id is `topic/test/question`, as in `1/7/12`, made of t_id, r_id and q_id: numbers
restart in every test, so q_id alone names nothing. A level without an id is left out.

No tree is kept, so a file is as cheap as its questions, whatever documents it carries. A document
type declaration is refused, and with it every entity and every external reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import polars as pl
import polars.selectors as cs

from abstain.errors import InputError, Place, shown
from abstain.io.files import MAX_LINE, Opened, bad_utf8_line, memory_limit, too_large
from abstain.io.normalise import plain
from abstain.io.tables import ROW, Table

LEVEL = "/"
NONE_OF_THE_ABOVE = "none of the above"
SPLIT = "|"
MAX_ATTRIBUTES = 100
MAX_DEPTH = 50
BLOCK = 1 << 16
QUESTION = ("q", "question")
TEXTS = ("q_str", "answer")
EXPECTED = "expected a table, or QA4MRE XML: <test-set> (a gold) or <output> (a run)"
LISTS = ("correct", "options", "option_texts")
GOLD_COLUMNS = ("question", "correct", "options", "topic", "test", "nca", "text", "option_texts")
RUN_EXTRAS = ("confidence", "why")
RUN_COLUMNS = ("question", "answer", "run", "answered", "candidate", *RUN_EXTRAS)


def question_id(*levels: str | None) -> str | None:
    """The id of a question from its t_id, r_id and q_id; None where the question has none."""
    return LEVEL.join(level for level in levels if level) if levels[-1] else None


def id_levels(question: str) -> tuple[str | None, str | None, str]:
    """The t_id, r_id and q_id that make up an id; an id of another form is a q_id alone."""
    parts = question.split(LEVEL)
    if len(parts) == 3 and all(part and part == part.strip() for part in parts):
        return parts[0], parts[1], parts[2]
    return None, None, question


def is_none_of_the_above(text: str) -> bool:
    return plain(text) == NONE_OF_THE_ABOVE


def read_qa4mre(opened: Opened) -> Table:
    reader = _Reader(opened)
    reader.read()
    if not reader.rows:
        raise InputError(f"has no questions, {EXPECTED}", Place(opened.name, reader.root_line))
    frame = reader.gold() if reader.is_gold else reader.run()
    lazy, columns = frame.with_row_index(ROW).lazy(), tuple(frame.columns)
    run_id = (reader.run_id, reader.root_line) if reader.run_id else None
    return Table(opened.name, "qa4mre", columns, lazy, opened, lines=reader.lines, run_id=run_id)


@dataclass(slots=True)
class _Element:
    tag: str
    attributes: dict[str, str]
    line: int
    text: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.is_gold, self.root_line = False, 1
        self.run_id: str | None = None
        self.rows: list[dict[str, Any]] = []
        self.lines: list[int] = []
        self._tests: list[tuple[str | None, str | None]] = []
        self._attributes: dict[str, None] = {}
        self._open: list[_Element] = []
        self._inside: list[_Element] = []
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = self._refuse_doctype

    def read(self) -> None:
        size, limit = 0, memory_limit()
        try:
            with self.opened.stream() as file:
                while block := file.read(BLOCK):
                    size += len(block)
                    if size > limit:
                        raise too_large(self.opened.name, limit)
                    self._parser.Parse(block)
                    if size - self._parser.CurrentByteIndex > MAX_LINE:
                        raise self._error(f"has a tag or text of more than {MAX_LINE >> 20} MiB")
            self._parser.Parse(b"", True)  # noqa: FBT003
        except (expat.ExpatError, LookupError, ValueError) as error:  # or an unknown encoding
            text = str(error).partition(": line")[0]
            if isinstance(error, expat.ExpatError) and bad_utf8_line(self.opened) == error.lineno:
                text = "it is not UTF-8 text, and declares no other encoding"
            raise self._error(f"is not XML: {text}, {EXPECTED}") from None

    def _error(self, message: str, line: int | None = None) -> InputError:
        return InputError(message, Place(self.opened.name, line or self._parser.CurrentLineNumber))

    def _refuse_doctype(self, name: str, *_: object) -> None:
        what = "is an HTML page" if name.lower() == "html" else "has a document type declaration"
        raise self._error(f"{what}, {EXPECTED}")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        filled = {name: value for name, text in attributes.items() if (value := text.strip())}
        element = _Element(tag.rpartition(":")[2], filled, self._parser.CurrentLineNumber)
        if not self._open:
            if element.tag not in ("test-set", "output"):
                raise self._error(f"has the root {shown(f'<{element.tag}>')}, {EXPECTED}")
            self.is_gold, self.root_line = element.tag == "test-set", element.line
            self.run_id = filled.get("run_id")
        self._open.append(element)
        if len(self._open) > MAX_DEPTH:
            raise self._error(f"is nested more than {MAX_DEPTH} elements deep, {EXPECTED}")
        if element.tag in QUESTION:
            self._inside = []
        elif element.tag in TEXTS:
            self._inside.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if element.tag in QUESTION and self._around("doc") is None:
            self._add(element)

    def _data(self, text: str) -> None:
        for element in self._open:
            if element.tag in TEXTS:
                element.text.append(text)

    def _around(self, tag: str) -> dict[str, str] | None:
        return next((element.attributes for element in self._open if element.tag == tag), None)

    def _add(self, question: _Element) -> None:
        topic, test = self._around("topic") or {}, self._around("reading-test") or {}
        t_id, r_id = topic.get("t_id"), test.get("r_id")
        values: dict[str, Any] = question.attributes
        id = question_id(t_id, r_id, values.pop("q_id", None))
        self._attributes |= dict.fromkeys(values)
        if len(self._attributes) > MAX_ATTRIBUTES:
            what = f"has more than {MAX_ATTRIBUTES} different attributes of questions"
            raise self._error(what, question.line)
        answers = [element for element in self._inside if element.tag == "answer"]
        self._check(answers, shown(id or ""))
        options = [answer.attributes.get("a_id", "") for answer in answers]
        if self.is_gold:
            texts = [_flat(answer) for answer in answers]
            right = ["correct" in answer.attributes for answer in answers]
            none = any(map(is_none_of_the_above, compress(texts, right)))
            values = {"nca": "yes" if none else "no", **values} | {
                "correct": list(compress(options, right)),
                "options": options,
                "topic": topic.get("t_name") or t_id,
                "text": " ".join(_flat(e) for e in self._inside if e.tag == "q_str"),
                "option_texts": texts,
            }
        else:
            values["answer"] = options[0] if options else ""
        self.rows.append(values | {"question": id})
        self.lines.append(question.line)
        self._tests.append((t_id, r_id))

    def _check(self, answers: Sequence[_Element], asked: str) -> None:
        if not self.is_gold and len(answers) > 1:
            what = f"is a second answer to question {asked}, expected one"
            raise self._error(what, answers[1].line)
        seen: set[str | None] = {None}
        for answer in answers if self.is_gold else ():
            option = answer.attributes.get("a_id")
            if option in seen or SPLIT in (option or ""):
                what = f"has an answer to question {asked} with the a_id {shown(option or '')}"
                raise self._error(f"{what}, expected another each, without {SPLIT}", answer.line)
            seen.add(option)

    def run(self) -> pl.DataFrame:
        extras = [name for name in RUN_EXTRAS if name in self._attributes]
        names = ("question", "answer", "answered", *extras)
        return pl.DataFrame(self.rows, schema=dict.fromkeys(names, pl.String))

    def gold(self) -> pl.DataFrame:
        tests = set(self._tests)
        restarts = len({r_id for _, r_id in tests}) < len(tests)
        for row, (t_id, r_id) in zip(self.rows, self._tests, strict=True):
            row.setdefault("test", question_id(t_id, r_id) if restarts else r_id)
        names = dict.fromkeys((*GOLD_COLUMNS, *(name for name in self._attributes if name != ROW)))
        schema = {name: pl.List(pl.String) if name in LISTS else pl.String for name in names}
        return pl.DataFrame(self.rows, schema=schema)


SEEN = {"topic": ("t_id", "t_name"), "reading-test": ("r_id",), "doc": ("d_id",)}
"""What participants see of a gold: elements with their attributes; no others but `INLINE`."""
SEEN |= {
    "test-set": (),
    "q_str": (),
    "answer": ("a_id",),
    **dict.fromkeys(QUESTION, ("q_id", "test")),
}
INLINE = ("b", "br", "em", "h1", "h2", "h3", "i", "li", "p", "strong", "sub", "sup", "u", "ul")
"""Elements that may stand inside of texts."""


def seen_by_participants(
    opened: Opened, keep: Sequence[str]
) -> tuple[ElementTree.ElementTree[ElementTree.Element], tuple[str, ...]]:
    """A gold that was read, as participants may see it, and what was left out.

    `keep` names further attributes of questions.
    """
    left_out: dict[str, None] = {}

    def copied(element: ElementTree.Element, inside: str = "") -> ElementTree.Element:
        tag = _local(element)
        allowed = (*SEEN.get(tag, ()), *(keep if tag in QUESTION else ()))
        copy = ElementTree.Element(tag, {n: v for n, v in element.items() if n in allowed})
        left_out.update(dict.fromkeys(name for name in element.attrib if name not in allowed))
        is_text = inside or (tag if tag in ("doc", *TEXTS) else "")
        copy.text = element.text if is_text else "\n"
        for child in element:
            name = _local(child)
            if name in (INLINE if is_text else SEEN):
                copy.append(copied(child, is_text))
            else:
                left_out[f"<{name}>"] = None
            text = child.tail or "" if is_text else "\n"
            if len(copy):
                copy[-1].tail = (copy[-1].tail or "") + text
            else:
                copy.text = (copy.text or "") + text
        if tag in TEXTS and not len(copy):  # no blanks by which one could be told from others
            copy.text = " ".join((copy.text or "").split())
        return copy

    with opened.stream() as file:
        root = copied(ElementTree.parse(file).getroot())  # it has no document type: it was read
    return ElementTree.ElementTree(root), tuple(left_out)


def _local(element: ElementTree.Element) -> str:
    return re.sub(r".*[}:]", "", str(element.tag))


def _flat(element: _Element) -> str:
    return " ".join("".join(element.text).split())


def write_qa4mre(frame: pl.DataFrame, path: Path, name: str) -> None:
    """Write a run, which will have a name."""
    from abstain.io.frames import collect, into_lazy, text_columns

    for needed in ("question", "answer"):
        if needed not in frame.columns:
            raise InputError(f"there is no column '{needed}' to write as a QA4MRE run", name)
    frame = frame.select(cs.by_name(*RUN_COLUMNS, require_all=False))
    lazy = into_lazy(frame)
    frame = collect(lazy.select(text_columns(lazy, frame.columns, name)), name)
    frame = frame.with_columns(cs.string().str.strip_chars().replace("", None))
    if frame["question"].null_count():
        raise InputError("a row has no question id, expected one", name)
    runs = frame["run"].unique().to_list() if "run" in frame.columns else []
    if len(runs) > 1:
        what = f"a QA4MRE file holds one run, but the table has {len(runs):,}"
        raise InputError(f"{what}; write one file per run", name)
    root = ElementTree.Element("output", _attributes(run_id=runs[0] if runs else None))
    topic = test = root
    place: tuple[str | None, ...] = ()
    for row in frame.iter_rows(named=True):
        *levels, number = id_levels(row["question"])
        if place[:1] != (levels[0],):
            topic = ElementTree.SubElement(root, "topic", _attributes(t_id=levels[0]))
        if place != tuple(levels):
            test = ElementTree.SubElement(topic, "reading-test", _attributes(r_id=levels[1]))
        place = tuple(levels)
        marked_no = (row.get("answered") or "").lower() in ("no", "false", "0", "n")
        answer = row["answer"]
        is_answered = answer and not marked_no and not row.get("why")
        attributes = _attributes(
            q_id=number,
            answered="YES" if is_answered else "NO",
            **{extra: row.get(extra) for extra in RUN_EXTRAS},
        )
        question = ElementTree.SubElement(test, "question", attributes)
        if option := answer or row.get("candidate"):
            ElementTree.SubElement(question, "answer", _attributes(a_id=option))
    tree = ElementTree.ElementTree(root)
    ElementTree.indent(tree)
    with path.open("wb") as file:
        file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
        tree.write(file, encoding="utf-8")
        file.write(b"\n")


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _attributes(**values: str | None) -> dict[str, str]:
    filled = {name: value for name, value in values.items() if value is not None}
    for text in filled.values():
        if _FORBIDDEN.search(text):
            raise InputError(f"{shown(text)} has a character that XML cannot hold")
    return filled
