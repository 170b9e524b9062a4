"""Tools that run test cases and record verdicts: deepeval, promptfoo, openai/evals."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from abstain.errors import InputError, Place, option, plural, reason_of, shown
from abstain.io import readers
from abstain.io.files import BOM, Opened
from abstain.io.json_files import document, records
from abstain.io.tables import Table

MATCHING_METRICS = ("Exact Match", "Pattern Match", "Json Correctness")


class Metric(Struct):
    name: str
    success: bool | None = None
    score: float | None = None
    error: str | None = None
    flaky: bool | None = None
    """A metric that is marked so never decides whether a test case passes."""


class Case(Struct, rename="camel"):
    name: str | None = None
    order: int | None = None
    actual_output: Any = None
    expected_output: Any = None
    metrics_data: list[Metric] | None = None
    metadata: dict[str, Any] | None = None
    additional_metadata: dict[str, Any] | None = None


class TestRun(Struct, rename="camel"):
    test_cases: list[Case]
    identifier: str | None = None


def read_deepeval(opened: Opened, picks: Mapping[str, str]) -> Table:
    run = document(opened, TestRun, what="deepeval test run")
    metrics = list(dict.fromkeys(m.name for c in run.test_cases for m in c.metrics_data or ()))
    wanted, threshold = picks.get("metric"), readers.number_picked(picks, "right-at")
    if wanted is not None or threshold is not None:
        readers.one_of(metrics, wanted, "metric", opened.name)
    rows = readers.LogRows(opened, "deepeval")
    names = {case.name for case in run.test_cases}
    unique = None not in names and len(names) == len(run.test_cases)
    for number, case in enumerate(run.test_cases):
        measured = case.metrics_data or ()
        counted = [m for m in measured if (m.name == wanted if wanted else not m.flaky)]
        outcome, reason = _by_metrics(counted, threshold)
        text = readers.plain_text(case.actual_output)
        rows.add(
            str(case.name if unique else number if case.order is None else case.order),
            "empty" if outcome == "wrong" and not text else outcome,
            text=text,
            reason=reason,
            correct=readers.accepted([case.expected_output]),
            metadata={**(case.additional_metadata or {}), **(case.metadata or {})},
        )
    chosen = [wanted] if wanted else metrics
    return rows.table(run=run.identifier, by_match=all(m in MATCHING_METRICS for m in chosen))


def _by_metrics(metrics: Sequence[Metric], threshold: float | None) -> readers.Verdict:
    if not metrics:
        return "unscored", "no metric was measured (flaky metrics are ignored)"
    passed = True
    for metric in metrics:
        name, value = "success", metric.success
        if threshold is not None:
            name, value = "score", None if metric.score is None else metric.score >= threshold
        if metric.error or value is None:
            return "unscored", reason_of(f"{metric.name}: {metric.error or f'has no {name!r}'}")
        passed &= value
    return ("right" if passed else "wrong"), None


DEEPEVAL = readers.Reader(
    name="deepeval",
    sniff=re.compile(rb'\{\s*(?:"\w+"\s*:\s*(?:"[^"]*"|null)\s*,\s*)*"testCases"\s*:\s*\['),
    picks={"metric": "the metric that says what is right (all)", "right-at": readers.RIGHT_AT},
    read=read_deepeval,
)

FAILED_TO_RUN = 2
LINES = re.compile(rb'\{(?=[^\n]*?"success"\s*:)(?![^\n]*?"results"\s*:)')
"""How JSONL begins: with a result."""
MOST_LABEL = 40
"""A longer label is the prompt itself."""
MATCHING_ASSERTIONS = ("equals", "contains", "icontains", "starts-with", "is-json", "regex")
WHAT = "promptfoo result (summary version 2 or 3)"


class TestCase(Struct):
    description: str | None = None
    metadata: dict[str, Any] | None = None
    asserts: list[Any] | None = field(default=None, name="assert")


class Response(Struct, rename="camel"):
    output: Any = None
    error: Any = None
    is_refusal: Any = None


class Result(Struct, rename="camel"):
    success: bool
    test_idx: int | None = None
    prompt_idx: int | None = None
    score: float | None = None
    provider: Any = None
    prompt: Any = None
    response: Response | None = None
    vars: Any = None
    error: Any = None
    failure_reason: int | None = None
    test_case: TestCase | None = None


class Summary(Struct):
    results: list[Result]


class ResultFile(Struct):
    results: Summary | list[Result]


def read_promptfoo(opened: Opened, picks: Mapping[str, str]) -> Table:
    """A test is a question, a provider and its prompt a run; repeats of a test are a cluster."""
    threshold = readers.number_picked(picks, "right-at")
    if LINES.match(opened.head.removeprefix(BOM).lstrip()):
        results = [result for _, result in records(opened, Result, what=WHAT)]
    else:
        whole = document(opened, ResultFile, what=WHAT).results
        results = whole.results if isinstance(whole, Summary) else whole
    rows = readers.LogRows(opened, "promptfoo")
    names = _run_names(results)
    first: dict[tuple[str, str], str] = {}
    tests: dict[str, int] = {}
    unchecked, repeated, by_match = 0, False, True
    for result in results:
        case = result.test_case or TestCase()
        asked = readers.plain_text([case.description, result.vars])
        run, number = names[_column(result)], result.test_idx
        # version 2: a test is what it asks, `#2` where asked again
        again = rows.again(str(tests.setdefault(asked, len(tests))), run)
        question = again if number is None else str(number)
        repeated |= (run, asked) in first
        test = first.setdefault((run, asked), question)
        unchecked += result.test_case is not None and not case.asserts and result.success
        text = readers.plain_text(result.response.output if result.response else None)
        outcome, reason = _tested(result, text, threshold)
        asserts = [a for a in case.asserts or () if isinstance(a, dict)]
        expected = [a.get("value") for a in asserts if a.get("type") == "equals"]
        kinds = {str(a.get("type")).removeprefix("not-") for a in asserts}
        by_match &= kinds <= set(MATCHING_ASSERTIONS)
        rows.add(
            question,
            outcome,
            run=run,
            text=text,
            reason=reason,
            correct=readers.accepted(expected),
            attributes={"test": test, "description": case.description},
            metadata=case.metadata,
        )
    if unchecked:
        rows.notes.append(f"{plural(unchecked, 'response')} passed without an assertion: right")
    if repeated:
        rows.notes.append("tests were asked more than once: a test is a cluster (test)")
    return rows.table(cluster="test" if repeated else None, by_match=by_match)


def _column(result: Result) -> tuple[str, str]:
    """The provider and its prompt: by number, which counts the columns of the table, or by text."""
    prompt = _named(result.prompt, "raw") if result.prompt_idx is None else str(result.prompt_idx)
    return _named(result.provider, "id") or "provider", prompt


def _named(item: Any, otherwise: str) -> str:
    named = (item.get("label") or item.get(otherwise)) if isinstance(item, dict) else item
    return readers.plain_text(named)


def _run_names(results: list[Result]) -> dict[tuple[str, str], str]:
    labels = {_column(result): _named(result.prompt, "raw") for result in results}
    names: dict[tuple[str, str], str] = {}
    for provider in dict.fromkeys(name for name, _ in labels):
        prompts = [key for key in labels if key[0] == provider]
        texts = [labels[key] for key in prompts]
        if len(set(texts)) < len(texts) or any(not 0 < len(t) <= MOST_LABEL for t in texts):
            texts = [f"prompt {number}" for number in range(1, len(prompts) + 1)]
        for key, text in zip(prompts, texts, strict=True):
            names[key] = provider if len(prompts) == 1 else f"{provider} ({text})"
    return names


def _tested(result: Result, text: str, threshold: float | None) -> readers.Verdict:
    response = result.response or Response()
    error = response.error or (result.error if result.response is None else None)
    if result.failure_reason == FAILED_TO_RUN or (result.failure_reason is None and error):
        return "error", reason_of(readers.plain_text(result.error or error) or "it failed to run")
    if result.success if threshold is None else (result.score or 0) >= threshold:
        return "right", None
    if response.is_refusal is True:
        return "declined", None
    return ("wrong" if text else "empty"), None


PROMPTFOO = readers.Reader(
    name="promptfoo",
    sniff=re.compile(
        rb'\{\s*"evalId"\s*:\s*(?:"[^"]*"|null)\s*,\s*"results"\s*:\s*\{'
        rb'|\{\s*"version"\s*:\s*[23]\s*,\s*"timestamp"\s*:\s*"[^"]*"\s*,'
        rb'\s*"(?:results|prompts|stats)"\s*:'
        rb'|\{(?=[^\n]*?"promptIdx"\s*:)(?=[^\n]*?"testIdx"\s*:)(?=[^\n]*?"success"\s*:)'
    ),
    picks={"right-at": readers.RIGHT_AT},
    read=read_promptfoo,
)

INVALID = "__invalid__"
VERDICTS = {"choice", "score", "accuracy"}
"""What a `metrics` event says of a sample, where it is a verdict."""


class Event(Struct):
    type: str = ""
    sample_id: Any = None
    data: Any = None
    spec: dict[str, Any] | None = None
    final_report: dict[str, Any] | None = None


class Sample(Struct):
    line: int
    texts: list[str] = []
    failed: str = ""
    verdict: dict[str, Any] | None = None


def read_openai_evals(opened: Opened, picks: Mapping[str, str]) -> Table:
    """A sample's verdict is its `match` event, or its `metrics` event where a model graded it."""
    spec, finished = None, False
    samples: dict[str, Sample] = {}
    rows = readers.LogRows(opened, "openai-evals")
    for line, event in records(opened, Event, what="event of openai/evals"):
        spec = event.spec if event.spec is not None else spec
        finished |= event.final_report is not None
        if isinstance(event.sample_id, str):  # others are of the whole run
            sample = samples.setdefault(event.sample_id, Sample(line))
            _take(event, sample, Place(opened.name, line))
    if spec is None:
        raise InputError("has no 'spec', expected a recording of openai/evals", opened.name)
    threshold = readers.number_picked(picks, "right-at")
    right = frozenset(filter(None, picks.get("right", "").split("+")))
    verdicts = [s.verdict for s in samples.values() if s.verdict is not None]
    for name, sample in samples.items():
        outcome, reason = _recorded(sample, threshold, right, Place(opened.name, sample.line))
        rows.add(name, outcome, line=sample.line, reason=reason, **_texts(sample))
    if not finished:
        rows.notes.append("the recording has no final report: it did not finish")
    model = spec.get("completion_fns") or spec.get("model_name")
    run = ", ".join(map(readers.plain_text, model if isinstance(model, list) else [model]))
    return rows.table(run=run or None, by_match=all("correct" in v for v in verdicts))


def _take(event: Event, sample: Sample, place: Place) -> None:
    data = event.data if isinstance(event.data, dict) else {}
    if event.type == "sampling":
        sample.texts.append(readers.first_text(data.get("sampled")))
    elif event.type == "error":
        sample.failed = readers.plain_text(data.get("message")) or "the sample failed"
    elif event.type == "match" or (event.type == "metrics" and VERDICTS & data.keys()):
        if sample.verdict is not None:
            name, first = shown(event.sample_id), f"first: line {sample.line}"
            raise InputError(f"is a second verdict on sample {name} ({first})", place)
        sample.line, sample.verdict = place.line or 0, data


def _texts(sample: Sample) -> dict[str, Any]:
    texts = sample.texts or [""]
    if sample.verdict is None:
        return {"text": texts[-1]}
    expected, sampled = sample.verdict.get("expected"), sample.verdict.get("sampled")
    text = texts[0 if "choice" in sample.verdict else -1]
    return {
        "text": (readers.plain_text(sampled) if isinstance(sampled, str) else "") or text,
        "correct": readers.accepted(expected),
    }


def _recorded(
    sample: Sample, threshold: float | None, right: frozenset[str], place: Place
) -> readers.Verdict:
    data = sample.verdict
    if sample.failed and data is None:
        return "error", reason_of(sample.failed)
    if data is None:
        return "unscored", "the recording has no verdict on it"
    if "correct" in data:
        if not isinstance(data["correct"], bool):
            value = shown(str(data["correct"]))
            raise InputError(f"'correct' is {value}, expected true or false", place)
        wrong = "empty" if data.get("sampled") == "" else "wrong"
        return ("right" if data["correct"] else wrong), None
    choice, score = data.get("choice"), data.get("score", data.get("accuracy"))
    if choice == INVALID:
        return "unscored", "the grader's choice could not be read"
    if right and choice is not None:
        return ("right" if str(choice) in right else "wrong"), None
    if choice is not None and score is None:
        what, how = shown(readers.plain_text(choice)), option("pick", {"right": "A+C"})
        raise InputError(f"the choice {what} has no score; say which are right, as in {how}", place)
    if not isinstance(score, (int, float)):
        return "unscored", "the score is not a number"
    return readers.verdict_of(score, threshold, place=place), None


OPENAI_EVALS = readers.Reader(
    name="openai-evals",
    sniff=re.compile(rb'\{"spec"\s*:\s*\{'),
    picks={"right-at": readers.RIGHT_AT, "right": "the grader's choices that are right, as in A+C"},
    read=read_openai_evals,
)
