"""`abstain meta --scores`: which column names the topics, and what a measure is called."""

from __future__ import annotations

import pytest

import abstain as ab
from tests.cli.test_meta import QUICK, matrix
from tests.helpers import Here, csv_text
from tests.snapshots import says


def numbered(header: str, *, first: int = 401) -> str:
    """Six topics of three systems, with ids that are numbers."""
    scores = ("0.1,0.2,0.5", "0.3,0.1,0.6", "0.2,0.3,0.4", "0.5,0.4,0.9", "0.1,0.3,0.2", "0.4,0,1")
    lines = [f"{first + k},{own}" for k, own in enumerate(scores)]
    return "\n".join([f"{header},a,b,c", *lines]) + "\n"


@pytest.mark.parametrize(
    "header",
    ["topic_id", "Topic", "topics", "query id", "QueryID", "qid", "question_no", "", "Unnamed: 0"],
)
def test_ids_that_are_numbers_are_no_system(here: Here, header: str) -> None:
    here.write("m.csv", numbered(header))
    data = here("meta", "--scores", "m.csv", "--part", "stability", *QUICK, "-f", "json").data
    assert data["runs"] == ["a", "b", "c"]
    assert data["scores"]["m"]["a"] == pytest.approx(1.6 / 6)


def test_ids_may_stand_in_any_column(here: Here) -> None:
    rows = [line.split(",") for line in numbered("topic").splitlines()]
    here.write("m.csv", csv_text([[a, b, topic, c] for topic, a, b, c in rows]))
    data = here("meta", "--scores", "m.csv", "--part", "stability", *QUICK, "-f", "json").data
    assert data["runs"] == ["a", "b", "c"]


def test_a_second_name_of_the_topics_is_no_system_either(here: Here) -> None:
    rows = [line.split(",") for line in numbered("id").splitlines()]
    titles = ["topic", *(f"t{k}" for k in range(6))]
    here.write("m.csv", csv_text([[t, *row] for t, row in zip(titles, rows, strict=True)]))
    data = here("meta", "--scores", "m.csv", "--part", "stability", *QUICK, "-f", "json").data
    assert data["runs"] == ["a", "b", "c"]
    says(data["notes"], "'id'", "m.csv")


def test_numbers_that_may_be_ids_are_asked_about(here: Here) -> None:
    here.write("m.csv", numbered("n"))
    how = ("meta", "--scores", "m.csv", "--part", "stability", *QUICK)
    said = here.refuses(*how)
    says(said, "m.csv", "'n'")
    assert "--column question=n" in said
    data = here(*how, "-c", "question=n", "-f", "json").data
    assert data["runs"] == ["a", "b", "c"]
    lines = numbered("n").splitlines()
    topics = ["topic", *(f"t{k}" for k in range(6))]
    here.write(
        "m.csv", "\n".join(f"{t},{line}" for t, line in zip(topics, lines, strict=True)) + "\n"
    )
    assert here(*how, "-f", "json").data["runs"] == ["n", "a", "b", "c"]
    # Scores of one kind in all columns are scores: whole ones, and zeros and ones.
    for rows in ("1,4\n2,6\n3,5\n4,9\n", "1,0\n0,1\n1,1\n0,0\n"):
        here.write("m.csv", "a,b\n" + rows)
        assert here(*how, "-f", "json").data["runs"] == ["a", "b"]


def test_the_column_of_topics_can_be_named_and_nothing_else(here: Here) -> None:
    here.write("m.csv", numbered("n"))
    how = ("meta", "--scores", "m.csv", "--part", "stability", *QUICK)
    says(here.refuses(*how, "-c", "answer=a"))
    assert "no column 'm'" in here.refuses(*how, "-c", "question=m")
    named = {"question": "n"}
    assert ab.read_scores("m.csv", columns=named).meta(parts="stability").runs == ("a", "b", "c")


def test_a_slip_in_the_first_system_is_refused_as_in_any_other(here: Here) -> None:
    lines = ["a,b", "0.1,0.2", "O.3,0.1", "0.2,0.3"]
    here.write("m.csv", "\n".join(lines) + "\n")
    says(here.refuses("meta", "--scores", "m.csv"), "m.csv:3", "'a'", "'O.3'")
    here.write("m.csv", "\n".join(",".join(reversed(line.split(","))) for line in lines) + "\n")
    says(here.refuses("meta", "--scores", "m.csv"), "m.csv:3", "'a'", "'O.3'")


def test_an_empty_id_is_told_as_such(here: Here) -> None:
    here.write("m.csv", "topic,a,b\nt1,0.1,0.2\n,0.3,0.4\n,0.3,0.1\n")
    says(here.refuses("meta", "--scores", "m.csv"), "m.csv:3", "'topic'")


def test_measures_are_called_as_their_files(here: Here) -> None:
    for name in ("ndcg_10.csv", "ndcg_20.csv", "web.p_5.csv", "web.p_10.csv"):
        here.write(name, matrix())
    how = ("--part", "agreement", "-f", "json")
    found = here("meta", "--scores", "ndcg_10.csv", "ndcg_20.csv", *how).data
    assert found["measures"] == ["ndcg_10", "ndcg_20"]
    found = here("meta", "--scores", "web.p_5.csv", "web.p_10.csv", *how).data
    assert found["measures"] == ["web.p_5", "web.p_10"]
