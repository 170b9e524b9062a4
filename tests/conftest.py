"""One hypothesis profile for all: few examples, no deadline, the same ones each time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.helpers import Here
from tests.report.browser import opened_browser

settings.register_profile(
    "suite",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("suite")


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
