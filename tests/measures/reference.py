"""Every measure again, slowly: from the definitions, outcome by outcome, in exact fractions.

Written from the papers' definitions, not from the code: nothing of abstain is imported here.
A function takes a list of outcomes (R, W, UR, UW, UE) and returns a fraction or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.helpers import mean

Score = Fraction | None
One = Fraction(1)


def share(outcomes: Sequence[str], *wanted: str) -> Fraction:
    value = mean(1 if o in wanted else 0 for o in outcomes)
    assert value is not None
    return value


def accuracy(outcomes: Sequence[str]) -> Score:
    return share(outcomes, "R")


def precision(outcomes: Sequence[str]) -> Score:
    return mean(1 if o == "R" else 0 for o in outcomes if o in ("R", "W"))


def credited(outcomes: Sequence[str], credit: Fraction) -> Fraction:
    """One point a right answer and `credit` a blank, averaged: c + κ·u question by question."""
    points = Fraction(0)
    for outcome in outcomes:
        if outcome == "R":
            points += 1
        elif outcome.startswith("U"):
            points += credit
    return points / len(outcomes)


def c_at_1(outcomes: Sequence[str]) -> Score:
    return credited(outcomes, share(outcomes, "R"))


def wrong_rate(outcomes: Sequence[str]) -> Score:
    rate = mean(1 if o == "W" else 0 for o in outcomes if o in ("R", "W"))
    return None if rate is None else credited(outcomes, rate)


def f_measure(beta: Fraction) -> Callable[[Sequence[str]], Score]:
    def score(outcomes: Sequence[str]) -> Score:
        p, r = precision(outcomes), share(outcomes, "R")
        if p is None or p + r == 0:
            return Fraction(0)
        return (1 + beta**2) * p * r / (beta**2 * p + r)

    return score


def credit(t: Fraction) -> Callable[[Sequence[str]], Score]:
    return lambda outcomes: credited(outcomes, t)


def penalised(t: Fraction) -> Callable[[Sequence[str]], Score]:
    points = {"R": One, "W": -t / (1 - t)}
    return lambda outcomes: mean(points.get(o, Fraction(0)) for o in outcomes)


def utility(outcomes: Sequence[str]) -> Score:
    return mean({"R": 1, "W": -1}.get(o, 0) for o in outcomes)


def coverage(outcomes: Sequence[str]) -> Score:
    return mean(0 if o.startswith("U") else 1 for o in outcomes)


def risk(outcomes: Sequence[str]) -> Score:
    return mean(1 if o == "W" else 0 for o in outcomes if o in ("R", "W"))


def wrongly(outcomes: Sequence[str]) -> Score:
    return mean(1 if o == "W" else 0 for o in outcomes)


def forced(outcomes: Sequence[str]) -> Score:
    return mean(1 if o in ("R", "UR") else 0 for o in outcomes)


def discarded(outcomes: Sequence[str]) -> Score:
    return mean(0 if o == "UR" else 1 for o in outcomes if o.startswith("U"))


def rejected(outcomes: Sequence[str]) -> Score:
    return mean(1 if o in ("UW", "UE") else 0 for o in outcomes)


def performance(outcomes: Sequence[str]) -> Score:
    return mean(1 if o in ("R", "UW", "UE") else 0 for o in outcomes)


def estimated(outcomes: Sequence[str]) -> Score:
    return share(outcomes, "R") * (1 + share(outcomes, "UW", "UE"))


def recall(outcomes: Sequence[str]) -> Score:
    return mean(1 if o == "R" else 0 for o in outcomes if o in ("R", "UR"))


def validation_f(outcomes: Sequence[str]) -> Score:
    """2·(given and right) over (given) + (right): Dice of the two sets of candidates."""
    given = sum(1 for o in outcomes if o in ("R", "W"))
    right = sum(1 for o in outcomes if o in ("R", "UR"))
    both = sum(1 for o in outcomes if o == "R")
    return Fraction(2 * both, given + right) if given + right else None


def silent_where_wrong(outcomes: Sequence[str]) -> tuple[int, int, int]:
    """Blanks, questions it could not get right, and both at once."""
    blank = [o.startswith("U") for o in outcomes]
    hopeless = [o in ("W", "UW", "UE") for o in outcomes]
    both = sum(b and h for b, h in zip(blank, hopeless, strict=True))
    return sum(blank), sum(hopeless), both


def discard_recall(outcomes: Sequence[str]) -> Score:
    _, hopeless, both = silent_where_wrong(outcomes)
    return Fraction(both, hopeless) if hopeless else None


def discard_f(outcomes: Sequence[str]) -> Score:
    blank, hopeless, both = silent_where_wrong(outcomes)
    return Fraction(2 * both, blank + hopeless) if blank + hopeless else None


def over(outcomes: Sequence[str]) -> Score:
    return mean(1 if o == "UR" else 0 for o in outcomes if o in ("R", "UR"))


def under(outcomes: Sequence[str]) -> Score:
    return mean(1 if o == "W" else 0 for o in outcomes if o in ("W", "UW", "UE"))


def hallucinated(outcomes: Sequence[str]) -> Score:
    """W/(n − R)."""
    return mean(1 if o == "W" else 0 for o in outcomes if o != "R")


REFERENCE: dict[str, Callable[[Sequence[str]], Score]] = {
    "accuracy": accuracy,
    "c@1": c_at_1,
    "F": f_measure(One),
    "F(beta=0.5)": f_measure(Fraction(1, 2)),
    "F(beta=2)": f_measure(Fraction(2)),
    "precision": precision,
    "UF": utility,
    "UF-scaled": credit(Fraction(1, 2)),
    "answer-all-bound": credit(One),
    "wrong-rate-credit": wrong_rate,
    "credit(t=0)": credit(Fraction(0)),
    "credit(t=0.25)": credit(Fraction(1, 4)),
    "credit(t=0.5)": credit(Fraction(1, 2)),
    "credit(t=1)": credit(One),
    "S(t=0)": penalised(Fraction(0)),
    "S(t=0.25)": penalised(Fraction(1, 4)),
    "S(t=0.5)": penalised(Fraction(1, 2)),
    "S(t=0.75)": penalised(Fraction(3, 4)),
    "coverage": coverage,
    "selective-risk": risk,
    "wrong-rate": wrongly,
    "hallucination-rate": hallucinated,
    "forced-accuracy": forced,
    "correctly-discarded": discarded,
    "discard-recall": discard_recall,
    "discard-F": discard_f,
    "over-abstention": over,
    "under-abstention": under,
    "qa-accuracy": accuracy,
    "qa-rej-accuracy": rejected,
    "qa-performance": performance,
    "estimated-qa-performance": estimated,
    "validation-precision": precision,
    "validation-recall": recall,
    "validation-F": validation_f,
}
