"""Honest tables raise no alarm; a changed digit does whenever a slow search says that it can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from statistics import mean, median

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.features.audit.result import digits_changed
from tests.audit.tables import TABLE_14, change_digit, could_be, read, rounded, write

Outcome = tuple[int, int, int, int, int]

COUNTS: dict[str, Callable[[Outcome], int]] = {
    "right": lambda k: k[0],
    "wrong": lambda k: k[1],
    "answered": lambda k: k[0] + k[1],
    "unanswered": lambda k: k[2] + k[3] + k[4],
    "unanswered_right": lambda k: k[2],
    "unanswered_wrong": lambda k: k[3],
    "unanswered_empty": lambda k: k[4],
}
SCORES: dict[str, Callable[[Outcome], Fraction | None]] = {
    "c_at_1": lambda k: Fraction(k[0], sum(k)) * (1 + Fraction(sum(k[2:]), sum(k))),
    "accuracy": lambda k: Fraction(k[0], sum(k)),
    "F1": lambda k: Fraction(2 * k[0], 2 * sum(k) - sum(k[2:])),
    "precision": lambda k: Fraction(k[0], k[0] + k[1]) if k[0] + k[1] else None,
    "coverage": lambda k: Fraction(k[0] + k[1], sum(k)),
    "forced accuracy": lambda k: Fraction(k[0] + k[2], sum(k)),
}
SPLIT = ["unanswered_right", "unanswered_wrong", "unanswered_empty"]


def outcomes(n: int) -> Iterator[Outcome]:
    for right, wrong, a, b in product(range(n + 1), repeat=4):
        if right + wrong + a + b <= n:
            yield right, wrong, a, b, n - right - wrong - a - b


def explains(outcome: Outcome, row: dict[str, str]) -> bool:
    for column, text in row.items():
        if column in COUNTS and COUNTS[column](outcome) != int(text):
            return False
        if column in SCORES:
            score = SCORES[column](outcome)
            if text == "–":
                continue
            if score is None or not could_be(text, score):
                return False
    return True


@st.composite
def honest_row(draw: st.DrawFn, n: int, columns: list[str], name: str) -> dict[str, str]:
    cuts = sorted(draw(st.lists(st.integers(0, n), min_size=4, max_size=4)))
    edges = [0, *cuts, n]
    a, b, c, d, e = (high - low for low, high in pairwise(edges))
    outcome = (a, b, c, d, e)
    row = {"run": name}
    for column in columns:
        if column in COUNTS:
            row[column] = str(COUNTS[column](outcome))
        else:
            score = SCORES[column](outcome)
            decimals = draw(st.integers(1, 4))
            half_up = draw(st.booleans())
            row[column] = "–" if score is None else rounded(score, decimals, half_up=half_up)
    return row


@st.composite
def honest_table(draw: st.DrawFn) -> tuple[int, list[dict[str, str]]]:
    n = draw(st.integers(1, 9))
    counts = draw(st.lists(st.sampled_from([*COUNTS][:4]), unique=True))
    if draw(st.booleans()):
        counts = [*COUNTS]
    scores = draw(st.lists(st.sampled_from([*SCORES]), unique=True, min_size=0 if counts else 1))
    if len(counts) < len(COUNTS) and len(scores) > 1:  # alone where only candidates tell it
        scores = [score for score in scores if score != "forced accuracy"]
    columns = [*counts, *scores]
    rows = [draw(honest_row(n, columns, f"run {i}")) for i in range(draw(st.integers(1, 4)))]
    return n, rows


@pytest.mark.slow
@settings(max_examples=75, deadline=None)
@given(honest_table(), st.data())
def test_an_alarm_is_raised_exactly_when_no_outcome_explains_a_row(
    tmp_path_factory: pytest.TempPathFactory,
    table: tuple[int, list[dict[str, str]]],
    data: st.DataObject,
) -> None:
    n, rows = table
    path = tmp_path_factory.mktemp("audit") / "table.csv"
    assert ab.audit([write(path, rows)], questions=n).findings == ()

    row = data.draw(st.sampled_from(rows))
    columns = [c for c in row if c != "run" and row[c] != "–"]
    assume(columns)
    column = data.draw(st.sampled_from(columns))
    row[column] = change_digit(
        row[column], data.draw(st.integers(0, 9)), data.draw(st.integers(0, 8))
    )
    assume(not percent_like(rows, column))
    detectable = not any(explains(outcome, row) for outcome in outcomes(n))
    audit = ab.audit([write(path, rows)], questions=n)
    assert bool(audit.findings) == detectable, row
    assert {f.row for f in audit.findings} <= {row["run"]}


def percent_like(rows: list[dict[str, str]], column: str) -> bool:
    """Where most scores are above 1, a table reads as percent: another table altogether."""
    numbers = [Fraction(row[column]) for row in rows if row[column] != "–"]
    return column in SCORES and 2 * sum(x > 1 for x in numbers) > len(numbers)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_table_14_with_a_changed_digit(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    bad = ("csui1308enen", "evma1303enen", "kule1303enen")
    rows = [row for row in read(TABLE_14) if row["run"] not in bad]
    row = data.draw(st.sampled_from(rows))
    column = data.draw(st.sampled_from([c for c in row if c != "run"]))
    old = row[column]
    row[column] = change_digit(old, data.draw(st.integers(0, 9)), data.draw(st.integers(0, 8)))
    audit = ab.audit([write(tmp_path_factory.mktemp("audit") / "t14.csv", rows)])
    counts = {c: int(row[c]) for c in COUNTS}
    consistent = (
        counts["right"] + counts["wrong"] == counts["answered"]
        and sum(counts[c] for c in SPLIT) == counts["unanswered"]
        and counts["answered"] + counts["unanswered"] == 284
        and could_be(
            row["c_at_1"],
            Fraction(counts["right"], 284) * (1 + Fraction(counts["unanswered"], 284)),
        )
    )
    assert bool(audit.findings) is not consistent
    for finding in audit.findings:
        assert finding.row == row["run"]
        changes = {(c.column, c.new) for fix in finding.corrections for c in fix.changes}
        assert (column, old) in changes or min(
            digits_changed(a, b) for a, b in old_and_new(finding)
        ) <= 1


def old_and_new(finding: object) -> list[tuple[str, str]]:
    from abstain.features.audit.result import Finding

    assert isinstance(finding, Finding)
    return [(c.old, c.new) for fix in finding.corrections for c in fix.changes]


# ------------------------------------------------------------------------------ summaries


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 10**6), min_size=2, max_size=7),
    st.sampled_from(["Mean", "MEDIAN"]),
    st.integers(0, 9),
    st.integers(0, 8),
)
def test_summaries_are_doubted_exactly_when_no_rounding_explains_them(
    tmp_path_factory: pytest.TempPathFactory,
    millionths: list[int],
    which: str,
    at: int,
    by: int,
) -> None:
    true = [x / 10**6 for x in millionths]
    summary = {
        "Mean": mean(true),
        "MEDIAN": median(true),
    }
    rows = [{"run": f"r{i}", "x": f"{x:.2f}"} for i, x in enumerate(true)]
    texts = [row["x"] for row in rows]
    rows += [{"run": name, "x": f"{x:.2f}"} for name, x in summary.items()]
    path = tmp_path_factory.mktemp("audit") / "table.csv"
    assert ab.audit([write(path, rows)]).findings == ()

    row = next(row for row in rows if row["run"] == which)
    row["x"] = change_digit(row["x"], at, by)
    low, high = [float(t) - 0.005 for t in texts], [float(t) + 0.005 for t in texts]
    way = mean if which == "Mean" else median
    gap = max(way(low) - float(row["x"]), float(row["x"]) - way(high)) - 0.005
    assume(abs(gap) > 1e-7)
    audit = ab.audit([write(path, rows)])
    assert [f.row for f in audit.findings] == ([which] if gap > 0 else [])
