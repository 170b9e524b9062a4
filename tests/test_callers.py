"""Advice in the words of who asked: options on the command line, arguments in Python."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from abstain.callers import command_line, in_callers_words
from tests.helpers import Here

GOLD = "question,correct\nq1,A\nq2,B\n"


def files(folder: Path) -> None:
    (folder / "gold.csv").write_text(GOLD)
    (folder / "failed.csv").write_text("question,answer,why\nq1,A,\nq2,,error\n")
    (folder / "named.csv").write_text("id,output\nq1,A\nq2,B\n")
    (folder / "odd.csv").write_text("question,grade\nq1,odd one\n")


def test_python_is_told_of_its_arguments(here: Here) -> None:
    files(here.folder)
    with pytest.raises(ab.InputError) as caught:
        ab.score("gold.csv", "failed.csv")
    assert 'say what they count as: policy="error=unanswered", error=wrong' in str(caught.value)
    result = ab.score("gold.csv", "failed.csv", policy="error=unanswered")  # as it was told
    assert result.rows[0].counts.unanswered == 1
    with pytest.raises(ab.InputError) as caught:
        ab.score("gold.csv", "named.csv")
    advised = 'columns={"question": "id", "answer": "output"}'
    assert advised in str(caught.value)
    told = {"question": "id", "answer": "output"}
    assert ab.score("gold.csv", "named.csv", columns=told).rows[0].counts.right == 2
    with pytest.raises(ab.InputError) as caught:
        ab.score_judged("odd.csv")
    assert 'as in grades={"odd one": "wrong"} (an outcome' in str(caught.value)


def test_a_person_is_told_of_options(here: Here) -> None:
    files(here.folder)
    assert "--policy error=unanswered" in here.refuses("score", "gold.csv", "failed.csv")
    said = here.refuses("score", "gold.csv", "named.csv")
    assert "--column question=id --column answer=output" in said
    assert "--grade 'odd one=wrong'" in here.refuses("score", "--judged", "odd.csv")
    with pytest.raises(ab.InputError, match="policy="):  # afterwards Python asks again
        ab.score("gold.csv", "failed.csv")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("--engine spark needs Java", 'engine="spark" needs Java'),
        ("take --trials 1,000 or fewer", "take trials=1_000 or fewer"),
        ("name it: --from simpleqa:grade=NAME", 'name it: format="simpleqa:grade=NAME"'),
        ("--nil-as-answer needs --nil NIL", "nil_as_answer needs nil=NIL"),
        ("`abstain compare --against` does it", "`abstain compare --against` does it"),
        ("question '--x' is not in the gold", "question '--x' is not in the gold"),
        ("a – b -- c", "a – b -- c"),
    ],
)
def test_words(said: str, expected: str) -> None:
    assert in_callers_words(said) == expected
    with command_line():
        assert in_callers_words(said) == said


SOURCES = Path(ab.__file__).parent


def test_advice_in_every_room_becomes_an_argument() -> None:
    """No error that a room raises names an option once Python is the caller."""
    raised = re.compile(r"(?:InputError|UsageError)\((.*?)\n    ?\S?", re.S)
    found = []
    for path in SOURCES.rglob("*.py"):
        if "cli" not in path.relative_to(SOURCES).parts:
            texts = raised.findall(path.read_text(encoding="utf-8"))
            found += [t for t in texts if re.search(r"(?<![\w`])--[a-z]", t)]
    assert len(found) > 20
    left = [
        t
        for t in found
        if re.search(r"(?<![\w`'/-])--[a-z]+", in_callers_words(t)) and "`abstain" not in t
    ]
    assert left == []


def test_frames_too() -> None:
    with pytest.raises(ab.InputError, match=r'columns=\{"question": "id"\}'):
        ab.score(pl.DataFrame({"id": ["q1"], "correct": ["A"]}), pl.DataFrame({"x": [1]}))
