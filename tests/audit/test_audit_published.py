"""Every known misprint of the published tables is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain as ab
from tests.audit.tables import (
    APPENDICES,
    PUBLISHED,
    TABLE_14,
    TABLE_15,
    TEST_SIZES,
    change_digit,
    read,
    write,
)

SIMPLIFICATION = [
    PUBLISHED / f"qa4mre2013_table{name}.csv"
    for name in (
        "18_question_simplification",
        "19_question_pairs",
        "20_answer_simplification",
        "21_answer_pairs",
    )
]


def found(audit: ab.AuditResult) -> set[tuple[str, str, str]]:
    return {(f.row, f.column, f.printed) for f in audit.findings}


def fixes(audit: ab.AuditResult, row: str) -> set[str]:
    changes = (c.changes for f in audit.findings if f.row == row for c in f.corrections)
    return {" and ".join(map(str, some)) for some in changes}


@pytest.mark.parametrize("questions", [None, 284])
def test_table_14_has_three_rows_that_do_not_add_up(questions: int | None) -> None:
    audit = ab.audit([TABLE_14], questions=questions)
    assert {f.row for f in audit.findings} == {"csui1308enen", "evma1303enen", "kule1303enen"}
    assert fixes(audit, "csui1308enen") == {"right 60 → 69"}
    assert fixes(audit, "evma1303enen") == {"answered 249 → 245"}
    assert fixes(audit, "kule1303enen") == {
        "unanswered_right 0 → 42",
        "unanswered_wrong 0 → 42",
        "unanswered_empty 0 → 42",
    }
    assert {f.line for f in audit.findings} == {7, 25, 35}
    assert any("284 questions, because 53 of 54 rows" in note for note in audit.notes) is (
        not questions
    )


def test_table_15_has_three_auxiliary_scores_that_cannot_be() -> None:
    audit = ab.audit([TABLE_15], sizes={"main": 240, "auxiliary": 44}, companions=[TABLE_14])
    assert found(audit) == {
        ("kule1306enen", "auxiliary", "0.47"),
        ("buap1309enen", "auxiliary", "0.56"),
        ("vens1302enen_LATE_RUN", "auxiliary", "0.33"),
    }
    said = {f.row: f.follows for f in audit.findings}
    assert "truncated" in said["kule1306enen"]
    assert "truncated" in said["buap1309enen"]
    assert "truncated" not in said["vens1302enen_LATE_RUN"]


def test_table_15_without_counts_allows_for_blanks() -> None:
    assert ab.audit([TABLE_15], sizes={"auxiliary": 44}).agrees


@pytest.mark.slow
def test_table_7_gives_numbers_of_questions_that_table_15_refutes() -> None:
    sizes = {"nca": 39, "modality_negation": 28}
    audit = ab.audit([TABLE_15], sizes=sizes, companions=[TABLE_14])
    answered_all = {r["run"] for r in read(TABLE_14) if r["unanswered"] == "0"}
    certain = {(f.row, f.column) for f in audit.findings if f.row in answered_all}
    for column in ("nca", "modality_negation"):
        assert sum(c == column for _, c in certain) >= 5


def test_97_questions_fit_every_row_and_30_all_but_one() -> None:
    sizes = {"nca": 97, "modality_negation": 30}
    audit = ab.audit([TABLE_15], sizes=sizes, companions=[TABLE_14])
    assert found(audit) == {("vens1302enen_LATE_RUN", "modality_negation", "0.12")}


@pytest.mark.slow
def test_the_appendices_agree_with_their_summaries_and_sizes() -> None:
    tests = read(TEST_SIZES)
    sizes = {f"test_{test['test']}": int(test["questions"]) for test in tests}
    for place, topic in enumerate(dict.fromkeys(test["topic"] for test in tests), 1):
        of_topic = (int(test["questions"]) for test in tests if test["topic"] == topic)
        sizes[f"topic_{place}"] = sum(of_topic)
    audit = ab.audit(APPENDICES, sizes=sizes, companions=[TABLE_14])
    assert audit.findings == ()
    assert audit.rules["summaries follow from their rows"] == 44  # a mean and a median of 22
    assert audit.rules["scores are attainable"] > 1000


@pytest.mark.parametrize("path", [*SIMPLIFICATION, *PUBLISHED.glob("clef*"), TEST_SIZES])
def test_tables_that_are_right_give_nothing(path: Path) -> None:
    audit = ab.audit([path])
    assert audit.findings == ()


def test_table_5_adds_up_and_table_22_has_its_averages() -> None:
    names = ("table5_6_7_question_counts", "table22_external_knowledge")
    audit = ab.audit([PUBLISHED / f"qa4mre2013_{name}.csv" for name in names])
    assert audit.agrees
    assert audit.rules["summaries follow from their rows"] == 3


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_changed_digit_of_a_sum_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    rows = read(data.draw(st.sampled_from(SIMPLIFICATION)))
    row = data.draw(st.sampled_from(rows))
    column = data.draw(st.sampled_from([c for c in row if row[c].isdigit()]))
    old = row[column]
    row[column] = change_digit(old, data.draw(st.integers(0, 9)), data.draw(st.integers(0, 8)))
    path = write(tmp_path_factory.mktemp("audit") / "table.csv", rows)
    audit = ab.audit([path])
    assert audit.findings
    restored = {
        (c.column, int(c.new)) for f in audit.findings for fix in f.corrections for c in fix.changes
    }
    assert (column, int(old)) in restored
