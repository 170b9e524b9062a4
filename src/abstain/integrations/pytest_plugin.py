"""The pytest plugin: every gate of a test session in one list, and in a Markdown summary.

`assert_at_least` (abstain.testing) works without it. With it the end of a session lists what was
held against what, passed or not, and `--abstain-summary FILE` appends the list to a file, such as
$GITHUB_STEP_SUMMARY. Nothing heavy is imported before a gate is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

PROPERTY = "abstain"
WIDTH = 10_000
"""Columns of the table of gates: a row and its test stay together in a log."""


def pytest_addoption(parser: pytest.Parser) -> None:
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


def _fixture(function: str) -> Any:
    def gate() -> Any:
        from abstain import testing

        return getattr(testing, function)

    return pytest.fixture(name=function.removeprefix("assert_"))(gate)


at_least = _fixture("assert_at_least")
at_most = _fixture("assert_at_most")
not_worse = _fixture("assert_not_worse")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the gates of a test and of its fixtures.

    They travel with its reports, from workers and into JUnit's XML.
    """
    from abstain import testing

    def note(gate: testing.Gate) -> None:
        item.user_properties.append((PROPERTY, json.dumps(gate.to_dict())))

    testing.listeners.append(note)
    try:
        return (yield)
    finally:
        testing.listeners.remove(note)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
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
    from abstain.report.terminal import terminal_text
    from abstain.testing import gate_table

    table = gate_table([gate for _, gate in gates], [test for test, _ in gates])
    terminalreporter.section("abstain gates")
    for line in terminal_text(table, width=WIDTH).splitlines():
        terminalreporter.write_line(line)
    if path := config.getoption("--abstain-summary"):
        from abstain.report.text_formats import to_github

        with open(path, "a", encoding="utf-8") as file:
            file.write(to_github(table) + "\n")
