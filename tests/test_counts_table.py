"""Counts that somebody else made."""

from __future__ import annotations

import polars as pl
import pytest

import abstain as ab
from tests.helpers import Here
from tests.snapshots import says


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("run,right,wrong,unanswered\na,-1,2,3\n", ("c.csv:2", "'-1'")),
        ("run,right,wrong,unanswered\na,1.5,2,3\n", ("c.csv:2", "'1.5'")),
        ("run,right,wrong,unanswered\na,x,2,3\n", ("c.csv:2", "'x'")),
        (
            "run,right,wrong,unanswered\na,x,1,1\nb,1,1,1\nc,y,1,1\nd,z,1,1\n",
            ("c.csv:2", "'x'", "0", "2", "53"),
        ),
        ("run,right,wrong,unanswered\na,nan,2,3\n", ("c.csv:2", "'nan'")),
        ("run,right,wrong,unanswered\na,inf,2,3\n", ("c.csv:2", "'inf'")),
        ("run,right,wrong,unanswered\na,,2,3\n", ("c.csv:2",)),
        ("run,right,wrong,unanswered\na,1,2,\n", ("c.csv:2",)),
        ("run,right,wrong,unanswered\na,1e300,2,3\n", ("c.csv:2", "'1e300'")),
        (
            "run,right,wrong,unanswered\na,9007199254740993,2,3\n",
            ("c.csv:2", "'9007199254740993'", "0", "2", "53"),
        ),
        ("run,right,wrong,unanswered\na,1,2,3\na,1,2,3\n", ("c.csv:3", "'a'")),
        ("run,right,wrong\na,1,2\n", ("c.csv:1", "'unanswered'")),
        ("run,correct,wrong\na,1,2\n", ("c.csv:1", "'right'")),
        ("run,right,wrong,unanswered\n", ("c.csv",)),
    ],
)
def test_bad_counts_are_refused(here: Here, text: str, said: tuple[str, ...]) -> None:
    here.write("c.csv", text)
    says(here.refuses("score", "--counts", "c.csv"), *said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("run,right,wrong,unanswered,questions\na,1,2,3,7\n", ("6", "7")),
        ("run,right,wrong,n\na,5,2,6\n", ("7", "6")),
        (
            "run,right,wrong,answered,unanswered\na,1,2,4,3\n",
            ("3", "4"),
        ),
        (
            "run,right,wrong,unanswered,unanswered_right,unanswered_wrong,unanswered_empty\n"
            "a,1,2,3,1,1,2\n",
            ("4", "3"),
        ),
    ],
)
def test_counts_that_do_not_add_up(here: Here, text: str, said: tuple[str, ...]) -> None:
    here.write("c.csv", text + text.splitlines()[1].replace("a,", "b,", 1) + "\n")
    refused = here("score", "--counts", "c.csv")
    assert refused.code == 2
    assert refused.out == ""
    says(refused.line, "c.csv:2", "'a'", *said)
    assert "--skip-inconsistent" in refused.line
    skipped = here("score", "--counts", "c.csv", "--skip-inconsistent")
    assert skipped.code == 2
    says(skipped.line)


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
