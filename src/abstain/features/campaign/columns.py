"""The columns of an overview's tables: name, kind of cell and meaning, each declared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abstain.report.grid import Cell, Column, Grid, Kind
from abstain.report.view import measure_summary

if TYPE_CHECKING:
    from abstain.features.campaign.overview import Overview

ATTRIBUTES = {
    "role": "main questions, and auxiliary ones: their simplified twins",
    "main": "the questions of the task itself",
    "auxiliary": "simplified twins of main questions that need one inference less",
    "first_run": "the team's first run (01) or one of its others",
    "source": "the language of the questions",
    "target": "the language of the documents",
    "status": "official runs are ranked; late and unofficial runs are not ranked and are left out "
    "of every mean",
    "team": "who handed the run in: by the table of runs, its folder or its id",
    "test": "a reading test: a text with its questions",
    "type": "what kind of thing is asked for",
    "topic": "what the texts are about",
}
"""Attributes of questions and of runs whose names say what they hold."""

NO_ANSWER = "left without an answer (NoA; in QA4MRE's overviews: unanswered)"
BLANKS = "blanks by the answer that was held back: right, wrong or none"
BEST = "the best {measure} of a run, and whose it is"
ENDS = "the ends of a {level:.4g} % interval"
OVER_RUNS = "of {measure} over the runs"
HOW_MANY = "how many there are"
PLAIN = ("#", "run", "right", "wrong", "questions", "runs", "question", "topic", "text", "type")
"""Columns that need no line in a legend."""
MEANINGS: dict[Kind, dict[str, str]] = {
    "text": {
        "#": "rank; = where several share it",
        "run": "a system's responses to all questions",
        "group": "runs that share a letter cannot be told apart",
        "best run": BEST,
        "run 01": "the team's first run",
        "best other run": "the best of the team's other runs on the same questions",
        "place": "the file and the line",
        "kind": "what sort of problem it is",
        "what is wrong": "what is there and what was expected",
        "severity": "a problem leaves its run out, a warning does not",
        "question": "",
        "correct": "the answer that is right",
        "answers given": "each answer with how many runs gave it",
        "text": "",
        "by": "the attribute whose value is in the column level",
        "level": "one value of the attribute; TOTAL: all of them",
        **ATTRIBUTES,
        "language": "the language of the questions, from the run's id",
    },
    "bar": {"outcomes": "the shares right, wrong and blank"},
    "score": {
        "low": ENDS,
        "high": ENDS,
        "all": "over all questions, or over all kinds of questions",
        "mean": OVER_RUNS,
        "median": OVER_RUNS,
        "st. dev.": OVER_RUNS,
        "best": BEST,
        "mean of the others": "the mean {measure} of the team's other runs",
        "lowest": "the lowest {measure} of the team's other runs",
        "mean with": "the mean {measure} of the runs that have it",
        "mean without": "the mean {measure} of the runs that do not",
        "difference": "the first mean or score minus the second",
    },
    "percent": {
        "right %": "of all responses",
        "unanswered %": "of all responses (NoA; in QA4MRE's overviews: unanswered)",
    },
    "count": {
        "answered": "right and wrong together",
        "right": "answered right",
        "wrong": "answered wrong",
        **dict.fromkeys(("unanswered", "blank"), NO_ANSWER),
        **dict.fromkeys(("unans. right", "unans. wrong", "unans. empty"), BLANKS),
        "tests passed": "reading tests with the pass mark or more",
        **dict.fromkeys(("questions", "runs", "teams"), HOW_MANY),
        "both right": "pairs of a main and an auxiliary question with both right",
        "main only": "pairs with only the main question right",
        "auxiliary only": "pairs with only the auxiliary question right",
        "neither": "pairs with neither right",
    },
}
"""What each heading means, by the kind of its cells."""
KINDS: dict[str, Kind] = {name: kind for kind, names in MEANINGS.items() for name in names}

PAIR_COLUMNS = {
    "main": "right responses to main questions",
    "auxiliary": "right responses to their auxiliary twins",
    "change %": "the increase of right responses on the auxiliary twins, in percent",
    "better": "pairs in which more runs got the auxiliary question right than the main one",
    "pairs": "how many pairs there are",
}


def grid_of(c: Overview, cells: Mapping[str, Sequence[Cell]], **more: Any) -> Grid:
    """A table of columns by their names, each with its cells."""
    return Grid.of(zip(columns(c, *cells), cells.values(), strict=True), **more)


def columns(c: Overview, *names: str) -> list[Column]:
    """Columns by their names: those declared here, attributes of QA4MRE, and measures."""
    return [_column(c, name) for name in names]


def _column(c: Overview, name: str) -> Column:
    if name not in KINDS:  # a measure
        return Column(name, "score", means=measure_summary(name))
    means = MEANINGS[KINDS[name]][name].format(measure=c.measure, level=100 * c.result.level)
    return Column(name, KINDS[name], means=means, plain=name in PLAIN)


def attribute_column(name: str, whose: str) -> Column:
    """The column of an attribute's values."""
    means = ATTRIBUTES.get(name, f"an attribute of the {whose}")
    return Column(name, means=means, plain=name in PLAIN)
