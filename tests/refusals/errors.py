"""How the rules err on texts labelled by hand: `python -m tests.refusals.errors` prints it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from abstain.reading import languages_of
from abstain.runs.refusals import rule_of

TEXTS = Path(__file__).parent / "data" / "texts.tsv"


SETS = {
    "seen": "development data: looked at while the rules were written",
    "fresh": "development data since the rules were changed for what they missed here",
    "second": "development data since the rules were changed for what they got wrong here",
    "held-out": "written when those rules were done; no rule was changed for them",
    "sources": "on what sources do not say: written before the rules on sources, and used for them",
    "sources-held-out": "on the same, written before them too; no rule was changed for them",
}


@dataclass(frozen=True, slots=True)
class Text:
    """A text and whether it declines, by a person's word."""

    language: str
    set: str
    declines: bool
    text: str
    rule: str | None
    """The rule of any language that finds it to decline."""


def labelled(name: str) -> list[Text]:
    """The texts of a set."""
    with TEXTS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    own = [row for row in rows if row["set"] == name]
    texts = pl.DataFrame({"text": [row["text"].replace("\\n", "\n") for row in own]})
    rules = texts.select(rule_of("text", languages_of("all"))).to_series().to_list()
    return [
        Text(row["language"], name, row["declines"] == "yes", row["text"], rule)
        for row, rule in zip(own, rules, strict=True)
    ]


def errors(name: str) -> tuple[list[str], list[str]]:
    """Refusals that no rule finds, and answers that one does."""
    texts = labelled(name)
    missed = [own.text for own in texts if own.declines and own.rule is None]
    hit = [own.text for own in texts if not own.declines and own.rule is not None]
    return missed, hit


def summary(name: str) -> str:
    """The errors of a set in a sentence."""
    texts = labelled(name)
    refusals = sum(own.declines for own in texts)
    missed, hit = errors(name)
    return (
        f"{len(missed)} of {refusals} refusals missed, "
        f"{len(hit)} of {len(texts) - refusals} answers taken for one"
    )


if __name__ == "__main__":
    for name in SETS:
        print(f"{name}: {summary(name)}")
        for kind, texts in zip(("missed", "wrong hit"), errors(name), strict=True):
            for text in texts:
                print(f"  {kind}: {text}")
