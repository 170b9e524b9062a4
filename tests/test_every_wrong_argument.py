"""Every public function and method × a wrong value of every parameter: it works, or says why not.

What is refused is refused in one line, and what is of the wrong type by the parameter's name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from tests.test_every_result import GOLD, LISTS, QRELS, RUNS

WRONG: dict[str, Any] = {
    "None": None,
    "3": 3,
    "-1": -1,
    "0.5": 0.5,
    "nan": float("nan"),
    "True": True,
    "text": "wislon",
    "bytes": b"x",
    "list": ["wislon"],
    "list of numbers": [3],
    "mapping": {"wislon": "x"},
    "mapping of numbers": {3: 4},
    "object": object(),
}

FEW = ("None", "3", "text", "list", "mapping of numbers", "object")
QUICK: dict[str, dict[str, Any]]
QUICK = {"meta": {"trials": 3, "resamples": 10}, "compare": {"trials": 100}, "tune": {"folds": 2}}
QUICK["refusals"] = {"languages": "en"}
JUDGED = RUNS.with_columns(outcome=pl.lit("right")).drop("answer")
COUNTS = pl.DataFrame({"run": ["a"], "right": [2], "wrong": [1], "unanswered": [1]})
SCORES = pl.DataFrame({"topic": ["t1", "t2", "t3"], "a": [0.1, 0.2, 0.3], "b": [0.3, 0.1, 0.2]})
RESULTS = ("score", "compare", "curve", "tune")
"""Kinds of results whose methods are called."""
PROGRAM = {"binned", "where", "sliced", "values", "with_attributes", "kind_counts", "counted"}
PROGRAM |= {"attributes", "slices", "clusters", "thinned", "slice_label"}
"""Methods for analyses and views: no part of what is documented."""


@cache
def objects() -> dict[str, Any]:
    runs = ab.read(GOLD, RUNS)
    found: dict[str, Any] = {
        "runs": runs,
        "lists": ab.read_rankings(QRELS, LISTS, limit=5),
        "scores": ab.read_scores(SCORES),
    }
    return found | {name: getattr(runs, name)(**QUICK.get(name, {})) for name in RESULTS}


def files(folder: Path) -> dict[str, tuple[Any, ...]]:
    """What each public function is given where it is right."""
    GOLD.write_csv(folder / "gold.csv")
    COUNTS.with_columns(questions=pl.lit(4)).write_csv(folder / "table.csv")
    objects()["score"].to_json(folder / "result.json")
    (folder / "truth.jsonl").write_text('{"id": "1", "same": true}\n{"id": "2", "same": false}\n')
    (folder / "said.jsonl").write_text('{"id": "1", "value": 0.9}\n{"id": "2", "value": 0.5}\n')
    asked = '{"id": "1", "question": "?", "answers": [{"text": "a"}], "is_impossible": false}'
    paragraphs = f'[{{"title": "t", "paragraphs": [{{"context": "", "qas": [{asked}]}}]}}]'
    (folder / "dev.json").write_text(f'{{"version": "v2.0", "data": {paragraphs}}}')
    (folder / "said.json").write_text('{"1": "a"}')
    (folder / "qrels.txt").write_text("q1 0 d1 1\n")
    (folder / "run.txt").write_text("q1 Q0 d1 1 2.5 r\n")
    given = {
        "audit": ("table.csv",),
        "baseline": (GOLD, "oracle"),
        "convert": ("gold.csv", "gold.jsonl"),
        "demo": (),
        "editions": ({"2013": "result.json"},),
        "explain": ("c@1",),
        "list_measures": (),
        "load": ("result.json",),
        "measure": ("c@1",),
        "pan": ("truth.jsonl", "said.jsonl"),
        "rank": (QRELS, LISTS),
        "cut": (QRELS, LISTS),
        "read_counts": (COUNTS,),
        "read_judged": (JUDGED,),
        "read_rankings": (QRELS, LISTS),
        "read_scores": (SCORES,),
        "refusals": (RUNS,),
        "squad": ("dev.json", "said.json"),
        "trec_eval": ("qrels.txt", "run.txt"),
    }
    return {name: given.get(name, (GOLD, RUNS)) for name in FUNCTIONS}


FUNCTIONS = [name for name in ab.__all__ if inspect.isfunction(getattr(ab, name, None))]


def methods(own: Any) -> Iterator[str]:
    for method in dir(own):
        public = not method.startswith("_") and method not in PROGRAM
        if public and callable(getattr(own, method)):
            yield method


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    known = dict(inspect.signature(function).parameters)
    if any(own.kind is own.VAR_KEYWORD for own in known.values()):
        others = ab.read_rankings if "qrels" in known else ab.read
        known = {**inspect.signature(others).parameters, **known}
    return {name: own for name, own in known.items() if own.kind is not own.VAR_KEYWORD}


def faults(function: Callable[..., Any], given: tuple[Any, ...], **more: Any) -> list[str]:
    """The calls that neither work nor say in a line why not."""
    found = []
    positional = list(inspect.signature(function).parameters)
    known = parameters(function)
    # what reads and asks in one line has its arguments checked by two others, which are tried whole
    values = WRONG if len(known) == len(positional) else {name: WRONG[name] for name in FEW}
    for name, own in known.items():
        for what, value in values.items():
            if (name, what) == ("master", "text"):  # it would start Spark
                continue
            args, named = list(given), dict(more)
            if name in positional and positional.index(name) < len(given):
                args[positional.index(name)] = value
            else:
                named[name] = value
            try:
                function(*args, **named)
            except ab.AbstainError as error:
                text = str(error)
                if "\n" in text or not text:
                    found.append(f"{name}={what}: several lines: {text!r}")
                typed = str(own.annotation) not in ("Any", "PolicyLike") and name != "text"
                if what == "object" and typed and name not in text:
                    found.append(f"{name}={what} is not named: {text}")
            except Exception as error:
                found.append(f"{name}={what}: {type(error).__name__}: {error}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_refuses_a_wrong_argument_in_a_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert faults(getattr(ab, name), files(tmp_path)[name], **QUICK.get(name, {})) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["runs", "lists", "scores", *RESULTS])
def test_a_method_refuses_a_wrong_argument_in_a_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = objects()[name]
    for method in methods(whole):
        own = getattr(whole, method)
        required = [p for p in parameters(own).values() if p.default is p.empty]
        given = tuple({"path": "out.json", "run": RUNS}.get(p.name) for p in required)
        assert faults(own, given, **QUICK.get(method, {})) == [], method
