"""One hypothesis profile for all: few examples, no deadline, the same ones each time."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.helpers import Here

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
