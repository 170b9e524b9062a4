"""scikit-learn: `abstain.integrations.sklearn` under a short name."""

from abstain.integrations.sklearn import RejectClassifier, score, score_proba, scorer

__all__ = ["RejectClassifier", "score", "score_proba", "scorer"]
