"""The standard measures of rankings against slow loops, pytrec-eval-terrier and pyNTCIREVAL."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures import definitions
from abstain.measures.ranked_lists import Pool
from tests.rankings import slow
from tests.rankings.collections_by_hand import frames, rankings_of, values
from tests.snapshots import says

Numbers = dict[str, dict[str, float]]
docs = [f"d{i}" for i in range(9)] + ["é", "D1", "d10", "d100"]
scores = st.sampled_from([-1.5, 0.0, -0.0, 0.25, 1.0, 2.0, float("inf"), float("-inf")])
runs = st.dictionaries(st.sampled_from("1234"), st.dictionaries(st.sampled_from(docs), scores))
judged = st.dictionaries(st.sampled_from([*docs, "x", "y"]), st.integers(-2, 4), min_size=1)
qrels = st.dictionaries(st.sampled_from("1235"), judged, min_size=1)
KS = (1, 2, 3, 5, 100)

Obvious = Callable[[slow.One], float]


def slow_measures() -> Iterator[tuple[str, Obvious]]:
    """Every standard measure with several parameters, beside its slow loop."""
    yield "NumRet", lambda e: len(e.grades)
    yield "Q(beta=2)", lambda e: slow.q_measure(e, 2.0)
    yield "Q(beta=0)", lambda e: slow.q_measure(e, 0.0)
    yield "NDCG", slow.ndcg
    yield "RBP(p=0.6)", lambda e: slow.rbp(e, 0.6)
    yield "RBP(p=0.6, rel=2)", lambda e: slow.rbp(e, 0.6, rel=2)
    yield "RBP-residual(p=0.6)", lambda e: slow.rbp_residual(e, 0.6)
    yield "RBP-depth(p=0.6)", lambda _: 2.5
    yield "RBP-total(p=0.6)", lambda e: slow.rbp(e, 0.6) * 2.5
    yield "NumQ", lambda _: 1
    yield "G", slow.normalised_g
    yield "NDCG-rel", slow.ndcg_at_relevant
    yield "RNDCG", slow.r_ndcg
    for t in (1, 2.5):
        yield f"INST(t={t})", lambda e, t=t: slow.inst_score(e, t)  # type: ignore[misc]
        yield f"INST-depth(t={t})", lambda e, t=t: slow.inst(e, t)[0]  # type: ignore[misc]
        yield f"INST-total(t={t})", lambda e, t=t: slow.inst(e, t)[1]  # type: ignore[misc]
        yield (
            f"INST-residual(t={t})",
            lambda e, t=t: slow.inst_score(e, t, 1.0) - slow.inst_score(e, t),  # type: ignore[misc]
        )
    for p in (0.5, 0.95):
        yield f"Compat(p={p})", lambda e, p=p: slow.compatibility(e, p)  # type: ignore[misc]
    for k in (None, *KS):
        cut = "" if k is None else f"@{k}"
        yield f"NDCG-exp{cut}", lambda e, k=k: slow.exponential_ndcg(e, k)  # type: ignore[misc]
        yield f"Judged{cut}", lambda e, k=k: slow.judged(e, k)  # type: ignore[misc]
        yield (
            f"NumUnjudged{cut}",
            lambda e, k=k: sum(g is None for g in e.grades[:k]),  # type: ignore[misc]
        )
        yield f"ERR{cut}", lambda e, k=k: slow.err(e.grades, e.top, k)  # type: ignore[misc]
        yield f"nERR{cut}", lambda e, k=k: slow.n_err(e, k)  # type: ignore[misc]
    yield from slow_measures_of_relevant()


def slow_measures_of_relevant() -> Iterator[tuple[str, Obvious]]:
    """Those that ask which documents are relevant."""
    for rel in (1, 2):
        yield f"NumRel(rel={rel})", lambda e, r=rel: slow.num_rel(e, r)  # type: ignore[misc]
        yield f"Rprec(rel={rel})", lambda e, r=rel: slow.r_precision(e, r)  # type: ignore[misc]
        yield f"bpref(rel={rel})", lambda e, r=rel: slow.bpref(e, r)  # type: ignore[misc]
        for name, own in (
            ("SetP", slow.set_precision),
            ("SetRelP", slow.set_relative_precision),
            ("SetAP", slow.set_average_precision),
            ("11pt", slow.eleven_points),
            ("infAP", slow.inferred_ap),
            ("yaap", slow.yaap),
            ("binG", slow.binary_g),
            ("GMAP", lambda e, r: at_least(slow.average_precision(e, None, r))),
            ("GM-bpref", lambda e, r: at_least(slow.bpref(e, r))),
            ("NumNonRelRet", lambda e, r: sum(g is not None and g < r for g in e.grades)),
        ):
            yield f"{name}(rel={rel})", lambda e, f=own, r=rel: f(e, r)  # type: ignore[misc]
        for mult in (0.3, 2):
            text = f"Rprec(rel={rel}, mult={mult})"
            yield text, lambda e, r=rel, m=mult: slow.r_precision(e, r, m)  # type: ignore[misc]
        for point in (0, 0.35, 1):
            text = f"IPrec(rel={rel})@{point}"
            yield text, lambda e, p=point, r=rel: slow.interpolated(e, p, r)  # type: ignore[misc]
        text = f"Utility(a=2, b=-1, c=-0.5, d=0.25, rel={rel}, n=40)"
        weights = (2, -1, -0.5, 0.25)
        yield text, lambda e, w=weights, r=rel: slow.utility(e, w, r, 40)  # type: ignore[misc]
        yield f"set_F(x=0.5, rel={rel})", lambda e, r=rel: slow.set_f(e, 0.5, r)  # type: ignore[misc]
        for name, obvious in (
            ("R", slow.recall),
            ("RR", slow.reciprocal_rank),
            ("AP", slow.average_precision),
            ("P", slow.precision),
            ("RelP", slow.relative_precision),
            ("Success", slow.success),
            ("NumRelRet", lambda e, k, r: sum(slow.relevant(e, r)[:k])),
        ):
            for k in KS if name in ("P", "RelP", "Success") else (None, *KS):
                text = f"{name}(rel={rel})" + ("" if k is None else f"@{k}")
                yield text, lambda e, f=obvious, k=k, r=rel: f(e, k, r)  # type: ignore[misc]
    for k in KS:
        yield f"NDCG@{k}", lambda e, k=k: slow.ndcg(e, k)  # type: ignore[misc]
        yield f"RBP(p=0.6)@{k}", lambda e, k=k: slow.rbp(e, 0.6, k)  # type: ignore[misc]
        residual = f"RBP-residual(p=0.6)@{k}"
        yield residual, lambda e, k=k: slow.rbp_residual(e, 0.6, k)  # type: ignore[misc]


def at_least(score: float) -> float:
    """What a geometric mean takes for a score: 0.00001 or more."""
    return max(0.0 if math.isnan(score) else score, 0.00001)


def test_every_standard_measure_has_a_slow_loop() -> None:
    named = {ab.measure(name).name for name, _ in slow_measures()}
    assert named == {n for n, d in definitions("ranking").items() if d.family == "ranking"}


@pytest.mark.slow
@given(qrels=qrels, run=runs)
def test_slow_loops_agree(qrels: Numbers, run: Numbers) -> None:
    rankings = rankings_of(qrels, run)
    plain = slow.ones(qrels, run)
    for name, obvious in slow_measures():
        expected = [obvious(each) for each in plain]
        np.testing.assert_allclose(values(name, rankings), expected, atol=1e-12, err_msg=name)


FEW_QRELS: Numbers = {
    "gaps": {"d1": 2, "d4": 0, "d6": 1, "d9": 3},
    "none listed": {"d1": 1},
    "one of one": {"d2": 1, "d3": 0},
    "nothing relevant": {"d1": 0, "d2": -1},
    "all missed": {"x": 3, "y": 1},
    "ties": {"d1": 1, "d2": 0, "d3": 4, "d5": 1},
}
FEW_LISTS: Numbers = {
    "gaps": {f"d{n}": 10.0 - n for n in range(10)},
    "one of one": {"d3": 3.0, "d2": 2.0, "d7": 1.0},
    "nothing relevant": {"d1": 2.0, "d2": 1.0},
    "all missed": {"d1": 2.0, "d2": 2.0, "d3": 1.0},
    "ties": {"d1": 1.0, "d2": 1.0, "d3": 1.0, "d4": 1.0, "d5": 0.5},
}


@pytest.mark.parametrize(
    ("name", "obvious"), [pytest.param(*own, id=own[0]) for own in slow_measures()]
)
def test_slow_loops_agree_on_few_lists(name: str, obvious: Obvious) -> None:
    expected = [obvious(each) for each in slow.ones(FEW_QRELS, FEW_LISTS)]
    found = values(name, rankings_of(FEW_QRELS, FEW_LISTS))
    np.testing.assert_allclose(found, expected, atol=1e-12)


SHARED_WITH_TREC_EVAL = {
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "map": "AP",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "recip_rank": "RR",
    "ndcg": "NDCG",
} | {
    f"{theirs}_{k}": f"{ours}@{k}"
    for theirs, ours, ks in [
        ("P", "P", (5, 10, 100)),
        ("recall", "R", (5, 10, 100)),
        ("ndcg_cut", "NDCG", (5, 10, 100)),
        ("map_cut", "AP", (5, 10, 100)),
        ("success", "Success", (1, 5, 10)),
    ]
    for k in ks
}


@pytest.mark.slow
@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_pytrec_eval_agrees(seed: int, rel: int) -> None:
    """Graded runs with ties, unjudged documents, queries missing from the run and from gold.

    Scores are multiples of 1/8: trec_eval holds them in single precision, and these are the
    same number there (see the next test for those that are not).
    """
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(300)]

    def some(count: int) -> list[str]:
        return [str(name) for name in rng.choice(names, count, replace=False)]

    gold = {
        f"q{q}": {
            doc: int(rng.choice([-1, 0, 0, 1, 2, 3])) for doc in some(int(rng.integers(1, 80)))
        }
        for q in range(40)
    }
    run = {
        f"q{q}": {doc: float(rng.integers(0, 60)) / 8 for doc in some(int(rng.integers(1, 200)))}
        for q in range(5, 50)
    }
    ks = {"P": "5,10,100", "recall": "5,10,100", "ndcg_cut": "5,10,100", "map_cut": "5,10,100"}
    asked = {name for name in SHARED_WITH_TREC_EVAL if not name[-1].isdigit()}
    asked |= {f"{name}.{k}" for name, k in (ks | {"success": "1,5,10"}).items()}
    theirs = pytrec_eval.RelevanceEvaluator(gold, asked, relevance_level=rel).evaluate(run)
    rankings = rankings_of(gold, run)
    assert set(rankings.unjudged[0]) == {f"q{q}" for q in range(40, 50)}
    for name, text in SHARED_WITH_TREC_EVAL.items():
        takes_rel = any(p.name == "rel" for p in ab.measure(text).definition.parameters)
        head, at, k = text.partition("@")
        asked_of_us = f"{head}(rel={rel}){at}{k}" if takes_rel else text
        own = values(asked_of_us, rankings, empty=0.0)
        by_query = dict(zip(rankings.queries, own, strict=True))
        for query in gold:
            if query in theirs:
                assert by_query[query] == pytest.approx(theirs[query][name], abs=1e-9)
            elif name != "num_rel":
                assert by_query[query] == 0  # missing from the run: trec_eval -c
    for name in ("map", "ndcg", "recip_rank", "P_10"):
        head, at, k = SHARED_WITH_TREC_EVAL[name].partition("@")
        text = head if head == "NDCG" else f"{head}(rel={rel}){at}{k}"
        means = [scores[name] for scores in theirs.values()]
        ours = ab.rank(*frames(gold, run), measures=[text], trec_eval=True)
        assert ours.rows[0].scores[str(ab.measure(text))] == pytest.approx(np.mean(means), abs=1e-9)


def test_double_precision_decides_where_trec_eval_sees_a_tie() -> None:
    """1 + 1e-9 and 1 are one number in single precision, so trec_eval goes by document id."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    gold, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1 + 1e-9, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(gold, {"recip_rank"}).evaluate(run)
    assert theirs["q"]["recip_rank"] == 0.5
    assert values("RR", rankings_of(gold, run))[0] == 1.0


def test_q_measure_by_hand() -> None:
    """Grades 3, 0, 1 with one more 2 to find, β = 1: (4/4 + (2 + 4)/(3 + 6)) / 3."""
    score = ab.measure("Q")([3, 0, 1], pool=[3, 2, 1])
    assert score == pytest.approx((1 + 6 / 9) / 3)


HUGE = 2.0**53
"""The next whole number is no double."""


@pytest.mark.parametrize("others", [{}, {"p": {"z": HUGE}}, {"p": {"z": 1 / 3, "y": 0.1}}])
def test_a_query_scores_the_same_whatever_the_grades_of_others(others: Numbers) -> None:
    """An unjudged document, then grades 1 and 2: (2/(2 + 3) + (2 + 3)/(3 + 3)) / 2."""
    gold = {**others, "q": {"a": 1.0, "b": 2.0}}
    run = {**{query: {"z": 1.0} for query in others}, "q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    rankings = rankings_of(gold, run, top=HUGE)
    assert values("Q", rankings)[-1] == (2 / 5 + 5 / 6) / 2
    primed = (1 * 1 / 2 + 2 * 3 / 3) / HUGE**2 + 1 * (1 + 3 / HUGE) / 4
    assert values("AP'", rankings)[-1] == pytest.approx(primed / (1 + 3 / HUGE), rel=1e-14)


@given(
    blocks=st.lists(st.lists(st.floats(0, 1e18), max_size=6), max_size=8),
    whole=st.booleans(),
)
def test_running_sums_are_each_rows_own(blocks: list[list[float]], whole: bool) -> None:
    numbers = [[float(int(x)) if whole else x for x in block] for block in blocks]
    offsets = np.cumsum([0, *map(len, numbers)])
    pool = Pool(offsets, np.array([x for block in numbers for x in block]), 1.0)
    expected = [total for block in numbers for total in accumulate(block)]
    assert pool.running(pool.grade).tolist() == expected


BY_HAND = {
    "P@2": 1 / 2,
    "P@10": 2 / 10,
    "P(rel=2)@3": 1 / 3,
    "R": 2 / 3,
    "R@1": 1 / 3,
    "Success@1": 1,
    "Success(rel=4)@3": 0,
    "RR": 1,
    "RR(rel=3)": 1,
    "AP": (1 + 2 / 3) / 3,
    "AP(rel=2)": 1 / 2,
    "Rprec": 2 / 3,
    "NDCG": (3 + 1 / 2) / (3 + 2 / math.log2(3) + 1 / 2),
    "NDCG@1": 1,
    "NDCG-exp": (7 + 1 / 2) / (7 + 3 / math.log2(3) + 1 / 2),
    "NDCG-exp@1": 1,
    "bpref": ((1 - 0) + (1 - 1 / 1)) / 3,
    "RBP(p=0.5)": 0.5 * (1 + 1 / 3 * 0.25),
    "RBP(p=0.5, rel=1)": 0.5 * (1 + 0.25),
    "RBP-residual(p=0.5)": 1 - 0.5 * (1 + 0.5 + 0.25),
    "NumRet": 3,
    "NumRel": 3,
    "NumRelRet": 2,
}
"""Grades 3, 0, 1 listed of 3, 2, 1 (and the 0)."""


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    assert ab.measure(name)([3, 0, 1], pool=[3, 2, 1]) == pytest.approx(BY_HAND[name])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_residual_at_k_is_that_of_the_paper(k: int) -> None:
    """Moffat and Zobel: of a list judged to depth k, RBP is known to within p^k."""
    residual = ab.measure(f"RBP-residual(p=0.8)@{k}")([1, 0, 1], pool=3)
    assert residual == pytest.approx(0.8**k)
    known = ab.measure(f"RBP(p=0.8)@{k}")([1, 0, 1], pool=3)
    best = ab.measure("RBP(p=0.8)")([1, 0, 1][:k] + [1] * 200, pool=203)
    assert known + residual == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("name", ["AP", "NDCG", "NDCG@10", "R", "R@5", "Rprec", "bpref", "Q"])
@pytest.mark.parametrize("gains", [[], [0, 0]])
def test_without_a_relevant_document_they_are_undefined(name: str, gains: list[float]) -> None:
    score = ab.measure(name)(gains, pool=0)
    assert isinstance(score, ab.Undefined)
    says(score.reason)


@pytest.mark.parametrize("name", ["P@10", "RR", "RR@3", "Success@5", "RBP(p=0.8)", "NumRelRet"])
def test_and_these_are_0(name: str) -> None:
    assert ab.measure(name)([0, 0], pool=0) == 0
    assert ab.measure(name)([], pool=0) == 0


@given(grades=st.lists(st.integers(0, 3), max_size=15), more=st.lists(st.integers(0, 3)))
def test_pyntcireval_agrees_on_q_and_rbp(grades: list[int], more: list[int]) -> None:
    metrics = pytest.importorskip("pyNTCIREVAL.metrics")
    pool = [*grades, *more]
    if not any(pool):
        return
    xrelnum = [pool.count(grade) for grade in range(4)]
    ranked = list(enumerate(grades))
    for beta in (1.0, 0.5, 10.0):
        theirs = metrics.QMeasure(xrelnum, [1, 2, 3], beta).compute(ranked) if ranked else 0.0
        ours = ab.measure(f"Q(beta={beta})")(grades, pool=pool, top=3)
        assert ours == pytest.approx(theirs, abs=1e-9)
    theirs = metrics.RBP(xrelnum, [1, 2, 3], 0.8).compute(ranked) if ranked else 0.0
    assert ab.measure("RBP")(grades, pool=pool, top=3) == pytest.approx(theirs, abs=1e-9)


# ------------------------------------------------------------------------------ beside their peers


def drawn(length: int) -> tuple[Numbers, Numbers]:
    """Graded judgments of 20 queries, and a list each."""
    rng = np.random.default_rng(length)
    docs = [f"d{i}" for i in range(length + 100)]
    judged: Numbers = {
        str(q): {str(d): int(rng.integers(0, 4)) for d in rng.choice(docs[:200], 30, replace=False)}
        for q in range(20)
    }
    listed: Numbers = {
        q: {str(d): float(length - i) for i, d in enumerate(rng.permutation(docs)[:length])}
        for q in judged
    }
    return judged, listed


def test_compatibility_is_that_of_ir_measures() -> None:
    """Its sums end with the list, ours at depth 1,000: so lists have 1,000 documents."""
    peer = pytest.importorskip("ir_measures")
    judged, listed = drawn(1000)
    for p in (0.5, 0.95):
        asked = [peer.Compat(p=p)]
        theirs = {each.query_id: each.value for each in peer.iter_calc(asked, judged, listed)}
        ours = ab.rank(judged, listed, f"Compat(p={p})", per_query=True).per_query
        assert {row.query: row.scores[f"Compat(p={p})"] for row in ours} == pytest.approx(theirs)


def test_exponential_ndcg_is_that_of_ranx() -> None:
    peer = pytest.importorskip("ranx")
    judged, listed = drawn(50)
    for name, theirs in (("NDCG-exp", "ndcg_burges"), ("NDCG-exp@10", "ndcg_burges@10")):
        mean = peer.evaluate(peer.Qrels(judged), peer.Run(listed), theirs)
        assert ab.rank(judged, listed, name).rows[0].scores[name] == pytest.approx(mean)
