"""One browser for all pages."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.report.browser import opened_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    yield from opened_browser()
