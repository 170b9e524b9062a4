"""What people read on a narrow terminal keeps within it, and loses nothing."""

from __future__ import annotations

import re

import pytest

from abstain.cli import run
from abstain.cli.app import COMMANDS
from abstain.measures import definitions
from abstain.report.cards import signature

NARROW = 40


def said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, *words: str
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(words) == 0
    return capsys.readouterr().out


def wide_lines(text: str, width: int) -> list[str]:
    return [line for line in text.splitlines() if len(line) > width]


def signs(text: str) -> str:
    """What it says, however it is laid out; a backslash only says that a line goes on."""
    return re.sub(r"[\s\\]+", "", text)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["", *COMMANDS])
@pytest.mark.parametrize("width", [30, NARROW, 57, 80])
def test_help_keeps_within_the_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    width: int,
) -> None:
    call = [command, "--help"] if command else ["--help"]
    narrow = said(capsys, monkeypatch, width, *call)
    assert wide_lines(narrow, max(width, NARROW)) == []
    assert signs(narrow) == signs(said(capsys, monkeypatch, 200, *call))


@pytest.mark.parametrize("name", [d.name for d in definitions().values()])
def test_a_card_keeps_within_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    card = said(capsys, monkeypatch, NARROW, "explain", name)
    assert wide_lines(card, NARROW) == []
    assert signs(card) == signs(said(capsys, monkeypatch, 80, "explain", name))


def test_the_list_of_measures_is_stacked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(capsys, monkeypatch, NARROW, "measures")
    assert wide_lines(text, NARROW) == []
    blocks = text.split("\n\n")
    assert "c@1\n  formula  c·(1 + u)\n  κ        c\n  p*       c/(1 + u)" in blocks
    assert {signature(d) for d in definitions().values()} <= {b.splitlines()[0] for b in blocks}
