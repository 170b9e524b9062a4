"""What all tests share: one hypothesis profile, a folder, a browser; why some were skipped.

The profile has few examples, no deadline, and the same ones each time; `make quick` has fewer.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import snapshots
from tests.helpers import Here
from tests.report.browser import opened_browser

settings.register_profile(
    "suite",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=8)
settings.load_profile("suite")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for the browser is marked so: `-m "not browser"` leaves it out."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    if snapshots.RENEWED:
        items[:] = snapshots.to_renew(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were skipped, one line a reason: a browser or Spark is not everywhere."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, tests in Counter(report.longrepr[2] for report in skipped).items():
        terminalreporter.write_line(f"{tests} × {reason}", yellow=True)


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Here:
    """The command line in a folder of its own."""
    return Here(tmp_path, monkeypatch, capfd)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all pages."""
    yield from opened_browser()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """The browser; the pages that a test opened are closed after it."""
    yield chromium
    for context in chromium.contexts:
        context.close()
