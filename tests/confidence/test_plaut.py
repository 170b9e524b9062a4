"""Five language models on ARC and TruthfulQA (Plaut et al.): is a threshold worth points?"""

from __future__ import annotations

import csv
import gzip
import math
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.features.tune.analysis import halves_of
from abstain.features.tune.result import Split, Tuned
from tests.confidence.data import answers, curves
from tests.helpers import ROOT, Here, needs

SETS = ("arc", "truthfulqa")


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_best_c_at_1_by_a_slow_loop(name: str) -> None:
    path = needs(f"data/plaut/{name}.csv.gz")
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    for summary in ab.read_judged(path).curve().runs:
        own = [
            (r["grade"] == "Correct", float(r["confidence"]))
            for r in rows
            if r["run"] == summary.run
        ]
        best, n = 0.0, len(own)
        for threshold in {c for _, c in own}:
            kept = [right for right, c in own if c >= threshold]
            best = max(best, sum(kept) / n * (1 + (n - len(kept)) / n))
        assert summary.best == pytest.approx(best, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_auroc_is_scikit_learns(name: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    read = ab.read_judged(needs(f"data/plaut/{name}.csv.gz"))
    item: Any = ab.measure("AUROC")
    for number in range(len(read.runs)):
        own = answers(read, number)
        theirs = metrics.roc_auc_score(own.right, own.confidence)
        assert item(own) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_threshold_is_worth_points(name: str) -> None:
    """Tuned on half, judged on the other, 100 times: a gain wherever AUROC is above 0.6."""
    read = ab.read_judged(needs(f"data/plaut/{name}.csv.gz"))
    result = read.tune(folds=2, repeats=50)
    item: Any = ab.measure("AUROC")
    informed = 0
    for number, run in enumerate(result.runs):
        assert len(run.parts) == 100
        if item(answers(read, number)) > 0.6:
            informed += 1
            judged = np.mean([p.judged.score or 0 for p in run.parts])
            everything = np.mean([p.answer_everything.score or 0 for p in run.parts])
            assert judged > everything + 0.01
        assert (run.optimism_avoided or 0) > 0
    assert informed >= 3


ALPHAS = (0.05, 0.1, 0.2, 0.3)
DELTA = 0.1
TITLES = {"arc": "ARC", "truthfulqa": "TruthfulQA"}


def in_the_manual(run: str, name: str, alpha: float) -> list[str] | None:
    """The cells of a row of the manual's table of bounds."""
    head = f"| {run}, {TITLES[name]} | {alpha:g} |"
    manual = (ROOT / "docs" / "background" / "confidence.md").read_text()
    found = next((line for line in manual.splitlines() if line.startswith(head)), None)
    return None if found is None else [cell.strip() for cell in found.split("|")[3:-1]]


def printed(run: Tuned, *counts: int) -> list[str]:
    assert run.kept is not None
    answering = run.kept.parts - run.kept.silent
    return [f"{answering}", *(f"{count}" for count in counts), f"{run.judged.coverage:.3f}"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_risk_bound_holds(name: str, alpha: float) -> None:
    """The risk over all questions, of which each half is a sample, is kept in 1 − δ of 100 halves.

    That is what is promised. A half that judges is a sample too: its own risk exceeds α more
    often, though on average it stays below.
    """
    read = ab.read_judged(needs(f"data/plaut/{name}.csv.gz"))
    result = read.tune(risk=alpha, level=1 - DELTA, folds=2, repeats=50)
    for run, curve in zip(result.runs, curves(read), strict=True):
        over_all = 0
        for part in run.parts:
            value = part.threshold
            if value is None:
                over_all += 1
                continue
            at = np.flatnonzero(curve.thresholds >= value)[-1]
            over_all += curve.wrong[at] / curve.answered[at] <= alpha
        kept = run.kept
        assert kept is not None
        assert kept.over_all == over_all
        assert over_all >= (1 - DELTA) * len(run.parts), run.run
        assert kept.seen >= (1 - 2 * DELTA) * len(run.parts), run.run
        row = in_the_manual(run.run, name, alpha)
        assert (row is None) == (kept.silent == kept.parts)
        assert row is None or row[:4] == printed(run, kept.over_all, kept.seen)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_bound_on_what_is_seen_holds(name: str, alpha: float) -> None:
    """Tuned on half for the other half: of its answers at most α are wrong in 1 − δ of 100."""
    read = ab.read_judged(needs(f"data/plaut/{name}.csv.gz"))
    result = read.tune(risk=alpha, level=1 - DELTA, next=True, folds=2, repeats=50)
    parts = halves_of(Split(folds=2, repeats=50), read.questions, 0)
    judged = [judge for pairs in parts for _, judge in pairs]
    for number, run in enumerate(result.runs):
        held = 0
        for part, judge in zip(run.parts, judged, strict=True):
            threshold = math.inf if part.threshold is None else part.threshold
            given = judge & (read.data.confidence[number] >= threshold)
            held += (read.data.codes[number][given] != 0).sum() <= alpha * given.sum()
        assert held >= (1 - DELTA) * len(run.parts), run.run
        row = in_the_manual(run.run, name, alpha)
        assert row is None or row[4:] == printed(run, held)
    assert any(run.judged.counts.answered for run in result.runs) == (alpha > 0.05 or name == "arc")


def test_the_command_line_over_real_data(here: Here) -> None:
    path = needs("data/plaut/truthfulqa.csv.gz")
    said = here("curve", "--judged", path, "-f", "json")
    assert said.code == 0, said.err
    assert said.data["results"][0]["run"] == "Llama3-70b"
    said = here("tune", "--judged", path, "--run", "Llama3-70b", "--folds", "2", "-f", "json")
    assert said.data["results"][0]["gain"] > 0.03
