"""Every kind of result has the same manners, fresh or loaded."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from contextlib import chdir
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import abstain as ab
from abstain.report.result import RESULT_KINDS, SCHEMA

GOLD = pl.DataFrame(
    {
        "question": [f"q{n}" for n in range(12)],
        "correct": ["A", "B", "A"] * 4,
        "options": ["A|B"] * 12,
        "topic": ["x", "y"] * 6,
        "test": ["1", "1", "2", "2"] * 3,
    }
)
RUNS = pl.DataFrame(
    {
        "run": ["bold"] * 12 + ["shy"] * 12 + ["lazy"] * 12,
        "question": [f"q{n}" for n in range(12)] * 3,
        "answer": ["A"] * 12 + ["A", "", "B"] * 4 + [None, "B", "A"] * 4,
        "confidence": [0.5 + 0.04 * n for n in range(12)] * 3,
    }
)
MARKED = GOLD.with_columns(answerable=pl.Series(["yes", "yes", "no"] * 4))
QRELS = {"t1": {"d1": 1, "d2": 0}, "t2": {"d3": 1}, "t3": {"d4": 0}}
LISTS = {
    "long": {"t1": {"d1": 2.0, "d2": 1.0}, "t2": {"d9": 3.0, "d3": 1.0}, "t3": {"d4": 1.0}},
    "short": {"t1": {"d1": 2.0}, "t2": {"d3": 1.0}, "t3": {}},
}


@cache
def runs() -> ab.Evaluation:
    return ab.read(GOLD, RUNS)


@cache
def lists() -> ab.Rankings:
    return ab.read_rankings(QRELS, LISTS, limit=5)


def several() -> ab.Result:
    again = pl.concat([RUNS, RUNS.with_columns(answer=pl.lit("B"))])
    return ab.read(GOLD, again.filter(pl.col("answer").fill_null("") != "")).several()


def audit(folder: Path) -> ab.Result:
    rows = ["run,right,wrong,unanswered,questions", "a,1,1,1,3", "b,1,1,1,4"]
    (folder / "table.csv").write_text("\n".join(rows) + "\n")
    with chdir(folder):  # so that its name is short
        return ab.audit("table.csv")


def refusals(folder: Path) -> ab.Result:
    rows = "question,answer\nq1,I don't know.\nq2,Paris\n"
    (folder / "said.csv").write_text(rows)
    return ab.refusals([folder / "said.csv"], languages="en")


MAKERS: dict[str, Callable[[Path], ab.Result]] = {
    "score": lambda _: runs().score(interval=True, references=True, by="topic"),
    "decisions": lambda _: ab.decisions(MARKED, RUNS),
    "compare": lambda _: runs().compare("c@1", resamples=200),
    "curve": lambda _: runs().curve(decision=True),
    "histogram": lambda _: ab.histogram(runs(), bins=64),
    "tune": lambda _: runs().tune(folds=2),
    "cascade": lambda _: ab.cascade(runs(), stages=runs().runs[:2], folds=2),
    "cut": lambda _: lists().cut(),
    "several": lambda _: several(),
    "meta": lambda _: runs().meta(subsets=20, resamples=50),
    "campaign": lambda _: runs().campaign(),
    "rank": lambda _: lists().score(["AP'", "NDCG@10"]),
    "truncation": lambda _: lists().truncation(),
    "validate": lambda _: ab.read(GOLD, RUNS.head(30)).validate(),
    "audit": audit,
    "editions": lambda _: ab.editions({"2012": runs().campaign(), "2013": runs().campaign()}),
    "refusals": refusals,
    "targets": lambda _: ab.targets(GOLD, RUNS, targets={"bold": 0, "shy": 0.5, "lazy": 0.9}),
}


def made(kind: str, folder: Path) -> ab.Result:
    """A result of a kind: what the runs are asked by its name, unless it takes more."""
    if kind in MAKERS:
        return MAKERS[kind](folder)
    found: ab.Result = getattr(runs(), kind)()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", RESULT_KINDS)
def test_every_kind_has_the_same_manners(kind: str, tmp_path: Path) -> None:
    result = made(kind, tmp_path)
    assert result.kind == kind
    assert isinstance(result, ab.Result)
    # data
    frame = result.to_frame()
    assert frame.height or kind not in MAKERS
    assert result.to_pandas().shape == frame.shape
    for table in result.TABLES:
        assert isinstance(result.to_frame(table), pl.DataFrame)
    with pytest.raises(ab.UnknownNameError, match="'nowhere'"):
        result.to_frame("nowhere")
    plain = result.to_dict()
    assert plain["kind"] == kind
    assert plain["schema"] == SCHEMA
    # out and back
    text = result.to_json(tmp_path / "result.json")
    assert json.loads(text) == json.loads(json.dumps(plain))
    loaded = ab.load(tmp_path / "result.json")
    assert loaded == result
    assert pickle.loads(pickle.dumps(result)) == result
    # looks: the same for both
    shown = str(result)
    assert shown == str(loaded)
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert repr(result) == repr(loaded)
    assert "\n" not in repr(result)
    assert len(repr(result)) <= 120
    assert "<table" in result._repr_html_()
    assert result._repr_html_() == loaded._repr_html_()
    page = result.page(tmp_path / "result.html")
    assert page == loaded.page()
    assert page.lower().startswith("<!doctype html>")
    assert (tmp_path / "result.html").read_text(encoding="utf-8") == page
    for spec in result.charts().values():
        assert "vega-lite" in spec["$schema"]
    assert result.charts() == loaded.charts()
    for ending in ("csv", "md", "tex", "txt", "json", "html"):
        result.save(tmp_path / f"saved.{ending}")
        assert (tmp_path / f"saved.{ending}").stat().st_size
    with pytest.raises(ab.UsageError):
        result.save(tmp_path / "saved.docx")


@pytest.mark.slow
@pytest.mark.parametrize("kind", RESULT_KINDS)
def test_a_broken_result_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    plain = made(kind, tmp_path).to_dict()
    required = [name for name in plain if name not in ("kind", "abstain", "schema", "notes")]
    for name in required:
        if isinstance(plain[name], (list, dict)):
            broken = {**plain, name: 7}
            (tmp_path / "broken.json").write_text(json.dumps(broken))
            with pytest.raises(ab.InputError, match="is not a complete result"):
                ab.load(tmp_path / "broken.json")
    (tmp_path / "broken.json").write_text(json.dumps({**plain, "schema": SCHEMA + 1}))
    with pytest.raises(ab.InputError, match="written by a later abstain"):
        ab.load(tmp_path / "broken.json")


def test_a_curve_of_no_question_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    """Coverage is a share of the questions: with none, every view would divide by 0."""
    for kind in ("curve", "histogram"):
        plain = made(kind, tmp_path).to_dict()
        plain["results"][0]["counts"] = {}
        (tmp_path / "broken.json").write_text(json.dumps(plain))
        with pytest.raises(ab.InputError, match="is not a complete result"):
            ab.load(tmp_path / "broken.json")
