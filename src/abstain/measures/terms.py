"""What single answers add to measures of confidence; nothing is declared here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain.measures.answers import Answers
from abstain.measures.definition import Numeric
from abstain.measures.lazy import numpy as np

if TYPE_CHECKING:
    from abstain.outcomes import Array

EPSILON = 2.0**-52


def squares(a: Answers) -> Array:
    """(s − right)² of each answer."""
    return (a.confidence - a.right) ** 2


def surprises(a: Answers) -> Array:
    """−ln p(what came true) of each answer."""
    sure = np.clip(a.confidence, EPSILON, 1 - EPSILON)
    return np.asarray(-np.log(np.where(a.right, sure, 1 - sure)))


def earnings(a: Answers) -> Array:
    """s of each right answer, −s of each wrong one."""
    return a.confidence * (2.0 * a.right - 1)


def rights(a: Answers) -> Array:
    """1 of each right answer, 0 of each wrong one."""
    return a.right.astype(np.float64)


def first_covering(a: Answers, c: float) -> tuple[Numeric, Numeric]:
    """The first point that answers a share c of the questions, and whether there is one."""
    reached = a.groups.answered >= c * a.questions * (1 - 1e-12)
    return np.argmax(reached, axis=0), reached.any(axis=0)
