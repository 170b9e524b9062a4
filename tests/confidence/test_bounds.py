"""Bounds on the share of wrong answers: exact, and kept as often as promised."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from abstain.features.tune.choose import KeepNext, KeepRisk, allowed_wrong
from abstain.measures.answers import Answers
from abstain.stats.curves import Curve
from tests.confidence.data import Row, answers, informed, read_rows


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
    curve = Curve.of(answers(read_rows({"a": rows})))
    aim = KeepRisk(0.2, 0.1)
    passed, handed_on, tried = [], Fraction(0), 0
    for delta, points in aim.sequences(curve):
        handed_on += Fraction(delta)
        for point in points:
            wrong, answered = int(curve.wrong[point]), int(curve.answered[point])
            tried += 1
            if slow_binomial(wrong, answered, Fraction(1, 5)) > handed_on:
                handed_on = Fraction(0)
                break
            passed.append(point)
    assert 0 < len(passed) < tried
    assert aim.choose(curve) == curve.thresholds[passed[-1]]


def test_the_order_of_tests_does_not_look_at_verdicts() -> None:
    rows = informed(300, seed=7)
    flipped: list[Row] = [("wrong" if o == "right" else "right", c) for o, c in rows]
    read = read_rows({"a": rows, "b": flipped})
    aim = KeepRisk(0.3, 0.1)
    one, two = (aim.sequences(Curve.of(answers(read, i))) for i in (0, 1))
    for (_, tried), (_, same) in zip(one, two, strict=True):
        np.testing.assert_array_equal(tried, same)


class NeverStops(KeepRisk):
    """A mistake: the lowest threshold that passes anywhere, whatever failed before."""

    @staticmethod
    def last_before_failing(curve: Curve, tried: Any, passes: Any) -> float:
        passed = np.flatnonzero(passes)
        return float(curve.thresholds[tried[passed[-1]]]) if len(passed) else math.inf


def broken(aim: KeepRisk, size: int, chance: Any, trials: int = 1000) -> int:
    """How often a risk above α is chosen, where `chance` is that of a wrong answer by its place."""
    place = np.arange(size) / size
    wrong_chance = np.broadcast_to(chance(place), (size,))
    true_risk = np.cumsum(wrong_chance) / np.arange(1, size + 1)
    found = 0
    for seed in range(trials):
        wrong = np.random.default_rng(seed).random(size) < wrong_chance
        chosen = aim.choose(Curve.of(Answers.of(~wrong, 1 - place)))
        answered = int(np.count_nonzero(1 - place >= chosen))
        found += answered > 0 and true_risk[answered - 1] > aim.alpha
    return found


def limit(delta: float, trials: int = 1000) -> float:
    """What a chance of δ may show, by three standard deviations."""
    return trials * delta + 3 * math.sqrt(trials * delta * (1 - delta))


def level(risk: float) -> Any:
    """The same risk everywhere: just above α it is the hardest to refuse."""
    return lambda place: risk


def step(place: Any) -> Any:
    """Good at first, then bad."""
    return np.where(place < 0.2, 0.1, 0.35)


def falling(place: Any) -> Any:
    """Wrong where it is surest, and just above a share of 0.2 of everything."""
    return np.where(place < 0.05, 0.6, 0.1791)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "delta", "size", "chance"),
    [
        (0.3, 0.2, 400, level(0.3001)),
        (0.1, 0.1, 780, level(0.1001)),
        (0.05, 0.1, 300, level(0.0501)),  # four sequences
        (0.2, 0.1, 300, step),
        (0.2, 0.1, 800, falling),
    ],
)
def test_the_true_risk_is_kept_as_often_as_promised(
    alpha: float, delta: float, size: int, chance: Any
) -> None:
    assert broken(KeepRisk(alpha, delta), size, chance) <= limit(delta)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "delta", "size"), [(0.3, 0.2, 400), (0.1, 0.1, 780)])
def test_mistakes_would_break_the_promise(alpha: float, delta: float, size: int) -> None:
    """Thrice the δ, and no stop at the first failure: the test above is one that can fail."""
    hard = level(alpha + 0.0001)
    assert broken(KeepRisk(alpha, 3 * delta), size, hard) > limit(delta)
    assert broken(NeverStops(alpha, delta), size, hard) > limit(delta)


@pytest.mark.parametrize(("right", "wrong"), [(120, 480), (100, 34)])
def test_the_surest_answers_are_tried_where_there_are_few(right: int, wrong: int) -> None:
    """All right down to some place, then all wrong: 0.95^120 = 0.002, 0.95^100 = 0.006."""
    sure = np.linspace(1, 0, right + wrong)
    verdict = np.arange(right + wrong) < right
    aim = KeepRisk(0.05, 0.1)
    chosen = aim.choose(Curve.of(Answers.of(verdict, sure)))
    answered = int(np.count_nonzero(sure >= chosen))
    assert right - (right + wrong) / 100 - 1 <= answered <= right + 1
    following = KeepNext(0.05, 0.1).choose(Curve.of(Answers.of(verdict, sure)), 40)
    assert following >= chosen


@pytest.mark.parametrize("aim", [KeepRisk(0.05, 0.1), KeepNext(0.05, 0.1)])
def test_sequences_share_one_delta(aim: KeepRisk) -> None:
    curve = Curve.of(Answers.of(np.ones(600), np.linspace(0, 1, 600)))
    parts = aim.sequences(curve)
    assert sum(delta for delta, _ in parts) == pytest.approx(0.1)
    first = [int(curve.answered[tried[0]]) for _, tried in parts]
    # 0.95^90 ≤ 0.01 < 0.95^89; three times 45; half; all
    assert first == [90, 135, 300, 600]
    for delta, tried in parts:
        assert 0.95 ** curve.answered[tried[0]] <= delta
    # what is handed on is not tried again; otherwise each sequence goes on to the end
    ends = [int(curve.answered[tried[-1]]) for _, tried in parts]
    if aim.HANDS_ON:
        assert all(end < begin for end, begin in zip(ends, first[1:], strict=False))
        assert ends[-1] == 600
    else:
        assert ends == [600] * 4


@pytest.mark.parametrize("aim", [KeepRisk(0.2, 0.1), KeepNext(0.2, 0.1)])
def test_a_few_sure_but_wrong_answers_do_not_end_in_silence(aim: KeepRisk) -> None:
    """The surest 5 % are wrong half the time, everything in 7 %: far below the bound of 20 %."""
    wrong = np.zeros(800, bool)
    wrong[:40:2] = wrong[40::20] = True
    sure = np.linspace(1, 0, 800)
    assert aim.choose(Curve.of(Answers.of(~wrong, sure)), 800) == 0.0
    # where the least sure are wrong too: at half 38 of 400 are wrong, at the end 238 of 800
    wrong[400:] = np.arange(400) % 2 == 0
    chosen = aim.choose(Curve.of(Answers.of(~wrong, sure)), 800)
    assert 400 <= np.count_nonzero(sure >= chosen) < 600


def test_too_few_answers_mean_silence() -> None:
    aim = KeepRisk(0.05, 0.1)
    assert aim.least == 45  # 0.95^45 = 0.0994 ≤ 0.1 < 0.95^44
    curve = Curve.of(Answers.of(np.ones(44), np.linspace(0, 1, 44)))
    assert math.isinf(aim.choose(curve))
    curve = Curve.of(Answers.of(np.ones(45), np.linspace(0, 1, 45)))
    assert aim.choose(curve) == 0.0


def test_where_every_threshold_passes_everything_is_answered() -> None:
    """Also new answers that are less sure than any seen: the test of all answers is theirs."""
    answers = Answers.of(np.ones(200), np.linspace(0.3, 1, 200))
    assert KeepRisk(0.05).choose(Curve.of(answers)) == 0.0


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


@pytest.mark.slow
def test_the_bound_on_the_next_asks_for_more_than_the_bound_on_the_risk() -> None:
    for seed in range(20):
        first = Curve.of(answers(read_rows({"a": informed(600, seed)})))
        risk, seen = KeepRisk(0.3).choose(first), KeepNext(0.3).choose(first, 600)
        assert seen >= risk


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "delta"), [(0.2, 0.1), (0.3, 0.2)])
@pytest.mark.parametrize("known", [True, False])
def test_what_is_seen_next_is_kept_as_often_as_promised(
    alpha: float, delta: float, known: bool
) -> None:
    """Calibrated answers: 100 times 300 to tune on and 300 that come."""
    broken, answered = 0, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        sure = rng.random(600)
        right = rng.random(600) < sure
        first, second = (
            Curve.of(Answers.of(right[part], sure[part])) for part in (slice(300), slice(300, None))
        )
        chosen = KeepNext(alpha, delta).choose(first, second if known else 300)
        given = sure[300:] >= chosen
        wrong = int((given & ~right[300:]).sum())
        answered += int(given.sum())
        broken += wrong > alpha * given.sum()
    assert broken <= 100 * delta + 4 * math.sqrt(100 * delta * (1 - delta))
    assert answered > 0


def broken_next(aim: KeepRisk, known: bool, trials: int) -> int:
    """How often more than α of the answers to the next 34 questions are wrong; the risk is 0.16."""
    size, coming, found = 600, 34, 0
    sure = np.full(size + coming, 0.5)  # one threshold to try
    for seed in range(trials):
        right = np.random.default_rng(seed).random(size + coming) >= 0.16
        first, second = (
            Curve.of(Answers.of(right[part], sure[part]))
            for part in (slice(size), slice(size, None))
        )
        given = sure[size:] >= aim.choose(first, second if known else coming)
        found += int((given & ~right[size:]).sum()) > aim.alpha * int(given.sum())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_a_small_batch_is_kept_too_which_a_bound_on_the_risk_does_not(known: bool) -> None:
    """A risk of 0.16 is surely below 0.2 on 600 questions, and 34 more often show above it."""
    trials = 300
    assert broken_next(KeepNext(0.2, 0.1), known, trials) <= limit(0.1, trials)
    assert broken_next(KeepRisk(0.2, 0.1), known, trials) > limit(0.1, trials)


def test_a_split_is_judged_with_the_threshold_to_use() -> None:
    own = informed(400, seed=2)
    read = read_rows({"a": own}, part=["dev", "test"] * 200)
    (run,) = read.tune(risk=0.3, next=True, tune_on={"part": "dev"}).runs
    tune = np.array(["dev", "test"] * 200) == "dev"
    first, second = (Curve.of(answers(read, 0, part)) for part in (tune, ~tune))
    assert run.threshold == KeepNext(0.3).choose(first, second)


def test_how_often_the_bound_held_is_counted_part_by_part() -> None:
    rows = informed(300, seed=4)
    (run,) = read_rows({"a": rows}).tune(risk=0.25, level=0.8, folds=3, repeats=4).runs
    kept = run.kept
    assert kept is not None
    assert kept.parts == len(run.parts) == 12
    seen = over_all = 0
    for part in run.parts:
        threshold = math.inf if part.threshold is None else part.threshold
        given = [(o, c) for o, c in rows if (c or 0) >= threshold]
        over_all += sum(o == "wrong" for o, _ in given) <= 0.25 * len(given)
        judged = part.judged.counts
        seen += judged.wrong <= 0.25 * judged.answered
    assert (kept.seen, kept.over_all) == (seen, over_all)
    assert kept.silent == sum(p.threshold is None for p in run.parts)
