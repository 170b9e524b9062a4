"""promptfoo: `promptfoo eval -o results.json` or `results.jsonl`, of summary versions 2 and 3.

A test is a question, a provider and its prompt a run. A test that passes is right; one that fails
by its assertions is wrong; one that failed to run is an error. A response that the provider itself
marks as a refusal is declined.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from abstain.errors import InputError, Place, plural
from abstain.io.documents import document, records
from abstain.io.files import BOM, Opened
from abstain.io.log_rows import RIGHT, WRONG, LogRows, accepted, number_picked, plain_text
from abstain.io.readers import RIGHT_AT, Reader
from abstain.io.tables import Table, first_line

FAILED_TO_RUN = 2
LINES = re.compile(rb'\{(?=[^\n]*?"success"\s*:)(?![^\n]*?"results"\s*:)')
"""How JSONL begins: with a result."""
MOST_LABEL = 40
"""A longer label is the prompt itself."""
EXACT = ("equals", "contains", "icontains", "starts-with", "is-json", "regex")
"""Assertions that compare texts: they know no refusal."""


class TestCase(msgspec.Struct):
    description: str | None = None
    metadata: dict[str, Any] | None = None
    asserts: list[Any] | None = msgspec.field(default=None, name="assert")


class Result(msgspec.Struct, rename="camel"):
    success: bool
    test_idx: int | None = None
    prompt_idx: int | None = None
    score: float | None = None
    provider: Any = None
    prompt: Any = None
    response: Any = None
    vars: Any = None
    error: Any = None
    failure_reason: int | None = None
    test_case: TestCase | None = None


class Summary(msgspec.Struct):
    results: list[Result]


class File(msgspec.Struct):
    results: Summary | list[Result]


class Version(msgspec.Struct):
    version: Any = None


class Versions(Version):
    results: Version | list[Version] | None = None


def read(opened: Opened, picks: Mapping[str, str]) -> Table:
    """Every test of every provider and prompt."""
    threshold = number_picked(picks, "right-at")
    found = _results(opened)
    numbered = any(own.test_idx is not None for own in found)
    rows = LogRows(opened, "promptfoo", own=("test", "description"))
    names = _names(found)
    seen: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    tests: dict[str, int] = {}
    unchecked = 0
    by_match = True
    for number, own in enumerate(found, 1):
        place = Place(opened.name, row=number)
        if own.test_idx is None and numbered:
            raise InputError("has no 'testIdx', expected the number of its test", place)
        run = names[_who(own)]
        case = own.test_case or TestCase()
        asked = plain_text([case.description, own.vars])
        same = (run, asked)
        seen[same] += 1
        question = str(own.test_idx)
        if not numbered:  # version 2: a test is what it asks, `#2` where it is asked again
            tests.setdefault(asked, len(tests))
            again = f"#{seen[same]}" if seen[same] > 1 else ""
            question = f"{tests[asked]}{again}"
        first.setdefault(same, question)
        unchecked += own.test_case is not None and not case.asserts and own.success
        outcome, reason, said = _outcome(own, threshold)
        asserts = [a for a in case.asserts or () if isinstance(a, dict)]
        by_match &= all(str(a.get("type")).removeprefix("not-") in EXACT for a in asserts)
        rows.add(
            question,
            outcome,
            run=run,
            said=said,
            reason=reason,
            correct=accepted(a.get("value") for a in asserts if a.get("type") == "equals"),
            own={"test": first[same], "description": case.description},
            attributes=case.metadata,
        )
    if unchecked:
        count = plural(unchecked, "response")
        rows.notes.append(
            f"{count} passed without a check, because the test has no assertion: counted as right"
        )
    if repeated := any(count > 1 for count in seen.values()):
        rows.notes.append(
            "tests were asked more than once: intervals treat the repeats of a test as a cluster "
            "(test)"
        )
    return rows.table(cluster="test" if repeated else None, by_match=by_match)


def _results(opened: Opened) -> list[Result]:
    if LINES.match(opened.head().removeprefix(BOM).lstrip()):
        return [own for _, own in records(opened, Result, what="promptfoo result")]
    try:
        found = document(opened, File, what="promptfoo result").results
    except InputError as error:
        raise InputError(f"{error.message}{_seen(opened)}", error.place) from None
    return found.results if isinstance(found, Summary) else found


def _seen(opened: Opened) -> str:
    """The version of a file that could not be read, where it can be told."""
    with contextlib.suppress(InputError):
        told = document(opened, Versions, what="promptfoo result")
        inner = told.results.version if isinstance(told.results, Version) else None
        return f" (version {inner or told.version}; summary versions 2 and 3 are known)"
    return ""


def _who(own: Result) -> tuple[str, str]:
    """The provider and its prompt: by number, which counts the columns of the table, or by text."""
    provider = own.provider
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    prompt = _label(own) if own.prompt_idx is None else str(own.prompt_idx)
    return plain_text(provider) or "provider", prompt


def _label(own: Result) -> str:
    if isinstance(own.prompt, dict):
        return plain_text(own.prompt.get("label") or own.prompt.get("raw"))
    return plain_text(own.prompt)


def _names(found: list[Result]) -> dict[tuple[str, str], str]:
    """A provider's name; where it has several prompts with their labels, if these tell."""
    labels = {_who(own): _label(own) for own in found}
    names: dict[tuple[str, str], str] = {}
    for provider in dict.fromkeys(name for name, _ in labels):
        prompts = [who for who in labels if who[0] == provider]
        said = [labels[who] for who in prompts]
        telling = len(set(said)) == len(said) and all(0 < len(t) <= MOST_LABEL for t in said)
        for number, who in enumerate(prompts, 1):
            what = labels[who] if telling else f"prompt {number}"
            names[who] = provider if len(prompts) == 1 else f"{provider} ({what})"
    return names


def _outcome(own: Result, threshold: float | None) -> tuple[str, str | None, str]:
    response = own.response if isinstance(own.response, dict) else {}
    said = plain_text(response.get("output"))
    broke = bool(response.get("error")) or (bool(own.error) and not own.response)
    if own.failure_reason == FAILED_TO_RUN or (own.failure_reason is None and broke):
        reason = plain_text(own.error or response.get("error")) or "the test failed to run"
        return "error", first_line(reason), said
    passed = own.success if threshold is None else (own.score or 0) >= threshold
    if passed:
        return RIGHT, None, said
    if response.get("isRefusal") is True:
        return "declined", None, said
    return ("empty" if not said else WRONG), None, said


READER = Reader(
    name="promptfoo",
    tool="promptfoo",
    versions="summary versions 2 and 3",
    files="promptfoo eval -o results.json or results.jsonl",
    sniff=re.compile(
        rb'\{\s*"evalId"\s*:\s*(?:"[^"]*"|null)\s*,\s*"results"\s*:\s*\{'
        rb'|\{\s*"version"\s*:\s*[23]\s*,\s*"timestamp"\s*:\s*"[^"]*"\s*,'
        rb'\s*"(?:results|prompts|stats)"\s*:'
        rb'|\{(?=[^\n]*?"promptIdx"\s*:)(?=[^\n]*?"testIdx"\s*:)(?=[^\n]*?"success"\s*:)'
    ),
    picks={"right-at": RIGHT_AT},
    read=read,
)
