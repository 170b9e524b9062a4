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
from abstain.judging import counting
from abstain.judging.aliases import _all_known, refuse_pooled
from abstain.judging.aligning import by_position
from abstain.judging.counting import refuse_shared
from abstain.judging.gold import read_gold
from abstain.judging.grades import shared_attributes
from abstain.judging.naming import (
    _labels,
    _telling_folders,
    name_runs,
    parse_run_name,
    runs_of,
    told_apart,
)
from abstain.judging.opening import Given, _groups, _Log, _with_sets, gold_of_folder
from abstain.judging.plans import _with_unasked, agreed
from abstain.judging.reading import Reading
from abstain.judging.responses import Responses, read_responses
from abstain.judging.sources import golds_of

Facts = tuple[tuple[str, str, str], ...]


def table(name: str = "t.csv", facts: Facts = (), **columns: Any) -> Table:
    frame = pl.DataFrame(columns)
    rows = frame.lazy().with_row_index(ROW)
    return Table(name, "csv", tuple(columns), rows, facts=facts)


def log(
    task: str,
    correct: dict[str, str],
    model: str = "m",
    dataset: str = "",
    path: str = "logs/a.json",
) -> _Log:
    facts = (("dataset", "dataset", dataset),) if dataset else ()
    own = Table(path, "inspect", (), pl.LazyFrame(), run_id=(model, 1), facts=facts)
    questions = pl.DataFrame(
        {"question": [*correct], "correct": [*correct.values()]},
        schema={"question": pl.String, "correct": pl.String},
    )
    return _Log(0, Responses(own, model), task, questions, by_itself=True)


ONE, MORE = {"1": "a", "2": "b"}, {"1": "a", "2": "b", "3": "c"}


@pytest.mark.parametrize(
    ("here", "there", "dataset", "same"),
    [
        (ONE, ONE, "", True),
        (ONE, MORE, "", False),  # no data set is named: all ids must be in both
        (MORE, ONE, "", False),
        (ONE, MORE, "d", True),
        (ONE, {"3": "c"}, "d", False),  # nothing in common
        (ONE, {"1": "a", "2": "x"}, "d", False),
    ],
)
def test_which_tasks_ask_the_same(
    here: dict[str, str], there: dict[str, str], dataset: str, same: bool
) -> None:
    assert log("a", here, dataset=dataset).asks_what(log("b", there, dataset=dataset)) is same
    assert not log("a", here, dataset="other").asks_what(log("b", there, dataset="d"))


def test_tasks_that_no_model_has_both_of_may_ask_the_same() -> None:
    other = {"8": "a"}
    logs = [log("A", ONE, "m"), log("B", ONE, "n"), log("C", other, "m")]
    assert [own.asks for own in _with_sets(logs)] == ["A", "A", "C"]
    logs = [log("A", ONE, "m"), log("B", ONE, "m"), log("C", other, "n")]
    assert [own.asks for own in _with_sets(logs)] == ["A", "B", "C"]


def test_logs_of_one_model_are_joined_by_folder_where_a_task_comes_twice() -> None:
    first, second = log("A", ONE, path="x/1"), log("B", MORE, path="x/2")
    again, third = log("A", ONE, path="y/1"), log("B", MORE, path="y/2")
    logs = _with_sets([first, second, again])
    assert _groups(logs) == [logs[:2]]  # one log alone is a run as it is
    logs = _with_sets([first, second, again, third])
    assert _groups(logs) == [logs[:2], logs[2:]]
    assert _groups(_with_sets([first, again])) == []
    assert _groups(logs[:2]) == [logs[:2]]
    with pytest.raises(ab.UsageError, match=r"two logs of task 'A' \(x/1 and x/3\)"):
        _groups(_with_sets([first, second, log("A", ONE, path="x/3")]))


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_the_gold_of_a_folder_has_the_rows_of_every_file(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / f"{name}.csv").write_text(f"question,answer\n{name}1,x\n{name}2,y\n", "utf-8")
    found = gold_of_folder(str(tmp_path), Reading())
    asked = found.frame.collect()["question"].to_list()
    assert asked == [f"{name}{number}" for name in names for number in (1, 2)]
    assert found.name == str(tmp_path if len(names) > 1 else tmp_path / "a.csv")


def test_a_name_shows_at_most_three_settings() -> None:
    values = ("112", "121", "211", "112")
    logs = [
        table(facts=tuple(("settings", f"s{at}", own[k]) for at, own in enumerate(values)))
        for k in range(3)
    ]
    said = ["s0=1, s1=1, s2=2", "s0=1, s1=2, s2=1", "s0=2, s1=1, s2=1"]
    assert told_apart(logs, ["settings"]) == said
    assert told_apart(logs[:1], ["settings"]) is None


def test_one_setting_that_tells_all_logs_apart_is_enough() -> None:
    logs = [
        table(facts=(("settings", "s0", "1"), ("settings", "s1", own), ("settings", "s2", own * 2)))
        for own in "123"
    ]
    assert told_apart(logs, ["settings"]) == ["s1=1", "s1=2", "s1=3"]


LONG = "a" * 31


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([f"{LONG}x", f"{LONG}y"], ["model=…x", "model=…y"]),
        ([f"{LONG}x", f"{LONG}y", None], ["model=…x", "model=…y", "no model"]),
        ([f"{LONG}x", f"{LONG}y", ""], ["model=…x", "model=…y", "model="]),
        # the third begins otherwise, so nothing is left out before them
        ([f"{LONG}x", f"{LONG}y", "b"], [f"model={'a' * 29}…"] * 2 + ["model=b"]),
    ],
)
def test_what_settings_share_is_left_out(values: list[str | None], said: list[str]) -> None:
    assert _labels("settings", "model", values) == said


def test_runs_that_cannot_be_told_apart_are_named() -> None:
    one, two = table("f/m.csv"), table("g/m.csv")
    named = [Responses(table("z.csv"), "z"), Responses(one, "m"), Responses(two, "m")]
    assert [own.run for own in name_runs(named)] == ["z", "f/m", "g/m"]
    with pytest.raises(ab.UsageError, match="two runs are called 'f/m'; give"):
        name_runs([*named, Responses(table("f.csv"), "f/m")])
    with pytest.raises(ab.UsageError, match=r"two runs are called 'm' \(f/m.csv and f/m.csv\)"):
        name_runs([named[0], named[1], named[1]])
    with pytest.raises(ab.UsageError, match=r"'m' \(f/m.csv and f/m.csv\)"):
        name_runs([named[1], named[2], named[1]])
    with pytest.raises(ab.UsageError, match="run 'b' is in two tables"):
        refuse_shared(["a", "b", "b"])
    refuse_shared(["a", "b"])


def test_runs_that_two_teams_name_alike_have_their_team_before_them() -> None:
    def of(team: str | None, *runs: str) -> Responses:
        return Responses(table(f"{team}.csv", run=runs), None, team)

    def named(*items: Responses) -> list[list[str]]:
        return [runs_of(item) for item in name_runs(items)]

    both = of("x", "1", "2"), of("y", "1", "3")
    assert named(*both) == [["2", "x/1"], ["3", "y/1"]]
    assert named(*both, of(None, "3", "4")) == [["2", "x/1"], ["y/1", "y/3"], ["3", "4"]]
    assert named(of("x", "1"), of("x", "1")) == [["1"], ["1"]]  # one team
    assert named(of("x", "1"), of("y", "2")) == [["1"], ["2"]]
    assert named(of("x", "1"), Responses(table("1.csv"), "1", "y")) == [["x/1"], ["1"]]


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


@pytest.mark.parametrize(("words", "known"), [(0, False), (1, True), (20, True), (21, False)])
def test_a_column_of_grades_holds_one_to_twenty_words(words: int, known: bool) -> None:
    own = table(grade=pl.Series([f"g{at}" for at in range(words)] + [None], dtype=pl.String))
    assert _all_known(own, "grade", {f"g{at}" for at in range(40)}) is known
    assert not _all_known(own, "grade", {"g0"} if words > 1 else {"g1"})


def judged_rows(systems: int, texts: int, leave_out: int = 0) -> Table:
    cells = [(s, t) for s in range(systems) for t in range(texts)]
    cells = sorted(cells, key=lambda own: sum(own) % 2)[: len(cells) - leave_out]
    kind, text = [f"s{s}" for s, _ in cells], [f"t{t}" for _, t in cells]
    return table(outcome=["right"] * len(cells), kind=kind, text=text)


@pytest.mark.parametrize(
    ("systems", "texts", "leave_out", "refused"),
    [
        (1, 8, 0, False),  # what all rows share names no systems
        (2, 4, 0, True),  # eight rows are enough where every cell is there
        (2, 4, 1, False),
        (2, 3, 0, False),
        (2, 8, 1, False),  # fifteen rows must be all
        (2, 9, 2, True),  # of sixteen, more than half the cells are enough
        (3, 5, 0, False),  # more systems than half the texts
        (3, 6, 0, True),
        (4, 8, 16, False),  # just half
        (4, 8, 15, True),
    ],
)
def test_when_rows_look_like_systems_and_questions(
    systems: int, texts: int, leave_out: int, refused: bool
) -> None:
    own = judged_rows(systems, texts, leave_out)
    if not refused:
        refuse_pooled(own, judged=True)
        return
    with pytest.raises(ab.InputError, match="'kind' and 'text' tell the rows apart"):
        refuse_pooled(own, judged=True)


@pytest.mark.parametrize("systems", [1, 2, 200, 201])
def test_two_to_two_hundred_values_name_systems(systems: int) -> None:
    own = table(question=range(systems), llm=[f"s{at}" for at in range(systems)])
    if systems in (1, 201):
        refuse_pooled(own, judged=False)
        return
    with pytest.raises(ab.InputError, match=f"column 'llm' names {systems} systems"):
        refuse_pooled(own, judged=False)


@pytest.mark.parametrize("before", [28, 29])
def test_the_first_thirty_columns_are_looked_at(before: int) -> None:
    others: dict[str, Any] = {f"c{at}": ["x", "y"] for at in range(before)}
    own = table(question=["1", "2"], **others, llm=["s", "t"])
    if before == 29:
        refuse_pooled(own, judged=False)
        return
    with pytest.raises(ab.InputError, match="column 'llm' names 2 systems"):
        refuse_pooled(own, judged=False)


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
        (found,) = agreed(gold, [Responses(source, "r")])[1]
        assert found.table.frame.collect()["question"].to_list() == expected


@pytest.mark.parametrize("right", [[False, False], [True, False]])
def test_a_test_set_without_answers_is_no_gold(right: list[bool]) -> None:
    """Unless none are asked for, and unless it is another table: then nothing is right."""
    own = read_gold(pl.DataFrame({"question": ["1", "2"], "correct": ["x", "y"]}))
    own = replace(own, frame=own.frame.with_columns(nothing_right=~pl.Series(right)))
    tests = replace(own, table=replace(own.table, format="qa4mre"))
    for gold, answers in ((own, True), (own, False), (tests, False), (tests, True)):
        if gold is tests and answers and not any(right):
            with pytest.raises(ab.InputError, match="marks no answer as correct"):
                golds_of([gold], Reading(), answers=answers)
        else:
            assert golds_of([gold], Reading(), answers=answers)[0] == [gold]


def test_what_a_run_is_called_in_messages() -> None:
    frame = pl.DataFrame({"question": ["1"], "answer": ["x"]})
    assert Given(frame).place == "the frame"
    assert Given(frame, label="run 2").place == "run 2"
    assert Given(Path("a/b.csv"), label="run 2").place == "a/b.csv"


def test_a_fault_is_found_by_whatever_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = pl.DataFrame({"question": ["1", "2"], "correct": ["x", "y"]})
    run = pl.DataFrame({"question": ["1", "3"], "answer": ["x", "y"]})
    for streams in (True, False):
        monkeypatch.setattr(counting, "streams", lambda _, streams=streams: streams)
        (row,) = ab.read(gold, run.head(1)).score("accuracy").rows
        assert row.scores["accuracy"] == 0.5
        with pytest.raises(ab.InputError, match="question '3' is not in the gold"):
            ab.read(gold, run).score("accuracy")
        with pytest.raises(ab.InputError, match="question '1' again, with the same answer"):
            ab.read(gold, pl.concat([run.head(1)] * 2)).score("accuracy")


def test_what_a_log_was_not_asked_stands_after_its_rows() -> None:
    own = table(question=["1", "2"], answer=["x", "y"])
    rows, every = own.frame.collect(), pl.DataFrame({"question": ["1", "2", "3", "4"]})
    found = _with_unasked(Responses(own, "r"), rows, every.tail(2), every).table
    whole = found.frame.collect()
    assert whole["question"].to_list() == ["1", "2", "3", "4"]
    assert whole[ROW].to_list() == [0, 1, 2, 3]
    assert whole["outcome"].to_list() == [None, None, "unasked", "unasked"]
    assert found.notes == ("r was asked 2 of 4 questions and is judged on those",)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["b" * 30, "c"], [f"model={'b' * 30}", "model=c"]),
        (["b" * 31, "c"], [f"model={'b' * 29}…", "model=c"]),
        (["used", None], ["model", "no model"]),
        (["a  b", None], ["model=a b", "no model"]),
    ],
)
def test_a_setting_shows_thirty_letters(values: list[str | None], said: list[str]) -> None:
    assert _labels("settings", "model", values) == said


def test_logs_without_a_task_say_so() -> None:
    assert _labels("task", "task", ["arc", None]) == ["arc", "no task"]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (["2026-01-02T10:00:00", "2026-01-03T10:00:00"], ["2026-01-02", "2026-01-03"]),
        (["2026-01-02T10:00:00", "2026-01-02T11:30:00"], ["10:00", "11:30"]),
        (["2026-01-02T10:00:00", "2026-01-02T10:00:09"], ["10:00:00", "10:00:09"]),
        (
            ["2026-01-02T10:00:00", "2026-01-02T11:00:00", "2026-01-03T10:00:00"],
            ["2026-01-02 10:00", "2026-01-02 11:00", "2026-01-03 10:00"],
        ),
        (["2026-01-02T10:00:00", "2026-01-02T10:00:00.5"], None),
        (["today", "2026-01-02"], None),
    ],
)
def test_times_are_no_longer_than_tells_them_apart(
    times: list[str], said: list[str] | None
) -> None:
    assert _labels("time", "time", times) == (said or times)


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


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["a/m.csv", "b/m.csv"], [("a",), ("b",)]),
        (["x/a/m.csv", "y/a/m.csv", "y/b/m.csv"], [("x", "a"), ("y", "a"), ("y", "b")]),
    ],
)
def test_as_few_folders_as_tell_paths_apart(paths: list[str], said: list[tuple[str, ...]]) -> None:
    assert _telling_folders(paths) == said


def test_a_column_of_systems_beside_the_runs_pools_nothing() -> None:
    own = table(question=["q1", "q1"], answer=["a", "b"], run=["x", "y"], llm=["m1", "m2"])
    refuse_pooled(own, judged=False)
    apart = table(question=["q1", "q1"], answer=["a", "b"], llm=["m1", "m2"])
    with pytest.raises(ab.InputError, match="llm"):
        refuse_pooled(apart, judged=False)
