"""Golds and runs written as QA4MRE XML, so that reading them again gives the same table."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import msgspec
import polars as pl
import polars.selectors as cs

from abstain.errors import InputError, shown
from abstain.io.qa4mre import RUN_EXTRAS, SPLIT, id_levels, question_id, says_none

GOLD_COLUMNS = ("question", "correct", "options", "topic", "test", "nca", "text", "option_texts")
LISTS = ("correct", "options", "option_texts")
RUN_COLUMNS = ("question", "answer", "run", "answered", "why", "candidate", *RUN_EXTRAS)


def write_qa4mre(frame: pl.DataFrame, path: Path, name: str) -> None:
    """Write a gold (it has `correct`) or a run (it has `answer`) to a file that is ours.

    `name` is what the file will be called.
    """
    write = _gold_lines if "correct" in frame.columns else _run_lines
    if write is _run_lines:
        frame = frame.select(cs.by_name(*RUN_COLUMNS, require_all=False))
    frame = _as_text(frame, name)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        for line in write(frame):
            file.write(line + "\n")


def _as_text(frame: pl.DataFrame, label: str) -> pl.DataFrame:
    """Every column as text, lists of texts apart; what is neither is refused."""
    from abstain.io.columns import text_column
    from abstain.io.frames import collect, into_lazy

    lazy = into_lazy(frame)
    names = [
        name
        for name, dtype in frame.schema.items()
        if not (name in LISTS and isinstance(dtype, pl.List) and not dtype.inner.is_nested())
    ]
    texts = [text_column(lazy, name, label).alias(name) for name in names]
    return collect(lazy.with_columns(*texts), label) if texts else frame


def _run_lines(frame: pl.DataFrame) -> Iterator[str]:
    for needed in ("question", "answer"):
        if needed not in frame.columns:
            raise InputError(f"there is no column '{needed}' to write a QA4MRE run from")
    runs = frame["run"].unique().to_list() if "run" in frame.columns else []
    if len(runs) > 1:
        raise InputError(
            f"a QA4MRE file holds one run, but the table has {len(runs):,}; write one file per run"
        )
    yield f"<output{_attributes(run_id=runs[0] if runs else None)}>"
    extras = [name for name in RUN_EXTRAS if name in frame.columns]
    rows = frame.iter_rows(named=True)
    for row, indent, around in _nested(rows, lambda row, topic: {"t_id": topic}):
        yield from around
        if row is None:
            break
        said_no = (_text(row.get("answered")) or "").lower() in ("no", "false", "0", "n")
        answer = _text(row["answer"])
        given = answer is not None and not said_no and not _text(row.get("why"))
        inside = answer or _text(row.get("candidate"))
        own = _attributes(
            q_id=id_levels(row["question"])[2],
            answered="YES" if given else "NO",
            **{name: _text(row[name]) for name in extras},
        )
        if inside is None:
            yield f"{indent}<question{own}/>"
        else:
            yield f"{indent}<question{own}>"
            yield f"{indent}  <answer{_attributes(a_id=inside)}/>"
            yield f"{indent}</question>"
    yield "</output>"


def _gold_lines(frame: pl.DataFrame) -> Iterator[str]:
    if "question" not in frame.columns:
        raise InputError("there is no column 'question' to write a QA4MRE gold from")
    extras = [name for name in frame.columns if name not in GOLD_COLUMNS]
    for name in extras:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", name) or name == "q_id":
            raise InputError(
                f"column {shown(name)} cannot be written as an attribute in XML, "
                "expected letters, digits, _ . and -"
            )

    def topic(row: Mapping[str, Any], t_id: str | None) -> dict[str, str | None]:
        return {"t_id": t_id, "t_name": _text(row.get("topic"))}

    yield "<test-set>"
    for row, indent, around in _nested(frame.iter_rows(named=True), topic):
        yield from around
        if row is None:
            break
        right = _list(row["correct"])
        options = _list(row.get("options")) or right
        texts = _texts(row.get("option_texts"), len(options))
        own = {name: _text(row[name]) for name in extras} | _underivable(row, right, options, texts)
        yield f"{indent}<q{_attributes(q_id=id_levels(row['question'])[2], **own)}>"
        yield f"{indent}  <q_str>{_escaped(_text(row.get('text')) or '')}</q_str>"
        for option, text in zip(options, texts, strict=True):
            marks = _attributes(a_id=option, correct="Yes" if option in right else None)
            yield f"{indent}  <answer{marks}>{_escaped(text)}</answer>"
        if lost := set(right) - set(options):
            raise InputError(
                f"question {shown(row['question'])} has the right answer {shown(min(lost))}, "
                "which is not among its options"
            )
        yield f"{indent}</q>"
    yield "</test-set>"


def _underivable(
    row: Mapping[str, Any], right: Sequence[str], options: Sequence[str], texts: Sequence[str]
) -> dict[str, str | None]:
    """What a reader of the file could not find out from the rest of it."""
    t_id, r_id, _ = id_levels(row["question"])
    test, nca = _text(row.get("test")), _text(row.get("nca"))
    return {
        "test": None if test in (r_id, question_id(t_id, r_id)) else test,
        "nca": None if nca == ("yes" if says_none(right, options, texts) else "no") else nca,
    }


def _nested(
    rows: Iterator[dict[str, Any]], topic_attributes: Any
) -> Iterator[tuple[dict[str, Any] | None, str, list[str]]]:
    """Rows with the tags of topics and tests to write before each; None for those after all."""
    inside: tuple[Any, str | None] | None = None
    for row in rows:
        if not _text(row["question"]):
            raise InputError("a row has no question id, expected one")
        t_id, r_id, _ = id_levels(row["question"])
        topic = topic_attributes(row, t_id)
        around: list[str] = []
        if inside is None or inside[0] != topic:
            around += ["    </reading-test>", "  </topic>"] if inside else []
            around.append(f"  <topic{_attributes(**topic)}>")
            around.append(f"    <reading-test{_attributes(r_id=r_id)}>")
        elif inside[1] != r_id:
            around += ["    </reading-test>", f"    <reading-test{_attributes(r_id=r_id)}>"]
        inside = topic, r_id
        yield row, " " * 6, around
    yield None, "", ["    </reading-test>", "  </topic>"] if inside else []


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _attributes(**values: str | None) -> str:
    pairs = ((name, value) for name, value in values.items() if value is not None)
    return "".join(f" {name}={quoteattr(_allowed(value))}" for name, value in pairs)


def _escaped(text: str) -> str:
    return escape(" ".join(_allowed(text).split()))


def _allowed(text: str) -> str:
    if _FORBIDDEN.search(text):
        raise InputError(f"{shown(text)} has a character that XML cannot hold")
    return text


def _text(value: Any) -> str | None:
    text = "" if value is None else str(value).strip()
    return text or None


def _list(value: Any) -> list[str]:
    """Several ids: a list, or one cell with `|` between them."""
    items = value if isinstance(value, list) else (_text(value) or "").split(SPLIT)
    return [text for item in items if (text := _text(item))]


def _texts(value: Any, count: int) -> list[str]:
    """The texts of a question's options: a list, a JSON list in a cell, or `|` between them."""
    if isinstance(value, str) and value.startswith("["):
        with contextlib.suppress(msgspec.DecodeError):
            value = msgspec.json.decode(value, type=list[str])
    if isinstance(value, str):
        value = value.split(SPLIT)
    texts = [item or "" for item in value or ()]
    return texts if len(texts) == count else [""] * count
