"""On campaigns: the bundled one, one like CLEF 2009, and real TREC systems."""

from __future__ import annotations

import csv
import math
from importlib.resources import as_file, files
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import abstain as ab
from abstain.features.meta.analysis import questions_needed
from abstain.features.meta.result import MetaResult
from abstain.stats.resampling.samplers import of_outcomes, random_parts, stream
from tests.helpers import needs
from tests.resample import literal
from tests.resample.judge import evaluate
from tests.snapshots import says

MEASURES = ["c@1", "accuracy", "UF"]


@pytest.fixture(scope="module")
def bundled() -> MetaResult:
    with as_file(files("abstain") / "examples" / "qa4mre2013") as folder:
        return ab.meta(
            folder / "gold.csv",
            folder / "runs.csv.gz",
            measures=MEASURES,
            draws="shared",
            resamples=200,
            seed=1,
        )


def bundled_outcomes() -> tuple[list[str], npt.NDArray[np.uint8]]:
    """Read and judged by plain loops: 0 right, 1 wrong, 4 blank."""
    import gzip

    with as_file(files("abstain") / "examples" / "qa4mre2013") as folder:
        with (folder / "gold.csv").open() as file:
            gold = {row["question"]: row["correct"] for row in csv.DictReader(file)}
        with gzip.open(folder / "runs.csv.gz", "rt") as packed:
            given = {(r["run"], r["question"]): r["answer"] for r in csv.DictReader(packed)}
    runs = sorted({run for run, _ in given})
    rows = [
        [4 if not given[run, q] else int(given[run, q] != right) for q, right in gold.items()]
        for run in runs
    ]
    return runs, np.array(rows, np.uint8)


@pytest.mark.slow
def test_the_bundled_campaign_against_a_plain_loop(bundled: MetaResult) -> None:
    """54 runs × 284 questions: Table 2 and Figure 2 from the same subsets, trial by trial."""
    runs, matrix = bundled_outcomes()
    assert (list(bundled.runs), bundled.questions) == (runs, 284)
    parts = random_parts(stream(1, 0, 0), 100, 284, 142, disjoint=True)
    pairs = np.array(list(combinations(range(54), 2))).T
    for m, name in enumerate(MEASURES):
        greater, smaller = np.zeros((2, 10, len(pairs[0])), int)
        counter, swapped = np.zeros((2, 201), int)
        highest = -1.0
        for trial in range(100):
            both = []
            for part in parts:
                chosen = matrix[:, part[trial] > 0]
                right, wrong = (chosen == 0).mean(axis=1), (chosen == 1).mean(axis=1)
                blank = (chosen == 4).mean(axis=1)
                score = {"c@1": right * (1 + blank), "accuracy": right, "UF": right - wrong}[name]
                highest = max(highest, score.max())
                both.append((score[pairs[0]], score[pairs[1]]))
            (a, b), (c, d) = both
            for k in range(10):
                margin = np.abs((k + 1) / 100 * np.maximum(a, b))
                wins = (np.abs(a - b) >= margin - 1e-12) & (np.abs(a - b) > 1e-12)
                greater[k] += wins & (a > b)
                smaller[k] += wins & (a < b)
            place = (np.abs(a - b) * 100 + 1e-9).astype(int)
            swap = (np.abs(a - b) > 1e-12) & (np.abs(c - d) > 1e-12) & ((a > b) != (c > d))
            counter += np.bincount(place, minlength=201)
            swapped += np.bincount(place[swap], minlength=201)
        total = 100 * len(pairs[0])
        error = np.minimum(greater, smaller).sum(axis=1) / total
        curve = bundled.stability[m].curve
        assert [p.error for p in curve] == pytest.approx(error.tolist())
        ties = 1 - (greater + smaller).sum(axis=1) / total
        assert [p.ties for p in curve] == pytest.approx(ties.tolist())
        row = bundled.sensitivity[m]
        listed = [[*own[:20].tolist(), int(own[20:].sum())] for own in (counter, swapped)]
        assert [own.count for own in row.bins] == listed[0]
        rates = [b / a for a, b in zip(*listed, strict=True)]
        assert [own.swap_rate for own in row.bins] == pytest.approx(rates)
        within = next(k for k in range(1, 21) if listed[1][k] <= 0.05 * listed[0][k])
        assert row.within_bins == pytest.approx(within / 100)
        required = next(
            k for k in range(1, 201) if counter[k] >= 20 and swapped[k] <= 0.05 * counter[k]
        )
        assert row.required == pytest.approx(required / 100)
        assert row.sensitivity == pytest.approx(counter[required:].sum() / total)
        assert row.highest == pytest.approx(highest)
        assert row.relative == pytest.approx(required / 100 / highest)


def test_the_bundled_campaign_says_all_that_the_paper_does(bundled: MetaResult) -> None:
    for own in bundled.stability:
        assert [p.fuzziness for p in own.curve] == [k / 100 for k in range(1, 11)]
        errors = [p.error for p in own.curve if p.error is not None]
        ties = [p.ties for p in own.curve if p.ties is not None]
        assert len(errors) == len(ties) == 10
        assert errors == sorted(errors, reverse=True)
        assert ties == sorted(ties)
        assert all(p.error_se is not None and p.error_se > 0 for p in own.curve)
    by_name = {row.measure: row for row in bundled.sensitivity}
    assert (by_name["UF"].required or 0) > 1.4 * (by_name["accuracy"].required or 9)
    sizes = {p.questions for p in bundled.required_by_questions}
    assert max(sizes) == 142
    assert min(sizes) < 30
    for name in MEASURES:
        curve_of = [p.required for p in bundled.required_by_questions if p.measure == name]
        assert None not in curve_of
        assert (curve_of[0] or 0) > 2 * (curve_of[-1] or 0)
    text = " ".join(str(bundled).split())
    says(text, "0.05")
    assert bundled.scores["c@1"]["jucs1302enen"] == pytest.approx(138 / 284 * (1 + 59 / 284))


def test_how_many_questions_a_difference_needs() -> None:
    """Read off where it was tried; beyond, the root law from the larger half of the sizes."""
    points: dict[int, float | None] = {16: 0.9, 64: 0.3, 100: 0.2, 121: 0.2}
    assert questions_needed(points, 0.3) == 64
    assert questions_needed(points, 0.25) == 100
    assert questions_needed(points, 1.0) == 16
    a = (0.3 * 8 + 0.2 * 10 + 0.2 * 11) / 3
    assert questions_needed(points, 0.1) == math.ceil((a / 0.1) ** 2)
    assert questions_needed({10: None}, 0.1) is None
    assert questions_needed(points | {200: None}, 0.1) is None
    assert questions_needed({}, 0.1) is None
    assert questions_needed({10: 0.2, 20: 0.0}, 0.1) == 20


@pytest.mark.slow
def test_runs_like_those_of_clef_2009() -> None:
    """The paper's Table 2: UF needs about twice the difference that c@1 and accuracy need."""
    path = Path(__file__).parents[1] / "published" / "clef2009_table2_swap.csv"
    printed = csv.DictReader(path.read_text().splitlines())
    table = {row["measure"]: float(row["required_difference"]) for row in printed}
    published = table["UF"] / table["c@1"]  # 0.17 / 0.09
    found = {name: [] for name in MEASURES}  # type: dict[str, list[float]]
    for seed in range(1, 5):
        matrix = literal.campaign(44, 500, seed, blanks=(0, 0, 0.1, 0.2, 0.3))
        source = of_outcomes([f"r{k}" for k in range(44)], matrix, list(map(ab.measure, MEASURES)))
        result = evaluate(source, parts=["sensitivity"], size=250, sizes=[250], seed=seed)
        for row in result.sensitivity:
            assert row.required is not None
            assert row.sensitivity is not None
            assert 0.35 < row.sensitivity < 0.75  # printed: 0.55 to 0.59
            found[row.measure].append(row.required)
    means = {name: sum(values) / len(values) for name, values in found.items()}
    assert means["c@1"] == pytest.approx(means["accuracy"], abs=0.015)
    for name in ("c@1", "accuracy"):
        assert means[name] == pytest.approx(table[name], abs=0.025)
        assert means["UF"] / means[name] == pytest.approx(published, rel=0.2)


@pytest.mark.slow
def test_real_trec_matrices_side_by_side() -> None:
    """Six measures of 48 systems over 50 topics."""
    from scipy.stats import kendalltau

    names = ("ap", "err20", "ndcg20", "p10", "p20", "rr")
    paths = [needs(f"data/trec_matrices/sigir2018_web2012_{name}.csv") for name in names]
    result = ab.read_scores(paths).meta(resamples=200, draws="shared")
    assert result.measures == tuple(path.stem for path in paths)
    assert (len(result.runs), result.questions) == (48, 50)
    tables = [np.genfromtxt(path, delimiter=",", skip_header=1) for path in paths]
    for own, table in zip(result.scores.values(), tables, strict=True):
        assert list(own.values()) == pytest.approx(table.mean(axis=0).tolist())
    assert len(result.agreement) == 15
    first = result.agreement[0]
    expected = kendalltau(tables[0].mean(axis=0), tables[1].mean(axis=0)).statistic
    assert first.tau_b == pytest.approx(expected)
    power = {item.measure: item.discriminative_power or 0 for item in result.power}
    assert (
        power["sigir2018_web2012_ndcg20"] > power["sigir2018_web2012_rr"]
    )  # a single rank says less than a graded list
    assert all(0 < (item.tukey or 0) <= (item.bootstrap or 0) for item in result.power)
    own_subsets = ab.read_scores(paths[0]).meta(parts="sensitivity", bins=101)
    assert own_subsets.sensitivity[0].required is not None


def test_a_hundred_real_topics() -> None:
    path = needs("data/trec_matrices/irj2015_robust2003.csv")
    result = ab.read_scores(path).meta(parts=["stability", "sensitivity"], draws="shared")
    assert result.questions == 100
    assert result.sensitivity[0].required is not None
    errors = [point.error for point in result.stability[0].curve]
    assert all(e is not None and 0 < e < 0.2 for e in errors)
