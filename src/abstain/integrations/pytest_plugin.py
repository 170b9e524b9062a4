"""The pytest plugin: every gate of a test session in one list, and in a Markdown summary.

`assert_at_least` (abstain.testing) works without it. With it the end of a session lists what was
held against what, passed or not, and `--abstain-summary FILE` appends the list to a file, such as
$GITHUB_STEP_SUMMARY. Nothing heavy is imported before a gate is.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

PROPERTY = "abstain"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--abstain-summary FILE`."""
    parser.getgroup("abstain").addoption(
        "--abstain-summary",
        metavar="FILE",
        help="append the gates of abstain.testing to a file, as a Markdown table",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say that the summary cannot be written before the tests run, not after."""
    path = config.getoption("--abstain-summary")
    if path and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise pytest.UsageError(f"--abstain-summary: the folder of {path} does not exist")
    if path and os.path.isdir(path):
        raise pytest.UsageError(f"--abstain-summary: {path} is a directory, expected a file")


@pytest.fixture
def at_least() -> Callable[..., Any]:
    """`assert_at_least` as a fixture."""
    from abstain.testing import assert_at_least

    return assert_at_least


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the gates of a test and of its fixtures.

    They travel with its reports, from workers and into JUnit's XML.
    """
    from abstain import testing

    def note(gate: testing.Gate) -> None:
        item.user_properties.append((PROPERTY, json.dumps(_cells(gate))))

    testing.listeners.append(note)
    try:
        return (yield)
    finally:
        testing.listeners.remove(note)


def _cells(gate: Any) -> dict[str, Any]:
    """A gate in plain numbers and text: nothing else travels between processes."""
    return {
        "passed": bool(gate.passed),
        "run": str(gate.run),
        "measure": str(gate.measure),
        "score": None if math.isnan(gate.score) else float(gate.score),
        "bound": None if math.isnan(gate.bound) else float(gate.bound),
        "side": gate.side,
        "wanted": float(gate.threshold),
        "questions": int(gate.counts.n),
    }


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the gates, and append them to the file that was asked for."""
    gates = [
        (report.nodeid, json.loads(value))
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"  # the last one has the gates of all
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if not gates:
        return
    terminalreporter.section("abstain gates")
    for test, gate in gates:
        terminalreporter.write_line(
            f"{'passed' if gate['passed'] else 'FAILED'}  {gate['measure']} of {gate['run']}: "
            f"{_shown(gate['score'])}, {_bound(gate)}, wanted {gate['wanted']:g}"
            f"  ({test})"
        )
    if config.getoption("--abstain-summary"):
        _append(config.getoption("--abstain-summary"), gates)


def _shown(score: float | None) -> str:
    return "–" if score is None else f"{score:.4f}"


def _bound(gate: dict[str, Any]) -> str:
    word = "difference at least" if gate["side"] == "not worse" else gate["side"]
    return f"{word} {_shown(gate['bound'])}"


def _append(path: str, gates: list[tuple[str, dict[str, Any]]]) -> None:
    from abstain.report.grid import Column, Grid, to_github

    kinds: dict[str, Any] = {"score": "score", "bound": "score", "wanted": "score"}
    columns = [Column("gate"), Column("test")]
    names = ("run", "measure", "score", "side", "bound", "wanted", "questions")
    columns += [Column(n, kinds.get(n, "count" if n == "questions" else "text")) for n in names]
    failed = sum(not gate["passed"] for _, gate in gates)
    rows = [
        ["passed" if gate["passed"] else "FAILED", test, *(gate[name] for name in names)]
        for test, gate in sorted(gates, key=lambda item: item[1]["passed"])
    ]
    title = f"{len(gates) - failed} of {len(gates)} gates passed"
    with open(path, "a", encoding="utf-8") as file:
        file.write(to_github(Grid(columns, rows, title=title)) + "\n")
