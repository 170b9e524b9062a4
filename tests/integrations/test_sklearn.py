"""scikit-learn: scorers, and a classifier that declines, held to scikit-learn's own checks."""

from __future__ import annotations

import importlib.util
import math
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import abstain as ab
from abstain.sklearn import RejectClassifier, score, score_proba, scorer
from tests.helpers import ROOT
from tests.snapshots import refuses

X, Y = make_classification(300, 6, n_informative=3, flip_y=0.25, random_state=0)


@pytest.mark.slow
def test_the_classifier_passes_the_checks_of_scikit_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(RejectClassifier(), on_fail=None)
    status = {row["check_name"]: row["status"] for row in results}
    assert {name for name, how in status.items() if how != "passed"} <= {"check_array_api_input"}
    assert len(results) > 50


@pytest.mark.parametrize("kind", [object, float, int])
def test_counts_by_hand(kind: Any) -> None:
    """3 right, 1 wrong, 2 blank."""
    true = [0, 1, 1, 0, 1, 0]
    predicted: Any = [0, 1, 0, 0, None, None]
    if kind is float:
        predicted = [0.0, 1.0, 0.0, 0.0, math.nan, math.nan]
    if kind is int:
        predicted = [0, 1, 0, 0, -1, -1]
    blank = -1 if kind is int else None
    for name, value in {
        "c@1": 3 / 6 * (1 + 2 / 6),
        "S(t=0.75)": 3 / 6 - 3 * 1 / 6,
        "precision": 3 / 4,
        "coverage": 4 / 6,
    }.items():
        assert score(true, predicted, measure=name, blank=blank) == pytest.approx(value)


def test_labels_may_be_texts() -> None:
    true, predicted = np.array(["cat", "dog", "cat"]), np.array(["cat", "", "dog"])
    assert score(true, predicted, blank="") == pytest.approx(1 / 3 * (1 + 1 / 3))
    assert math.isnan(score(true, np.array(["", "", ""]), blank="", measure="precision"))


def test_labels_of_other_lengths_are_refused() -> None:
    with refuses(ab.UsageError, "(3,)", "(1,)"):
        score([0, 1, 1], [0])
    with refuses(ab.UsageError, "(1,)", "(2,)"):
        score_proba(["a"], [[0.9, 0.1], [0.6, 0.4]], classes=["a", "b"])


def test_missing_labels_of_pandas_are_blanks() -> None:
    """1 right and 1 blank of 2."""
    pd = pytest.importorskip("pandas")
    predicted = pd.Series(["a", None], dtype="string")
    assert score(["a", "b"], predicted) == 1 / 2 * (1 + 1 / 2)
    assert score([1, 2], pd.Series([1, None], dtype="Int64")) == 1 / 2 * (1 + 1 / 2)
    assert score(predicted, predicted, measure="precision") == 1
    assert predicted.isna().tolist() == [False, True]


@pytest.mark.parametrize("threshold", [7, -1, "0.7", math.nan, True])
def test_a_scorer_without_a_sense_is_refused(threshold: Any) -> None:
    with refuses(ab.UsageError, repr(threshold)):
        scorer("c@1", threshold=threshold)


def test_a_scorer_of_rankings_is_refused() -> None:
    with refuses(ab.UsageError, "AP"):
        scorer("AP")
    assert scorer("c@1", threshold=1).threshold == 1


def test_probabilities_by_hand() -> None:
    """Sure at 0.9 (right), 0.6 (wrong), 0.7 (right)."""
    proba = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]
    true = ["a", "b", "b"]
    assert score_proba(true, proba, measure="c@1", threshold=0.65) == pytest.approx(2 / 3 * 4 / 3)
    assert score_proba(true, proba, measure="risk@coverage(c=1)") == pytest.approx(1 / 3)
    assert score_proba(true, proba, measure="AUROC") == 1
    missed = score_proba(true, proba, measure="validation-recall", threshold=0.95)
    assert missed == score_proba(true, proba, measure="validation-recall", threshold=2.0)
    with refuses(ab.UsageError, "threshold"):
        score_proba(true, proba, measure="c@1")
    with refuses(ab.UsageError, "(3, 2)"):
        score_proba(["a", "b", "c"], proba)


def test_scorers_in_cross_validation_are_as_a_plain_loop() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    named = {
        "c@1": scorer("c@1", threshold=0.7),
        "S": scorer("S(t=0.75)", threshold=0.75),
        "AURC": scorer("AURC"),
        "risk": scorer("risk@coverage(c=0.5)"),
        "AUROC": scorer("AUROC"),
        "made": make_scorer(score, measure="accuracy"),
    }
    found = cross_validate(model, X, Y, cv=folds, scoring=named)
    for at, (fit, held) in enumerate(folds.split(X, Y)):
        proba = model.fit(X[fit], Y[fit]).predict_proba(X[held])
        right, sure = proba.argmax(1) == Y[held], proba.max(1)
        answered = sure >= 0.7
        c, u = (right & answered).mean(), 1 - answered.mean()
        assert found["test_c@1"][at] == pytest.approx(c * (1 + u))
        answered = sure >= 0.75
        wrong = (~right & answered).mean()
        assert found["test_S"][at] == pytest.approx((right & answered).mean() - 3 * wrong)
        order = np.argsort(-sure, kind="stable")
        risks = np.cumsum(~right[order]) / np.arange(1, len(right) + 1)
        assert found["test_AURC"][at] == pytest.approx(-risks.mean()), "less is better"
        half = math.ceil(len(right) / 2)
        assert found["test_risk"][at] == pytest.approx(-risks[half - 1])
        assert found["test_AUROC"][at] == pytest.approx(roc_auc_score(right, sure))
        assert found["test_made"][at] == pytest.approx(right.mean())


def test_a_grid_search_with_the_classifier_inside_a_pipeline() -> None:
    model = make_pipeline(StandardScaler(), RejectClassifier(maximise="S(t=0.75)", cv=3))
    grid = {"rejectclassifier__estimator": [LogisticRegression(C=c) for c in (0.01, 1.0)]}
    search = GridSearchCV(
        model, grid, scoring={"S": scorer("S(t=0.75)"), "AURC": scorer("AURC")}, refit="S", cv=3
    )
    search.fit(X, Y)
    last = search.best_estimator_[-1]
    assert last.reject_label_ == -1
    assert 0.5 < last.threshold_ < 1
    predicted = search.predict(X)
    assert {*np.unique(predicted)} == {-1, 0, 1}
    own = score(Y, predicted, measure="S(t=0.75)", blank=-1)
    assert (
        scorer("S(t=0.75)")(search, X, Y)
        == own
        == last.score(search.best_estimator_[:-1].transform(X), Y)
    )
    assert (search.cv_results_["mean_test_AURC"] < 0).all()


def test_the_threshold_is_that_of_tune() -> None:
    """`abstain tune` on the out-of-fold predictions chooses the same one."""
    import polars as pl
    from sklearn.model_selection import cross_val_predict

    model = RejectClassifier(maximise="c@1").fit(X, Y)
    proba = cross_val_predict(LogisticRegression(), X, Y, cv=5, method="predict_proba")
    names = [str(at) for at in range(len(Y))]
    gold = pl.DataFrame({"question": names, "correct": Y.astype(str)})
    answers = proba.argmax(1).astype(str)
    run = pl.DataFrame({"question": names, "answer": answers, "confidence": proba.max(1)})
    tuned = ab.tune(gold, {"run": run}, maximise="c@1", folds=5)
    assert model.threshold_ == tuned.runs[0].threshold
    sure = model.estimator_.predict_proba(X).max(1)
    np.testing.assert_array_equal(model.predict(X) == -1, sure < model.threshold_)


def test_a_risk_is_kept() -> None:
    x, y = make_blobs(600, centers=2, cluster_std=3.0, random_state=0)
    model = RejectClassifier(risk=0.2, level=0.9).fit(x, y)
    silent = model.predict(x) == model.reject_label_
    assert 0.1 < silent.mean() < 0.9
    assert (model.predict(x) == y)[~silent].mean() > 0.8
    bounded = RejectClassifier(risk=0.2, level=0.9, next=100).fit(x, y)
    assert bounded.threshold_ > model.threshold_
    nothing = RejectClassifier(risk=0.01, level=0.9).fit(x, y)
    assert {*nothing.predict(x).tolist()} == {-1}, "no threshold keeps it"
    nearly_sure = RejectClassifier(risk=0.2, level=1 - 1e-14).fit(x, y)
    assert nearly_sure.threshold_ > model.threshold_
    with pytest.raises(ab.AbstainError, match="level"):
        RejectClassifier(risk=0.2, level=1).fit(x, y)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([0, 1], -1), ([-1, 1], -2), ([3, 7], -1), (["a", "b"], ""), ([False, True], -1)],
)
def test_the_label_of_a_blank_is_no_class(labels: list[Any], expected: Any) -> None:
    model = RejectClassifier(cv=3).fit(X, np.array(labels)[Y])
    assert model.reject_label_ == expected
    with pytest.raises(ValueError, match="is a class"):
        RejectClassifier(reject_label=labels[0]).fit(X, np.array(labels)[Y])


@pytest.mark.slow
def test_random_labels_gain_nothing() -> None:
    """`python benchmarks/rejected.py` asks 100 seeds."""
    path = ROOT / "benchmarks" / "rejected.py"
    spec = importlib.util.spec_from_file_location("rejected", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    honest = list(module.gains(range(12), questions=120))
    leaking = list(module.gains(range(12), questions=120, leak=True))
    assert sum(low > 0 for _, low, _ in honest) <= 1
    assert np.mean([gain for gain, _, _ in honest]) < 0.005
    assert min(gain for gain, _, _ in leaking) >= 0, "what is chosen on its own rows always gains"
    assert np.mean([gain for gain, _, _ in leaking]) > 0
