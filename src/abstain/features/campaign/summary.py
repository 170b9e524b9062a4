"""A campaign in sentences, each computed from its numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from abstain.errors import plural, some_of
from abstain.features.campaign.overview import ROLE, Overview
from abstain.features.campaign.tables import tests_passed
from abstain.features.compare.view import distinct_from, verdict
from abstain.outcomes import Counts
from abstain.report.view import first_few, listed
from abstain.stats.orderings import above, over_runs, same


def sentences(c: Overview) -> Iterator[str]:
    """What a reader should know first, in the order of an overview."""
    yield _what_was_run(c)
    yield _best(c)
    yield from _set_apart(c)
    if c.result.comparison is not None:
        yield from verdict(c.result.comparison)
    elif len(c.runs) > 1 and not c.result.blind:
        yield "Which runs can be told apart was not tested: `abstain compare --against` tests it."
    yield from _spread(c)
    yield from _references(c)
    yield from _tests(c)
    yield from _slices(c)
    if not c.result.blind:
        yield c.hardness
    yield _blanks(c)
    yield from _pairs(c)


def _what_was_run(c: Overview) -> str:
    text = plural(len(c.runs), "run")
    if teams := len({*c.info.get("team", ())} - {None}):
        text += f" of {plural(teams, 'team')}"
    text += f" responded to {plural(c.questions.height, 'question')}"
    if c.result.test_by:
        text += f" in {plural(len(c.slices[c.result.test_by].names), 'reading test')}"
    if c.result.topic_by:
        text += f" on {plural(len(c.slices[c.result.topic_by].names), 'topic')}"
    return text + "."


def _best(c: Overview) -> str:
    k, score = c.overall[0], c.scores[0]
    if np.isnan(score):
        return f"No run has a {c.measure}: {c.measure.why_undefined(k)}."
    text = (
        f"The best run is {c.runs[0]} with a {c.measure} of {score:.2f} ({k.right:,} right, "
        f"{k.wrong:,} wrong, {k.unanswered:,} blank)"
    )
    level = int(same(c.scores[1:], score).sum())
    if level:
        text += f", level with {c.runs[1] if level == 1 else f'{level} others'}"
    if c.runs[1:]:
        test = c.result.comparison and distinct_from(c.result.comparison, c.runs[0])
        text += test or ", but this was not tested for significance"
    rest = c.scores[1 + level :]
    if rest.size and not np.isnan(rest[0]):
        tied = int(same(rest, rest[0]).sum())
        text += f"; the next is {first_few(c.runs[1 + level :][:tied])} with {rest[0]:.2f}"
    return text + "."


def _set_apart(c: Overview) -> Iterator[str]:
    """Runs that are not ranked, withdrawn or left out, and what is odd about runs."""
    result = c.result
    apart = {"withdrawn and not scored": result.withdrawn}
    apart[f"left out for {plural(len(result.problems), 'problem')}"] = result.skipped
    for status in dict.fromkeys(run.status for run in result.unranked):
        names = tuple(run.name for run in result.unranked if run.status == status)
        apart[f"{status}: scored without a rank and left out of every average"] = names
    for why, runs in apart.items():
        if runs:
            yield f"{plural(len(runs), 'run was', 'runs were')} {why} ({some_of(runs)})."
    for warning in result.warnings:
        yield f"{warning.message[:1].upper()}{warning.message[1:]}."


def _spread(c: Overview) -> Iterator[str]:
    lacking = [run for run, gone in zip(c.runs, np.isnan(c.scores).tolist(), strict=True) if gone]
    if len(lacking) == len(c.runs):
        return
    if lacking:
        why = c.measure.why_undefined(c.overall[c.runs.index(lacking[0])])
        whom = f"{plural(len(lacking), 'run')} ({some_of(lacking)})"
        yield f"{c.measure} is undefined for {whom}: {why}."
    mean, median, deviation = over_runs(c.scores).values()
    yield (
        f"Over {'the other' if lacking else 'all'} runs the mean {c.measure} is {mean:.2f}, the "
        f"median {median:.2f}, the standard deviation {deviation:.2f}."
    )


def _references(c: Overview) -> Iterator[str]:
    for name, what in (
        ("random (expected)", "Answering at random"),
        ("none of the above", "Always answering “none of the above”"),
    ):
        if name in c.baselines and not np.isnan(value := c.measure(c.baselines[name][0])):
            beat = int(above(c.scores, value).sum())
            yield f"{what} would give {value:.2f}: {beat} of {plural(len(c.runs), 'run')} beat it."


def _tests(c: Overview) -> Iterator[str]:
    passed = [count for count in tests_passed(c) if count is not None]
    if c.result.test_by is None or len(passed) < len(c.runs):
        return  # there are no tests, or a blind phase hides some scores
    tests, best = plural(len(c.slices[c.result.test_by].names), "test"), max(passed)
    runs = [run for run, count in zip(c.runs, passed, strict=True) if count == best]
    whom = listed(runs) if len(runs) <= 3 else some_of(runs)
    most = f", and {whom} passed the most ({best})" if best else ""
    yield (
        f"A test is passed with a {c.measure} of {c.result.pass_mark:g}: "
        f"{plural(passed.count(0), 'run')} passed none of the {tests}{most}."
    )


def _slices(c: Overview) -> Iterator[str]:
    for attribute, s in c.slices.items():
        means = over_runs(c.slice_scores[attribute])["mean"]
        if attribute == c.result.test_by or len(s.names) < 2 or np.isnan(means).all():
            continue
        high, low = int(np.nanargmax(means)), int(np.nanargmin(means))
        if means[high] > means[low]:
            yield (
                f"By {attribute}, the mean {c.measure} is highest for "
                f"{s.names[high]} ({means[high]:.2f}) and lowest for {s.names[low]} "
                f"({means[low]:.2f})."
            )


def _blanks(c: Overview) -> str:
    total = Counts(*c.overall.table.sum(axis=0).astype(float))
    if not total.unanswered:
        return "No run left a question blank."
    text = (
        f"{plural(int((c.overall.unanswered > 0).sum()), 'run')} left questions blank, "
        f"{plural(int(total.unanswered), 'response')} in all "
        f"({100 * total.unanswered / total.n:.1f} %)"
    )
    if candidates := total.unanswered_right + total.unanswered_wrong:
        text += (
            f"; of the {candidates:,.0f} that came with a candidate, "
            f"{100 * total.unanswered_wrong / candidates:.1f} % were rightly held back"
        )
    return text + "."


def _pairs(c: Overview) -> Iterator[str]:
    if c.pairs is None:
        return
    t = c.pairs.counts(c.pairs.everything)
    change = "" if t.change is None else f" ({t.change:+.0f} %)"
    yield (
        f"In {plural(t.pairs, 'pair')} of a main and an auxiliary question, the main question "
        f"was answered right {t.main_right:,} times and the auxiliary one {t.auxiliary_right:,} "
        f"times{change}; in {plural(t.better, 'pair')}, more runs got the auxiliary question right."
    )
    more = (c.pairs.auxiliary_right - c.pairs.main_right).mean()
    yield (
        f"On average, {abs(more):.2f} {'fewer' if more < 0 else 'more'} runs get the auxiliary "
        f"question right than its main question ({100 * abs(more) / len(c.runs):.2f} % of the "
        f"{plural(len(c.runs), 'run')})."
    )
    if ROLE in c.slices:
        means = over_runs(c.slice_scores[ROLE])["mean"].tolist()
        mean = dict(zip(c.slices[ROLE].names, means, strict=True))
        change = mean.get("auxiliary", np.nan) - mean.get("main", np.nan)
        if not np.isnan(change):
            yield (
                f"Over all runs the mean {c.measure} is {mean['main']:.2f} on main questions and "
                f"{mean['auxiliary']:.2f} on auxiliary ones, a change of {change:+.2f}."
            )
