"""Rows of several systems that nothing tells apart, and rows that name no question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import abstain as ab


def read(folder: Path, text: str) -> ab.Evaluation:
    path = folder / "grades.csv"
    path.write_text(text, encoding="utf-8")
    return ab.read_judged(path)


# Which columns are systems or questions by their names.
@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("engine,llm,outcome\nx,p,right\nx,p,wrong\ny,q,right\nz,q,right\n", {"run": "engine"}),
        ("item,outcome\n1,right\n2,wrong\n3,right\n", {"question": "item"}),
        ("who,item,outcome\nx,p,right\nx,q,wrong\n", {"question": "item"}),
        ("llm,itemId,outcome\nx,p,right\ny,p,wrong\n", {"run": "llm", "question": "itemId"}),
    ],
)
def test_which_columns_are_named(tmp_path: Path, text: str, columns: dict[str, str]) -> None:
    with pytest.raises(ab.InputError) as found:
        read(tmp_path, text)
    assert json.dumps(columns) in str(found.value)


def test_rows_of_several_systems_with_questions_are_refused_unless_it_is_one(
    tmp_path: Path,
) -> None:
    """With a column of questions only the names of systems decide, two or more."""
    rows = "question,engine,outcome\nq1,{},right\nq2,{},wrong\nq3,{},wrong\n"
    assert read(tmp_path, rows.format("x", "x", "x")).runs
    with pytest.raises(ab.InputError, match="'engine' names several systems"):
        read(tmp_path, rows.format("x", "y", "y"))
    with pytest.raises(ab.InputError, match="'engine' names several systems"):
        read(tmp_path, rows.format("x", "y", "z"))
