"""Errors: their advice is an option on the command line and an argument in Python."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from abstain import errors
from abstain.cli.options import OPTIONS
from abstain.errors import OPTION_NAMES, InputError, Place, UnknownNameError, UsageError, option
from tests.helpers import Here
from tests.snapshots import says

GOLD = "question,correct\nq1,A\nq2,B\n"


def files(folder: Path) -> None:
    (folder / "gold.csv").write_text(GOLD)
    (folder / "failed.csv").write_text("question,answer,why\nq1,A,\nq2,,error\n")
    (folder / "named.csv").write_text("key,said\nq1,A\nq2,B\n")
    (folder / "odd.csv").write_text("question,grade\nq1,odd one\n")


def test_python_is_told_of_its_arguments(here: Here) -> None:
    files(here.folder)
    with pytest.raises(ab.InputError) as caught:
        ab.score("gold.csv", "failed.csv")
    says(str(caught.value))
    result = ab.score("gold.csv", "failed.csv", policy={"error": "unanswered"})  # as it was told
    assert result.rows[0].counts.unanswered == 1
    with pytest.raises(ab.InputError) as caught:
        ab.score("gold.csv", "named.csv")
    advised = 'columns={"question": "NAME", "answer": "NAME"}'
    assert advised in str(caught.value)
    told = {"question": "key", "answer": "said"}
    assert ab.score("gold.csv", "named.csv", columns=told).rows[0].counts.right == 2
    with pytest.raises(ab.InputError) as caught:
        ab.read_judged("odd.csv").score()  # an error that quotes another
    says(str(caught.value))
    says(caught.value.on_command_line(), "--grade")


def test_a_person_is_told_of_options(here: Here) -> None:
    files(here.folder)
    assert "--policy error=unanswered" in here.refuses("score", "gold.csv", "failed.csv")
    said = here.refuses("score", "gold.csv", "named.csv")
    says(said, "--column")
    line = here.refuses("score", "--judged", "odd.csv")
    assert "--grade 'odd one=right|wrong|blank'" in line
    assert (
        "--column answer=NAME" in here("validate", "gold.csv", "named.csv", "--format", "csv").out
    )


def test_frames_too() -> None:
    with pytest.raises(ab.InputError, match=r'columns=\{"question": "NAME"'):
        ab.score(pl.DataFrame({"id": ["q1"], "correct": ["A"]}), pl.DataFrame({"x": [1]}))


@pytest.mark.parametrize(
    ("name", "value", "python", "typed"),
    [
        ("level", None, "level", "--level"),
        ("detect_refusals", None, "detect_refusals", "--detect-refusals"),
        ("nil_as_answer", True, "nil_as_answer=True", "--nil-as-answer"),
        ("resamples", 1000, "resamples=1000", "--resamples 1000"),
        ("level", 0.9, "level=0.9", "--level 0.9"),
        ("engine", "spark", 'engine="spark"', "--engine spark"),
        ("against", "my run", 'against="my run"', "--against 'my run'"),
        ("format", "csv", 'format="csv"', "--from csv"),
        (
            "columns",
            {"question": "id", "answer": 'a "b" \\ c'},
            'columns={"question": "id", "answer": "a \\"b\\" \\\\ c"}',
            "--column question=id --column 'answer=a \"b\" \\ c'",
        ),
        ("grades", {"it's": "wrong"}, 'grades={"it\'s": "wrong"}', "--grade 'it'\"'\"'s=wrong'"),
    ],
)
def test_an_option_in_both_wordings(
    name: str, value: str | float | Mapping[str, str] | None, python: str, typed: str
) -> None:
    error = UsageError(f"take {option(name, value)} or {option('level')}, please")
    assert str(error) == error.message == f"take {python} or level, please"
    assert error.on_command_line() == error.typed == f"take {typed} or --level, please"
    if value is not None:  # what Python is told is Python, and says the value
        assert eval(f"dict({python})") == {name: value}


def test_a_place_stands_before_either_wording() -> None:
    error = InputError(f"say {option('by')}", Place("--by.csv", 3))
    assert str(error) == "--by.csv:3: say by"
    assert error.on_command_line() == "--by.csv:3: say --by"
    again = InputError(f"no: {error.quoted()}!", "other.csv")
    says(str(again), "other.csv")
    says(again.on_command_line(), "other.csv", "--by")


def test_an_unknown_name_may_name_an_option() -> None:
    error = UnknownNameError(f"value of {option('match')}", "txt", ["id", "text"])
    says(str(error), "'txt'")
    says(error.on_command_line(), "--match", "'txt'")


@pytest.mark.parametrize(
    "text", ["--column a=b", 'columns={"a": "b"}', "\0", "\0" * 5, "\0" + "0" * 16 + "\0", "%s {x}"]
)
def test_what_a_file_holds_is_never_taken_for_an_option(text: str) -> None:
    error = UsageError(f"{text} {option('by')} {text}")
    assert str(error) == f"{text} by {text}"
    assert error.on_command_line() == f"{text} --by {text}"


def test_an_error_travels_between_processes() -> None:
    error = InputError(f"say {option('by')}", "a.csv")
    there = pickle.loads(pickle.dumps(error))
    assert (str(there), there.on_command_line()) == (str(error), error.on_command_line())
    assert there.place == error.place


def test_names_agree_with_the_options_of_reading() -> None:
    for field, (usage, _) in OPTIONS.items():
        assert UsageError(option(field)).on_command_line() == usage.split()[0]
    assert {"format", "columns", "grades"} <= OPTION_NAMES.keys()


SOURCES = Path(ab.__file__).parent
HELP = {"integrations/pytest_plugin.py"}
"""Where options are declared."""


@pytest.mark.slow
def test_no_room_writes_an_option_as_it_is_typed() -> None:
    """Outside the command line a text uses `option`, or names a whole command or Python too."""
    typed = re.compile(r"(?<![\w-])--[a-z]")
    found = []
    for path in SOURCES.rglob("*.py"):
        name = path.relative_to(SOURCES).as_posix()
        if name.startswith("cli/") or name.endswith("/command.py") or name in HELP:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                bare = re.sub(r"`abstain [^`]*`|--\S+ \S+ \(in Python: [^)]*\)", "", node.value)
                if id(node) not in docs and typed.search(bare):
                    found.append(f"{name}:{node.lineno}: {node.value}")
    assert [text for text in found if "--log_samples" not in text] == []  # a tool's own option


def test_every_error_has_a_code_of_its_own() -> None:
    kinds: list[type[errors.AbstainError]] = [errors.AbstainError, *_below(errors.AbstainError)]
    codes = {kind.code for kind in kinds if kind.__module__ == "abstain.errors"}
    assert codes == {
        *("error", "input", "missing-column", "repeated", "too-large", "undecided"),
        *("usage", "unknown-name"),
    }
    assert all(f" {code} " in (errors.__doc__ or "") for code in codes)


def _below(kind: type[errors.AbstainError]) -> list[type[errors.AbstainError]]:
    return [one for each in kind.__subclasses__() for one in (each, *_below(each))]


def test_errors_of_runs_have_codes() -> None:
    gold = pl.DataFrame({"question": ["1", "2"], "correct": ["a", "b"]})
    cases = {
        "missing-column": pl.DataFrame({"question": ["1"], "response_": ["a"]}),
        "repeated": pl.DataFrame({"question": ["1", "1"], "answer": ["a", "b"]}),
        "undecided": pl.DataFrame({"question": ["1"], "answer": [""], "why": ["error"]}),
    }
    for code, run in cases.items():
        with pytest.raises(ab.AbstainError) as error:
            ab.score(gold, run)
        assert error.value.code == code
