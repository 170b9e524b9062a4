"""Names and joins piece by piece: logs of tasks, names that come out alike, teams, few rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace

import abstain as ab
from abstain.io.frames import collect
from abstain.io.tables import ROW, Table
from abstain.reading import Reading
from abstain.runs import counting
from abstain.runs.gold import by_position, read_gold
from abstain.runs.grades import shared_attributes
from abstain.runs.log_tasks import with_shared_ids
from abstain.runs.responses import Responses, logs_of_folder, read_responses
from abstain.runs.run_names import (
    differing,
    name_runs,
    parse_run_name,
    runs_of,
)
from abstain.runs.usual_names import refuse_pooled
from tests.helpers import Here
from tests.snapshots import refuses, says

Facts = tuple[tuple[str, str, str], ...]


def table(name: str = "t.csv", facts: Facts = (), **columns: Any) -> Table:
    frame = pl.DataFrame(columns)
    rows = frame.lazy().with_row_index(ROW)
    return Table(name, "csv", tuple(columns), rows, facts=facts)


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_the_gold_of_a_folder_has_the_rows_of_every_file(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / f"{name}.csv").write_text(f"question,answer\n{name}1,x\n{name}2,y\n", "utf-8")
    found = logs_of_folder(str(tmp_path), Reading())
    asked = found.frame.collect()["question"].to_list()
    assert asked == [f"{name}{number}" for name in names for number in (1, 2)]
    assert found.name == str(tmp_path if len(names) > 1 else tmp_path / "a.csv")


def test_one_setting_that_tells_all_logs_apart_is_enough() -> None:
    logs = [
        table(facts=(("settings", "s0", "1"), ("settings", "s1", own), ("settings", "s2", own * 2)))
        for own in "123"
    ]
    assert differing(logs, ["settings"]) == ["s1=1", "s1=2", "s1=3"]
    assert differing(logs[:1], ["settings"]) is None
    assert differing([*logs, logs[0]], ["settings"]) is None


def test_runs_that_cannot_be_told_apart_are_named() -> None:
    one, two = table("f/m.csv"), table("g/m.csv")
    named = [Responses(table("z.csv"), "z"), Responses(one, "m"), Responses(two, "m")]
    assert [own.run for own in name_runs(named)] == ["z", "f/m", "g/m"]
    with refuses(ab.UsageError, "'f/m'"):
        name_runs([*named, Responses(table("f.csv"), "f/m")])
    with refuses(ab.UsageError, "'m'", "f/m.csv"):
        name_runs([named[0], named[1], named[1]])
    with pytest.raises(ab.UsageError, match=r"'m' \(f/m.csv and f/m.csv\)"):
        name_runs([named[1], named[2], named[1]])


def test_runs_that_two_teams_name_alike_have_their_team_before_them() -> None:
    def of(team: str | None, *runs: str) -> Responses:
        return Responses(table(f"{team}.csv", run=runs), None, team)

    def named(*items: Responses) -> list[list[str]]:
        return [runs_of(item) for item in name_runs(items)]

    both = of("x", "1", "2"), of("y", "1", "3")
    assert named(*both) == [["x/1", "x/2"], ["y/1", "y/3"]]
    assert named(*both, of(None, "3", "4")) == [["x/1", "x/2"], ["y/1", "y/3"], ["3", "4"]]
    assert named(of("x", "1"), of("x", "1")) == [["1"], ["1"]]  # one team
    assert named(of("x", "one"), of("y", "two")) == [["one"], ["two"]]
    assert named(of("x", "1"), of("y", "2")) == [["x/1"], ["y/2"]]  # names that any team may give
    assert named(of("x", "1"), Responses(table("1.csv"), "1", "y")) == [["x/1"], ["y/1"]]


def test_attributes_say_one_thing_of_each_question() -> None:
    columns: dict[str, Any] = {"question": list("112"), "topic": list("aab"), "time": list("345")}
    columns["grade"] = ["right"] * 3
    assert shared_attributes([Responses(table(**columns), "r")]) == ("topic",)
    none: dict[str, Any] = {name: pl.Series([], dtype=pl.String) for name in columns}
    assert shared_attributes([Responses(table(**none), "r")]) == ("topic", "time")


@pytest.mark.parametrize("ids", [True, False])
def test_only_the_runs_that_are_named_are_numbered_anew(ids: bool) -> None:
    gold = read_gold(pl.DataFrame({"question": ["a", "b"], "correct": ["x", "y"]}))
    frame = pl.DataFrame({"run": ["1", "2", "1", "2"], "answer": list("xxyy")})
    if ids:
        frame = frame.with_columns(question=pl.Series(["7", "b", "8", "a"]))
    own = by_position(read_responses(frame), gold, ["1"])
    found = collect(own.frame.select("run", "question"), "").rows()
    kept = ["b", "a"] if ids else [None, None]
    assert found == [("1", "a"), ("2", kept[0]), ("1", "b"), ("2", kept[1])]
    assert by_position(own, gold).table.columns[0] == "question"


@pytest.mark.parametrize(
    ("known", "tasks", "now"),
    [
        (["1", "2"], ["t", "t"], ["1", "2"]),  # the gold has these ids
        (["t/1", "t/2"], ["t", "t"], ["t/1", "t/2"]),
        (["a", "b"], ["t", "t"], ["1", "2"]),  # with the task they would not fit either
        (["t/1", "u/2"], ["t", "u"], ["1", "2"]),  # of two tasks nobody knows which
    ],
)
def test_a_log_names_its_questions_as_the_gold_does(
    known: list[str], tasks: list[str], now: list[str]
) -> None:
    gold = read_gold(pl.DataFrame({"question": known, "correct": ["x", "y"]}))
    own = replace(table(question=["1", "2"], task=tasks), verdicts="judge")
    for source, expected in ((own, now), (replace(own, verdicts=None), ["1", "2"])):
        (found,) = with_shared_ids(gold, [Responses(source, "r")])[1]
        assert found.table.frame.collect()["question"].to_list() == expected


def test_a_fault_is_found_by_whatever_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = pl.DataFrame({"question": ["1", "2"], "correct": ["x", "y"]})
    run = pl.DataFrame({"question": ["1", "3"], "answer": ["x", "y"]})
    for streams in (True, False):
        monkeypatch.setattr(counting, "streams", lambda _, streams=streams: streams)
        (row,) = ab.read(gold, run.head(1)).score("accuracy").rows
        assert row.scores["accuracy"] == 0.5
        with refuses(ab.InputError, "'3'"):
            ab.read(gold, run).score("accuracy")
        with refuses(ab.InputError, "'1'"):
            ab.read(gold, pl.concat([run.head(1)] * 2)).score("accuracy")


@pytest.mark.parametrize(
    "run", ["jucs1302enen", "JUCS1302ENEN", "x/jucs1302enen", "jucs1302enen_2"]
)
def test_ids_of_runs_are_read_whatever_their_case(run: str) -> None:
    found = parse_run_name(run)
    assert found is not None
    assert (found.team.lower(), found.year, found.number) == ("jucs", 2013, 2)
    assert (found.source, found.target) == ("en", "en")


def test_digits_of_other_scripts_are_none_of_an_id() -> None:
    assert parse_run_name("jucs١٣٠٢enen") is None
    assert parse_run_name("jucs130enen") is None


def test_a_column_of_systems_beside_the_runs_pools_nothing() -> None:
    own = table(question=["q1", "q1"], answer=["a", "b"], run=["x", "y"], llm=["m1", "m2"])
    refuse_pooled(own, judged=False)
    apart = table(question=["q1", "q1"], answer=["a", "b"], llm=["m1", "m2"])
    with pytest.raises(ab.InputError, match="llm"):
        refuse_pooled(apart, judged=False)


def test_errors_name_the_columns_that_the_file_has(here: Here) -> None:
    """Whoever reads an error has the file before him, not what its columns are read as."""
    here.write("gold.csv", "question,correct\nq1,A\n")
    here.write("g.csv", "qid,model,verdict\nq1,x,right\n")
    assert "(its columns: qid, model, verdict)" in here.refuses(
        "score", "--judged", "g.csv", "--by", "topic"
    )
    assert "(its columns: qid, model, verdict)" in here.refuses("score", "gold.csv", "g.csv")
    line = here.refuses("score", "--judged", "g.csv", "--column", "grade=verdct")
    says(line, "'verdct'", "there are model, qid, verdict")
    says(here.refuses("score", "--judged", "g.csv", "--by", "model"), "'model'", "'run'")
    here.write("run.csv", "qid,given,output,prob\nq1,perhaps,A,0.5\n")
    line = here.refuses("score", "gold.csv", "run.csv", "-c", "answered=given")
    says(line, "run.csv:2", "'given'", "'perhaps'")
    here.write("run.csv", "qid,output,prob\nq1,A,0.5\n,A,0.5\n")
    says(here.refuses("score", "gold.csv", "run.csv"), "run.csv:3", "(column 'qid')")
    here.write("run.csv", "qid,output,prob\nq1,A,high\n")
    says(here.refuses("curve", "gold.csv", "run.csv"), "run.csv:2", "'high'", "(column 'prob')")


def test_grades_without_a_gold_are_noticed(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,A\nq2,B\n")
    here.write("g.csv", "id,model,verdict\nq1,x,right\nq2,x,wrong\n")
    for command in ("score", "compare", "curve"):
        says(here.refuses(command, "g.csv"), "the gold", "--judged")
    says(here.refuses("campaign", "g.csv", "-o", "out"), "the gold", "run")
    says(here.refuses("campaign", "g.csv", "g.csv", "-o", "out"), "g.csv:1", "'correct'")
    here.write("own.csv", "id,grade\nq1,right\nq2,wrong\n")
    says(here.refuses("score", "own.csv", "own.csv"), "own.csv:1", "'grade'", "--judged")
    for plain in ("gold.csv", "missing.csv", "-"):
        assert here.refuses("score", plain).endswith("or say --judged or --counts")
