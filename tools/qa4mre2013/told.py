"""What the summary and the charts of the bundled campaign say, beside what was printed.

The overview's own sentences and charts are not transcribed, so each number is compared with the
one that follows from its printed tables, worked out here from those alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

Cells = Iterator[tuple[str, str, str]]
TOPICS = ("Alzheimer", "Music and Society", "Climate Change", "AIDS")
QUESTIONS = 284
KINDS = ("all", "hyp", "nps", "ven")
N = r"([\d.,]+?)"


class Written(Protocol):
    """Where the commands wrote, and what was printed."""

    folder: Path

    def printed(self, name: str) -> list[dict[str, str]]:
        """A published table."""


def sentences(o: Written) -> Iterator[tuple[str, Cells]]:
    """Each sentence of the summary: what it is about, its numbers beside those that follow."""
    text = (o.folder / "summary.md").read_text(encoding="utf-8").replace("\\", "")

    def said(pattern: str, **follows: str) -> Cells:
        """The groups of a pattern, in order, beside what follows; a lacking sentence is a miss."""
        found = re.search(pattern, text)
        if found is None:
            yield "the sentence", "there", "nothing"
            return
        for (where, value), group in zip(follows.items(), found.groups(), strict=True):
            yield where, value, group.replace(",", "")

    runs = o.printed("table14")
    (name, first), (second, _) = ((r["run"], r) for r in sorted(runs, key=_exact, reverse=True)[:2])
    yield (
        "best run, and who comes next",
        said(
            rf"The best run is (\S+) with a c@1 of {N} \({N} right, {N} wrong, {N} blank\).*; the "
            rf"next is (\S+) with {N}\.\n",
            **{"run": name, "c@1": first["c_at_1"], "right": first["right"]},
            wrong=first["wrong"],
            blank=first["unanswered"],
            next=second,
            **{"c@1 of the next": next(r["c_at_1"] for r in runs if r["run"] == second)},
        ),
    )
    appendix = {r["run"]: r for r in o.printed("appendix1")}
    yield (
        "mean, median and deviation over runs",
        said(
            rf"Over all runs the mean c@1 is {N}, the median {N}, the standard deviation {N}\.\n",
            mean=appendix["AVERAGE"]["all"],
            median=appendix["MEDIAN"]["all"],
            deviation=appendix["STANDARDDEVIATION"]["all"],
        ),
    )
    beat = sum(_exact(row) > Fraction(1, 5) for row in runs)
    yield (
        "runs above the random baseline",
        said(rf"at random would give {N}: {N} of {N} runs", luck="0.20", beat=f"{beat}", of="54"),
    )
    passed = {
        row["run"]: sum(Fraction(row[f"test_{n}"]) >= Fraction(1, 2) for n in range(1, 17))
        for row in o.printed("appendix2")
        if row["run"][0].islower()
    }
    most = max(passed, key=lambda run: passed[run])
    yield (
        "reading tests passed",
        said(
            rf"c@1 of 0\.5: {N} runs passed none of the 16 tests, and (\S+) passed the most "
            rf"\({N}\)\.\n",
            none=str(sum(not own for own in passed.values())),
            run=most,
            most=str(passed[most]),
        ),
    )
    topics = {row["topic"]: row["mean"] for row in o.printed("table12")}
    high = max(topics, key=lambda own: Fraction(topics[own]))
    yield (
        "topics, the highest and the lowest mean",
        said(
            rf"By topic, .* highest for (\w+).*? \({N}\) and lowest for .*? \({N}\)",
            highest=high,
            mean=topics[high],
            lowest=min(topics.values()),
        ),
    )
    kinds = {row["kind"]: row["mean_c_at_1"] for row in o.printed("table5_6_7")}
    yield (
        "knowledge required, the highest and the lowest mean",
        said(
            rf"By knowledge,.* highest for (same sentences) \({N}\) and lowest for (different "
            rf"sentences or paragraphs) \({N}\)",
            highest="same sentences",
            mean=kinds["same sentences"],
            lowest="different sentences or paragraphs",
            **{"its mean": kinds["different sentences or paragraphs"]},
        ),
    )
    blank = sum(int(row["unanswered"]) for row in runs)
    right, wrong = (sum(int(row[f"unanswered_{k}"]) for row in runs) for k in ("right", "wrong"))
    yield (
        "blanks rightly held back",
        said(
            rf"{N} runs left questions blank, {N} responses in all \({N} %\); of the {N} that came "
            rf"with a candidate, {N} % were rightly held back",
            runs=str(sum(row["unanswered"] != "0" for row in runs)),
            blank=str(blank),
            percent=f"{100 * blank / (QUESTIONS * len(runs)):.1f}",
            candidates=str(right + wrong),
            held=f"{100 * wrong / (right + wrong):.1f}",
        ),
    )
    main, auxiliary, better, pairs = (
        sum(_total(o, number, f"all_{what}") for number in numbers)
        for what, numbers in (
            *(("main", (18, 20)), ("aux", (18, 20))),
            *(("better", (19, 21)), ("total", (19, 21))),
        )
    )
    yield (
        "pairs of main and auxiliary questions",
        said(
            rf"In {N} pairs .* answered right {N} times and the auxiliary one {N} times "
            rf"\(\+{N} %\); in {N} pairs, more runs got the auxiliary question right",
            pairs=str(pairs),
            main=str(main),
            auxiliary=str(auxiliary),
            change=str(round(100 * (auxiliary - main) / main)),
            better=str(better),
        ),
    )
    more = Fraction(auxiliary - main, pairs)
    on_main = next(r["all_runs"] for r in o.printed("table16") if r["edition"] == "2013")
    rise = Fraction(kinds["auxiliary"]) - Fraction(on_main)
    yield (
        "section 7.4: mean increase",
        said(
            rf"On average, {N} (?:more|fewer) runs get the auxiliary "
            rf".* \({N} % of the {N} runs\)\.\n"
            r"(?:- Over the pairs .*\n)?"
            rf"- Over all runs the mean c@1 is {N} on main questions and {N} on auxiliary ones, a "
            rf"change of \+{N}\.\n",
            **{"right responses": f"{float(more):.2f}", "percent": f"{float(100 * more / 54):.2f}"},
            **{"runs": "54", "c@1 on main": on_main, "on auxiliary": kinds["auxiliary"]},
            increase=f"{float(rise):.2f}",
        ),
    )
    printed = {row["what"].partition(" (")[0]: row["printed"] for row in o.printed("sentences")}
    yield (
        "section 7.2: questions with a right answer",
        said(
            rf"questions were right in at least one run \({N} %\)",
            percent=printed["questions with at least one correct answer"],
        ),
    )
    yield (
        "section 7.4, where it increased: mean",
        said(
            rf"where it increased, the mean increase is {N} % \(answer {N} %, question {N} %\)\.\n",
            **{
                part: printed[f"mean increase {where}"]
                for part, where in (
                    ("all", "over all pairs with one"),
                    ("answers", "where the answer is simplified"),
                    ("questions", "where the question is simplified"),
                )
            },
        ),
    )


def charts(o: Written) -> Iterator[tuple[str, Cells]]:
    """Each chart of the page: the numbers that it draws beside the printed ones."""
    page = (o.folder / "index.html").read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert data is not None
    drawn = {name: spec["data"]["values"] for name, spec in json.loads(data[1])["charts"].items()}

    def beside(chart: str, value: str, keys: tuple[str, ...], printed: dict[Any, str]) -> Cells:
        if chart not in drawn:
            yield "the chart", "there", "nothing"
            return
        own = {tuple(row.get(key) for key in keys): row.get(value) for row in drawn[chart]}
        for key, text in printed.items():
            yield ", ".join(key), text, str(own.get(key, "nothing"))

    scores = {(row["run"],): row["c_at_1"] for row in o.printed("table14")}
    yield "scores (Table 14)", beside("scores", "c@1", ("run",), scores)
    appendices = {}
    for number, name, levels in ((1, "topic", TOPICS), (2, "test", map(str, range(1, 17)))):
        appendices[name] = {
            (row["run"], level): row[f"{name}_{at}"]
            for at, level in enumerate(levels, 1)
            for row in o.printed(f"appendix{number}")
            if row["run"][0].islower()
        }
    yield "tests (Appendix 2)", beside("tests", "c@1", ("run", "test"), appendices["test"])
    yield "topics (Appendix 1)", beside("topics", "score", ("run", "topic"), appendices["topic"])
    types = {
        (row["type"], outcome): row[column]
        for row in o.printed("table17")
        if row["year"] == "2013"
        for outcome, column in (("right", "correct_pct"), ("blank", "noa_pct"))
    }
    yield "types (Table 17)", beside("types", "percent", ("type", "outcome"), types)
    pairs = {}
    for kind in KINDS:
        size = sum(_total(o, number, f"{kind}_total") for number in (19, 21))
        for word, what in (("main", "main"), ("auxiliary", "aux")):
            right = sum(_total(o, number, f"{kind}_{what}") for number in (18, 20))
            pairs[f"{kind} ({size})", word] = str(right)
    yield "pairs (Tables 18 to 21)", beside("pairs", "right", ("pairs", "question"), pairs)
    nothing: dict[Any, str] = {}
    yield "questions (not printed)", beside("questions", "questions", ("runs",), nothing)


def _exact(row: dict[str, str]) -> Fraction:
    """c@1 by the printed counts."""
    right, blank = int(row["right"]), int(row["unanswered"])
    return Fraction(right, QUESTIONS) * (1 + Fraction(blank, QUESTIONS))


def _total(o: Written, number: int, column: str) -> int:
    return next(int(r[column]) for r in o.printed(f"table{number}") if r["level"] == "TOTAL")
