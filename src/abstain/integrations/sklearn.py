"""scikit-learn: scorers for classifiers that may decline, and a classifier that does.

A blank is None or NaN among predicted labels, or a label of your choice (`blank`); or it is a
prediction whose probability is below a threshold.
"""

import sys
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from abstain.errors import UsageError
from abstain.features.tune.choose import KeepNext, KeepRisk, Maximise, Threshold
from abstain.measures import Measure, count_measure
from abstain.measures.answers import Answers
from abstain.measures.definition import BoolArray
from abstain.outcomes import Counts
from abstain.stats.curves import Curve
from abstain.stats.intervals import error_of


def score(y_true: Any, y_pred: Any, *, measure: str | Measure = "c@1", blank: Any = None) -> float:
    """A measure of counts of predicted labels; where the label is `blank`, nothing is answered.

    >>> score(["a", "b", "a", "a"], ["a", None, "b", "a"])
    0.625
    >>> score([0, 1, 0, 0], [0, -1, 1, 0], blank=-1, measure="precision")
    0.6666666666666666
    """
    item, true, labels = count_measure(measure), _labels(y_true), _labels(y_pred)
    _check_lengths(true, labels)
    right, silent = true == labels, _blanks(labels, blank)
    answered = int(right.size - silent.sum())
    good = int((right & ~silent).sum())
    return float(item(Counts(good, answered - good, unsplit=int(silent.sum()))))


def _labels(values: Any) -> Any:
    """An array of labels in which pandas' NA, which cannot be compared, is None."""
    labels: Any = np.asarray(values)
    if labels.dtype == object and labels.ndim == 1:
        na = getattr(sys.modules.get("pandas"), "NA", None)
        labels = np.where([label is na for label in labels], None, labels)
    return labels


def _check_lengths(true: Any, predicted: Any) -> None:
    if true.shape != predicted.shape or true.ndim != 1:
        shapes = f"y_true has the shape {true.shape}, the predictions have {predicted.shape}"
        raise UsageError(f"{shapes}: expected one label for each row")


def _blanks(labels: Any, blank: Any) -> BoolArray:
    """Which labels stand for no answer: missing ones, and those that are the label of a blank."""
    missing = labels != labels  # NaN
    if labels.dtype == object:
        missing = missing | np.array([label is None for label in labels])
    return np.asarray(missing if blank is None else missing | (labels == blank), np.bool_)


def score_proba(
    y_true: Any,
    y_proba: Any,
    *,
    measure: str | Measure = "AURC",
    classes: Any = None,
    threshold: float | None = None,
) -> float:
    """A measure of the likeliest class and its probability; `classes` are those of the columns.

    A measure of counts needs a threshold: below it, nothing is answered.

    >>> score_proba([0, 1, 1], [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], measure="AUROC")
    0.5
    """
    item, labels = count_measure(measure, "confidence"), _labels(y_true)
    proba = np.asarray(y_proba, np.float64)
    known = np.unique(labels) if classes is None else np.asarray(classes)
    if proba.ndim != 2 or proba.shape[1] != len(known):
        expected = f"a column for each of {len(known)} classes"
        raise UsageError(f"y_proba has the shape {proba.shape}, expected {expected}")
    _check_lengths(labels, proba[:, 0])
    right, sure = known[proba.argmax(axis=1)] == labels, proba.max(axis=1)
    if item.definition.takes == "confidence":
        every: Any = item
        return float(every(right, sure.clip(0, 1)))
    if threshold is None:
        raise UsageError(f"{item} of probabilities needs a threshold, such as threshold=0.5")
    silent = ~Threshold(threshold).answered(sure)
    good, wrong = (int((mask & ~silent).sum()) for mask in (right, ~right))
    of_candidates = {"unanswered_right": right, "unanswered_wrong": ~right}
    candidates = {name: int((mask & silent).sum()) for name, mask in of_candidates.items()}
    return float(count_measure(item)(Counts(good, wrong, **candidates)))


class Scorer:
    """What `cross_validate` and `GridSearchCV` call; less is better where it is negative."""

    def __init__(self, text: str | Measure, blank: Any, threshold: float | None) -> None:
        is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
        inside = threshold is None or (is_number and (0 <= threshold <= 1 or threshold == np.inf))
        if not inside:  # ∞ answers nothing
            raise UsageError(f"the threshold must be a number from 0 to 1 (got {threshold!r})")
        self.measure = count_measure(text, "confidence")
        self.blank, self.threshold = blank, threshold

    def __repr__(self) -> str:
        return f"<scorer: {self.measure}>"

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:  # noqa: N803
        sign = 1 if self.measure.higher_is_better else -1
        if self.threshold is None and self.measure.definition.takes == "counts":
            label = getattr(_last(estimator)[1], "reject_label_", None)
            blank = label if self.blank is None else self.blank
            return sign * score(y, estimator.predict(X), measure=self.measure, blank=blank)
        before, last = _last(estimator)
        if isinstance(last, RejectClassifier):
            estimator, X = last.estimator_, X if before is None else before.transform(X)  # noqa: N806
        proba = estimator.predict_proba(X)
        options: Any = {"classes": estimator.classes_, "threshold": self.threshold}
        return sign * score_proba(y, proba, measure=self.measure, **options)


def scorer(measure: str | Measure, *, blank: Any = None, threshold: float | None = None) -> Scorer:
    """A scorer by a measure's name: `cross_validate(model, X, y, scoring=scorer("c@1"))`.

    Measures of counts take what `predict` returns or, with a threshold, `predict_proba`; those of
    confidence (AURC, risk@coverage, AUROC, …) take `predict_proba`. Where less is better the score
    is negated, as scikit-learn expects.
    """
    return Scorer(measure, blank, threshold)


def _last(estimator: Any) -> tuple[Any, Any]:
    """The last step of a pipeline or of the best one of a search, and the steps before it."""
    inside = getattr(estimator, "best_estimator_", estimator)
    if not hasattr(inside, "steps"):
        return None, inside
    return inside[:-1] if len(inside.steps) > 1 else None, inside.steps[-1][1]


class RejectClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that answers where it is sure enough; the threshold is tuned when it is fitted.

    The threshold is chosen on out-of-fold probabilities, as `abstain tune` chooses it, so that no
    row has a say in its own prediction; then the estimator is fitted to all rows. The probabilities
    are those of `estimator_`: the classifier itself has none, since they would contradict a blank.

    Args:
        estimator: A classifier with `predict_proba` (default: `LogisticRegression()`).
        maximise: The measure of counts to tune for (c@1).
        risk: Or the share of wrong answers to stay below, answering as much as that allows.
        next: With `risk`, how many further questions the observed share is bounded for.
        level: With `risk`, the probability that the bound holds.
        cv: The folds of the inner cross-validation, as scikit-learn takes them.
        reject_label: The label for no answer (default: −1, or the next lower number that is no
            class; the empty text where labels are texts).
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        maximise: str = "c@1",
        risk: float | None = None,
        next: int | None = None,
        level: float = 0.9,
        cv: Any = 5,
        reject_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.maximise = maximise
        self.risk = risk
        self.next = next
        self.level = level
        self.cv = cv
        self.reject_label = reject_label

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Choose the threshold on out-of-fold probabilities, then fit to all rows."""
        inner = _classifier(self.estimator)
        self.estimator_ = clone(inner).fit(X, y)  # first: it checks what it is given
        labels = column_or_1d(y)
        check_classification_targets(labels)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.reject_label_ = self._label()
        folds = check_cv(self.cv, labels, classifier=True)
        proba = cross_val_predict(clone(inner), X, labels, cv=folds, method="predict_proba")
        right = self.classes_[proba.argmax(axis=1)] == labels
        curve = Curve.of(Answers.of(right, proba.max(axis=1).clip(0, 1)))
        self.threshold_ = self._chosen(curve)
        return self

    def _label(self) -> Any:
        kind = self.classes_.dtype.kind
        label = self.reject_label
        if label is None:
            label = int(min(self.classes_.min(), 0)) - 1 if kind in "iufb" else ""
        if (self.classes_ == label).any():
            raise ValueError(f"reject_label {label!r} is a class, expected another label")
        return label

    def _chosen(self, curve: Curve) -> float:
        if self.risk is None:
            return Maximise(count_measure(self.maximise)).choose(curve)
        delta = error_of(self.level)
        if self.next is None:
            return KeepRisk(self.risk, delta).choose(curve)
        return KeepNext(self.risk, delta).choose(curve, self.next)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The likeliest class, or `reject_label_` where it is not likely enough."""
        check_is_fitted(self)
        proba = self.estimator_.predict_proba(X)
        labels = self.classes_[proba.argmax(axis=1)]
        answered = Threshold(self.threshold_).answered(proba.max(axis=1))
        return labels if answered.all() else np.where(answered, labels, self.reject_label_)

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """The measure that it is tuned for."""
        return score(y, self.predict(X), measure=self.maximise, blank=self.reject_label_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(_classifier(self.estimator)).input_tags
        return tags

    def get_metadata_routing(self) -> Any:
        """Nothing is passed on to the estimator but X and y."""
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=_classifier(self.estimator),
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )


def _classifier(estimator: Any) -> Any:
    return LogisticRegression() if estimator is None else estimator
