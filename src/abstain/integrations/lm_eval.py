"""lm-evaluation-harness: functions that a task's YAML names, so that it knows a blank.

    process_results: !function abstain.integrations.lm_eval.qa4mre_idk
    metric_list:
      - metric: c_at_1
        aggregation: !function abstain.integrations.lm_eval.c_at_1
        higher_is_better: true

Every metric of a document is its outcome, a word, which `--log_samples` writes and
`abstain score --judged` reads; an aggregation makes a score of all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from abstain.measures import measure
from abstain.outcomes import EXCLUDED, OUTCOME_WORDS, Counts

Choices: TypeAlias = Sequence[tuple[float, Any]]
"""The log-likelihood of each choice, and whether it is what greedy decoding gives."""
IDK = "I don't know"
SURE = 0.5
"""The share of the likelihood from which on `qa4mre_threshold` answers."""


def aggregation(text: str) -> Callable[[Sequence[str]], float]:
    """A measure of counts as an aggregation of outcomes.

    >>> aggregation("c@1")(["right", "wrong", "unanswered", "right"])
    0.625
    """
    item = measure(text)

    def score(outcomes: Sequence[str]) -> float:
        listed = list(outcomes)
        return float(item(Counts.of(listed.count(str(w)) for w in OUTCOME_WORDS[:EXCLUDED])))

    return score


c_at_1 = aggregation("c@1")
s_50 = aggregation("S(t=0.5)")
s_75 = aggregation("S(t=0.75)")
s_90 = aggregation("S(t=0.9)")
accuracy = aggregation("accuracy")
precision = aggregation("precision")
coverage = aggregation("coverage")
METRICS = ("c_at_1", "s_50", "s_75", "s_90", "accuracy", "precision", "coverage")


def metrics(outcome: str, names: Sequence[str] = METRICS) -> dict[str, str]:
    """What `process_results` returns: the outcome of a document for each metric of the task."""
    return dict.fromkeys(names, outcome)


def of_choices(
    results: Choices, gold: int, *, blank: int | None = None, threshold: float = 0.0
) -> str:
    """The outcome of a multiple choice: its likeliest choice, unless that is no answer.

    `blank` is the place of the choice that declines. Below `threshold`, the share of the
    likelihood that the choice has among all, nothing is answered. The outcome of a blank says
    whether its candidate, the likeliest of the others, is right.

    >>> of_choices([(-2.0, False), (-0.1, True), (-3.0, False)], 1)
    'right'
    >>> of_choices([(-2.0, False), (-3.0, False), (-0.1, True)], 0, blank=2)
    'unanswered_right'
    """
    logs = [float(log) for log, _ in results]
    places = [at for at in range(len(logs)) if blank is None or at != blank % len(logs)]
    candidate = max(places, key=logs.__getitem__)
    top = max(logs)
    share = math.exp(logs[candidate] - top) / math.fsum(math.exp(log - top) for log in logs)
    answers = logs[candidate] == top and share >= threshold
    return ("" if answers else "unanswered_") + ("right" if candidate == gold else "wrong")


def of_text(text: str, right: bool, languages: str = "all") -> str:
    """The outcome of a generated text: a blank where it declines by the rules of these languages.

    >>> of_text("I don't know.", False), of_text("Lima", True)
    ('unanswered', 'right')
    """
    from abstain.runs.refusals import refuses

    if not right and (not text.strip() or refuses(text, languages)):
        return "unanswered"
    return "right" if right else "wrong"


def qa4mre_choices(doc: Mapping[str, Any]) -> list[str]:
    """The options of a question of QA4MRE, and that of not answering."""
    return [*doc["answer_options"]["answer_str"], IDK]


def _gold(doc: Mapping[str, Any]) -> int:
    return int(doc["correct_answer_id"]) - 1


def qa4mre_idk(doc: Mapping[str, Any], results: Choices) -> dict[str, str]:
    """QA4MRE with the option "I don't know", which is the last one."""
    return metrics(of_choices(results, _gold(doc), blank=-1))


def qa4mre_threshold(doc: Mapping[str, Any], results: Choices) -> dict[str, str]:
    """QA4MRE with an answer where one option has half of the likelihood."""
    return metrics(of_choices(results, _gold(doc), threshold=SURE))
