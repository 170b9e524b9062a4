"""Every text that a person can be shown is in one list, and what was read twice is not in it.

`python tools/sentences.py` prints the list.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import ROOT

pytestmark = pytest.mark.slow

READ_TWICE = (
    *("more stand", "all the same stands", "hang together", "hangs together", "to do it again"),
    *("shows a difference of", "to be had", "whatsoever", "thereof", "optional (perhaps)"),
    *("stands twice", "end well", "it peeks", "its kin", "bear out", "no say", "surely enough"),
    *("come by chance", "chance could have made", "for want of", "taken at its word", "is ours"),
    *("as far as", "flatters", "the whole story", "knows no", "alike throughout", "blindly"),
    *("is told of", "one of its own kind", "be it ", "save for", "as good as nothing"),
    *("goes with", "go with", "not whole", "so many of each", "stands here", "has other"),
    *("did not take part", "held to the", "leave it open", "rewards silence", "come out again"),
    *("keep it to yourself", "tells it", "tells of", "beside the run", "made one run"),
    *("is no score but", "is no number", "is no measure", "each run on", "nothing limits"),
    *("collect it", "are to be found", "leave one empty", "name its gold", "or neither"),
    *("it is no score but", "got more right", "no number of questions would", "would not do"),
    *("set most to 0", "what came true", "makes no gate", "pays for a chance", "share wrong of"),
    *("as many random blanks", "each is judged with", "whether that is sure", "known of."),
    *("on queries it was not", "they show at least", "slices dropped", "nothing: it counts"),
    *("as many as are judged", "whole or not at all", "by clusters, 5 %", "has the original"),
    *("from or to a blank", "that is more than", "over all its answers", "tend to keep"),
    *("reached by then", "cut by then", "from which on", "other role", "tell of", "in no mean"),
    *("clusters only estimate", "judged otherwise", "turns on", "takes whether", "no run got {"),
    *(
        "disagreement seen",
        "median disagreement",
        "makes them one",
        "of both, and",
        "what that lacks",
    ),
)
"""Turns that a reader marked."""


def sentences() -> Any:
    spec = importlib.util.spec_from_file_location("sentences", ROOT / "tools" / "sentences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_was_read_twice_is_gone() -> None:
    found = [
        f"{name}:{line}: {text}"
        for name, line, text in sentences().texts()
        if any(turn in text.casefold() for turn in READ_TWICE) and "refusals/" not in name
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "such as 1|2|3, or a file",
        "higher is better",
        "at least two runs (got {…})",
        "--level needs --risk",
        "Σ r_i p^(i−1), r = grade / top grade",
    ],
)
def test_what_is_a_text(text: str, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(f"print({text!r})\n")
    assert [said for _, _, said in sentences().texts(tmp_path)] == [text]


@pytest.mark.parametrize(
    "code",
    [
        'Rows: TypeAlias = "tuple[Array, Array] | None"',
        'print(cast("tuple[Array, Array]", [1]))',
        r'print(re.compile(r"^from (\S+) import (\w+) as \2$"))',
        'print("about|what|who at all")',
        'print("SELECT * FROM a_table WHERE b")',
        'print("return sum(score >= {at!r} for score in scores)")',
        'print("-c --column NAME=COLUMN")',
    ],
)
def test_what_is_no_text(code: str, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(f"{code}\n")
    assert list(sentences().texts(tmp_path)) == []


def test_the_list_has_what_people_are_shown(tmp_path: Path) -> None:
    """Help, errors, notes of views and the page, and no docstring of a helper."""
    every = {text for _, _, text in sentences().texts()}
    assert len(every) > 1500
    for part in ("there is no such file", "Score runs that may decline to answer."):
        assert any(part in text for text in every), part
    (tmp_path / "one.py").write_text(
        '"""A module that tells nothing."""\n'
        "def f(n):\n"
        '    """Also nothing at all."""\n'
        '    print(f"{n} runs have no answer" + " to any question")\n'
        "    return f\"of {quoted(n.run)} {'' if n else 'not'}\""
        "f\" a {'question' if n else 'row'} was used\"\n"
    )
    (tmp_path / "page.html").write_text("<p>Here is some {{ text }}</p>\n<b>nothing</b>\n")
    found = [(name, line, text) for name, line, text in sentences().texts(tmp_path)]
    assert found == [
        ("one.py", 4, "{n} runs have no answer to any question"),
        ("one.py", 5, "of {run} [not] a {question | row} was used"),
        ("page.html", 2, "Here is some"),
    ]
