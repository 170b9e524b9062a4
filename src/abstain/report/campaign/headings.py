"""What the columns of an overview's tables mean: they have one name in files, papers and pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from abstain.report.grid import Grid
from abstain.report.shared import known_measure

ATTRIBUTES = {
    "nca": "no option is correct except “none of the above”",
    "modality": "the answer to the question depends on modality or negation",
    "knowledge": "what it takes to find the answer",
    "role": "main questions, and auxiliary ones: their simplified twins",
    "main": "the questions of the task itself",
    "auxiliary": "simplified twins of main questions that need one inference less",
    "simplification": "how an auxiliary question was made easier",
    "first_run": "the team's first run (01) or one of its others",
    "number": "the number that the team gave this run (01, 02, …)",
    "source": "the language of the questions",
    "target": "the language of the documents",
    "late": "handed in after the deadline",
    "status": "official runs are ranked; late and unofficial runs are not ranked and are left out "
    "of every mean",
    "language": "the language of the questions, from the run's id",
    "team": "who handed the run in: by the table of runs, its folder or its id",
    "test": "a reading test: a text with its questions",
    "type": "what kind of thing is asked for",
    "topic": "what the texts are about",
}
"""Attributes of questions and of runs by the names that QA4MRE gives them."""

FORMS = {
    **dict.fromkeys(("nca", "modality", "late"), "yes|no"),
    **dict.fromkeys(("source", "target", "language"), "[a-zA-Z]{2}"),
    "knowledge": ".*(sentence|knowledge).*",
    "role": "main|auxiliary",
    "first_run": "01|others",
    "number": "[0-9]+",
}
"""How the values of such an attribute look; with others it is somebody's own of the same name."""

TELLING = ("nca", "modality", "knowledge", "role", "first_run", "number")
"""Attributes that a sentence has to explain."""

EVERYWHERE = {
    "#": "rank; = where several share it",
    "run": "a system's responses to all questions",
    **dict.fromkeys(("low", "high"), "the ends of a {level:.4g} % interval"),
    "group": "runs that share a letter cannot be told apart",
    "outcomes": "the shares right, wrong and blank",
    "answered": "right and wrong together",
    "right": "answered right",
    "wrong": "answered wrong",
    **dict.fromkeys(
        ("unanswered", "blank"),
        "left without an answer (NoA; in QA4MRE's overviews: unanswered)",
    ),
    **dict.fromkeys(
        ("unans. right", "unans. wrong", "unans. empty"),
        "blanks by the answer that was held back: right, wrong or none",
    ),
    "right %": "of all responses",
    "unanswered %": "of all responses (NoA; in QA4MRE's overviews: unanswered)",
    "tests passed": "reading tests with the pass mark or more",
    "all": "over all questions, or over all kinds of questions",
    **dict.fromkeys(("questions", "runs"), "how many there are"),
    **dict.fromkeys(("best", "best run"), "the best {measure} of a run, and whose it is"),
    "mean of the others": "the mean {measure} of the team's other runs",
    "lowest": "the lowest {measure} of the team's other runs",
    "run 01": "the team's first run",
    "best other run": "the best of the team's other runs on the same questions",
    "mean with": "the mean {measure} of the runs that have it",
    "mean without": "the mean {measure} of the runs that do not",
    "difference": "the first mean or score minus the second",
    "teams": "how many there are",
    "place": "the file and the line",
    "kind": "what sort of problem it is",
    "what is wrong": "what was found and what was expected",
    "severity": "a problem leaves its run out, a warning does not",
    "correct": "the answer that is right",
    "answers given": "each answer with how many runs gave it",
    "both right": "pairs of a main and an auxiliary question with both right",
    "main only": "pairs with only the main question right",
    "auxiliary only": "pairs with only the auxiliary question right",
    "neither": "pairs with neither right",
    "by": "the attribute whose value is in the column level",
    "level": "one value of the attribute; TOTAL: all of them",
    ": main": "right responses to main questions",
    ": auxiliary": "right responses to their auxiliary twins",
    "change %": "the increase of right responses on the auxiliary twins, in percent",
    "better": "pairs in which more runs got the auxiliary question right than the main one",
    "pairs": "how many pairs there are",
}
ELSEWHERE = {
    "pairs": {
        "run": "the first run of the pair",
        "against": "the second run of the pair",
        "difference": "the {measure} of the first run minus that of the second",
        "verdict": "differ: the test finds a difference; not told apart: it finds none",
        "p": "the chance of a difference this large if the two runs were equally good",
        "p, corrected": "p corrected for the number of pairs; the verdict is based on it",
    },
    "moves": {
        "from → to": "the outcome of the second run → that of the first",
        "worth": "how much these questions add to the difference",
    },
    "parts_of": {
        "slice": "the attribute of the questions",
        "part": "its value",
        "difference": "the first score minus the second",
        "contributes": "how much these questions add to the whole difference",
    },
    "contributions": {
        "question": "the id of the question",
        "contributes": "how much it adds to the difference",
    },
    "main": {
        "threshold": "the confidence that gives this best score: less sure answers are withheld",
        "coverage": "the share of questions answered at that threshold",
    },
    "reliability": {
        **dict.fromkeys(("from", "to"), "the ends of the bin of confidences"),
        "answers": "how many answers fall into the bin",
        "confidence": "their mean confidence",
        "accuracy": "the share of them that is right",
    },
    "parts": {
        "where": "the run as submitted, or at its best threshold",
        "score": "{measure}",
        "knowing": "{measure} if everything were answered",
        "silence": "what the same number of random blanks would gain",
        "choosing": "what these blanks gain beyond random ones",
        "left": "what an oracle would still gain",
        "oracle": "{measure} if the right answers were kept and everything else left blank",
    },
    "blanks": {
        "judged against": "what decides whether a question should have been left blank",
        "precision": "the share of blanks that were due",
        "recall": "of the questions that should be blank, the share that is blank",
        "F1": "the harmonic mean of the two",
        "over-abstention": "the share left blank where an answer was due",
        "under-abstention": "the share answered where a blank was due",
    },
    "crossings": {
        **dict.fromkeys(("first", "second"), "the two runs that are compared"),
        "cross at t": "where the better run changes",
        "in words": "which run is better at which t",
    },
    "cut": {
        "rule": "how lists are cut; auto chooses a rule on the queries that it is tuned on",
        "interval": "of the number before it",
        "gain": "the score minus that of keeping everything",
        "over everything": "the interval of the gain",
        "kept": "documents kept per query",
        "ahead": "the score minus that of the best reference",
        "optimism": "how much better the rule scored on the queries that it was tuned on",
        "relevant kept": "the share of the relevant documents kept",
        "nil silent": "of the queries with nothing relevant, the share whose list is empty",
    },
    "": {
        "threshold": "answers are given where confidence is at least this",
        "coverage": "the share of questions answered",
        "risk": "the share of answers that are wrong",
        "blank": "left without an answer",
        "wrong given": "the share of all wrong answers that are given",
        "right given": "the share of all right answers that are given",
        "queries": "how many queries the means are over",
        "query": "the id of the query",
        "nil": "queries with no relevant document",
        "missing": "queries that the run lacks",
        "truncated": "lists that the system ended itself",
        "unknown": "responses whose outcome is not known",
        "worst": "the score if all unknown responses were as bad as they can be",
        "best": "the score if all unknown responses were as good as they can be",
        "corrected": "the score corrected for the judge's errors",
        **dict.fromkeys(("its low", "its high"), "the ends of the corrected score's interval"),
        "S": "the penalised score, S = c − t/(1−t)·w",
        "t": "answering pays if the chance of being right is above t",
    },
}
"""Columns of other pages, by table; those under no name are the same in every table."""
SUMMED = ("mean", "median", "st. dev.")
PLAIN = ("#", "run", "right", "wrong", "questions", "runs", "question", "topic", "text", "type")
"""Columns that need no line in a legend."""


def explained(grid: Grid, table: str, measure_name: str, level: float = 0.95) -> Grid:
    """The table whose columns each say what they mean."""
    values = _values(grid, table)
    columns = [
        replace(
            column,
            means=meaning(column.name, table, measure_name, values, level),
            plain=column.name in PLAIN,
        )
        for column in grid.columns
    ]
    return replace(grid, columns=columns)


def explained_on(
    table: str,
    grid: Grid,
    measure_name: str,
    *,
    level: float | None = None,
    runs: Collection[str] = (),
) -> Grid:
    """A table of another page than a campaign's, each heading with what it means."""
    return replace(
        grid,
        columns=[
            column
            if column.means
            else replace(
                column,
                means=_meaning_on(table, column.name, measure_name, level, runs),
                plain=column.name in PLAIN,
            )
            for column in grid.columns
        ],
    )


def _meaning_on(
    table: str, name: str, measure_name: str, level: float | None, runs: Collection[str]
) -> str:
    own = ELSEWHERE.get(table, {}).get(name) or ELSEWHERE[""].get(name)
    if own:
        return own.format(measure=measure_name)
    if name in runs:
        return f"{measure_name} of this run"
    head, _, end = name.rpartition(" ")
    which = "an" if level is None else f"a {100 * level:.4g} %"
    if end in ("low", "high") or name in ("low", "high"):
        return f"the ends of {which} interval" + (f" of {head}" if head else "")
    if name.startswith("p* "):
        return "the chance of being right above which answering pays"
    if name == f"best {measure_name}":
        return f"the best {measure_name} that a threshold gives, in hindsight"
    if name == f"{measure_name} as submitted":
        return f"{measure_name} of the run as it is"
    if name in EVERYWHERE:
        return EVERYWHERE[name].format(measure=measure_name, level=95)
    return told(name, ()) or _summary(name)


def _values(grid: Grid, table: str) -> list[str]:
    """The values of the attribute that a table is about, as far as it shows them."""
    if table.startswith("by_"):
        return [column.name for column in grid.columns[2:]]
    if table.startswith(("over_", "runs_by_")):
        return [str(row[0]) for row in grid.rows]
    return []


def meaning(
    name: str, table: str, measure_name: str, values: Sequence[str] = (), level: float = 0.95
) -> str:
    """What a column of a table means; nothing where nobody knows.

    >>> meaning("AIDS: median", "reading", "c@1")
    'of c@1 over the reading tests, all or those of a topic'
    >>> meaning("forced-accuracy", "leaderboard", "c@1")
    'the accuracy if every candidate behind a blank had been given as the answer'
    """
    last = name.rpartition(": ")[2]
    if table in PARTICIPANTS or table.startswith("techniques_"):
        return _of_participants(name, table, measure_name, level)
    if last in SUMMED:
        over = "the reading tests, all or those of a topic" if table == "reading" else "the runs"
        return f"of {measure_name} over {over}"
    for key in (f": {last}" if last != name else name, last):
        if key in EVERYWHERE:
            return EVERYWHERE[key].format(measure=measure_name, level=100 * level)
    if name in (table.removeprefix("over_"), table.removeprefix("runs_by_")):
        whose = "runs" if table.startswith("runs_by_") else "questions"
        return told(name, values) or f"an attribute of the {whose}"
    attribute = "" if table.startswith("by_") else told(name, values)
    return attribute or _summary(name) or _part(table, measure_name, values)


PARTICIPANTS = ("languages", "languages_runs", "first_runs", "problems")


def _of_participants(name: str, table: str, measure_name: str, level: float) -> str:
    """What a column means in a table on runs as their teams made them."""
    if name in EVERYWHERE:
        return EVERYWHERE[name].format(measure=measure_name, level=100 * level)
    if name in ATTRIBUTES and table in ("languages", "first_runs", "problems"):
        return ATTRIBUTES[name]
    if name == f"{measure_name} of run 01" or name == f"{measure_name} of the other":
        return "on main questions, or on all questions if none are auxiliary"
    if table == "languages_runs":
        return f"{measure_name} of the runs in this language"
    if name.startswith("team "):
        return "× where the team used it"
    return "" if table == "problems" else "as given in the table of runs"


def told(attribute: str, values: Sequence[str]) -> str:
    """What an attribute means, if it is the one that is known by that name.

    >>> told("modality", ["yes", "no"]), told("modality", ["image", "text"])
    ('the answer to the question depends on modality or negation', '')
    """
    form = FORMS.get(attribute, ".*")
    known = all(re.fullmatch(form, value) for value in values)
    return ATTRIBUTES.get(attribute, "") if known else ""


def _part(table: str, measure_name: str, values: Sequence[str]) -> str:
    """What a column is that is named for a slice of the questions."""
    whole = {"topics": "topic", "tests": "reading test"}.get(table, table.removeprefix("by_"))
    if whole == table:
        return ""
    return f"{measure_name} on the questions of this {whole}{gloss(whole, values)}"


def _summary(name: str) -> str:
    """A measure in half a sentence; nothing where the name is not one's."""
    item = known_measure(name)
    text = "" if item is None else item.definition.summary
    return text[:1].lower() + text[1:].rstrip(".")


def kinds_of_simplification(kinds: Collection[str]) -> str:
    """A sentence on kinds that are named by an abbreviation.

    >>> kinds_of_simplification(["hyp", "nps"])
    ' Kinds of simplification, as the gold names them: hyp (by a hypernym), nps.'
    """
    if not kinds:
        return ""
    told = (f"{kind} (by a hypernym)" if kind == "hyp" else kind for kind in kinds)
    return f" Kinds of simplification, as the gold names them: {', '.join(told)}."


def gloss(attribute: str, values: Sequence[str]) -> str:
    """An attribute explained in brackets, where its name does not speak for itself.

    >>> gloss("nca", ["no", "yes"]), gloss("topic", ["AIDS"])
    (' (no option is correct except “none of the above”)', '')
    """
    text = told(attribute, values) if attribute in TELLING else ""
    return f" ({text})" if text else ""
