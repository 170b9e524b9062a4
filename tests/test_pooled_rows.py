"""Rows of several systems that nothing tells apart, and rows that name no question."""

from __future__ import annotations

from pathlib import Path

import pytest

import abstain as ab

ONE_EACH = "run,model,outcome\na,gpt,right\na,gpt,wrong\nb,llama,right\nb,llama,wrong\n"
MIXED = "run,model,outcome\na,gpt,right\na,llama,wrong\nb,llama,right\nb,llama,wrong\n"


def read(folder: Path, text: str) -> ab.Evaluation:
    path = folder / "grades.csv"
    path.write_text(text, encoding="utf-8")
    return ab.read_judged(path)


def test_a_system_that_follows_from_the_run_says_nothing_new(tmp_path: Path) -> None:
    assert read(tmp_path, ONE_EACH).runs == ("a", "b")


def test_a_run_of_two_systems_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ab.InputError, match=r"csv:1: column 'model' names 2 systems"):
        read(tmp_path, MIXED)


def grid(systems: int, items: int, rows: int, names: tuple[str, str] = ("who", "what")) -> str:
    """Rows of every system with every item, up to so many."""
    every = [f"s{s},item {i},right" for i in range(items) for s in range(systems)]
    return "\n".join([f"{names[0]},{names[1]},outcome", *every[:rows]]) + "\n"


@pytest.mark.parametrize(
    ("systems", "items", "rows", "refused"),
    [
        (2, 4, 8, True),  # eight rows, all there, twice as many items as systems
        (2, 4, 7, False),  # one is lacking: of few rows all must be there
        (2, 3, 6, False),  # fewer than eight rows
        (3, 5, 15, False),  # fewer than twice as many items
        (2, 8, 16, True),
        (2, 8, 15, False),
        (2, 16, 17, True),  # of sixteen rows or more most will do
    ],
)
def test_columns_that_tell_rows_apart_as_systems_and_items_would(
    tmp_path: Path, systems: int, items: int, rows: int, refused: bool
) -> None:
    text = grid(systems, items, rows)
    if refused:
        with pytest.raises(ab.InputError, match="'who' and 'what' tell the rows apart"):
            read(tmp_path, text)
    else:
        assert read(tmp_path, text).runs


# Which columns tell the rows apart, by their names and by what they hold.
@pytest.mark.parametrize(
    ("text", "said"),
    [
        # no question, a run and a system that the run does not give: the first such is named
        (
            "run,model,llm,outcome\na,x,p,right\na,x,q,wrong\na,x,s,right\nb,y,p,right\n",
            "column 'llm' names 3 systems",
        ),
        # nothing tells systems from questions, so the first column of systems is named
        ("engine,llm,outcome\nx,p,right\nx,p,wrong\ny,q,right\nz,q,right\n", "'engine' names 3"),
        # a column called as questions are, each row another: no system, so no run
        ("item,outcome\n1,right\n2,wrong\n3,right\n", "but 'item' tells the rows apart"),
        # a system by name, and few rows: sure all the same
        (
            "engine,thing,outcome\nx,p,right\nx,q,wrong\ny,p,right\ny,q,right\n",
            "'engine' and 'thing' tell the rows apart",
        ),
        # a question by name, and few rows
        (
            "who,item,outcome\nx,p,right\nx,q,wrong\ny,p,right\ny,q,right\n",
            "'who' and 'item' tell the rows apart",
        ),
    ],
)
def test_which_columns_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ab.InputError) as found:
        read(tmp_path, text)
    assert said in str(found.value)


def test_rows_of_several_systems_with_questions_are_refused_unless_it_is_one(
    tmp_path: Path,
) -> None:
    """With a column of questions only the names of systems decide, two or more."""
    rows = "question,engine,outcome\nq1,{},right\nq2,{},wrong\nq3,{},wrong\n"
    assert read(tmp_path, rows.format("x", "x", "x")).runs
    with pytest.raises(ab.InputError, match="'engine' names 2 systems"):
        read(tmp_path, rows.format("x", "y", "y"))
    with pytest.raises(ab.InputError, match="'engine' names 3 systems"):
        read(tmp_path, rows.format("x", "y", "z"))


@pytest.mark.parametrize(("systems", "refused"), [(200, True), (201, False)])
def test_more_than_two_hundred_values_are_no_systems(
    tmp_path: Path, systems: int, refused: bool
) -> None:
    rows = "".join(f"q{i},e{i % systems},right\n" for i in range(402))
    text = "question,engine,outcome\n" + rows
    if refused:
        with pytest.raises(ab.InputError, match="'engine' names 200 systems"):
            read(tmp_path, text)
    else:
        assert read(tmp_path, text).runs
