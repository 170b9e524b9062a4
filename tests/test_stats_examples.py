"""Small examples of statistics, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from abstain.features.curve.analysis import decompose
from abstain.features.meta.view import in_bins
from abstain.measures import measure
from abstain.measures.answers import Answers
from abstain.outcomes import Counts
from abstain.stats import delta_method, hypotheses, orderings, proportions
from abstain.stats.confidence_intervals import Scale
from abstain.stats.curves import Curve
from abstain.stats.hypotheses import Mean
from abstain.stats.intervals import interval
from abstain.stats.planning import plan
from abstain.stats.resampling import draws, power, reversals, samplers


def test_the_logit_between_two_bounds_and_the_logarithm_from_one() -> None:
    scale, open_ended = Scale(0.0, 1.0), Scale(-math.inf, 1.0)
    assert float(scale.to(np.array(0.5))) == 0
    assert float(scale.back(np.array(0.0))) == 0.5
    assert float(scale.slope(0.5)) == 4
    assert float(open_ended.back(open_ended.to(np.array(-3.0)))) == -3


def test_a_curve_has_a_point_for_each_distinct_confidence() -> None:
    curve = Curve.of(Answers.of([1, 0, 1], [0.9, 0.5, 0.5]))
    assert curve.thresholds.tolist() == [math.inf, 0.9, 0.5]
    assert (curve.answered.tolist(), curve.right.tolist()) == ([0, 1, 3], [0, 1, 2])
    two = Curve.of(Answers.of([1, 0], [0.9, 0.5]))
    assert two.penalised(np.array([0.5, 0.8])).tolist() == [0, 0.5]


def test_effective_clusters_and_limits_of_nothing_in_ten() -> None:
    sizes = np.array([30.0, 1.0, 1.0, 1.0])
    assert delta_method.effective_clusters(sizes) == pytest.approx(33**2 / 903)
    low, high = delta_method.beta_limits(np.array(0.0), np.array(10.0), level=0.95)
    assert (float(low), round(float(high), 3)) == (0, 0.261)
    c_at_1 = interval(measure("c@1"), Counts(right=138, wrong=87, unanswered_empty=59))
    assert 0.5869 in c_at_1
    assert c_at_1.method == "beta"


def test_tests_by_hand() -> None:
    assert hypotheses.mcnemar(0, 5) == 2 / 2**5
    assert hypotheses.without_skewness(2.0, 0.0) == 2
    assert hypotheses.without_skewness(2.0, 0.3) == pytest.approx(2 + 0.4 + 0.08 / 3 + 0.05)
    assert Mean(0.1, 0.05, 0.0, 20).p() == pytest.approx(0.0593, abs=5e-5)
    even = Mean(0.0, 1.0, 0.0, 9.0)
    assert even.limits_of_skewed(0.95) == even.limits(0.95)
    limits = Mean(0.0, 1.0, 0.3, 9.0).limits_of_skewed(0.95)
    assert limits == pytest.approx((-1.85, 3.26), abs=0.005)
    groups = hypotheses.difference_of_groups(
        np.array([0.2, 0.4, 0.5, 0.7]), np.array([False, False, True, True]), "abcd", 0.95
    )
    assert groups == pytest.approx((0.6, 0.3, 0.3, -1.497, 2.097), abs=5e-4)
    inverted = hypotheses.interval_p(
        lambda level: (1.96 - ndtri((1 + level) / 2), np.array(math.inf))
    )
    assert inverted == pytest.approx(0.05, abs=5e-4)
    bold_and_shy = np.array([[3, 0, 27], [2, 0, 28], [0, 0, 0]])
    (p,) = proportions.p_values(bold_and_shy[None], trials=100, seed=0)
    assert p.p >= 0.05  # no fewer than Fisher's: there are fewer than ten answers


def test_orderings_by_hand() -> None:
    found = [(lead.start, lead.run) for lead in orderings.leads([0.6, 0.3], [0.4, 0.1])]
    assert found == [(0, 0), (pytest.approx(0.5), 1), (pytest.approx(0.75), None)]
    assert orderings.letter_groups(3, [(0, 2)]) == [[0, 1], [1, 2]]
    assert orderings.letters(3, [[0, 1], [1, 2]]) == ["a", "ab", "b"]
    assert orderings.kendall_tau_b(np.array([3, 2, 1]), np.array([3, 1, 2])) == 1 / 3


def test_a_plan_by_the_quantiles_of_the_normal() -> None:
    own = plan(0.02, 300)
    assert own is not None
    assert own.visible == pytest.approx(0.02 * (1.96 + 0.8416), rel=0.01)


def test_resampling_by_hand() -> None:
    assert draws.batches(3).tolist() == [0, 1, 2]
    assert draws.batches(40, 20)[:6].tolist() == [0, 0, 1, 1, 2, 2]
    assert power.honest_difference(np.arange(1.0, 11.0), 0.2) == 9
    three = np.array([[[1.0, 0.0, 0.5], [2.0, 1.5, 0.5], [3.0, 1.0, 2.0]]])
    assert float(power.largest_t(three)[0]) == pytest.approx(2 * math.sqrt(3))
    assert [reversals.natural_width(span) for span in (1, 100, 4)] == [0.01, 1, 0.05]
    assert reversals.edge(3, 0.1) == 0.3
    assert samplers.packed(np.array([[True, False, True]])).tolist() == [[0b10100000]]
    sets = samplers.packed(np.array([[True, True, False], [False, True, True]]))
    assert samplers.in_common(sets, sets).tolist() == [[2, 1], [1, 2]]


def test_scores_are_as_exact_as_their_bins() -> None:
    rounded = [in_bins(0.3, 0.01), in_bins(41, 1), in_bins(0.0035, 0.0005), in_bins(4e-9, 1e-11)]
    assert rounded == ["0.30", "41.00", "0.0035", "4e-09"]


def test_a_score_is_knowing_and_silence_and_choosing() -> None:
    """c@1: 0.84 of 3 right and 2 blanks, 0.8 of all answered, 0.672 of 2 left blank blindly."""
    counts = Counts(right=3, unanswered_right=1, unanswered_wrong=1)
    parts = decompose("as submitted", counts, measure("c@1"))
    assert parts.knowing == pytest.approx(0.8)
    assert parts.silence == pytest.approx(0.672 - 0.8)
    assert parts.choosing == pytest.approx(0.84 - 0.672)
