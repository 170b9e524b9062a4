"""Measures of decisions again, slowly: question by question, in fractions, from definitions.

A question is a pair: whether it can be answered, and what the run did: R (answered right), W
(answered wrong) or D (declined). Nothing of abstain is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

Question = tuple[bool, str]
Score = Fraction | None


def share(items: Sequence[bool]) -> Score:
    return Fraction(sum(items), len(items)) if items else None


def over_refusal(run: Sequence[Question]) -> Score:
    return share([did == "D" for can, did in run if can])


def under_refusal(run: Sequence[Question]) -> Score:
    return share([did != "D" for can, did in run if not can])


def precision(run: Sequence[Question]) -> Score:
    return share([not can for can, did in run if did == "D"])


def recall(run: Sequence[Question]) -> Score:
    return share([did == "D" for can, did in run if not can])


def dice(wanted: Sequence[bool], found: Sequence[bool]) -> Score:
    """F1 of finding what is wanted: twice what is both, over the sizes of both."""
    both, sizes = sum(map(min, wanted, found)), sum(wanted) + sum(found)
    return Fraction(2 * both, sizes) if sizes else None


def f1(run: Sequence[Question]) -> Score:
    return dice([not can for can, _ in run], [did == "D" for _, did in run])


def grounded_refusal(run: Sequence[Question]) -> Score:
    answering = dice([can for can, _ in run], [did != "D" for _, did in run])
    declining = f1(run)
    return None if answering is None or declining is None else (answering + declining) / 2


def accuracy(run: Sequence[Question]) -> Score:
    return share([can == (did != "D") for can, did in run])


def balanced(run: Sequence[Question]) -> Score:
    answered, declined = share([did != "D" for can, did in run if can]), recall(run)
    return None if answered is None or declined is None else (answered + declined) / 2


def youden(run: Sequence[Question]) -> Score:
    """Sensitivity plus specificity minus one, of declining what cannot be answered."""
    both = balanced(run)
    return None if both is None else 2 * both - 1


REFERENCE: dict[str, Callable[[Sequence[Question]], Score]] = {
    "over-refusal": over_refusal,
    "under-refusal": under_refusal,
    "abstention-precision": precision,
    "abstention-recall": recall,
    "abstention-F1": f1,
    "grounded-refusal-F1": grounded_refusal,
    "decision-accuracy": accuracy,
    "balanced-accuracy": balanced,
    "decision-J": youden,
}


def questions_of(r: int, w: int, d: int, a: int, n: int) -> list[Question]:
    """Right, wrong, wrongly declined, wrongly answered, rightly declined."""
    answered = [(True, "R")] * r + [(True, "W")] * w + [(True, "D")] * d
    return answered + [(False, "W")] * a + [(False, "D")] * n


def trust_align(run: Sequence[Question]) -> float:
    """The mean of two F1 as Trust-Align's metrics have it, where an F1 without a part is 0."""

    def f_of(positive: bool) -> float:
        said = [(can == positive, (did != "D") == positive) for can, did in run]
        true = sum(due and did for due, did in said)
        due, did = sum(x for x, _ in said), sum(y for _, y in said)
        p, r = (true / did if did else 0.0), (true / due if due else 0.0)
        return 2 * p * r / (p + r) if p + r else 0.0

    return (f_of(positive=False) + f_of(positive=True)) / 2
