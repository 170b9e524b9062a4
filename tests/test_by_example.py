"""Small functions, each by an example."""

from __future__ import annotations

import pytest

from abstain.errors import nearest, plural, shown, some_of
from abstain.io.files import bare_name
from abstain.io.frames import words_of
from abstain.io.logs.benchmarks import exact_match, f1_of_words, grade_of
from abstain.io.normalise import plain, squad
from abstain.io.output import json_of
from abstain.io.qa4mre import id_levels, is_none_of_the_above, question_id
from abstain.io.tables import exact
from abstain.io.trec import looks_like_trec
from abstain.rankings.rankings import shaped
from abstain.reading import languages_of, narrowed, policy_entries, positions, queries_asked
from abstain.runs.faults import bad_confidence
from abstain.runs.grades import read_scale
from abstain.runs.partial import PartialScale
from abstain.runs.refusals import language


def test_names_in_messages() -> None:
    assert nearest("acuracy", ["accuracy", "c@1", "coverage"]) == ["accuracy"]
    assert (plural(1, "question"), plural(1200, "question")) == ("1 question", "1,200 questions")
    assert (shown("q7"), shown("a\x1b[31m")) == ("'q7'", r"'a\x1b[31m'")
    assert some_of(["q1", "q2", "q3", "q4"]) == "'q1', 'q2', 'q3', …"
    assert "expected a number from 0 to 1, with a decimal point" in bad_confidence("0,9")


def test_settings() -> None:
    assert policy_entries(["error = Excluded"]) == {"error": "excluded"}
    assert languages_of("en, de") == ("en", "de")
    asked = [queries_asked("all"), queries_asked(["q.csv", "all"]), queries_asked(None)]
    assert asked == [("all", None), ("all", "q.csv"), ("each", None)]
    assert PartialScale.of("1-5") == PartialScale(low=1.0, high=5.0)
    assert read_scale(["A", "B"], {}) == {"A": 0, "B": 1}
    assert language("en").rules[1].example == "I don't know."


def test_subsets() -> None:
    first = narrowed(None, runs=["a", "b"], of_runs=3)
    assert str(narrowed(first, runs=["a"], of_runs=2)) == "subset: 1 of 3 runs ('a')"
    assert narrowed(None, runs=["a"], of_runs=1) is None
    assert positions("run", ["a", "b", "c"], ["c", "a"]) == [0, 2]
    assert positions("run", ["a", "b"], None) == [0, 1]


def test_names_of_files_and_columns() -> None:
    assert sorted(words_of("questionId")) == ["id", "question"]
    assert sorted(words_of("LLM-name")) == ["llm", "name"]
    assert (exact("answer"), exact("*")) == ("answer", r"^\*$")
    assert bare_name("runs/jucs1302enen.csv.gz") == "jucs1302enen"
    assert looks_like_trec(b"q1 Q0 d7 1 12.5 bm25\n")
    assert not looks_like_trec(b"query,doc,score\n")
    assert json_of({"a": "\u202e"}) == '{\n  "a": "\\u202e"\n}\n'


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        *[("B", "wrong"), ("A: CORRECT", "right"), ("It fits.\nGrade: (C)", "declined")],
        *[("C.", "declined"), ("not correct", None), ("A or B", None)],
        ("The correct answer is Lima.", None),
    ],
)
def test_grades_of_a_judge(text: str, grade: str | None) -> None:
    assert grade_of(text) == grade


def test_answers_alike() -> None:
    texts = ("  St. Kitts & Nevis!", "-3.50 %", "Ｐａｒｉｓ", "C++")
    assert [plain(text) for text in texts] == ["st kitts & nevis", "-3.50 %", "paris", "c++"]
    assert squad("The  Eiffel-Tower!") == "eiffeltower"
    assert (exact_match("The Nile", ["Nile"]), exact_match("", [])) == (1.0, 1.0)
    assert exact_match("Rhine", []) == 0.0
    assert f1_of_words("the river Nile", ["Nile"]) == pytest.approx(2 / 3)
    assert f1_of_words("", []) == 1.0


def test_ids_of_qa4mre() -> None:
    assert question_id("1", "7", "12") == "1/7/12"
    assert (question_id(None, None, "q1"), question_id("1", "7", None)) == ("q1", None)
    assert (id_levels("1/7/12"), id_levels("q1")) == (("1", "7", "12"), (None, None, "q1"))
    assert is_none_of_the_above("None of the above.")
    assert not is_none_of_the_above("none")


def test_scores_in_the_shape_of_another_tool() -> None:
    rows = [("a", "q1", {"AP": 0.5, "RR": None})]
    assert shaped(rows, "ranx") == {"a": {"AP": {"q1": 0.5}}}
