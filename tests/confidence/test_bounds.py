"""Bounds on the share of wrong answers: exact, and kept as often as promised."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from abstain.confidence.bounds import KeepNext, KeepRisk, allowed_wrong
from abstain.confidence.curve import Curve
from abstain.confidence.split import Split
from abstain.confidence.tuning import tune_matrix
from abstain.measures.sequences import Answers
from tests.confidence.data import Row, informed, matrix_of


def slow_binomial(wrong: int, answered: int, alpha: Fraction) -> Fraction:
    return sum(
        (
            math.comb(answered, k) * alpha**k * (1 - alpha) ** (answered - k)
            for k in range(wrong + 1)
        ),
        Fraction(0),
    )


def test_risk_is_kept_by_exact_binomial_tests_in_a_fixed_order() -> None:
    rows = sorted(informed(400, seed=5), key=lambda r: -(r[1] or 0))
    curve = Curve.of("a", matrix_of({"a": rows}).answers(0))
    aim = KeepRisk(0.2, 0.1)
    tried = aim.sequence(curve)
    passed = []
    for point in tried:
        chance = slow_binomial(int(curve.wrong[point]), int(curve.answered[point]), Fraction(1, 5))
        if chance > Fraction(1, 10):
            break
        passed.append(point)
    assert 0 < len(passed) < len(tried)
    assert aim.choose(curve) == curve.thresholds[passed[-1]]


def test_the_order_of_tests_does_not_look_at_verdicts() -> None:
    rows = informed(300, seed=7)
    flipped: list[Row] = [("wrong" if o == "right" else "right", c) for o, c in rows]
    matrix = matrix_of({"a": rows, "b": flipped})
    aim = KeepRisk(0.3, 0.1)
    one, two = (aim.sequence(Curve.of("", matrix.answers(i))) for i in (0, 1))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(("alpha", "delta"), [(0.1, 0.1), (0.3, 0.2)])
def test_the_true_risk_is_kept_as_often_as_promised(alpha: float, delta: float) -> None:
    """Calibrated answers: above a threshold t the true risk is (1 − t)/2."""
    broken = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        sure = rng.random(300)
        answers = Answers.of(rng.random(300) < sure, sure)
        chosen = KeepRisk(alpha, delta).choose(Curve.of("", answers))
        broken += math.isfinite(chosen) and (1 - chosen) / 2 > alpha
    # at most δ·400 expected; four standard deviations of slack
    assert broken <= 400 * delta + 4 * math.sqrt(400 * delta * (1 - delta))


def test_too_few_answers_mean_silence() -> None:
    aim = KeepRisk(0.05, 0.1)
    assert aim.least == 45  # 0.95^45 = 0.0994 ≤ 0.1 < 0.95^44
    curve = Curve.of("", Answers.of(np.ones(44), np.linspace(0, 1, 44)))
    assert math.isinf(aim.choose(curve))
    curve = Curve.of("", Answers.of(np.ones(45), np.linspace(0, 1, 45)))
    assert aim.choose(curve) == 0.0


def test_where_every_threshold_passes_everything_is_answered() -> None:
    """Also new answers that are less sure than any seen: the test of all answers is theirs."""
    answers = Answers.of(np.ones(200), np.linspace(0.3, 1, 200))
    assert KeepRisk(0.05).choose(Curve.of("", answers)) == 0.0


@pytest.mark.parametrize(("wrong", "answered"), [(0, 10), (3, 10), (10, 10), (0, 0)])
def test_the_chance_of_so_many_wrong_answers(wrong: int, answered: int) -> None:
    alpha = Fraction(1, 5)
    expected = 1 - slow_binomial(wrong - 1, answered, alpha)
    assert KeepRisk(0.2).chance(wrong, answered) == pytest.approx(float(expected), abs=1e-12)
    assert KeepRisk(0.2).refuted(wrong, answered) == (expected < Fraction(1, 20))


# -------------------------------------------------------------------- what will be seen next


def slow_prediction(wrong: int, answered: int, coming: int, most: int) -> Fraction:
    """P(more than `most` of `coming` are wrong), as sure as one can be after `wrong`.

    Thatcher 1964: of the wrong + most + 1 smallest of answered + coming numbers in random order,
    at most `wrong` are among the first `answered` (hypergeometric).
    """
    drawn, whole = wrong + most + 1, answered + coming
    return sum(
        (
            Fraction(math.comb(answered, k) * math.comb(coming, drawn - k), math.comb(whole, drawn))
            for k in range(wrong + 1)
        ),
        Fraction(0),
    )


@pytest.mark.parametrize(
    ("answered", "coming"), [(50, 50), (300, 300), (300, 60), (60, 300), (7, 3)]
)
@pytest.mark.parametrize(("alpha", "delta"), [(0.05, 0.1), (0.2, 0.1), (0.3, 0.05)])
def test_one_threshold_is_the_exact_prediction_bound(
    answered: int, coming: int, alpha: float, delta: float
) -> None:
    """The sum that stands for the integral lies above it, by little: at most one answer fewer."""
    most = math.floor(alpha * coming + 1e-9)
    exact = -1
    while exact < answered and (
        slow_prediction(exact + 1, answered, coming, most) <= Fraction(delta)
    ):
        exact += 1
    (found,) = allowed_wrong(np.array([answered]), np.array([coming]), alpha, delta)
    assert exact - 1 <= found <= exact


def test_many_thresholds_allow_no_more_than_each_alone() -> None:
    answered = np.arange(40, 400, 10)
    coming = answered // 2
    together = allowed_wrong(answered, coming, 0.2, 0.1)
    each = [allowed_wrong(answered[[i]], coming[[i]], 0.2, 0.1) for i in range(len(answered))]
    alone = np.concatenate(each)
    assert (together <= alone).all()
    assert (together >= alone - 2).all()


def test_nothing_to_come_breaks_nothing() -> None:
    found = allowed_wrong(np.array([10, 100]), np.array([0, 0]), 0.1, 0.1)
    assert found.tolist() == [10, 100]


def test_the_bound_on_the_next_asks_for_more_than_the_bound_on_the_risk() -> None:
    for seed in range(20):
        first = Curve.of("", matrix_of({"a": informed(600, seed)}).answers(0))
        risk, seen = KeepRisk(0.3).choose(first), KeepNext(0.3).choose(first, 600)
        assert seen >= risk


@pytest.mark.parametrize(("alpha", "delta"), [(0.2, 0.1), (0.3, 0.2)])
@pytest.mark.parametrize("known", [True, False])
def test_what_is_seen_next_is_kept_as_often_as_promised(
    alpha: float, delta: float, known: bool
) -> None:
    """Calibrated answers: 200 times 300 to tune on and 300 that come."""
    broken, answered = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sure = rng.random(600)
        right = rng.random(600) < sure
        first, second = (
            Curve.of("", Answers.of(right[part], sure[part]))
            for part in (slice(300), slice(300, None))
        )
        chosen = KeepNext(alpha, delta).choose(first, second if known else 300)
        given = sure[300:] >= chosen
        wrong = int((given & ~right[300:]).sum())
        answered += int(given.sum())
        broken += wrong > alpha * given.sum()
    assert broken <= 200 * delta + 4 * math.sqrt(200 * delta * (1 - delta))
    assert answered > 0


def test_a_split_is_judged_with_the_threshold_to_use() -> None:
    own = informed(400, seed=2)
    matrix = matrix_of({"a": own}, part=["dev", "test"] * 200)
    split = Split(attribute="part", value="dev")
    (run,) = tune_matrix(matrix, risk=0.3, next_questions=True, split=split).runs
    tune = np.array(["dev", "test"] * 200) == "dev"
    first, second = (Curve.of("", matrix.answers(0, part)) for part in (tune, ~tune))
    assert run.threshold.value == KeepNext(0.3).choose(first, second)
    assert math.isfinite(run.threshold.value)


def test_how_often_the_bound_held_is_counted_part_by_part() -> None:
    rows = informed(300, seed=4)
    aim = KeepRisk(0.25, 0.2)
    (run,) = tune_matrix(
        matrix_of({"a": rows}), risk=0.25, delta=0.2, split=Split(folds=3, repeats=4)
    ).runs
    kept = run.kept(aim)
    assert kept.parts == len(run.parts) == 12
    seen = over_all = 0
    for part in run.parts:
        given = [(o, c) for o, c in rows if (c or 0) >= part.threshold.value]
        over_all += sum(o == "wrong" for o, _ in given) <= 0.25 * len(given)
        judged = part.judged.counts
        seen += judged.wrong <= 0.25 * judged.answered
    assert (kept.seen, kept.over_all) == (seen, over_all)
    assert kept.silent == sum(math.isinf(p.threshold.value) for p in run.parts)
