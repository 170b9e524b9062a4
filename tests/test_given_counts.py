"""Counts that somebody else made."""

from __future__ import annotations

import polars as pl
import pytest

import abstain as ab
from tests.helpers import Here


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("run,right,wrong,unanswered\na,-1,2,3\n", "c.csv:2: right is '-1', expected 0 or more"),
        ("run,right,wrong,unanswered\na,1.5,2,3\n", "c.csv:2: right is '1.5', expected a whole"),
        ("run,right,wrong,unanswered\na,x,2,3\n", "c.csv:2: right is 'x', expected a whole"),
        (
            "run,right,wrong,unanswered\na,x,1,1\nb,1,1,1\nc,y,1,1\nd,z,1,1\n",
            "c.csv:2: right is 'x', expected a whole number (and 2 more)",
        ),
        ("run,right,wrong,unanswered\na,nan,2,3\n", "c.csv:2: right is 'nan', expected a whole"),
        ("run,right,wrong,unanswered\na,inf,2,3\n", "c.csv:2: right is 'inf', expected a whole"),
        ("run,right,wrong,unanswered\na,,2,3\n", "c.csv:2: right is empty"),
        ("run,right,wrong,unanswered\na,1,2,\n", "c.csv:2: nothing says how many questions"),
        ("run,right,wrong,unanswered\na,1e300,2,3\n", "c.csv:2: right is '1e300', expected at"),
        (
            "run,right,wrong,unanswered\na,9007199254740993,2,3\n",
            "c.csv:2: right is '9007199254740993', expected at most 2^53",
        ),
        ("run,right,wrong,unanswered\na,1,2,3\na,1,2,3\n", "c.csv:3: run 'a' appears twice"),
        ("run,right,wrong\na,1,2\n", "c.csv:1: has no column 'unanswered'"),
        ("run,correct,wrong\na,1,2\n", "c.csv:1: has no column 'right'"),
        ("run,right,wrong,unanswered\n", "c.csv: has a header but no rows"),
    ],
)
def test_bad_counts_are_refused(here: Here, text: str, said: str) -> None:
    here.write("c.csv", text)
    assert here.refuses("score", "--counts", "c.csv").startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("run,right,wrong,unanswered,questions\na,1,2,3,7\n", "the outcomes add up to 6, not 7"),
        ("run,right,wrong,n\na,5,2,6\n", "5 right + 2 wrong are more than 6 questions"),
        (
            "run,right,wrong,answered,unanswered\na,1,2,4,3\n",
            "1 right + 2 wrong = 3, not 4 answered",
        ),
        (
            "run,right,wrong,unanswered,unanswered_right,unanswered_wrong,unanswered_empty\n"
            "a,1,2,3,1,1,2\n",
            "the kinds of unanswered questions add up to 4, not 3",
        ),
    ],
)
def test_counts_that_do_not_add_up(here: Here, text: str, said: str) -> None:
    here.write("c.csv", text + text.splitlines()[1].replace("a,", "b,", 1) + "\n")
    refused = here("score", "--counts", "c.csv")
    assert refused.code == 2
    assert refused.out == ""
    what = said + (" questions" if said.endswith("7") else "")
    how = "--skip-inconsistent scores the others"
    assert refused.line == f"c.csv:2: 'a': {what} (and 1 more); {how}"
    skipped = here("score", "--counts", "c.csv", "--skip-inconsistent")
    assert skipped.code == 2
    assert skipped.line == "there are no counts to score"


def test_what_is_not_said_follows_from_the_total(here: Here) -> None:
    here.write("c.csv", "run,right,wrong,questions\na,237,156,500\n")
    said = here("score", "--counts", "c.csv", "-m", "c@1", "-m", "qa-performance", "-f", "json")
    row = said.data["results"][0]
    assert row["counts"] == {
        "right": 237,
        "wrong": 156,
        "unanswered_right": None,
        "unanswered_wrong": None,
        "unanswered_empty": None,
        "unanswered": 107,
    }
    assert row["scores"]["c@1"] == pytest.approx(237 / 500 * (1 + 107 / 500))
    assert row["scores"]["qa-performance"] is None
    assert "not known" in row["undefined"]["qa-performance"]


def test_counts_by_slice_from_a_frame_and_from_names() -> None:
    frame = pl.DataFrame(
        {
            "system": ["a", "a"],
            "topic": ["x", "y"],
            "right": [1, 2],
            "wrong": [1, 0],
            "unanswered": [0.0, 2.0],
        }
    )
    result = ab.read_counts(frame, columns={"run": "system"}).score(by=["topic"], measures=["c@1"])
    assert [(r.run, r.slice, r.scores["c@1"]) for r in result.rows] == [
        ("a", {"topic": "x"}, 0.5),
        ("a", {"topic": "y"}, 0.75),
    ]
    named = ab.read_counts({"b": ab.Counts(1, 1)}).score(measures="accuracy")
    assert named.rows[0].scores == {"accuracy": 0.5}
    with pytest.raises(ab.UsageError, match="no attributes"):
        ab.read_counts({"b": ab.Counts(1, 1)}).score(by=["topic"])


def test_largest_counts_stay_exact(here: Here) -> None:
    here.write("c.csv", "run,right,wrong,unanswered\na,9007199254740991,1,0\n")
    said = here("score", "--counts", "c.csv", "-f", "json")
    assert said.data["results"][0]["counts"]["right"] == 9007199254740991
    assert said.data["questions"] == 9007199254740992


def test_two_files_or_two_kinds_are_refused(here: Here) -> None:
    here.write("c.csv", "run,right,wrong,unanswered\na,1,1,0\n")
    assert "takes one file" in here.refuses("score", "--counts", "c.csv", "c.csv")
    assert "exclude each other" in here.refuses("score", "--counts", "--judged", "c.csv")
    assert "needs --counts" in here.refuses("score", "c.csv", "c.csv", "--skip-inconsistent")
    assert "name the gold" in here.refuses("score", "c.csv")
