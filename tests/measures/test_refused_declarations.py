"""A declaration that does not hold is refused; its nearest neighbour that holds is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from abstain.errors import UsageError
from abstain.measures.checks import check
from abstain.measures.definition import NO_QUESTIONS, MeanOf, Proportion
from abstain.measures.registry import definitions, measure_of
from abstain.outcomes import CountsArray


def tried(name: str, /, **changes: Any) -> None:
    """Check a measure of ours with other facts."""
    own = replace(definitions()[name], **changes)
    check(measure_of(own, own.example_text))


def refused(said: str, name: str, /, **changes: Any) -> None:
    with pytest.raises(UsageError) as caught:
        tried(name, **changes)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", [*definitions()])
def test_our_own_declarations_hold(name: str) -> None:
    tried(name)


@pytest.mark.parametrize("name", ["", " own", "own ", "own\n", "o(n", "o)n", "o=n", "o,n"])
def test_names_that_could_not_be_typed(name: str) -> None:
    refused("expected a name without ( ) = and ,", "accuracy", name=name)
    refused("expected a name without ( ) = and ,", "accuracy", aliases=("fine", name))
    tried("accuracy", name="o n", aliases=("o-n", "o@n"))


@pytest.mark.parametrize("name", ["accuracy", "CWS", "P"])
def test_values_lie_within_the_bounds(name: str) -> None:
    """But for rounding. These are the lowest and the highest value of what they are tried on.

    CWS is lowest where the wrong one of two answers is the surer one, (0 + 1/2)/2, and highest
    where a right answer stands before a right and a wrong one that are tied, (1 + 3/4 + 2/3)/3.
    """
    wide = {"accuracy": (0.0, 1.0), "CWS": (1 / 4, 29 / 36), "P": (0.0, 0.2)}[name]
    tried(name, bounds=lambda **_: wide)
    tried(name, bounds=lambda **_: (wide[0] + 1e-10, wide[1] - 1e-10))
    refused("outside its bounds", name, bounds=lambda **_: (wide[0] + 1e-6, wide[1]))
    refused("outside its bounds", name, bounds=lambda **_: (wide[0], wide[1] - 1e-6))
    refused("expected the lower one first", name, bounds=lambda **_: (1.0, 1.0))


# ----------------------------------------------------------------------------------- of counts


def shifted(by: float, *, arrays: bool) -> Any:
    """The accuracy, a little more where it is computed of arrays, or of single counts."""

    def function(k: Any) -> Any:
        own = k.right / k.n
        return own + by if isinstance(k, CountsArray) == arrays else own

    return function


@pytest.mark.parametrize("by", [1e-6, -1e-6, math.nan])
def test_arrays_of_counts_have_the_same_scores(by: float) -> None:
    refused("for the same counts in an array", "accuracy", function=shifted(by, arrays=True))
    tried("accuracy", function=shifted(1e-10, arrays=True))


def test_a_score_that_is_missing_needs_a_reason() -> None:
    nothing = definitions()["precision"].undefined
    assert len(nothing) == 2
    tried("precision")
    refused("no rule says that it is undefined there", "precision", undefined=(NO_QUESTIONS,))


def test_a_proportion_is_the_measure() -> None:
    tried("precision", proportion=Proportion("R", "R + W"))
    refused("as the proportion that it declares", "precision", proportion=Proportion("R"))
    refused("as the proportion that it declares", "accuracy", proportion=Proportion("R", "R + W"))


def test_kappa_is_the_credit_of_a_blank() -> None:
    tried("c@1", kappa=lambda c, w, u: c + 1e-7)
    refused("as c + κ·u", "c@1", kappa=lambda c, w, u: c + 1e-4)
    refused("as c + κ·u", "c@1", kappa=lambda c, w, u: c - 1e-4)
    refused("has no value", "UF", function=lambda k: math.nan)


def test_what_candidates_are_is_asked_only_where_that_is_declared() -> None:
    tried("forced-accuracy", needs_candidates=True)
    refused("declare needs_candidates", "forced-accuracy", needs_candidates=False, undefined=())


# ---------------------------------------------------------------------------------- of answers


@pytest.mark.parametrize(
    ("name", "changes", "holds"),
    [
        ("AUROC", {"studentised": True}, True),
        ("AUROC", {"studentised": True, "influence": None}, False),
        ("AUROC", {"studentised": False, "influence": None}, True),
        ("Brier", {"studentised": True}, True),
        ("Brier", {"studentised": True, "mean": None}, False),
    ],
)
def test_a_standard_error_is_computed_from_something(
    name: str, changes: dict[str, Any], holds: bool
) -> None:
    if holds:
        tried(name, **changes)
    else:
        refused("has no influence function to compute a standard error from", name, **changes)


def test_the_order_of_rows_does_not_matter() -> None:
    refused("with the rows in another order", "K1", function=lambda a: a.right[0] / 2, mean=None)


def test_resamples_have_the_same_scores() -> None:
    def more_often(a: Any) -> Any:
        return np.mean(a.right) + (0 if a.times is None else 0.01)

    refused("as a resample", "K1", function=more_often, mean=None)


def test_a_mean_is_the_measure() -> None:
    refused("as a mean", "K1", mean=MeanOf(lambda a: a.confidence * 0.5, "questions"))
    refused("as a mean", "Brier", mean=MeanOf(lambda a: a.confidence * 0.5, "answers"))


# --------------------------------------------------------------------------------- of rankings


def test_what_becomes_of_queries_without_a_relevant_document() -> None:
    refused("is nan where no document is relevant: see leaves_out_nil", "AP", leaves_out_nil=False)
    refused("is 0 where no document is relevant: see leaves_out_nil", "RR", leaves_out_nil=True)


def test_an_empty_list_is_tried_where_nothing_is_relevant() -> None:
    def ends(rankings: Any, **_: Any) -> Any:
        return np.where(rankings.depth > 0, np.nan, 0.0)

    refused("is 0 where no document is relevant", "RR", leaves_out_nil=True, function=ends)
    tried("RR", leaves_out_nil=True, function=lambda r, **_: np.full(r.size, np.nan))
    tried("SetP", leaves_out_nil=False)  # of an empty list alone it has none, for another reason


def test_what_cannot_be_computed_says_so_with_its_home() -> None:
    def broken(a: Any, **_: Any) -> Any:
        raise KeyError("no such thing")

    for name in ("accuracy", "AUROC", "RR"):
        home = definitions()[name].home
        refused(f"cannot be computed: KeyError: 'no such thing' ({home})", name, function=broken)
