"""INST and its residual, SetF of every depth and sums by bin, against loops that add one by one."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import abstain as ab
from abstain.measures.answers import Groups
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Prefixes
from abstain.measures.registry import definitions

QRELS = {"a": {"d2": 2, "d4": 0, "d5": 1}, "b": {"d3": 1}, "c": {"d1": 2, "d9": 1}}
RUN = {query: {f"d{i}": 9.0 - i for i in range(1, 7)} for query in QRELS}


def at_best(grades: dict[str, int], t: float) -> float:
    """INST where every rank that is not judged has a gain of 1; V sinks so fast that 400 do."""
    reach, found, gained, read = 1.0, 0.0, 0.0, 0.0
    for i in range(1, 400):
        gain = grades.get(f"d{i}", 2) / 2 if i < 7 else 1.0
        gained, read, found = gained + gain * reach, read + reach, found + gain
        stays = i + t + t - found
        reach *= ((stays - 1) / stays) ** 2
    return gained / read


@pytest.mark.parametrize("t", [1, 1.75])
def test_what_inst_could_still_gain_query_by_query(t: float) -> None:
    lists = ab.read_rankings(QRELS, {"r": RUN, "s": RUN})
    residual, score = (
        lists.values(cast("RankingMeasure", ab.measure(f"{name}(t={t})"))).ravel()
        for name in ("INST-residual", "INST")
    )
    expected = [at_best(QRELS[query], t) for query in QRELS] * 2
    assert residual + score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("beta", [0.5, 2])
def test_f_of_the_listed_set_at_every_depth(beta: float) -> None:
    item: Any = ab.measure(f"SetF(beta={beta})")
    by_depth: Any = definitions("ranking")["SetF"].by_depth
    b = beta**2
    for gains, pool in (([1, 0, 1, 0], 3), ([0, 0], 0), ([0, 1], 1)):
        cut = Prefixes(np.array([gains], float), *[np.array([float(pool)])] * 2)
        found = by_depth(cut, beta=beta).values[0]
        for depth in range(len(gains) + 1):
            hits = sum(gains[:depth])
            expected = (1 + b) * hits / (depth + b * pool) if depth + pool else 1
            assert found[depth] == pytest.approx(expected)
            assert item(gains[:depth], pool=pool) == pytest.approx(expected)


def test_no_answers_have_no_shares_to_add() -> None:
    own = Groups.of([], [])
    assert own.mean_share(own.right) == 0
    assert (own.level.tolist(), own.answered.tolist(), own.right.tolist()) == ([], [], [])


@pytest.mark.parametrize(("c", "asked"), [(0.1, 30), (0.3, 10), (0.7, 10), (0.05, 60)])
def test_a_coverage_is_reached_though_the_product_is_rounded(c: float, asked: int) -> None:
    """0.1 · 30 is a little more than 3 as a double; three answers do."""
    enough = round(c * asked)
    item: Any = ab.measure(f"risk@coverage(c={c})")
    right, sure = [1] * enough + [0], np.linspace(0.9, 0.2, enough + 1)
    assert item(right[:enough], sure[:enough], questions=asked) == 0
    assert item(right, sure, questions=asked) == 0
    assert np.isnan(item(right[1:enough], sure[1:enough], questions=asked))


@pytest.mark.parametrize(("r", "answers"), [(0.1, 30), (0.3, 10), (0.7, 10), (0.05, 60)])
def test_a_risk_is_kept_though_the_product_is_rounded(r: float, answers: int) -> None:
    wrong = round(r * answers)
    item: Any = ab.measure(f"coverage@risk(r={r})")
    right = [1] * (answers - wrong) + [0] * (wrong + 1)
    sure = np.linspace(0.9, 0.2, answers + 1)
    assert item(right, sure) == pytest.approx(answers / (answers + 1))
