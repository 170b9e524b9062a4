"""Corrections of a gold after submission: questions that count no more, and keys that were wrong.

Runs stay valid: their responses are checked against the questions that were asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import UsageError, check_name, option, plural, shown, some_of
from abstain.io.frames import collect, into_lazy, open_table, require
from abstain.io.qa4mre import is_none_of_the_above
from abstain.reading import Reading
from abstain.runs.gold import SPLIT, UNANSWERABLE, Gold
from abstain.runs.judge import EVERYONE

ALL, NOBODY = "everyone", "none"
KEY, WHAT, NCA = "__key", "__what", "__nca"


class Correction(Struct, frozen=True, omit_defaults=True):
    """What became of a question."""

    question: str
    correction: str
    """everyone (all have it right), none (it counts for nobody) or the new key."""
    before: str = ""
    """The key before."""
    reason: str = ""

    @property
    def keys(self) -> list[str]:
        """The new key; empty where that is not what was corrected."""
        changed = self.correction not in (ALL, NOBODY)
        return [text.strip() for text in self.correction.split(SPLIT)] if changed else []


def corrected(gold: Gold, reading: Reading) -> tuple[Gold, Reading]:
    """The gold as it is now, and the settings with what tables of corrections say."""
    ids = gold.frame["question"].to_list()
    rows = gold.frame.select("question", pl.col("accepted").list.join(f" {SPLIT} "))
    key_of, made = dict(rows.iter_rows()), dict[str, Correction]()
    for each in _listed(reading):
        check_name("question to correct in the gold", each.question, ids)
        if each.question in made:
            twice = f"{option('corrections')}: question {shown(each.question)} is corrected twice"
            raise UsageError(twice)
        word = each.correction.strip().casefold()
        change = word if word in (ALL, NOBODY) else each.correction.strip()
        made[each.question] = replace(each, correction=change, before=key_of[each.question])
    after = replace(gold, frame=_applied(gold.frame, made), corrections=(*made.values(),))
    if not len(after):
        raise UsageError(f"{option('corrections')}: no question is left")
    settled = replace(reading, corrections={q: c.correction for q, c in made.items()})
    return replace(after, before=gold), settled


def _listed(reading: Reading) -> Iterator[Correction]:
    for name, change in reading.corrections.items():
        if change:
            yield Correction(name, change)
            continue
        table = open_table(name, name="the corrections")
        require(
            table,
            {
                "question": "which names each question",
                "correction": f"which is {ALL}, {NOBODY} or the new key",
            },
        )
        names = [n for n in ("question", "correction", "reason") if n in table.columns]
        frame = collect(into_lazy(table.frame).select(*names), table.name)
        for row in frame.cast(pl.String).fill_null("").iter_rows(named=True):
            if not row["correction"].strip():
                where = f"{table.name}: question {shown(row['question'])}"
                raise UsageError(f"{where} has no correction: {ALL}, {NOBODY} or its new key")
            yield Correction(**{n: text.strip() for n, text in row.items()})


def _applied(frame: pl.DataFrame, made: Mapping[str, Correction]) -> pl.DataFrame:
    """The questions with their new keys, without those that count no more."""
    changes = []
    for row in frame.filter(pl.col("question").is_in(list(made))).iter_rows(named=True):
        change, options = made[row["question"]], row.get("options") or []
        for key in change.keys if options else ():
            check_name(f"key of question {shown(change.question)}", key, [*options, ALL, NOBODY])
        keys, none = change.keys or (options if change.correction == ALL else []), None
        if change.keys and len(texts := row.get("option_texts") or []) == len(options):
            pairs = zip(options, texts, strict=True)
            right = any(o in keys and is_none_of_the_above(text) for o, text in pairs)
            none = "yes" if right else "no"
        changes.append((change.question, keys or None, change.correction, none))
    schema = {"question": pl.String, KEY: pl.List(pl.String), WHAT: pl.String, NCA: pl.String}
    known = pl.DataFrame(changes, schema=schema, orient="row")
    joined = frame.join(known, on="question", how="left", maintain_order="left")
    same, everyone = pl.col(WHAT).is_null(), pl.col(WHAT).eq_missing(ALL)
    marks = [name for name in ("nothing_right", UNANSWERABLE) if name in frame.columns]
    after = joined.with_columns(
        pl.coalesce(KEY, "accepted").alias("accepted"), *(pl.col(name) & same for name in marks)
    ).filter(pl.col(WHAT).ne_missing(NOBODY))
    if "nca" in frame.columns:
        after = after.with_columns(pl.coalesce(NCA, "nca").alias("nca"))
    if ALL in (change.correction for change in made.values()):
        after = after.with_columns(everyone.alias(EVERYONE))
    return after.drop(KEY, WHAT, NCA)


def note_of(gold: Gold) -> list[str]:
    """Which questions were corrected; new keys stay out, because a blind phase shows notes."""
    words = {ALL: "right for everyone", NOBODY: "void, for nobody"}
    whose: dict[str, list[str]] = {}
    for each in gold.corrections:
        whose.setdefault(words.get(each.correction, "with a new key"), []).append(each.question)
    if not whose:
        return []
    parts = "; ".join(f"{what}: {some_of(ids)}" for what, ids in whose.items())
    many = plural(len(gold.corrections), "question was", "questions were")
    return [f"{many} corrected after submission ({parts})"]
