"""`decisions`: the table and its rates, who errs in which direction, and what is not known."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.stats.intervals import interval
from abstain.testing import GatesError, assert_at_most
from tests.decisions.reference import REFERENCE, questions_of
from tests.formats.logs.test_others import RESPONSES
from tests.formats.logs.test_squad import GOLD as SQUAD_GOLD
from tests.formats.logs.test_squad import SAID
from tests.helpers import Here
from tests.snapshots import refuses, says
from tests.test_unanswerable import GOLD, RUN

NAMES = ("right", "wrong", "wrongly_declined", "wrongly_answered", "rightly_declined")


def table_of(result: ab.DecisionsResult, run: str = "run") -> list[float]:
    (row,) = [row for row in result.rows if row.run == run and not row.slice]
    return [row.numbers[name] for name in NAMES]


def simulated(
    runs: dict[str, tuple[float, float]], *, can: int = 30, cannot: int = 10, seed: int = 0
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A gold and runs that decline with one chance what can be answered, with another the rest."""
    chance = random.Random(seed)
    ids = [f"q{n:03d}" for n in range(can + cannot)]
    marks = ["yes"] * can + ["no"] * cannot
    gold = pl.DataFrame(
        {
            "question": ids,
            "correct": ["a"] * can + [None] * cannot,
            "answerable": marks,
            "topic": [f"t{n % 3}" for n in range(len(ids))],
            "document": [f"d{n // 4}" for n in range(len(ids))],
        }
    )
    rows = [
        (run, q, None if chance.random() < declines[mark == "no"] else chance.choice("aab"))
        for run, declines in runs.items()
        for q, mark in zip(ids, marks, strict=True)
    ]
    return gold, pl.DataFrame(rows, schema=["run", "question", "answer"], orient="row")


RUNS = {"bold": (0.1, 0.3), "shy": (0.6, 0.95), "mute": (1.0, 1.0), "loud": (0.0, 0.0)}


# ----------------------------------------------------------------------------- the table


def test_the_table_by_hand() -> None:
    """q1 right, q2 declined; q3 declined, q4 says none, q5 and q6 (withheld) answered, q7 missing.

    q2 is not marked, but its answer is known, so that one was due.
    """
    result = ab.decisions(GOLD, RUN)
    assert table_of(result) == [1, 0, 1, 2, 3]
    assert "1 missing" in " ".join(result.notes)
    assert result.rows[0].scores["under-refusal"] == 2 / 5
    excluded = ab.decisions(GOLD, RUN, policy={"missing": "excluded"})
    assert table_of(excluded) == [1, 0, 1, 2, 2]
    wrong = ab.decisions(GOLD, RUN, policy={"missing": "wrong", "empty": "wrong"})
    assert table_of(wrong) == [1, 1, 0, 3, 2], "q3 declines, the missing q7 does not"


def test_an_empty_answer_of_the_gold_is_a_mark() -> None:
    """Without a column, q6 and q7 can be answered; scores stay as they are."""
    bare = GOLD.drop("answerable")
    assert table_of(ab.decisions(bare, RUN)) == [2, 0, 2, 1, 2]
    assert "unanswerable" not in ab.score(bare, RUN).policy


def test_a_candidate_changes_no_decision() -> None:
    """A system that declines has declined, whatever it would have answered."""
    ids = ["q1", "q2", "q3", "q4", "q5"]
    gold = {"question": ids, "correct": ["a"] * 4 + [None], "answerable": ["yes"] * 4 + ["no"]}
    run = {"question": ids, "answer": ["b", *[None] * 4], "candidate": ["b", "a", "b", None, "b"]}
    decided = ab.decisions(pl.DataFrame(gold), pl.DataFrame(run))
    assert table_of(decided) == [0, 1, 3, 0, 1]


@pytest.mark.parametrize("way", ["right", "blank", "wrong"])
def test_what_declining_counts_as_changes_no_decision(way: Any) -> None:
    assert table_of(ab.decisions(GOLD, RUN, unanswerable=way)) == [1, 0, 1, 2, 3]


def test_a_stated_refusal_is_declining_whatever_it_counts_as() -> None:
    graded = pl.DataFrame(
        {
            "question": ["q1", "q2", "q3", "q4"],
            "grade": ["declined", "declined", "right", "unparseable"],
            "answerable": ["yes", "no", "yes", "no"],
        }
    )
    for policy in ({}, {"declined": "wrong"}):
        result = ab.read_judged(graded, policy=policy).decisions()
        assert table_of(result) == [1, 0, 1, 1, 1]
    gone = ab.read_judged(graded, policy={"declined": "excluded"}).decisions()
    assert table_of(gone) == [1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("effect", "table"), [("wrong", [1, 1, 0, 0, 2]), ("excluded", [1, 0, 0, 0, 2])]
)
def test_an_empty_answer_declines_what_cannot_be_answered(effect: str, table: list[int]) -> None:
    """q1 is empty and has an answer, q2 is right, q3 and q4 are empty and have none."""
    gold = pl.DataFrame(
        {
            "question": ["q1", "q2", "q3", "q4"],
            "correct": ["A", "B", None, None],
            "answerable": ["yes", "yes", "no", "no"],
        }
    )
    run = pl.DataFrame({"question": ["q1", "q2", "q3", "q4"], "answer": [None, "B", None, None]})
    result = ab.decisions(gold, run, policy={"empty": effect})
    assert table_of(result) == table
    assert result.rows[0].scores["under-refusal"] == 0


@pytest.mark.parametrize("held", [False, True])
def test_against_a_slow_loop_by_slice(held: bool) -> None:
    gold, runs = simulated(RUNS, seed=3)
    answers = {(run, q): text for run, q, text in runs.rows()}
    evaluation = ab.read(gold, runs)
    if held:
        assert evaluation.data.decision_codes.shape == (4, 40)
    for by in ((), ("topic",)):
        result = evaluation.decisions(by=by)
        for row in result.rows:
            some = gold.filter(*(pl.col(k) == v for k, v in row.slice.items()))
            seen: Counter[str] = Counter()
            for question, mark in some.select("question", "answerable").rows():
                text = answers[row.run, question]
                if mark == "yes":
                    right = "right" if text == "a" else "wrong"
                    seen[right if text else "wrongly_declined"] += 1
                else:
                    seen["wrongly_answered" if text else "rightly_declined"] += 1
            assert {k: v for k, v in row.numbers.items() if v} == dict(seen)
            questions = questions_of(*(seen[name] for name in NAMES))
            for name, slow in REFERENCE.items():
                score, expected = row.scores[name], slow(questions)
                assert score == (None if expected is None else pytest.approx(float(expected)))


def test_an_interval_is_that_of_the_measure_by_question_or_cluster() -> None:
    gold, runs = simulated({"shy": RUNS["shy"]}, seed=5)
    item = ab.measure("over-refusal")
    (row,) = ab.decisions(gold, runs).rows
    alone = interval(item, ab.Decisions(**row.numbers))
    assert row.intervals["over-refusal"] == (alone.low, alone.high)
    evaluation = ab.read(gold, runs, cluster="document")
    kinds = evaluation.data.decision_codes[0]
    documents = np.arange(40) // 4
    tables = np.zeros((10, 6))
    np.add.at(tables, (documents, kinds), 1)
    wide = interval(item, ab.Decisions(**row.numbers), clusters=tables)
    (row,) = evaluation.decisions().rows
    assert row.intervals["over-refusal"] == pytest.approx((wide.low, wide.high))
    (scored,) = evaluation.score("over-refusal", interval=True).rows
    assert scored.intervals["over-refusal"] == row.intervals["over-refusal"]


def test_score_gives_the_same() -> None:
    gold, runs = simulated(RUNS, seed=1)
    decided = ab.decisions(gold, runs)
    scored = ab.score(gold, runs, ["over-refusal", "abstention-F1", "c@1"])
    assert {row.run: row.scores["over-refusal"] for row in decided.rows} == {
        row.run: row.scores["over-refusal"] for row in scored.rows
    }
    assert {row.run: row.decisions for row in scored.rows} == {
        row.run: row.numbers for row in decided.rows
    }
    assert scored.rows[0].run == "loud", "the lowest over-refusal is first"


# ------------------------------------------------------------------------------- in words


def test_runs_that_refuse_or_answer_everything_are_in_the_first_line(here: Here) -> None:
    gold, runs = simulated(RUNS, seed=2)
    gold.write_csv("gold.csv")
    for run in RUNS:
        runs.filter(run=run).drop("run").write_csv(f"{run}.csv")
    alone = {run: here("decisions", "gold.csv", f"{run}.csv").out.splitlines()[0] for run in RUNS}
    assert alone["mute"].startswith("mute refuses everything: it declines 30 of 30 ")
    assert alone["loud"].startswith("loud answers everything: it declines 0 of 30 ")
    assert alone["bold"].startswith("bold errs towards answering")
    assert alone["shy"].startswith("shy errs towards declining")
    together = here("decisions", "gold.csv", *(f"{run}.csv" for run in RUNS)).out
    assert together.splitlines()[0].startswith("mute refuses everything; loud answers everything;")
    by = here("decisions", "gold.csv", "mute.csv", "loud.csv", "--by", "topic").out
    assert by.splitlines()[0] == "mute refuses everything; loud answers everything."
    says(together.split("Differences")[0])
    assert max(map(len, here("decisions", "gold.csv", "mute.csv").out.splitlines())) <= 80


def test_runs_without_judgement() -> None:
    gold, runs = simulated(RUNS, seed=4)
    for row in ab.decisions(gold, runs).rows:
        r, w, d, a, n = (row.numbers[name] for name in NAMES)
        share = (d + n) / 40
        assert row.coin["over-refusal"] == pytest.approx(share)
        assert row.coin["decision-J"] == pytest.approx(0)
        assert (row.refuse["under-refusal"], row.answer["over-refusal"]) == (0, 0)
        assert row.refuse["decision-accuracy"] == (a + n) / 40
        assert row.answer["decision-accuracy"] == (r + w + d) / 40
    mute = next(row for row in ab.decisions(gold, runs).rows if row.run == "mute")
    of_decisions = {k: v for k, v in mute.scores.items() if k in mute.refuse}
    assert of_decisions == pytest.approx(mute.refuse)
    assert mute.beats_coin is False


def test_a_coin_is_no_better_than_a_coin() -> None:
    """It declines what cannot be answered as often as what can: 1 of 20 may look better."""
    called = 0
    for seed in range(60):
        gold, runs = simulated({"coin": (0.4, 0.4)}, can=60, cannot=30, seed=seed)
        called += bool(ab.read(gold, runs).decisions("over-refusal").rows[0].beats_coin)
    assert called <= 5


# ------------------------------------------------------------------------- what is not known


def test_bounds_hold_all_ways_that_undecided_responses_may_have_gone() -> None:
    rows = ["right"] * 4 + ["declined"] * 2 + ["unscored"] * 2
    graded = pl.DataFrame(
        {
            "question": [f"q{n}" for n in range(14)],
            "grade": [*rows, "wrong", "declined", "declined", "declined", "unscored", "unscored"],
            "answerable": ["yes"] * 8 + ["no"] * 6,
        }
    )
    with refuses(ab.AbstainError, "unscored"):
        ab.read_judged(graded).decisions()
    result = ab.read_judged(graded, policy={"unscored": "excluded"}).decisions()
    (row,) = result.rows
    assert table_of(result) == [4, 0, 2, 1, 3]
    assert row.undecided is not None
    assert (row.undecided.answerable, row.undecided.unanswerable) == (2, 2)
    for name, slow in REFERENCE.items():
        ways = [
            slow(questions_of(4 + x, y, 2 + 2 - x - y, 1 + z, 3 + 2 - z))
            for x, y, z in product(range(3), repeat=3)
            if x + y <= 2
        ]
        known = [float(value) for value in ways if value is not None]
        assert row.undecided.bounds[name] == pytest.approx((min(known), max(known)))
    # recall is 3/4 of what was decided, and 3/6 at least: it may be flattered by a quarter
    (text,) = [line for line in str(result).split("\n\n")[-1].splitlines() if "verdict" in line]
    assert "4 responses without a verdict, 2" in text
    assert "0.5000" in " ".join(str(result).split())
    assert "flattered by up to 0.2500" in " ".join(str(result).split())


def test_data_without_marks_are_refused(here: Here) -> None:
    plain = GOLD.head(2).drop("answerable")
    with refuses(ab.InputError, "answerable", "correct"):
        ab.decisions(plain, RUN.head(2))
    with refuses(ab.UsageError, "counts"):
        ab.read_counts({"a": ab.Counts(3, 1)}).score("over-refusal")
    with refuses(ab.UsageError, "AUROC"):
        ab.decisions(GOLD, RUN, "AUROC")
    here.write("graded.csv", "question,grade\nq1,right\n")
    assert here("decisions", "--judged", "graded.csv").code == 2


def test_only_unanswerable_questions_leave_rates_without_a_value() -> None:
    gold = pl.DataFrame({"question": ["a", "b"], "correct": ["", ""]})
    result = ab.decisions(gold, pl.DataFrame({"question": ["a", "b"], "answer": ["x", ""]}))
    (row,) = result.rows
    assert row.scores["over-refusal"] is None
    assert "answered" in row.undefined["over-refusal"]
    assert row.leaning is None
    assert str(result)


def test_runs_that_do_all_or_nothing_where_no_question_can_be_answered() -> None:
    gold = pl.DataFrame({"question": [f"q{n}" for n in range(40)], "answerable": "no"})
    gold = gold.with_columns(correct=pl.lit(None, pl.String))
    loud = gold.select("question", run=pl.lit("loud"), answer=pl.lit("x"))
    mute = loud.with_columns(run=pl.lit("mute"), answer=pl.lit(None, pl.String))
    result = ab.decisions(gold, pl.concat([loud, mute]))
    assert result.leanings == {"loud": "answers everything", "mute": "refuses everything"}
    over, under = result.pairs
    assert (over.difference, over.interval) == (None, (None, None))
    # 40 questions go one way: 2/2^40, and of two tests one has a p
    assert under.p_adjusted == pytest.approx(2 / 2**40, abs=1e-6)
    says(str(result).split("\n\n")[0] + "\n" + str(result).split("Differences")[1])
    (first, *_) = str(ab.decisions(gold, loud)).splitlines()
    assert "answers everything (40 of 40 that cannot be answered)" in first


# ------------------------------------------------------------------------- graded refusals

GRADED = """run,question,grade,response
a,q1,CORRECT,Paris
a,q2,CORRECT,I don't know.
a,q3,INCORRECT,Rome
b,q1,NOT_ATTEMPTED,I cannot answer that.
b,q2,INCORRECT,Lima
b,q3,INCORRECT,Oslo
"""


def test_a_refusal_that_is_graded_right_marks_its_question(here: Here) -> None:
    here.write("graded.csv", GRADED)
    read = ab.read_judged("graded.csv", detect_refusals="en")
    result = read.decisions()
    assert (table_of(result, "a"), table_of(result, "b")) == ([1, 1, 0, 0, 1], [0, 1, 1, 1, 0])
    # scores stay: the grade says right
    assert [row.counts.right for row in read.score().rows] == [2, 0]
    with refuses(ab.InputError, "answerable"):
        ab.read_judged("graded.csv").decisions()


@pytest.mark.parametrize("detect", [(), "en"])
def test_an_answer_without_evidence_is_one_even_if_it_is_right(here: Here, detect: Any) -> None:
    """q2 declines and is graded right; q3 knows the answer all the same; q1 has its evidence."""
    rows = [
        "question,grade,response,has_evidence",
        "q1,right,Paris,yes",
        "q2,right,I don't know.,no",
    ]
    here.write("rag.csv", "\n".join([*rows, "q3,right,Lima,no", "q4,wrong,Oslo,no", ""]))
    read = ab.read_judged("rag.csv", detect_refusals=detect)
    assert table_of(read.decisions(), "rag") == [1, 0, 0, 2, 1]
    assert [row.counts.right for row in read.score().rows] == [2]
    blank = read.with_policy(unanswerable="blank").score().rows[0].counts
    assert (blank.right, blank.unanswered) == (2, 1), "a right answer is right again"


# ----------------------------------------------------------------------- the same by any way


def test_squad_and_a_plain_table_give_one_table(here: Here) -> None:
    here.write("dev.json", SQUAD_GOLD)
    here.write("p.json", json.dumps(SAID))
    gold = "question,correct,answerable\na,the Nile|river Nile,yes\nb,Rhine,yes\nc,Paris,yes\n"
    here.write("gold.csv", gold + "d,,no\ne,,no\n")
    here.write("p.csv", "question,answer\n" + "".join(f"{k},{v}\n" for k, v in SAID.items()))
    log = ab.read_judged("p.json", format="squad", pick={"gold": "dev.json"})
    by_data = ab.read("dev.json", "p.csv", match="squad")
    plain = ab.read("gold.csv", "p.csv", match="squad")
    tables = [table_of(read.decisions(), "p") for read in (log, by_data, plain)]
    assert tables == [[1, 1, 1, 1, 1]] * 3  # a right, b wrong, c and d declined, e answered


def test_abstentionbench_and_a_plain_table_give_one_table(here: Here) -> None:
    asked = [
        {**item, "prompt": {**item["prompt"], "question": f"question {n}"}}
        for n, item in enumerate(RESPONSES[:5])
    ]
    here.write("Data_Model/1/Eval.json", json.dumps({"responses": asked}))
    rows = "question,grade,answerable\n0,declined,no\n1,wrong,no\n2,declined,yes\n3,right,yes\n"
    here.write("graded.csv", rows + "4,wrong,yes\n")
    log, plain = (
        ab.read_judged(name).decisions() for name in ("Data_Model/1/Eval.json", "graded.csv")
    )
    assert [row.numbers for row in log.rows] == [row.numbers for row in plain.rows]
    assert [*log.rows[0].numbers.values()] == [1, 1, 1, 1, 1]


# --------------------------------------------------------------------- across runs, and gates


def holm(p: list[float]) -> list[float]:
    """Each p times the number of hypotheses that are left, never below one before it."""
    order = sorted(range(len(p)), key=lambda at: p[at])
    adjusted, worst = [0.0] * len(p), 0.0
    for left, at in zip(range(len(p), 0, -1), order, strict=True):
        worst = max(worst, min(1.0, left * p[at]))
        adjusted[at] = worst
    return adjusted


def test_pairs_are_those_of_compare_corrected_together() -> None:
    gold, runs = simulated(RUNS, seed=6)
    evaluation = ab.read(gold, runs)
    pairs = evaluation.decisions().pairs
    assert len(pairs) == 2 * 6
    of_compare = [
        pair.p
        for name in ("over-refusal", "under-refusal")
        for pair in evaluation.compare(name, correction="none").pairs
    ]
    assert [pair.p for pair in pairs] == of_compare
    assert all(p is not None for p in of_compare)
    expected = holm([p or 0.0 for p in of_compare])
    assert [pair.p_adjusted for pair in pairs] == pytest.approx(expected)
    assert [pair.differs for pair in pairs] == [p <= 0.05 for p in expected]


@pytest.mark.parametrize("name", ["over-refusal", "under-refusal", "decision-accuracy"])
def test_p_is_that_of_the_questions_that_only_one_run_decides_so(name: str) -> None:
    """Swaps of whole decisions leave what is divided by: an exact binomial test."""
    stats = pytest.importorskip("scipy.stats")
    rates = {"bold": (0.1, 0.2), "shy": (0.5, 0.8)}
    for seed in range(6):
        evaluation = ab.read(*simulated(rates, can=40, cannot=20, seed=seed))
        codes = evaluation.data.decision_codes
        cells = {"over-refusal": [2], "under-refusal": [3], "decision-accuracy": [0, 1, 4]}[name]
        one, two = np.isin(codes, cells)
        first, second = int((one & ~two).sum()), int((two & ~one).sum())
        p = evaluation.compare(name).pairs[0].p
        expected = stats.binomtest(first, first + second).pvalue
        assert p is not None
        assert p == pytest.approx(expected) or (p > expected and p > 0.01), "or of its interval"


def test_a_precision_of_declining_is_no_precision_of_answers() -> None:
    """Whether a question can be answered is the same for both runs: no chance decides it."""
    read = ab.read(*simulated({"bold": (0.3, 0.6), "shy": (0.3, 0.9)}, cannot=30))
    assert read.compare("abstention-precision").interval_method_of_differences is None
    assert read.compare("precision").interval_method_of_differences == "mover"


@pytest.mark.parametrize("name", ["accuracy", "c@1", "over-refusal", "grounded-refusal-F1"])
def test_a_difference_comes_from_knowing_answering_and_refusing(name: str) -> None:
    gold, runs = simulated({"bold": (0.1, 0.2), "shy": (0.4, 0.9)}, can=90, cannot=40, seed=7)
    result = ab.compare(gold, runs, name, resamples=100)
    (pair,), origin = result.pairs, result.origin
    assert origin is not None
    assert pair.difference is not None
    parts = [value or 0.0 for value in origin.decisions.values()]
    assert list(origin.decisions) == ["refusing", "answering", "knowing"]
    assert sum(parts) == pytest.approx(pair.difference, abs=1e-6)
    wide = gold.join(runs.pivot("run", index="question", values="answer"), on="question")
    due, both = pl.col("answerable") == "yes", pl.col("bold", "shy").is_not_null()
    marks = wide.select(due=due, both=pl.all_horizontal(both), q="question")
    where = {q: 0 if not due else 2 if both else 1 for due, both, q in marks.rows()}
    sums = [0.0, 0.0, 0.0]
    for question, value in origin.contributions.items():
        sums[where[question]] += value
    assert parts == pytest.approx(sums, abs=1e-9)
    if name == "over-refusal":
        assert parts[0] == parts[2] == 0
        assert "from answering or declining what can be answered" in " ".join(str(result).split())
        assert "unanswerable" in result.policy


def test_compare_says_nothing_of_decisions_where_nothing_is_marked() -> None:
    gold, runs = simulated({"bold": (0.1, 0.2), "shy": (0.4, 0.9)}, cannot=0)
    origin = ab.compare(gold, runs, resamples=100).origin
    assert origin is not None
    assert origin.decisions == {}
    with refuses(ab.InputError, "answerable"):
        ab.compare(gold, runs, "over-refusal")


def test_both_rates_in_one_gate() -> None:
    gold, runs = simulated(RUNS, can=200, cannot=100, seed=8)
    bounds = {"over-refusal": 0.1, "under-refusal": 0.1}
    for run in ("mute", "loud"):
        with pytest.raises(GatesError) as caught:
            assert_at_most(runs.filter(run=run), gold, bounds)
        passed = {gate.measure: gate.passed for gate in caught.value.gates}
        assert passed == {"over-refusal": run == "loud", "under-refusal": run == "mute"}
    held = assert_at_most(runs.filter(run="shy"), gold, {"over-refusal": 0.7, "under-refusal": 0.3})
    assert len(held) == 2
    assert all(gate.passed for gate in held)
    few_gold, few = simulated({"good": (0.0, 1.0)}, can=20, cannot=20)
    with pytest.raises(AssertionError) as too_few:
        assert_at_most(few, few_gold, "under-refusal", 0.05)
    assert "too few questions" in str(too_few.value)


# ----------------------------------------------------------------------------- how it looks


def test_a_mosaic_is_as_large_as_its_questions() -> None:
    gold, runs = simulated(RUNS, seed=9)
    result = ab.decisions(gold, runs)
    spec = result.charts()["decisions"]
    for row in result.rows:
        tiles = [tile for tile in spec["data"]["values"] if tile["run"] == row.run]
        areas = {
            tile["decision"].replace(" ", "_"): (tile["x2"] - tile["x"]) * (tile["y2"] - tile["y"])
            for tile in tiles
        }
        shares = {name: n / 40 for name, n in row.numbers.items()}
        assert areas == pytest.approx(shares)


def test_a_page(tmp_path: Path) -> None:
    gold, runs = simulated(RUNS, seed=11)
    result = ab.decisions(gold, runs)
    result.page(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    for words in ("mute refuses everything", "Should it have answered?", "Differences"):
        assert words in text


def test_tables_in_python(tmp_path: Path) -> None:
    gold, runs = simulated(RUNS, seed=10)
    result = ab.decisions(gold, runs, by="topic")
    frame = result.to_frame()
    assert frame.columns[:4] == ["run", "topic", "measure", "value"]
    assert frame.height == 4 * 3 * 10
    assert result.to_frame("decisions").height == 12
    assert result.to_frame("pairs").height == 12
    result.to_json(tmp_path / "saved.json")
    assert ab.load(tmp_path / "saved.json") == result
    assert not math.isnan(frame["value"].drop_nulls().sum())
    only = ab.read(gold, runs).decisions(["under-refusal", "c@1"])
    assert only.measures == ("under-refusal", "c@1")
    assert "c@1" not in only.rows[0].coin


@pytest.mark.parametrize("by", [(), ("topic",)])
def test_runs_without_a_common_question_are_not_compared(by: tuple[str, ...]) -> None:
    due = ["yes", "no"] * 10
    gold = pl.DataFrame({"question": range(20), "correct": "a", "answerable": due, "topic": due})
    answers = {"question": range(20), "answer": ["a", ""] * 10, "run": ["A"] * 10 + ["B"] * 10}
    result = ab.decisions(gold, pl.DataFrame(answers), by=by)
    assert result.pairs == ()
    assert [note for note in result.notes if "no question that all runs have" in note]
