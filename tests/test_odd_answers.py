"""What `validate` tells though it is no fault: wrong answers that say they are none."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import abstain as ab
from tests.helpers import Here
from tests.snapshots import says

GOLD = pl.DataFrame({"question": ["1", "2", "3"], "correct": ["Lima", "unknown", "Oslo"]})


def warnings_of(*answers: str | None, **how: Any) -> list[tuple[str, str]]:
    run = pl.DataFrame({"question": ["1", "2", "3"], "answer": answers})
    return [(own.kind, own.message) for own in ab.validate(GOLD, run, **how).warnings]


@pytest.mark.parametrize("text", ["I do not know", "I'm not sure.", "Das weiß ich leider nicht."])
def test_answers_that_decline_are_told(text: str) -> None:
    said = (
        f"2 wrong answers decline in words, such as '{text}': --detect-refusals all (in Python: "
        "detect_refusals='all') makes such answers blanks"
    )
    assert warnings_of(text, text, "Oslo") == [("refusals", said)]
    assert warnings_of(text, text, "Oslo", detect_refusals="all") == []


def test_what_is_right_or_short_or_blank_declines_nothing() -> None:
    assert warnings_of("A", "unknown", None) == []
    assert warnings_of("Lima", "Rome", "Riga") == []


def test_odd_things_stand_below_the_problems(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,Lima\nq2,Oslo\n")
    for name in ("a", "b"):
        here.write(f"{name}.csv", "question,answer\nq1,Lima\nq2,I don't know\n")
    said = " ".join(here("validate", "gold.csv", "a.csv", "b.csv").out.split())
    says(said, "2", "b.csv", "'b'", "'a'")
    assert said.count("such as 'I don't know': --detect-refusals all") == 2
