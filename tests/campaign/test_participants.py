"""Languages without a run, techniques in words, and mean increases of pairs, by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from tests.snapshots import says

IDS = ["a", "b", "c", "d"]


def answers(right: str) -> pl.DataFrame:
    return pl.DataFrame({"question": IDS, "answer": list(right)})


def test_languages_are_a_matrix_with_those_that_had_no_run() -> None:
    gold = pl.DataFrame({"question": IDS, "correct": ["A"] * 4})
    names = ("aaaa1301enen", "bbbb1301enen", "bbbb1302bgen")
    table = ab.campaign(gold, {n: answers("AABB") for n in names}, languages=["ar"]).to_frame(
        "languages"
    )
    assert table.rows() == [
        ("ar", 0, 0, 0, 0),
        ("bg", 0, 1, 1, 1),
        ("en", 0, 2, 2, 2),
    ]
    assert table.columns == ["source", "to ar", "to en", "runs", "teams"]


def test_a_technique_may_be_in_words(tmp_path: Path) -> None:
    gold = pl.DataFrame({"question": IDS, "correct": ["A"] * 4})
    info = tmp_path / "info.csv"
    info.write_text(
        "run,team,validation\nx,t,other: by hand|overlap\ny,u,overlap\nz,v,none at all\n"
    )
    result = ab.campaign(gold, {n: answers("AABB") for n in "xyz"}, runs_info=info)
    table = result.to_frame("techniques_validation")
    cells = table.select("validation", "runs", "team t", "team u", "team v").rows()
    assert cells == [
        ("none at all", 1, "", "", "×"),
        ("other", 1, "by hand", "", ""),
        ("overlap", 2, "×", "×", ""),
    ]


def test_mean_increases_are_over_pairs_that_increased() -> None:
    """b twins a (1 to 3 of 4 runs: +200 %), d twins c (2 to 3: +50 %), f twins e (3 to 2: none)."""
    ids = ["a", "b", "c", "d", "e", "f"]
    right = {"a": "x", "b": "xyz", "c": "xy", "d": "xyw", "e": "xyz", "f": "xy"}
    gold = pl.DataFrame(
        {
            "question": ids,
            "correct": ["A"] * 6,
            "auxiliary_of": ["", "a", "", "c", "", "e"],
            "simplified": ["", "question", "", "answer", "", "answer"],
        }
    )
    runs = {
        name: pl.DataFrame(
            {"question": ids, "answer": ["A" if name in right[q] else "B" for q in ids]}
        )
        for name in "xyzw"
    }
    text = " ".join(str(ab.campaign(gold, runs)).split())
    (sentence,) = [part for part in text.split(". ") if "mean increase" in part]
    says(sentence, "125.00 %", "answer 50.00 %", "question 200.00 %")


@pytest.mark.slow
def test_table_10_of_the_bundled_campaign() -> None:
    table = ab.demo().to_frame("languages")
    assert table.filter(source="en")["to en"].to_list() == [36]


def test_columns_for_the_organiser_alone_are_not_used(tmp_path: Path) -> None:
    """By parts of their names, or by what is in them."""
    secret = {
        **dict.fromkeys(("e_mail", "phone", "contact person", "internal_note"), "s3cret"),
        **dict.fromkeys(("Tel.", "Re-Marks", "postal-address", "FilePath"), "s3cret"),
        "who": "Ann s3cret@uni.example.org",
        "from": "/home/s3cret/run",
        "at": "C:\\s3cret\\run",
        "as": "inbox/s3cret.xml",
    }
    used = {"model": "meta-llama/Llama-3.1", "methods": "NER/CRF", "tellers": "n/a", "P@5": "1.5"}
    gold = pl.DataFrame({"question": IDS, "correct": ["A"] * 4})
    info = pl.DataFrame([{"run": run, **secret, **used} for run in "xy"])
    result = ab.campaign(gold, {n: answers("AABB") for n in "xy"}, runs_info=info)
    assert [row.info for row in result.rows] == [used, used]
    assert "kept out of all tables: 'e_mail', 'phone'" in " ".join(result.notes)
    result.save(tmp_path / "out")
    for path in (tmp_path / "out").rglob("*.*"):
        assert "s3cret" not in path.read_text("utf-8"), path
