"""Run ids come apart where they follow the CLEF way, and nowhere else."""

from __future__ import annotations

import pytest

from abstain.runs.run_names import RunName, parse_run_name


@pytest.mark.parametrize(
    ("run", "parts"),
    [
        ("jucs1302enen", ("jucs", 2013, 2, "en", "en")),
        ("csui1308enen", ("csui", 2013, 8, "en", "en")),
        ("tb2a1201arar", ("tb2a", 2012, 1, "ar", "ar")),
        ("uaic21310BGEN", ("uaic2", 2013, 10, "bg", "en")),
        ("71301enen", ("7", 2013, 1, "en", "en")),
        ("team-111301enen", ("team-11", 2013, 1, "en", "en")),
        ("second/try/jucs1302enen", ("jucs", 2013, 2, "en", "en")),
    ],
)
def test_ids_that_fit(run: str, parts: tuple[str, int, int, str, str]) -> None:
    assert parse_run_name(run) == RunName(*parts)


@pytest.mark.parametrize("run", ["", "1301enen", "jucs13enen", "team07_run1", "a b1301enen", "run"])
def test_ids_that_do_not(run: str) -> None:
    assert parse_run_name(run) is None
