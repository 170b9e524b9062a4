"""deepeval: a test run as JSON, as `DEEPEVAL_RESULTS_FOLDER` keeps it.

A test case is a question; it is right when the metric named (or all of them) passes. A metric
that failed to run is no verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from abstain.errors import InputError, Place, plural
from abstain.io.documents import document
from abstain.io.files import Opened
from abstain.io.log_rows import RIGHT, WRONG, LogRows, accepted, number_picked, one_of, plain_text
from abstain.io.readers import RIGHT_AT, Reader
from abstain.io.tables import Table

MATCHERS = ("Exact Match", "Pattern Match", "Json Correctness")


class MetricData(msgspec.Struct):
    name: str
    success: bool | None = None
    score: float | None = None
    reason: str | None = None
    error: str | None = None
    flaky: bool | None = None
    """A metric that is marked so never decides whether a test case passes."""


class Case(msgspec.Struct, rename="camel"):
    name: str | None = None
    order: int | None = None
    actual_output: Any = None
    expected_output: Any = None
    success: bool | None = None
    metrics_data: list[MetricData] | None = None
    metadata: dict[str, Any] | None = None
    additional_metadata: dict[str, Any] | None = None


class Run(msgspec.Struct, rename="camel"):
    test_cases: list[Case]
    identifier: str | None = None
    conversational_test_cases: list[Any] = []


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """The test cases with the verdict of a metric, or of all."""
    run = document(opened, Run, what="deepeval test run")
    metrics = list(dict.fromkeys(m.name for c in run.test_cases for m in c.metrics_data or ()))
    wanted = picks.get("metric")
    if wanted is not None:
        one_of(metrics, wanted, what="metric", name=opened.name)
    threshold = number_picked(picks, "right-at")
    if threshold is not None and wanted is None and len(metrics) != 1:
        raise InputError("has several metrics; right-at needs one (metric=NAME)", opened.name)
    rows = LogRows(opened, "deepeval")
    names = Counter(case.name for case in run.test_cases)
    unique = None not in names and all(n == 1 for n in names.values())
    for number, case in enumerate(run.test_cases):
        place = Place(opened.name, row=number + 1)
        measured = case.metrics_data or ()
        own = [m for m in measured if (m.name == wanted if wanted else not m.flaky)]
        outcome, reason = _outcome(case, own, threshold, place)
        said = plain_text(case.actual_output)
        if outcome == WRONG and not said:
            outcome = "empty"
        at = case.order if case.order is not None else number
        rows.add(
            str(case.name) if unique else str(at),
            outcome,
            said=said,
            reason=reason,
            correct=accepted([case.expected_output]),
            attributes={**(case.additional_metadata or {}), **(case.metadata or {})},
        )
    if run.conversational_test_cases:
        count = plural(len(run.conversational_test_cases), "conversation")
        rows.notes.append(f"{count} left out: only single answers are read")
    chosen = [wanted] if wanted else metrics
    return rows.table(run=run.identifier, by_match=all(m in MATCHERS for m in chosen))


def _outcome(
    case: Case, metrics: list[MetricData], threshold: float | None, place: Place
) -> tuple[str, str | None]:
    if not metrics:
        flaky = " (flaky metrics are ignored)" if case.metrics_data else ""
        return "unscored", f"no metric was measured{flaky}"
    for metric in metrics:
        if metric.error:
            return "unscored", f"{metric.name}: {metric.error.splitlines()[0][:150]}"
        if metric.success is None and metric.score is None:
            raise InputError(
                f"the metric '{metric.name}' has neither 'success' nor 'score' (deepeval 3 and 4 "
                "are known)",
                place,
            )
    passed = True
    for metric in metrics:
        told = metric.success if threshold is None else metric.score
        if told is None:
            lacks = "'success'" if threshold is None else "'score'"
            return "unscored", f"{metric.name}: has no {lacks}"
        passed &= told >= (1 if threshold is None else threshold)
    return (RIGHT if passed else WRONG), None


READER = Reader(
    name="deepeval",
    tool="deepeval",
    versions="3 and 4",
    files="a test run's JSON, as DEEPEVAL_RESULTS_FOLDER keeps it",
    sniff=re.compile(rb'\{\s*(?:"\w+"\s*:\s*(?:"[^"]*"|null)\s*,\s*)*"testCases"\s*:\s*\['),
    picks={"metric": "the metric that says what is right (default: all)", "right-at": RIGHT_AT},
    read=read,
)
