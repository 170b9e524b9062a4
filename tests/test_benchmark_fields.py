"""Result files of public benchmarks, by the names of their fields: what each is read as.

Eight questions; system `a` has five right, one wrong and two that its file calls wrong as well;
`b` has three right. Where a file names two systems they are two runs, whatever its columns are
called: it is taken, or refused with a line that makes it so when it is typed.

The names of fields were looked up in the public file that is named beside an entry; a column of
models is added where a benchmark keeps one file per model. Entries without a file are made up.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import abstain as ab
from tests.snapshots import says
from tests.test_home_made_inputs import handed

RIGHT = {"a": 5, "b": 3}
"""How many of the eight questions each system has right: the first ones."""
BINARY = {name: n / 8 for name, n in RIGHT.items()}
KINDS = ("polars", "lazy", "pandas", "duckdb", "csv", "jsonl", "json", "parquet")


def rows(**columns: Any) -> pl.DataFrame:
    """A row for each system and question; a column is a value or a function of them."""
    return pl.DataFrame(
        [
            {
                name: own(run, n, n < RIGHT[run]) if callable(own) else own
                for name, own in columns.items()
            }
            for run in RIGHT
            for n in range(8)
        ]
    )


def run(name: str, n: int, right: bool) -> str:
    return name


def number(name: str, n: int, right: bool) -> str:
    return f"item-{n}"


def said(name: str, n: int, right: bool) -> str:
    return f"the text of {name} on {n}"


TAKEN: dict[str, pl.DataFrame] = {
    # LiveBench/LiveBench: livebench/gen_ground_truth_judgment.py
    "LiveBench": rows(
        question_id=number,
        task="math_comp",
        model=run,
        score=lambda r, n, ok: float(ok),
        turn=1,
        tstamp=lambda r, n, ok: 1.5 + n,
        category="math",
    ),
    # Humanity's Last Exam: hle_eval/run_judge_results.py (read in the fork kflu/hle), as rows
    "HLE": rows(
        id=number,
        model=run,
        response=said,
        correct_answer="4",
        model_answer=lambda r, n, ok: "4" if ok else "5",
        reasoning=said,
        correct=lambda r, n, ok: "yes" if ok else "no",
        confidence=lambda r, n, ok: 10 * n,
    ),
    # openai/evals: evals/record.py, its match events as rows
    "OpenAI evals": rows(
        run_id=run,
        sample_id=number,
        type="match",
        correct=lambda r, n, ok: ok,
        expected="B",
        picked=lambda r, n, ok: "B" if ok else "C",
    ),
    "LLM as a judge": rows(
        sample_id=number,
        model_name=run,
        completion=said,
        verdict=lambda r, n, ok: "correct" if ok else "incorrect",
    ),
    # GSM8K and MATH as evaluation scripts write them
    "MATH": rows(
        qid=number, system=run, prediction=said, target="42", is_correct=lambda r, n, ok: ok
    ),
    # Open LLM leaderboard details
    "leaderboard details": rows(
        example_id=number, model=run, gold="B", label=lambda r, n, ok: int(ok)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TAKEN)
def test_files_that_are_taken(name: str, kind: str, tmp_path: Path) -> None:
    assert scored(given(TAKEN[name], kind, tmp_path)) == pytest.approx(BINARY)


def given(frame: pl.DataFrame, kind: str, folder: Path) -> Any:
    if kind == "lazy":
        return frame.lazy()
    if kind == "duckdb":
        return duckdb.from_arrow(frame.to_arrow())
    return handed(frame, kind, folder)


def scored(data: Any, **reading: Any) -> dict[str, float]:
    result = ab.read_judged(data, **reading).score("accuracy")
    return {row.run: row.score("accuracy") for row in result.rows}


REFUSED: dict[str, tuple[pl.DataFrame, dict[str, str]]] = {
    # openai/human-eval: human_eval/evaluation.py (combine_results)
    "HumanEval": (
        rows(task_id=number, llm=run, completion=said, result="passed", passed=lambda r, n, ok: ok),
        {"outcome": "passed"},
    ),
    # SWE-bench/SWE-bench: swebench/harness/grading.py (predictions, and whether resolved)
    "SWE-bench": (
        rows(
            instance_id=number,
            model_name_or_path=run,
            model_patch=said,
            resolved=lambda r, n, ok: ok,
        ),
        {"outcome": "resolved"},
    ),
    # TIGER-AI-Lab/MMLU-Pro: evaluate_from_api.py (update_result), graded beside
    "MMLU-Pro": (
        rows(
            question_id=number,
            llm_name=run,
            answer="B",
            answer_index=1,
            pred=lambda r, n, ok: "B" if ok else "C",
            model_outputs=said,
            category="law",
            grade=lambda r, n, ok: "correct" if ok else "incorrect",
        ),
        {},
    ),
    # google-research/google-research: instruction_following_eval/evaluation_lib.py: no id at all
    "IFEval": (
        rows(
            prompt=number,
            engine=run,
            response=said,
            follow_all_instructions=lambda r, n, ok: ok,
        ),
        {"outcome": "follow_all_instructions"},
    ),
    # BIG-bench Hard, as a spreadsheet: unusual names on both sides
    "BIG-bench Hard": (
        rows(Example=number, Checkpoint=run, Output=said, Grade=lambda r, n, ok: int(ok)),
        {},
    ),
}
LINE = re.compile(r"columns=(\{.*?\})")


def refused(data: Any, columns: dict[str, str]) -> str:
    """The columns that a refusal advises; nothing where the data are taken."""
    try:
        scored(data, columns=columns)
    except ab.InputError as error:
        return str(LINE.findall(str(error))[0])
    return ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_refused_until_the_line_is_typed(
    name: str, kind: str, tmp_path: Path
) -> None:
    """Every refusal has a line to type; after at most three the two systems are two runs."""
    frame, columns = REFUSED[name]
    data, typed = given(frame, kind, tmp_path), dict(columns)
    refusals = 0
    while advice := refused(data, typed):
        more = dict(re.findall(r'"(\w+)": "(\w+)"', advice))
        assert not more.keys() <= typed.keys(), advice
        typed |= more
        refusals += 1
    found = scored(data, columns=typed)
    assert 0 < refusals <= 3
    assert sorted(found.values()) == pytest.approx(sorted(BINARY.values()))


UNREADABLE: dict[str, tuple[pl.DataFrame, str]] = {
    # lm-sys/FastChat: fastchat/llm_judge/common.py (play_a_match_single)
    "MT-Bench": (
        rows(
            question_id=number,
            model=run,
            judge="gpt-4",
            user_prompt="…",
            judgment=said,
            score=lambda r, n, ok: 7 + ok,
            turn=1,
            tstamp=lambda r, n, ok: 1.5 + n,
        ),
        "no scale",
    ),
    # AlpacaEval: annotations.json, by the columns that its own check asks for
    "AlpacaEval": (
        rows(
            instruction=number,
            output_1=said,
            generator_1="x",
            output_2=said,
            generator_2=run,
            annotator="j",
            preference=1.5,
        ),
        "has no column 'outcome'",
    ),
    # RUCAIBox/HaluEval: evaluation/evaluate.py: a judgement is the model's answer, not a grade
    "HaluEval": (
        rows(
            question=number,
            model=run,
            answer=said,
            ground_truth=lambda r, n, ok: "Yes" if n % 2 else "No",
            judgement=lambda r, n, ok: "Yes" if ok == bool(n % 2) else "No",
        ),
        'if grades: columns={"grade": "judgement"}',
    ),
    # stanford-crfm/helm: src/helm/benchmark/metrics/metric.py (PerInstanceStats)
    "HELM": (
        rows(instance_id=number, model=run, train_trial_index=0, stats='[{"sum": 1.0}]'),
        "has no column 'outcome'",
    ),
    # EleutherAI/lm-evaluation-harness: lm_eval/evaluator.py, its samples as rows of a frame
    "lm-evaluation-harness": (
        rows(
            doc_id=number,
            model=run,
            target="B",
            filter="none",
            exact_match=lambda r, n, ok: float(ok),
        ),
        "has no column 'outcome'",
    ),
    "MMLU, answers and what is right": (
        rows(id=number, model=run, prediction=lambda r, n, ok: "A" if ok else "B", label="A"),
        'if grades: columns={"grade": "label"}',
    ),
    "BoolQ, answers and what is right": (
        rows(
            id=number, model=run, prediction=lambda r, n, ok: "yes" if ok else "no", correct="yes"
        ),
        'if grades: columns={"grade": "correct"}',
    ),
}


@pytest.mark.parametrize("kind", ["polars", "csv", "json"])
@pytest.mark.parametrize("name", UNREADABLE)
def test_files_without_grades_are_never_scored(name: str, kind: str, tmp_path: Path) -> None:
    frame, expected = UNREADABLE[name]
    with pytest.raises(ab.InputError) as caught:
        scored(given(frame, kind, tmp_path))
    assert expected in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_right_is_not_taken_for_the_answer(kind: str, tmp_path: Path) -> None:
    """MMLU-Pro's files as runs: `answer` is the key, so that every answer would be right."""
    gold = pl.DataFrame({"question_id": [f"item-{n}" for n in range(8)], "correct": ["B"] * 8})
    frame = rows(
        question_id=number, model=run, answer="B", pred=lambda r, n, ok: "B" if ok else "C"
    )
    data = given(frame, kind, tmp_path)
    with pytest.raises(ab.InputError) as caught:
        ab.score(gold, data)
    says(str(caught.value), "'answer'")
    assert LINE.findall(str(caught.value))[0] == '{"run:answer": "pred"}'
    for column, expected in (("pred", BINARY), ("answer", {"a": 1.0, "b": 1.0})):
        result = ab.score(gold, data, "accuracy", columns={"run:answer": column})
        assert {row.run: row.scores["accuracy"] for row in result.rows} == pytest.approx(expected)


def test_the_line_for_a_gold_speaks_of_the_gold() -> None:
    gold = pl.DataFrame({"question": [1, 2], "answer": ["a", "b"]})
    runs = pl.DataFrame({"question": [1, 2], "answer": ["a", "c"]})
    with pytest.raises(ab.InputError, match="gold:correct"):
        ab.score(gold, runs)
    result = ab.score(gold, runs, columns={"gold:correct": "answer"})
    assert result.rows[0].counts.right == 1


@pytest.mark.parametrize("text", ["response", "answer", "prediction", "output", "completion"])
def test_refusals_where_grades_are_binary(text: str) -> None:
    """Two wrong answers decline: they are blanks, whatever the column of the text is called."""
    frame = pl.DataFrame(
        {
            "id": [1, 2, 3, 4],
            text: ["Lima", "I don't know.", "Rome", "I'm not sure."],
            "is_correct": ["Pass", "fail", "Fail.", "FAIL"],
        }
    )
    (row,) = ab.read_judged(frame, detect_refusals="en").score("c@1").rows
    assert (row.counts.right, row.counts.wrong, row.counts.unanswered) == (1, 1, 2)
