"""`cut` on odd lists: constant, tied, empty, of one document, all nil, of scores in any unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.features.cut import RULES
from abstain.features.cut.rules import Rule
from abstain.features.cut.scores import origin_of
from abstain.features.cut.tuning import Chooser
from tests.cut.test_rules import collection, lists_of
from tests.helpers import Here
from tests.snapshots import refuses, says


def rows_of(result: ab.CutResult) -> dict[str, Any]:
    return {row.rule: row for row in result.rows}


def plain(scores: list[float], queries: int, relevant: int) -> tuple[Any, Any]:
    """The same list for every query, whose first documents are relevant."""
    names = [f"d{i}" for i in range(len(scores))]
    hits = {name: int(i < relevant) for i, name in enumerate(names)} or {"other": 0}
    qrels = {f"q{n}": hits for n in range(queries)}
    return qrels, {q: dict(zip(names, scores, strict=True)) for q in qrels}


@pytest.mark.parametrize(
    ("scores", "relevant"),
    [
        ([1.0] * 8, 2),
        ([3.0, 2.0, 2.0, 1.0], 0),
        ([3.0, 2.0, 2.0, 1.0], 1),
        ([2.0], 1),
        ([float("inf"), 1.0, float("-inf")], 1),
        ([-1.0, -2.0, -3.0], 1),
    ],
    ids=["constant", "all nil", "none nil", "one document", "infinite", "negative"],
)
def test_odd_lists_are_handled_and_said(scores: list[float], relevant: int) -> None:
    result = ab.cut(*plain(scores, 6, relevant), maximise="SetF", folds=3)
    says(" ".join(result.notes))
    assert all(row.score is not None and 0 <= row.score <= 1 for row in result.rows)
    assert result.cut(scores) <= len(scores)
    if relevant == 0:
        assert rows_of(result)["auto"].score == 1
        assert result.cut(scores) == 0


def test_lists_of_no_document() -> None:
    result = ab.cut({f"q{n}": {"d": 1} for n in range(6)}, {"q0": {}, "q1": {"d": 1.0}}, folds=2)
    assert rows_of(result)["everything"].kept == pytest.approx(1 / 6)
    assert result.cut([]) == 0


def test_a_run_of_no_list(here: Here) -> None:
    (here.folder / "run.txt").write_text("")
    (here.folder / "qrels.txt").write_text("".join(f"q{n} 0 d {n % 2}\n" for n in range(6)))
    said = here("cut", "qrels.txt", "run.txt", "-m", "SetF")
    assert said.code == 0, said.err
    says(" ".join(said.out.split()))


def test_one_query_is_too_few() -> None:
    with pytest.raises(ab.UsageError, match="expected at least 2 queries"):
        ab.cut(*plain([2.0, 1.0], 1, 1))


def test_few_queries_have_fewer_folds() -> None:
    assert ab.cut(*plain([2.0, 1.0], 3, 1)).folds == 3
    with refuses(ab.UsageError, "2"):
        ab.cut(*plain([2.0, 1.0], 3, 1), folds=4)


# ------------------------------------------------------------------------- every rule, every oddity


def several(lists: list[list[float]], relevant: list[int]) -> tuple[Any, Any]:
    """Lists of scores, each with so many relevant documents at its top."""
    qrels, run = {}, {}
    for number, (scores, hits) in enumerate(zip(lists, relevant, strict=True)):
        own = {f"d{i}": int(i < hits) for i in range(len(scores))}
        qrels[f"q{number}"] = own or {"other": 0}
        if scores:
            run[f"q{number}"] = {f"d{i}": float(score) for i, score in enumerate(scores)}
    return qrels, run


SOME = [0, 1, 2] * 3
FALLING = [[9.0 - i + n / 10 for i in range(6)] for n in range(9)]
ODD = {
    "constant": several([[1.0] * 8] * 9, SOME),
    "all zero": several([[0.0] * 8] * 9, SOME),
    "tied": several([[3.0, 3.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0]] * 9, SOME),
    "all nil": several(FALLING, [0] * 9),
    "none nil": several(FALLING, [2] * 9),
    "one document": several([[2.0 + n] for n in range(9)], [0, 1, 1] * 3),
    "one or none": several([[2.0 + n] if n % 3 else [] for n in range(9)], [0, 1, 1] * 3),
    "one list": several([[3.0, 2.0, 1.0], *[[]] * 8], [1, *[0] * 8]),
    "two queries": several(FALLING[:2], [0, 2]),
    "negative": several([[score - 100 for score in own] for own in FALLING], SOME),
    "largest there is": several([[1.7e308, 3.0, 2.0, -1.7e308]] * 9, SOME),
    "next to nothing": several([[score * 1e-200 for score in own] for own in FALLING], SOME),
    "infinite": several([[float("inf"), 3.0, 2.0, float("-inf")]] * 9, SOME),
    "all infinite": several([[float("inf")] * 4] * 9, SOME),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ODD)
def test_every_rule_cuts_odd_lists(name: str) -> None:
    qrels, run = ODD[name]
    result = ab.cut(qrels, run, maximise="SetF")
    for row in result.rows:
        assert row.score is not None
        assert row.low is not None
        assert row.high is not None
        assert 0 <= row.low <= row.score <= row.high <= 1
        assert 0 <= row.kept <= max(len(own) for own in run.values())
    finite = name not in ("largest there is", "infinite", "all infinite")
    for rule in RULES:
        own = ab.cut(qrels, run, maximise="SetF", rule=rule) if rule != "auto" else result
        made: dict[str, Any] = {}
        exec(own.explain(), made)
        assert own.cut([]) == made["cut"]([]) == 0
        for listed in run.values():
            scores = list(listed.values())
            assert 0 <= own.cut(scores) <= len(scores)
            if finite:  # printed lines take no others
                assert made["cut"](scores) == own.cut(scores)
        if name == "all nil" and rule != "gap":  # a gap has a document before it
            assert own.cut(FALLING[0]) == 0
        if name in ("constant", "all zero") and rule in ("threshold", "share", "surprise"):
            assert own.cut([1.0] * 8) in (0, 8)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e9], ids=str)
@pytest.mark.parametrize("shift", [0.0, -20.0])
def test_the_unit_of_scores_changes_no_depth(unit: float, shift: float) -> None:
    """Probabilities, log-probabilities, counts: a rule means the same of all of them."""
    qrels, run = collection(queries=24, shift=shift)
    scaled = {q: {d: s * unit for d, s in own.items()} for q, own in run.items()}
    some = np.arange(24)
    for name in RULES[1:]:
        depths = []
        for own in (run, scaled):
            lists = lists_of(qrels, own, "SetF")
            chooser = Chooser(lists, ab.measure("SetF"), RULES)  # type: ignore[arg-type]
            fitted = chooser.fit(name, some[some % 4 > 0], some)
            assert fitted.rule.depths(lists.scores.table).tolist() == fitted.depth.tolist()
            depths.append(fitted.depth.tolist())
        assert depths[0] == depths[1], name


def test_a_new_list_below_every_score_seen_is_cut() -> None:
    """The origin of shares is of the lists tuned on: others may lie below it."""
    table = np.array([[-50.0, -60.0, -70.0]])
    rule = Rule(rule="share", at=0.5, origin=origin_of(np.array([[-1.0, -9.0]])))
    assert rule.depths(table).tolist() == [3]
