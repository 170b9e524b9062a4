"""Corrections of a gold after submission: questions that count no more, and keys that were wrong.

Runs stay valid: their responses are checked against the questions that were asked.
"""

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
    """A question, and everyone (all have it right), none (it counts for nobody) or its new key."""

    question: str
    correction: str
    before: str = ""
    """The key before."""
    reason: str = ""


def corrected(gold: Gold, reading: Reading) -> tuple[Gold, Reading]:
    """The gold as it is now, and the settings with what tables of corrections say."""
    if not reading.corrections:
        return gold, reading
    keys = gold.frame.select("question", pl.col("accepted").list.join(f" {SPLIT} "))
    key_of, made = dict(keys.iter_rows()), dict[str, Correction]()
    for each in _listed(reading):
        question, change = each.question.strip(), each.correction.strip()
        check_name("question to correct in the gold", question, list(key_of))
        if question in made or not change:
            what = "once" if change else f"with {ALL}, {NOBODY} or its new key"
            raise UsageError(f"{option('corrections')}: name question {shown(question)} {what}")
        word = change.casefold()
        made[question] = Correction(
            question,
            word if word in (ALL, NOBODY) else change,
            key_of[question],
            each.reason.strip(),
        )
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
        what = f"which is {ALL}, {NOBODY} or the new key"
        require(table, {"question": "which names each question", "correction": what})
        names = [n for n in ("question", "correction", "reason") if n in table.columns]
        frame = collect(into_lazy(table.frame).select(*names), table.name)
        for row in frame.cast(pl.String).fill_null("").iter_rows(named=True):
            yield Correction(**row)


def _applied(frame: pl.DataFrame, made: Mapping[str, Correction]) -> pl.DataFrame:
    """The questions with their new keys, without those that count no more."""
    changes = []
    for row in frame.filter(pl.col("question").is_in(list(made))).iter_rows(named=True):
        what, options = made[row["question"]].correction, row.get("options") or []
        keys = [] if what in (ALL, NOBODY) else [key.strip() for key in what.split(SPLIT)]
        for key in keys if options else ():
            check_name(f"key of question {shown(row['question'])}", key, [*options, ALL, NOBODY])
        texts = zip(options, row.get("option_texts") or [], strict=False)
        none = any(o in keys and is_none_of_the_above(text) for o, text in texts)
        nca = ("yes" if none else "no") if keys and row.get("option_texts") else None
        changes.append((row["question"], keys or (options if what == ALL else None), what, nca))
    known = pl.DataFrame(changes, schema=["question", KEY, WHAT, NCA], orient="row")
    known = known.cast({KEY: pl.List(pl.String), NCA: pl.String})
    joined = frame.join(known, on="question", how="left", maintain_order="left")
    same, marks = pl.col(WHAT).is_null(), {"nothing_right", UNANSWERABLE} & {*frame.columns}
    return (
        joined.with_columns(
            pl.coalesce(KEY, "accepted").alias("accepted"),
            pl.col(WHAT).eq_missing(ALL).alias(EVERYONE),
            *(pl.col(name) & same for name in marks),
            *(pl.coalesce(NCA, name).alias(name) for name in ["nca"] if name in frame.columns),
        )
        .filter(pl.col(WHAT).ne_missing(NOBODY))
        .drop(KEY, WHAT, NCA)
    )


def note_of(gold: Gold) -> str:
    """Which questions were corrected; not their new keys, which may be secret where it is seen."""
    words = {ALL: "right for everyone", NOBODY: "void, for nobody"}
    whose: dict[str, list[str]] = {}
    for each in gold.corrections:
        whose.setdefault(words.get(each.correction, "with a new key"), []).append(each.question)
    parts = "; ".join(f"{what}: {some_of(ids)}" for what, ids in whose.items())
    many = plural(len(gold.corrections), "question was", "questions were")
    return f"{many} corrected after submission ({parts})"
