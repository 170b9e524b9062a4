"""Tables as people make them at home: what each is read as, or refused with the line to type.

Eight questions; `a` answers six of them, five right; `b` answers all, three right. However the
columns are called, c@1 is 5/8 · (1 + 2/8) and 3/8, or the table is refused: rows of two systems are
never pooled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.reading import EngineName
from tests.engines import needs
from tests.snapshots import refuses, says

GIVEN = {"a": "AAAAAB--", "b": "AAABBBBB"}
BOTH = {"a": 5 / 8 * (1 + 2 / 8), "b": 3 / 8}
BINARY = {"a": 5 / 8, "b": 3 / 8}
"""Without a third grade a blank can only be wrong."""

Columns = dict[str, str]


def rows(names: Columns, words: dict[str, Any], times: int = 1) -> pl.DataFrame:
    """Rows of both systems, their columns called as others call them."""
    found: list[dict[str, Any]] = [
        {
            "run": run,
            "question": f"q{n}",
            "verdict": words[own],
            "answer": {"A": "A", "B": "B", "-": ""}[own],
            "confidence": {"A": 0.9, "B": 0.4, "-": 0.1}[own],
            "topic": "xy"[n % 2],
        }
        for run, answers in GIVEN.items()
        for n, own in enumerate(answers * times)
    ]
    return pl.DataFrame(found).select(pl.col(known).alias(own) for known, own in names.items())


WORDS = {"A": "correct", "B": "incorrect", "-": "not attempted"}
LETTERS = {"A": "A", "B": "B", "-": "C"}
CIN = {"A": "C", "B": "I", "-": "N"}
UPPER = {"A": "CORRECT", "B": "Incorrect.", "-": "NOT_ATTEMPTED"}
BOOLS = {"A": True, "B": False, "-": False}
BITS = {"A": 1, "B": 0, "-": 0}
FLOATS = {"A": 1.0, "B": 0.0, "-": 0.0}
PASS = {"A": "pass", "B": "fail", "-": "fail"}

# By the names that people use; those of public benchmarks are in test_benchmark_fields.py.
TAKEN: dict[str, tuple[Columns, dict[str, Any], dict[str, float]]] = {
    "two models and a judge": (
        {
            "run": "model",
            "question": "id",
            "topic": "topic",
            "verdict": "grade",
            "confidence": "conf",
        },
        WORDS,
        BOTH,
    ),
    "SimpleQA's letters": ({"run": "model", "question": "id", "verdict": "grade"}, LETTERS, BOTH),
    "is_correct": (
        {"run": "model_name", "question": "question_id", "verdict": "is_correct"},
        BOOLS,
        BINARY,
    ),
    "samples and letters": (
        {"run": "model", "question": "sample_id", "verdict": "score"},
        CIN,
        BOTH,
    ),
    "documents": (
        {"run": "model", "question": "doc_id", "verdict": "correct"},
        BITS,
        BINARY,
    ),
    "systems and examples": (
        {"run": "system", "question": "example_id", "verdict": "is_correct"},
        FLOATS,
        BINARY,
    ),
    "labels": ({"run": "run_id", "question": "qid", "verdict": "label"}, WORDS, BOTH),
    "verdicts by hand": (
        {"run": "system", "question": "question_id", "verdict": "verdict"},
        PASS,
        BINARY,
    ),
    "judgements in capitals": (
        {"run": "model", "question": "question_id", "verdict": "judgement"},
        UPPER,
        BOTH,
    ),
    "a spreadsheet": ({"run": "Model", "question": "ID", "verdict": "Grade"}, UPPER, BOTH),
    "spaces": (
        {"run": "Model Name", "question": "Question ID", "verdict": "Is Correct"},
        BOOLS,
        BINARY,
    ),
    "our own names": ({"run": "run", "question": "question", "verdict": "outcome"}, WORDS, BOTH),
}
JUDGED = [(name, kind) for name in TAKEN for kind in ("polars", "pandas", "csv", "jsonl", "json")]


def handed(frame: pl.DataFrame, kind: str, folder: Path) -> Any:
    path = folder / f"table.{kind}"
    match kind:
        case "polars":
            return frame
        case "pandas":
            return frame.to_pandas()
        case "csv":
            path.write_bytes(b"\xef\xbb\xbf" + frame.write_csv().encode())
        case "jsonl":
            frame.write_ndjson(path)
        case "json":
            path.write_text(json.dumps(frame.to_dicts(), indent=2))
        case "parquet":
            frame.write_parquet(path)
    return path


@pytest.mark.parametrize(("name", "kind"), JUDGED)
def test_graded_rows_by_the_names_that_people_use(name: str, kind: str, tmp_path: Path) -> None:
    names, words, expected = TAKEN[name]
    result = ab.read_judged(handed(rows(names, words), kind, tmp_path)).score("c@1")
    assert {row.run: row.scores["c@1"] for row in result.rows} == pytest.approx(expected)
    ours = {"run", "question", "grade", "outcome", "topic"}
    said = " ".join(result.notes)
    for known, own in names.items():
        assert own in ours or f"{own} as {'grade' if known == 'verdict' else known}" in said


ANSWERED: dict[str, tuple[Columns, Columns]] = {
    "ids": (
        {"question": "id", "correct": "target"},
        {"run": "model", "question": "id", "answer": "output"},
    ),
    "references": (
        {"question": "qid", "correct": "reference"},
        {"run": "system", "question": "qid", "answer": "prediction"},
    ),
    "answer keys": (
        {"question": "question_id", "correct": "answer_key"},
        {"run": "run_id", "question": "question_id", "answer": "response", "confidence": "prob"},
    ),
    "expected": (
        {"question": "sample_id", "correct": "expected"},
        {"run": "model_name", "question": "sample_id", "answer": "completion", "confidence": "p"},
    ),
    "gold": (
        {"question": "example_id", "correct": "gold"},
        {"run": "model", "question": "id", "answer": "answer"},
    ),
}


@pytest.mark.parametrize("name", ANSWERED)
@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "jsonl", "json", "parquet"])
def test_a_gold_and_runs_by_the_names_that_people_use(name: str, kind: str, tmp_path: Path) -> None:
    own, answers = ANSWERED[name]
    gold = pl.DataFrame({own["question"]: [f"q{n}" for n in range(8)], own["correct"]: ["A"] * 8})
    (tmp_path / "gold").mkdir()
    result = ab.score(
        handed(gold, kind, tmp_path / "gold"),
        handed(rows(answers, WORDS), kind, tmp_path),
        "c@1",
    )
    assert {row.run: row.scores["c@1"] for row in result.rows} == pytest.approx(BOTH)


def test_questions_with_their_text_and_an_id() -> None:
    """As data sets have them: `question` is a text, and runs know the id."""
    ids = [f"q{n}" for n in range(8)]
    gold = pl.DataFrame({"id": ids, "question": [f"Why {n}?" for n in ids], "correct": ["A"] * 8})
    runs = rows({"run": "model", "question": "id", "answer": "answer"}, WORDS)
    result = ab.score(gold, runs, "c@1")
    assert {row.run: row.scores["c@1"] for row in result.rows} == pytest.approx(BOTH)


REFUSED: dict[str, tuple[Columns, int, str]] = {
    "two names for the run": (
        {"run": "model", "topic": "system", "question": "id", "verdict": "grade"},
        1,
        'could each be the run; say which: columns={"run": "model"}',
    ),
    "two names for the question": (
        {"run": "run", "question": "id", "topic": "qid", "verdict": "grade"},
        1,
        'could each be the question; say which: columns={"question": "id"}',
    ),
    "systems by an unknown name": (
        {"run": "llm", "question": "item", "verdict": "grade"},
        2,
        'columns={"run": "llm", "question": "item"}',
    ),
    "systems by an unknown name, ids known": (
        {"run": "llm", "question": "id", "verdict": "grade"},
        1,
        "column 'llm' names several systems, which would be one run",
    ),
    "questions by an unknown name": (
        {"run": "model", "question": "item_no", "verdict": "grade"},
        2,
        'columns={"question": "item_no"}',
    ),
    "no grade": (
        {"run": "model", "question": "id", "answer": "text"},
        1,
        "has no column 'outcome'",
    ),
    "a score that is no grade": (
        {"run": "model", "question": "id", "confidence": "score"},
        1,
        "has no column 'outcome'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "json"])
def test_what_would_mislead_is_refused_with_the_line_to_type(
    name: str, kind: str, tmp_path: Path
) -> None:
    names, times, said = REFUSED[name]
    frame = rows(names, WORDS)
    if times > 1:  # enough rows to tell an id from an attribute
        own = names["question"]
        frame = pl.concat(frame.with_columns(pl.col(own) + f"-{part}") for part in range(times + 1))
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged(handed(frame, kind, tmp_path)).score("c@1")
    assert said in str(caught.value)


STANDARD = {**TAKEN["two models and a judge"][0]}


@pytest.mark.parametrize("index", [["id"], ["model"], ["model", "id"], ["topic"]])
def test_the_index_of_a_pandas_frame_is_read(index: list[str]) -> None:
    """An index with names is columns; only the numbers of rows are left out."""
    frame = rows(STANDARD, WORDS).to_pandas().set_index(index)
    result = ab.read_judged(frame).score("c@1")
    assert {row.run: row.scores["c@1"] for row in result.rows} == pytest.approx(BOTH)
    says(" ".join(result.notes))


def test_ids_in_an_index_without_a_name_are_not_dropped() -> None:
    frame = rows({"verdict": "grade"}, WORDS).to_pandas()[:8]
    frame.index = [f"q{n}" for n in range(8)]
    with pytest.raises(ab.InputError, match=r'columns=\{"question": "index"\}'):
        ab.read_judged(frame).score("c@1")
    result = ab.read_judged(frame, columns={"question": "index"}).score("c@1")
    assert result.rows[0].scores["c@1"] == pytest.approx(BOTH["a"])
    frame.index = range(10, 18)  # the numbers of rows that were chosen
    assert ab.read_judged(frame).score("c@1").rows[0].scores["c@1"] == pytest.approx(BOTH["a"])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_and_decimal_commas(separator: str, tmp_path: Path) -> None:
    """A spreadsheet's export, with a byte-order mark; a decimal comma is refused by name."""
    lines = [STANDARD.values(), *rows(STANDARD, WORDS).rows()]
    text = "\n".join(separator.join(map(str, line)) for line in lines)
    path = tmp_path / "table.csv"
    path.write_text("\ufeff" + text, encoding="utf-8")
    result = ab.read_judged(path).score(["c@1", "AUROC"])
    assert {row.run: row.scores["c@1"] for row in result.rows} == pytest.approx(BOTH)
    # the six answers of a: five right at 0.9, one wrong at 0.4
    assert result.rows[0].scores["AUROC"] == 1.0
    if separator != ",":
        path.write_text(text.replace("0.", "0,"), encoding="utf-8")
        with refuses(ab.InputError, "'0,9'", "0", "1"):
            ab.read_judged(path).score(["c@1", "AUROC"])


@pytest.mark.parametrize(
    "text",
    [
        '{"results": [{"id": 1, "grade": "A"}]}',
        '{"id": {"0": 1, "1": 2}, "grade": {"0": "A", "1": "B"}}',
        '{"q1": {"grade": "A"}, "q2": {"grade": "B"}}',
    ],
)
def test_json_that_is_no_table_says_what_is_expected(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged(path).score("c@1")
    says(str(caught.value))


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("name", ["epoch", "Attempt", "trial_no"])
def test_repeats_of_a_question_are_a_cluster(name: str, engine: EngineName) -> None:
    """As by hand: ids of questions and repeats, and questions as clusters."""
    needs(engine)
    names = {"run": "model", "question": "id", "verdict": "grade"}
    frame = pl.concat(rows(names, WORDS).with_columns(pl.lit(n).alias(name)) for n in (1, 2))
    read = ab.read_judged(frame, engine=engine)
    result = read.score("c@1", interval=True)
    assert {row.run: row.scores["c@1"] for row in result.rows} == pytest.approx(BOTH)
    assert {row.run: row.counts.n for row in result.rows} == {"a": 16, "b": 16}
    assert (read.data.cluster, result.cluster) == ("sample", "sample")
    assert (result.questions, result.samples) == (16, 8)
    said = " ".join(str(result).split())
    assert "2 runs, 8 questions (16 with repeats)." in said
    says([note for note in result.notes if name in note], name)
    by_hand = frame.with_columns(question=pl.format("{}#{}", "id", name)).rename({"id": "cluster"})
    same = ab.read_judged(by_hand.drop(name)).score("c@1", interval=True)
    assert [row.intervals for row in same.rows] == [row.intervals for row in result.rows]
    assert same.samples is None
    once = ab.read_judged(frame.filter(pl.col(name) == 1), engine=engine)
    assert (once.data.cluster, once.score().samples) == (None, None)


@pytest.mark.parametrize("name", ["grade", "score"])
def test_scores_between_0_and_1_are_not_guessed(name: str) -> None:
    frame = rows({"run": "model", "question": "id", "confidence": name}, WORDS)
    columns = {} if name == "grade" else {"grade": "score"}
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged(frame, columns=columns).score("c@1")
    says(str(caught.value), "0.1", "0.9", "1", "0")


def test_rows_without_any_name_are_still_counted() -> None:
    result = ab.read_judged(pl.DataFrame({"grade": ["A", "B", "C", "A"]})).score("c@1")
    assert result.rows[0].scores["c@1"] == pytest.approx(2 / 4 * (1 + 1 / 4))
