"""Make the deepeval test run that the tests read, with the real tool and made-up answers.

pip install deepeval
python tools/logs/deepeval_logs.py tests/formats/logs/data
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

FOLDER = tempfile.mkdtemp()
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": FOLDER}

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase

ANSWERS = ["2", "I don't know", "7", "8", "It is 10", "12"]


def main(target: Path) -> None:
    cases = [
        LLMTestCase(
            name=f"q{i}",
            input=f"What is {i} + {i}?",
            actual_output=answer,
            expected_output=str(2 * i),
            additional_metadata={"topic": "small" if i < 4 else "large"},
        )
        for i, answer in enumerate(ANSWERS, 1)
    ]
    quiet = DisplayConfig(print_results=False, show_indicator=False)
    evaluate(
        cases,
        [ExactMatchMetric()],
        display_config=quiet,
        async_config=AsyncConfig(run_async=False),
        identifier="canned",
    )
    (written,) = Path(FOLDER).glob("test_run_*.json")
    (target / "deepeval.json").write_bytes(written.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
