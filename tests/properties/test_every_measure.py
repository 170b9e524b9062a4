"""What must hold for every registered measure, by hypothesis."""

from __future__ import annotations

import math
import random
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures import definitions
from tests.helpers import outcomes
from tests.measures.reference import REFERENCE

VALUES = {"t": ("0", "0.1", "1/3", "0.5", "0.9", "1"), "beta": ("0.25", "1", "3")}


def every() -> list[str]:
    """Every measure, with several values of each parameter that its range allows."""
    names = []
    for definition in definitions("counts").values():
        if not definition.parameters:
            names.append(definition.name)
        for parameter in definition.parameters:
            for value in VALUES[parameter.name]:
                if not (parameter.high_open and value == "1"):
                    names.append(str(ab.measure(f"{definition.name}({parameter.name}={value})")))
    return names


EVERY = every()
WITH_KAPPA = [n for n in EVERY if ab.measure(n).definition.kappa is not None]
WITH_BREAK_EVEN = [n for n in EVERY if ab.measure(n).definition.break_even is not None]
FALLING = [n for n in EVERY if ab.measure(n).definition.monotone]
PAYS_FOR_RIGHT = {
    *("accuracy", "c@1", "F", "precision", "qa-accuracy", "estimated-qa-performance"),
    *("validation-precision", "validation-recall", "validation-F"),
}
"""Nothing right, nothing earned; the others credit blanks or candidates for themselves."""

number = st.integers(0, 40)
counts = st.builds(ab.Counts.of, st.tuples(*[number] * 5)).filter(lambda k: k.n > 0)
shares = st.builds(
    ab.Counts, st.integers(1, 40), st.integers(1, 40), unanswered_empty=st.integers(1, 40)
)


def test_every_parameter_has_values_here() -> None:
    assert {p.name for d in definitions("counts").values() for p in d.parameters} == set(VALUES)
    assert {ab.measure(n).name for n in EVERY} == set(ab.list_measures("counts"))


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
@given(k=counts)
def test_within_bounds(name: str, k: ab.Counts) -> None:
    item = ab.measure(name)
    score = item(k)
    low, high = item.bounds
    assert isinstance(score, ab.Undefined) or low - 1e-12 <= score <= high + 1e-12


@pytest.mark.parametrize("name", EVERY)
def test_bounds_are_reached(name: str) -> None:
    """Bounds that nothing can reach would let the test above pass for free."""
    item = ab.measure(name)
    extremes = [
        ab.Counts.of(10 if f.name == one.name else 0 for f in fields(ab.Counts))
        for one in fields(ab.Counts)[:5]
    ] + [ab.Counts(wrong=1, unanswered_empty=10**9), ab.Counts(1, 0, unanswered_right=10**9)]
    scores = [s for s in map(item, extremes) if not math.isnan(s)]
    assert min(scores) == pytest.approx(item.bounds[0], abs=1e-6)
    assert max(scores) == pytest.approx(item.bounds[1], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
@given(k=counts)
def test_never_lower_when_a_wrong_answer_becomes_right(name: str, k: ab.Counts) -> None:
    assume(k.wrong > 0)
    item = ab.measure(name)
    if item.definition.monotone:
        assume(k.unanswered <= k.n / 2)  # what its warning allows for
    before, after = item(k), item(replace(k, right=k.right + 1, wrong=k.wrong - 1))
    if not math.isnan(before):
        assert (after - before) * (1 if item.higher_is_better else -1) >= -1e-12


@pytest.mark.parametrize("name", FALLING)
def test_the_stated_exception_occurs(name: str) -> None:
    item = ab.measure(name)
    before = item(ab.Counts(right=0, wrong=2, unanswered_empty=8))
    after = item(ab.Counts(right=1, wrong=1, unanswered_empty=8))
    assert after < before
    assert "half" in item.definition.monotone


def test_one_measure_alone_may_fall() -> None:
    assert FALLING == ["wrong-rate-credit"]


@pytest.mark.slow
@given(
    runs=st.lists(st.lists(st.sampled_from("RWU"), min_size=6, max_size=6), min_size=1, max_size=3),
    seed=st.integers(0, 99),
)
def test_the_order_of_questions_does_not_matter(runs: list[list[str]], seed: int) -> None:
    gold = pl.DataFrame({"question": [f"q{i}" for i in range(6)], "correct": ["a"] * 6})
    answer = {"R": "a", "W": "b", "U": None}
    table = pl.DataFrame(
        [
            (f"run{r}", f"q{i}", answer[outcome], "a" if i % 2 else "b")
            for r, run in enumerate(runs)
            for i, outcome in enumerate(run)
        ],
        schema=["run", "question", "answer", "candidate"],
        orient="row",
    ).with_columns(
        candidate=pl.when(pl.col("answer").is_null()).then("candidate"),
    )
    first = ab.score(gold, table, measures=EVERY)
    shuffled = ab.score(
        gold.sample(fraction=1, shuffle=True, seed=seed),
        table.sample(fraction=1, shuffle=True, seed=seed),
        measures=EVERY,
    )
    assert shuffled.to_dict() == first.to_dict()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "k",
    [
        *(ab.Counts(**{f.name: 1}) for f in fields(ab.Counts)),
        ab.Counts(unanswered_right=3, unanswered_wrong=2, unanswered_empty=1),
        ab.Counts(unsplit=7),
        ab.Counts(right=5, wrong=4),
        ab.Counts(right=9),
        ab.Counts(wrong=9),
    ],
)
def test_one_question_all_blank_none_blank(name: str, k: ab.Counts) -> None:
    item = ab.measure(name)
    score = item(k)
    reason = item.why_undefined(k)
    assert (reason is not None) == math.isnan(score)
    if reason is None:
        assert item.bounds[0] <= score <= item.bounds[1]
        assert type(score) is float


@given(items=st.lists(counts, min_size=1, max_size=8))
def test_one_or_many_at_once_agree(items: list[ab.Counts]) -> None:
    many = ab.CountsArray.of(items)
    for name in EVERY:
        item = ab.measure(name)
        np.testing.assert_array_equal(item(many), [item(k) for k in items], err_msg=name)
        for function in ("kappa", "break_even"):
            if getattr(item.definition, function) is not None:
                one_by_one = [getattr(item, function)(k) for k in items]
                np.testing.assert_array_equal(getattr(item, function)(many), one_by_one)


def test_arrays_of_any_shape() -> None:
    table = np.arange(2 * 3 * 6).reshape(2, 3, 6)
    many = ab.CountsArray(table)
    for name in EVERY:
        scores = ab.measure(name)(many)
        assert scores.shape == (2, 3)
        one = ab.Counts.of(int(v) for v in table[1, 2])
        np.testing.assert_array_equal(scores[1, 2], ab.measure(name)(one))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "float32", "float64", "int64"])
def test_counts_of_any_type_do_not_overflow(dtype: str) -> None:
    many = ab.CountsArray(np.array([[100, 90, 0, 0, 80, 0]], dtype=dtype))
    assert many.n.tolist() == [270]
    for name in EVERY:
        one = ab.measure(name)(ab.Counts(100, 90, unanswered_empty=80))
        np.testing.assert_array_equal(ab.measure(name)(many), [one])


def test_counts_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ab.UsageError, match="counts must be numbers"):
        ab.CountsArray(np.array([["1"] * 6]))


@given(right=number, wrong=number)
def test_c_at_1_is_accuracy_without_blanks(right: int, wrong: int) -> None:
    assume(right + wrong > 0)
    k = ab.Counts(right, wrong)
    assert ab.measure("c@1")(k) == ab.measure("accuracy")(k)


@pytest.mark.parametrize("name", [n for n in EVERY if ab.measure(n).name in PAYS_FOR_RIGHT])
@given(k=counts)
def test_nothing_right_is_worth_nothing(name: str, k: ab.Counts) -> None:
    score = ab.measure(name)(replace(k, right=0))
    assert isinstance(score, ab.Undefined) or score == 0


def test_the_others_pay_for_something_else() -> None:
    empty = ab.Counts(wrong=2, unanswered_right=2, unanswered_wrong=1, unanswered_empty=1)
    for name in ("credit(t=0.5)", "UF", "UF-scaled", "answer-all-bound", "wrong-rate-credit"):
        assert ab.measure(name)(empty) != 0
    others = {d for d in ab.list_measures("counts") if d not in PAYS_FOR_RIGHT}
    assert all(ab.measure(n)(empty) != 0 for n in others - {"credit", "S"})


def random_run(n: int, draw: random.Random) -> ab.Counts:
    cuts = sorted(draw.randint(0, n) for _ in range(4))
    parts = [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    return ab.Counts.of(parts)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in EVERY if ab.measure(n).ranks_like])
def test_measures_said_to_rank_alike_do(name: str) -> None:
    draw = random.Random(name)
    item = ab.measure(name)
    for other in map(ab.measure, item.ranks_like):
        assert other != item
        ties = 0
        for _ in range(400):
            n = draw.randint(1, 30)
            a, b = random_run(n, draw), random_run(n, draw)
            one, two = _order(item, a, b), _order(other, a, b)
            assert one == two, (name, str(other), a, b)
            ties += one == 0
        assert ties, "no tie was drawn: the test shows less than it says"


def _order(item: ab.Measure, a: ab.Counts, b: ab.Counts) -> int | None:
    first, second = item(a), item(b)
    if math.isnan(first) or math.isnan(second):
        return None
    return 0 if math.isclose(first, second, abs_tol=1e-9) else 1 if first > second else -1


def test_ranking_alike_is_mutual() -> None:
    for name in EVERY:
        for other in ab.measure(name).ranks_like:
            back = ab.measure(other)
            reached = {*back.ranks_like, *(x for y in back.ranks_like for x in _like(y))}
            assert name in reached, (name, other)


def _like(name: str) -> tuple[str, ...]:
    return ab.measure(name).ranks_like


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_KAPPA)
@given(k=counts)
def test_a_score_is_right_answers_plus_credited_blanks(name: str, k: ab.Counts) -> None:
    item = ab.measure(name)
    score = item(k)
    if not math.isnan(score):
        c, u = k.right / k.n, k.unanswered / k.n
        assert score == pytest.approx(c + item.kappa(k) * u, abs=1e-12)


def test_which_measures_are_credits() -> None:
    assert {ab.measure(n).name for n in WITH_KAPPA} == {
        *("accuracy", "answer-all-bound", "UF-scaled", "precision", "wrong-rate-credit"),
        *("c@1", "F", "credit"),
    }
    missing = {ab.measure(n).name for n in WITH_KAPPA} - {
        ab.measure(n).name for n in WITH_BREAK_EVEN
    }
    assert missing == {"wrong-rate-credit"}


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_BREAK_EVEN)
@given(k=shares)
def test_answering_pays_exactly_above_break_even(name: str, k: ab.Counts) -> None:
    """A sliver of the blanks answered with chance p: better above p*, worse below."""
    item = ab.measure(name)
    p_star = item.break_even(k)
    assert 0 <= p_star <= 1
    sliver = 1e-5 * k.n

    def gain(p: float) -> float:
        answered = ab.Counts(
            right=k.right + p * sliver,
            wrong=k.wrong + (1 - p) * sliver,
            unanswered_empty=k.unanswered_empty - sliver,
        )
        return item(answered) - item(k)

    if p_star < 0.99:
        assert gain(p_star + 0.01) > 0
    if p_star > 0.01:
        assert gain(p_star - 0.01) < 0


@given(k=counts, t=st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.8]))
def test_penalised_score_is_a_stretched_credit(k: ab.Counts, t: float) -> None:
    """S_t = (credit_t − t)/(1 − t): the same order of any runs."""
    stretched = (ab.measure(f"credit(t={t!r})")(k) - t) / (1 - t)
    assert ab.measure(f"S(t={t!r})")(k) == pytest.approx(stretched, abs=1e-12)


@given(k=counts)
def test_uf_scaled_is_uf_moved(k: ab.Counts) -> None:
    moved = (1 + ab.measure("UF")(k)) / 2
    assert ab.measure("UF-scaled")(k) == pytest.approx(moved, abs=1e-12)


@pytest.mark.slow
def test_runs_with_one_score_share_a_rank() -> None:
    """Equal in fractions, equal in doubles: a tie."""
    n = 60
    pairs: dict[Fraction, list[ab.Counts]] = {}
    for right in range(1, n + 1):
        for blank in range(n - right + 1):
            counts = ab.Counts(right, n - right - blank, unsplit=blank)
            exact = REFERENCE["c@1"](outcomes(right, n - right - blank, 0, 0, blank))
            assert exact is not None
            pairs.setdefault(exact, []).append(counts)
    item = ab.measure("c@1")
    ties = [runs for runs in pairs.values() if len(runs) > 1]
    assert ties, "no two counts have one score: choose another n"
    for runs in ties:
        assert len({item(k) for k in runs}) == 1
        result = ab.read_counts({f"r{i}": k for i, k in enumerate(runs)}).score(measures=["c@1"])
        assert {row.rank for row in result.rows} == {"1="}
