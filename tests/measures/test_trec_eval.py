"""trec_eval's own test data: every measure we share equals its expected output.

From trec_eval's Makefile: `out.test.a` is `-m all_trec qrels.test results.test`, and
`out.test.aq` the same with `-q`. Its outputs for the truncated run (`-q -c`, and with
`-M100`) and for the graded qrels (`-q -l2 qrels.rel_level results.test`) are not in the
shared data; TRUNCATED, AT_100, GRADED and GAINS are figures of theirs (trec_eval 10.0-rc2).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

import abstain as ab
from abstain.measures.ranked_lists import RankedLists
from tests.helpers import needs
from tests.rankings.collections_by_hand import opened, values

MEASURES = {
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "map": "AP",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "recip_rank": "RR",
    "ndcg": "NDCG",
    "rbp": "RBP(p=0.9)",
    "rbp_resid": "RBP-residual(p=0.9)",
    "set_recall": "R",
}
for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000):
    MEASURES |= {f"P_{k}": f"P@{k}", f"recall_{k}": f"R@{k}"}
    MEASURES |= {f"ndcg_cut_{k}": f"NDCG@{k}", f"map_cut_{k}": f"AP@{k}"}
for k in (1, 5, 10):
    MEASURES[f"success_{k}"] = f"Success@{k}"


@pytest.fixture
def data() -> Path:
    return needs("data/trec_eval")


def value(rankings: RankedLists, name: str, query: str, *, rel: int | None = None) -> float:
    text = MEASURES[name]
    takes_rel = any(p.name == "rel" for p in ab.measure(text).definition.parameters)
    if rel is not None and takes_rel:
        head, at, k = text.partition("@")
        text = f"{head}(rel={rel}){at}{k}"
    scores = values(text, rankings, empty=0.0)
    if query != "all":
        return float(scores[rankings.queries.index(query)])
    return float(scores.sum() if name.startswith("num_") else scores.mean())


def expected(path: Path) -> Iterator[tuple[str, str, str]]:
    for line in path.read_text().splitlines():
        name, query, figure = line.split()
        if name in MEASURES:
            yield name, query, figure


@pytest.mark.parametrize(("name", "shared"), [("out.test.a", 50), ("out.test.aq", 200)])
def test_expected_output(data: Path, name: str, shared: int) -> None:
    rankings = opened(data / "qrels.test", data / "results.test")
    figures = list(expected(data / name))
    assert len(figures) == shared
    for measure, query, figure in figures:
        digits = len(figure.partition(".")[2])
        assert f"{value(rankings, measure, query):.{digits}f}" == figure, (measure, query)


def test_expected_output_through_the_front_door(data: Path) -> None:
    """The same figures from `rank`: the means, and with `per_query` each query's."""
    names = {text: theirs for theirs, text in MEASURES.items()}
    result = ab.rank(
        data / "qrels.test", data / "results.test", measures=list(names), per_query=True
    )
    queries = [(row.query, row.scores) for row in result.per_query]
    shown = {
        (names[text], query): score
        for query, scores in [*queries, ("all", result.rows[0].scores)]
        for text, score in scores.items()
    }
    for measure, query, figure in expected(data / "out.test.aq"):
        digits = len(figure.partition(".")[2])
        assert f"{shown[measure, query]:.{digits}f}" == figure, (measure, query)


TRUNCATED = """
num_ret 301 500 303 84 all 584
num_rel 301 474 303 10 all 561
num_rel_ret 301 71 303 6 all 77
map 301 0.0324 303 0.2723 all 0.1016
Rprec 301 0.1456 303 0.4000 all 0.1819
bpref 301 0.1230 303 0.3300 all 0.1510
recip_rank 301 0.1667 303 0.3333 all 0.1667
P_5 301 0.0000 303 0.6000 all 0.2000
P_20 301 0.2500 303 0.3000 all 0.1833
P_1000 301 0.0710 303 0.0060 all 0.0257
recall_20 301 0.0105 303 0.6000 all 0.2035
recall_1000 301 0.1498 303 0.6000 all 0.2499
ndcg 301 0.1584 303 0.4730 all 0.2105
ndcg_cut_5 301 0.0000 303 0.4469 all 0.1490
ndcg_cut_10 301 0.1518 303 0.3633 all 0.1717
ndcg_cut_100 301 0.2166 303 0.4730 all 0.2299
map_cut_10 301 0.0010 303 0.2005 all 0.0671
map_cut_100 301 0.0118 303 0.2723 all 0.0947
success_5 301 0.0000 303 1.0000 all 0.3333
"""
AT_100 = """
num_ret 301 100 303 84 all 184
num_rel_ret 301 23 303 6 all 29
map 301 0.0118 303 0.2723 all 0.0947
Rprec 301 0.0485 303 0.4000 all 0.1495
bpref 301 0.0456 303 0.3300 all 0.1252
P_200 301 0.1150 303 0.0300 all 0.0483
recall_1000 301 0.0485 303 0.6000 all 0.2162
ndcg 301 0.0670 303 0.4730 all 0.1800
ndcg_cut_200 301 0.1303 303 0.4730 all 0.2011
"""
GRADED = """
num_rel 301 12 302 77 303 8 all 97
num_rel_ret 301 1 302 50 303 8 all 59
map 301 0.0003 302 0.4175 303 0.0823 all 0.1667
Rprec 301 0.0000 302 0.5065 303 0.0000 all 0.1688
bpref 301 0.0000 302 0.4712 303 0.0000 all 0.1571
recip_rank 301 0.0033 302 1.0000 303 0.0526 all 0.3520
P_500 301 0.0020 302 0.1000 303 0.0160 all 0.0393
recall_500 301 0.0833 302 0.6494 303 1.0000 all 0.5776
map_cut_500 301 0.0003 302 0.4175 303 0.0823 all 0.1667
success_10 301 0.0000 302 1.0000 303 0.0000 all 0.3333
"""
GAINS = """
ndcg 301 0.1396 302 0.6617 303 0.3669 all 0.3894
ndcg_cut_10 301 0.0439 302 0.7530 303 0.0000 all 0.2656
ndcg_cut_100 301 0.1390 302 0.6046 303 0.3294 all 0.3577
"""


@pytest.mark.parametrize(
    ("figures", "qrels", "run", "limit", "rel"),
    [
        (TRUNCATED, "qrels.test", "results.trunc", None, None),
        (AT_100, "qrels.test", "results.trunc", 100, None),
        (GRADED, "qrels.rel_level", "results.test", None, 2),
        (GAINS, "qrels.rel_level", "results.test", None, None),
    ],
    ids=["truncated", "at most 100", "graded", "gains"],
)
def test_further_figures(
    data: Path, figures: str, qrels: str, run: str, limit: int | None, rel: int | None
) -> None:
    rankings = opened(data / qrels, data / run, limit=limit)
    for line in figures.strip().splitlines():
        measure, *pairs = line.split()
        for query, figure in zip(pairs[::2], pairs[1::2], strict=True):
            digits = len(figure.partition(".")[2])
            got = value(rankings, measure, query, rel=rel)
            assert f"{got:.{digits}f}" == figure, (measure, query)


def test_the_truncated_run_lacks_a_query(data: Path) -> None:
    rankings = opened(data / "qrels.test", data / "results.trunc")
    assert rankings.missing.tolist() == [False, True, False]
    assert rankings.returned.tolist() == [500, 0, 84]


@pytest.mark.slow
@pytest.mark.parametrize("run", ["results.test", "results.trunc"])
@pytest.mark.parametrize("qrels", ["qrels.test", "qrels.rel_level"])
def test_pytrec_eval_gives_the_same_to_nine_digits(data: Path, qrels: str, run: str) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    with open(data / qrels) as file:
        gold = pytrec_eval.parse_qrel(file)
    with open(data / run) as file:
        rows = pytrec_eval.parse_run(" ".join(line.split()[:6]) for line in file)
    theirs = pytrec_eval.RelevanceEvaluator(gold, pytrec_eval.supported_measures).evaluate(rows)
    rankings = opened(data / qrels, data / run)
    for query, figures in theirs.items():
        for name in MEASURES.keys() & figures.keys():
            assert value(rankings, name, query) == pytest.approx(figures[name], abs=1e-9), name


@pytest.mark.parametrize("run", ["results.test", "results.trunc"])
@pytest.mark.parametrize("qrels", ["qrels.test", "qrels.rel_level"])
def test_means_the_way_of_trec_eval(data: Path, qrels: str, run: str) -> None:
    """Without -c it averages over the queries of the run; with -c (`missing=empty`) over all."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    with open(data / qrels) as file:
        gold = pytrec_eval.parse_qrel(file)
    with open(data / run) as file:
        rows = pytrec_eval.parse_run(" ".join(line.split()[:6]) for line in file)
    theirs = pytrec_eval.RelevanceEvaluator(gold, {"map", "ndcg"}).evaluate(rows)
    ways: tuple[tuple[Literal["empty"] | None, int], ...]
    ways = ((None, len(theirs)), ("empty", len(gold)))
    for missing, count in ways:
        result = ab.rank(
            data / qrels, data / run, measures=["AP", "NDCG"], trec_eval=True, missing=missing
        )
        for name, ours in (("map", "AP"), ("ndcg", "NDCG")):
            mean = sum(figures[name] for figures in theirs.values()) / count
            assert result.rows[0].scores[ours] == pytest.approx(mean, abs=1e-9)
