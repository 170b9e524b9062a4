"""A comparison in words: which differences are real and where they come from."""

from __future__ import annotations

import math

import numpy as np

from abstain.analyses.compare.result import CompareResult, Origin, Pair
from abstain.analyses.compare.work import MOST_TRIALS
from abstain.errors import plural
from abstain.measures import Proportion, measure
from abstain.report.words import first_few
from abstain.stats.hypotheses import CORRECTIONS
from abstain.stats.planning import least_units

MOST_QUESTIONS = 5
SAME = 1e-12
"""Contributions and differences nearer than this are equal."""
UNTESTED = "Where a score is undefined there is no difference to test."

RIGHT = Proportion("R")
"""Right answers of all questions: what McNemar's test is about."""


def what(c: CompareResult) -> str:
    """What was compared."""
    text = f"{plural(len(c.rows), 'run')}, paired by {c.unit} on "
    if c.questions == c.questions_in_all:
        text += units(c.questions, c.unit)
    else:
        which = "on which all of them have a score" if c.undefined_on else "that all of them have"
        text += f"the {c.questions:,} of {units(c.questions_in_all, c.unit)} {which} ({_why(c)})"
    if c.clusters is not None:
        text += f" in {plural(c.clusters, 'cluster')} ({c.cluster})"
    many, unit = (c.questions, c.unit) if c.clusters is None else (c.clusters, "cluster")
    if many < 2:
        text += f": one {unit} shows no spread, so there is no interval"
        text += " and p is 1" if c.is_tested else " and no test"
    return text + "."


def _why(c: CompareResult) -> str:
    """Why not all questions could be used."""
    lacking = first_few(f"{run} lacks {gone:,}" for run, gone in c.absent.items())
    undefined = first_few(f"{run} on {count:,}" for run, count in c.undefined_on.items())
    name = c.measure.removeprefix("mean ")
    said = f"{name} is undefined for {undefined}" if undefined else ""
    return "; ".join(filter(None, (lacking, said)))


def units(count: int, unit: str) -> str:
    """A count of questions, topics or queries."""
    return plural(count, unit, "queries" if unit == "query" else None)


def verdict(c: CompareResult) -> list[str]:
    """Which differences are real."""
    tested = _tested(c.pairs)
    if c.against is None and len(c.rows) == 2:
        said = _two(c)
    elif not tested:
        said = _unsaid(c) or [UNTESTED]
    else:
        said = (_many if c.against is None else _against)(c, tested) + _unsaid(c)
    return [*said, *_resolution(c, len(tested))]


def best(c: CompareResult) -> list[str]:
    """The best of several runs, and from how many others it can be told apart."""
    if len(c.rows) < 3 or c.rows[0].score is None:
        return []
    row = c.rows[0]
    text = f"The best run is {row.run} ({c.measure} {row.score:.4f})"
    told = told_apart(c, row.run)
    return [f"{text}, {joined_by(told)} {told}." if told else f"{text}."]


def joined_by(told: str) -> str:
    """How a first place is joined to what `told_apart` says of it."""
    return "but" if told.startswith("it cannot") else "and"


def told_apart(c: CompareResult, run: str) -> str:
    """From how many other runs a run can be told apart; empty where it was compared with none."""
    own = [p for p in _tested(c.pairs) if run in (p.run, p.against)]
    if not own:
        return ""
    found, level = sum(bool(p.differs) for p in own), f"at the {100 * c.alpha:g} % level"
    if len(own) == 1:
        other = own[0].against if own[0].run == run else own[0].run
        return f"it {'can' if found else 'cannot'} be told apart from {other} {level}"
    if not found:
        return f"it cannot be told apart from any of the {len(own)} others {level}"
    whom = f"all {len(own)} others" if found == len(own) else f"{found} of the {len(own)} others"
    return f"it can be told apart from {whom} {level}"


def _unsaid(c: CompareResult) -> list[str]:
    """Which differences have no verdict although there are some, and why."""
    without = [p.no_test for p in c.pairs if p.no_test]
    if not without:
        return []
    reasons = first_few(dict.fromkeys(without), most=3)
    return [f"{plural(len(without), 'pair has', 'pairs have')} no verdict: {reasons}."]


def _two(c: CompareResult) -> list[str]:
    (pair,) = c.pairs
    if pair.difference is None or pair.differs is None:
        return _unsaid(c) or [UNTESTED]
    if c.origin is not None and c.origin.same == c.questions and pair.p == 1:
        alike = f"{pair.run} and {pair.against} have the same outcome on every question"
        return [f"{alike}: there is no difference."]
    if pair.no_test:
        size = f"{pair.run} and {pair.against} differ by {abs(pair.difference):.4f}"
        return [f"{size}. There is no verdict: {pair.no_test}."]
    test = f"p = {p_text(pair.p)}".replace("= <", "< ")
    if pair.difference == 0:
        return [f"{pair.run} and {pair.against} have the same {c.measure} ({test})."]
    ahead = "ahead of" if (pair.difference > 0) == c.higher_is_better else "behind"
    text = f"{pair.run} is {ahead} {pair.against} by {abs(pair.difference):.4f}"
    text += "" if c.higher_is_better else ", lower being better"
    level = f"at the {100 * c.alpha:g} % level"
    if _of_rightness(c):
        found = "a difference" if pair.differs else "no difference"
        return [
            f"{text}. McNemar's test compares who is right, not {c.measure}: it finds {found} "
            f"{level} ({test})."
        ]
    if pair.differs:
        return [f"{text} ({test}): a significant difference {level}."]
    return [f"{text} ({test}): not a significant difference {level}."]


def _of_rightness(c: CompareResult) -> bool:
    """Whether p is of right against not right while the scores are of something else."""
    return c.test == "mcnemar" and measure(c.measure).definition.proportion != RIGHT


def _many(c: CompareResult, tested: list[Pair]) -> list[str]:
    found = sum(bool(p.differs) for p in tested)
    said = [
        f"Of {plural(len(tested), 'pair')}, {plural(found, 'differs', 'differ')} at the "
        f"{100 * c.alpha:g} % level ({CORRECTIONS.get(c.correction, c.correction)})."
    ]
    if _of_rightness(c):
        said.append(f"McNemar's test compares who is right, not {c.measure}.")
    separated = c.separated()
    if separated:
        verb = "is" if len(separated) == 1 else "are"
        said.append(f"{first_few(separated, most=5)} {verb} separated from all others.")
    else:
        said.append("No run is separated from all others.")
    said += _neighbours(c, alone=not separated)
    if c.grouped:
        said.append("Runs that share a letter (group) cannot be told apart.")
    elif sum(not row.undefined for row in c.rows) > 2:
        said.append("There are too many groups for letters.")
    same = [p for p in c.pairs if p.standard_error == 0 and p.difference == 0]
    if same:
        pairs = first_few(f"{p.run} and {p.against}" for p in same)
        said.append(f"These pairs do not differ on any {c.unit}: {pairs}.")
    return said


def _tested(pairs: tuple[Pair, ...] | list[Pair]) -> list[Pair]:
    return [p for p in pairs if p.differs is not None]


def _neighbours(c: CompareResult, *, alone: bool) -> list[str]:
    """How many runs next to each other in the ranking are told apart."""
    near = _tested(c.neighbours())
    if not near:
        return []
    alike = sum(not p.differs for p in near)
    pairs = f"{plural(len(near), 'pair')} of neighbours in the ranking"
    if not alike:
        return [f"All {pairs} differ." if len(near) > 1 else f"The {pairs} differs."]
    but = "" if alone else "But "
    return [f"{but}{alike} of {pairs} cannot be told apart."]


def _against(c: CompareResult, tested: list[Pair]) -> list[str]:
    better = [p.run for p in tested if p.differs and (p.difference or 0) > 0]
    worse = [p.run for p in tested if p.differs and (p.difference or 0) < 0]
    rest = len(tested) - len(better) - len(worse)
    said = []
    for runs, word in ((better, "above"), (worse, "below")):
        if runs:
            verb = "is" if len(runs) == 1 else "are"
            lower = "" if c.higher_is_better else ", lower being better"
            said.append(f"{first_few(runs, most=5)} {verb} {word} {c.against}{lower}.")
    who = f"{plural(rest, 'run')} cannot" if rest else "Every run can"
    said.append(
        f"{who} be told apart from {c.against} "
        f"({plural(len(tested), 'comparison')}, {CORRECTIONS.get(c.correction, c.correction)}, "
        f"{100 * c.alpha:g} %)."
    )
    return said


def _resolution(c: CompareResult, tested: int) -> list[str]:
    """What no test could have found: so few clusters, questions or trials have no smaller p."""
    many = c.questions if c.clusters is None else c.clusters
    if not tested or many < 2 or c.test == "t":
        return []
    floor, source, by_trials = _smallest_p(c, many)
    enough_trials = 10 ** math.ceil(math.log10(2 * tested / c.alpha) - 1e-9)
    trials = f"{enough_trials:,} trials"
    if enough_trials > MOST_TRIALS:
        trials = "randomisation tests" if c.test == "bootstrap" else "a lower confidence level"
    times = tested if c.correction == "holm" else 1
    level = f"at the {100 * c.alpha:g} % level"
    if floor > c.alpha:
        enough = f"{least_units(c.alpha)} {source.split()[-1]}"
        cure = f"use {trials}" if by_trials else f"at least {enough} are needed"
        return [
            f"With {source} no p is below {_short(floor)}: no difference can be significant "
            f"{level}; {cure}."
        ]
    reach = floor * times
    if times == 1 or 10 * reach <= c.alpha or (reach <= c.alpha and c.clusters is None):
        return []
    text = (
        f"With {source} no p is below {_short(floor)} (or {_short(min(1.0, reach))} after Holm's "
        f"correction for {tested:,} pairs): "
    )
    text += (
        f"no pair can be told apart {level}"
        if reach > c.alpha
        else "only a run that is ahead in nearly every cluster can be told apart"
    )
    last = trials if by_trials else "fewer runs"
    single = "compare with a single run, or " if c.against is None else "or "
    return [f"{text}. Use the correction bh, {single}use {last}."]


def _smallest_p(c: CompareResult, many: int) -> tuple[float, str, bool]:
    """The smallest p that there can be, where it comes from, and whether trials are what limits."""
    drawn = c.test == "randomisation" and not all(p.exact for p in c.pairs)
    trial = (2 if c.test == "bootstrap" else 1) / (c.trials + 1)
    signs = 2.0 ** (1 - min(many, 1000))
    if c.test == "bootstrap" or (drawn and trial > signs):
        return trial, f"{c.trials:,} trials", True
    return signs, units(many, c.unit if c.clusters is None else "cluster"), False


def _short(p: float) -> str:
    """A p-value of any size in few digits, in three where that is all of it.

    >>> _short(2.0**-15), _short(0.25), _short(0.125)
    ('0.00003', '0.25', '0.125')
    """
    if float(f"{p:.3g}") == p:
        return np.format_float_positional(p, trim="-")
    return np.format_float_positional(
        p, precision=1 if p < 0.001 else 2, fractional=False, trim="-"
    )


def origin(c: CompareResult) -> list[str]:
    """Where the difference of two runs comes from."""
    o, pair = c.origin, c.pairs[0]
    if o is None or not o.contributions:
        return []
    without = o.without_candidate
    where = plural(without, "question")
    if o.knowing is None or o.abstaining is None:
        said = [
            "The difference cannot be split into a part from knowing and a part from abstaining: "
            f"on {where} where the outcomes of the two runs differ, one of them is a blank without "
            "a candidate. A column candidate, with the answers behind the blanks, would make it "
            "possible."
        ]
    else:
        text = (
            f"Of the difference of {signed(pair.difference)}, {signed(o.knowing)} comes from "
            f"knowing more or fewer answers and {signed(o.abstaining)} from the choice of when to "
            "abstain"
        )
        if without:
            counts = "counts" if without == 1 else "count"
            text += (
                f" ({where} {counts} as abstaining, because one of the two outcomes is a blank "
                "without a candidate)"
            )
        said = [text + "."]
    sizes = [abs(value) for value in o.contributions.values()]
    if sum(abs(size - sizes[0]) < SAME for size in sizes) <= MOST_QUESTIONS:
        first = list(o.contributions.items())[:MOST_QUESTIONS]
        listed = ", ".join(f"{question} ({signed(value)})" for question, value in first)
        said.append(f"The questions that contribute most: {listed}.")
    return [*said, *(_reversal(o, attribute, pair) for attribute in o.reversals)]


def _reversal(o: Origin, attribute: str, pair: Pair) -> str:
    own = [s for s in o.slices if s.attribute == attribute]
    there = [(s.name, s.difference) for s in own if abs(s.difference or 0) > SAME]
    listed = first_few((f"{name} {signed(value)}" for name, value in there), most=4)
    even = [s.name for s in own if s.difference is not None and abs(s.difference) <= SAME]
    undefined = [s.name for s in own if s.difference is None]
    every = "every slice that shows a difference" if even or undefined else "every slice"
    listed += f"; none in {first_few(even)}" if even else ""
    listed += f"; undefined in {first_few(undefined)}" if undefined else ""
    return (
        f"Simpson's reversal by {attribute}: {signed(pair.difference)} over all questions, but the "
        f"other way in {every} ({listed})."
    )


def signed(value: float | None) -> str:
    """A difference with its sign."""
    return f"{round(value or 0.0, 4) + 0.0:+.4f}".replace("-", "−")


def p_text(p: float | None) -> str:
    """A p-value as people read it.

    >>> p_text(0.04211), p_text(1e-9)
    ('0.0421', '<0.0001')
    """
    if p is None:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"
