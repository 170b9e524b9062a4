"""Tuned thresholds as tables."""

from __future__ import annotations

import math

from abstain.analyses.tune.bounds import KeepNext, KeepRisk
from abstain.analyses.tune.tuned import Standing, Tuned, TuneResult
from abstain.errors import plural
from abstain.report.curves import few, threshold_cell, threshold_text
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import policy_sentence, sentence

BEST_OF_ONE = "best of one"
"""With thresholds by slice the best one threshold, in hindsight, is no limit to them."""


def tune_grid(result: TuneResult) -> Grid:
    """Each run: everything answered, as submitted, with the threshold, the best in hindsight."""
    name = str(result.measure)
    columns = [
        *(Column("run"), Column("what"), Column("threshold"), Column(name, "score")),
        *(Column("risk", "score"), Column("coverage", "score")),
        *(Column("right", "count"), Column("wrong", "count"), Column("blank", "count")),
    ]
    rows: list[list[Cell]] = []
    dim: set[int] = set()
    breaks: set[int] = set()
    for own in result.runs:
        breaks.add(len(rows))
        kinds: list[tuple[str, Cell, Standing]] = [("answer everything", "", own.everything)]
        if own.submitted.counts != own.everything.counts:
            kinds.append(("as submitted", "", own.submitted))
        kinds.append(("with a threshold", _threshold_cell(own), own.judged))
        best = BEST_OF_ONE if result.per else "best in hindsight"
        kinds.append((best, "", own.hindsight))
        for what, threshold, standing in kinds:
            if what == best:
                dim.add(len(rows))
            k = standing.counts
            rows.append(
                [
                    *(own.run, what, threshold, standing.score, standing.risk, standing.coverage),
                    *(k.right, k.wrong, k.unanswered),
                ]
            )
    return Grid(columns, rows, notes=tune_notes(result), dim=dim, breaks=breaks)


def _threshold_cell(own: Tuned) -> Cell:
    value, per = own.threshold.value, own.threshold.per
    return f"{threshold_text(value)}, per {per}" if per else threshold_cell(value)


def tune_notes(result: TuneResult) -> list[str]:
    """How it was tuned and judged, what was gained, what was avoided."""
    said = [f"{_judged_how(result)} Aim: {result.aim}."]
    for own in result.runs:
        if isinstance(result.aim, KeepRisk):
            said += _of_risk(own, result.aim)
        elif not math.isnan(own.judged.score):
            said.append(
                f"{own.run}: the threshold is worth {_points(own.gain)} of {result.measure} "
                f"against answering everything, on questions it was not tuned on. On those it was "
                f"tuned on it would have looked {_better(own.optimism)}: optimism, not a result."
            )
        if own.threshold.per:
            each = ", ".join(f"{k} {threshold_text(v)}" for k, v in own.threshold.values.items())
            said.append(f"{own.run}, per {own.threshold.per}: {each} (shrink {result.shrink:g}).")
    if result.per:
        said.append(f"{BEST_OF_ONE}: the best single threshold, in hindsight; several may beat it.")
    if isinstance(result.aim, KeepRisk) and any(_answers(own) for own in result.runs):
        said.append(_promise(result))
    said += [sentence(note) for note in few(result.notes)]
    if result.matrix.touched:
        said.append(policy_sentence(result.matrix.policy, result.matrix.touched))
    return said


def _of_risk(own: Tuned, aim: KeepRisk) -> list[str]:
    """What became of a bound, on questions that had no say; nothing where all is silence."""
    if math.isnan(own.judged.risk):
        return []
    said = [
        f"{own.run}: judged, a share {own.judged.risk:.4f} of its answers is wrong; answering "
        f"everything, {own.everything.risk:.4f}. On the questions it was tuned on it would have "
        f"looked {_better(own.judged.risk - own.tuned_risk)}: optimism, not a result."
    ]
    kept, bound = own.kept(aim), f"at most {aim.alpha:g}"
    if kept.parts == 1:
        counts = own.judged.counts
        if not kept.seen:
            chance = aim.chance(counts.wrong, counts.answered)
            said.append(
                f"{own.run}: that is more than {aim.alpha:g}; at a risk of {aim.alpha:g} so many "
                f"wrong answers or more have a chance of {chance:.3f} (exact binomial test)."
            )
        return said
    silent = f" (answering nothing in {kept.silent})" if kept.silent else ""
    seen = f"{bound} of the judged answers {{}} wrong in {kept.seen} of {kept.parts} parts{silent}"
    if isinstance(aim, KeepNext):
        said.append(f"{own.run}: {seen.format('was')}.")
    else:
        said.append(
            f"{own.run}: {bound} of all its answers was wrong in {kept.over_all} of {kept.parts} "
            f"parts{silent}; of the judged ones alone, in {kept.seen}, and in {kept.refuted} they "
            "speak against the bound (exact binomial test, 5 %)."
        )
    return said


def _answers(own: Tuned) -> bool:
    """Whether there is anything to promise: some threshold answers."""
    return any(math.isfinite(t.value) for t in (own.threshold, *(p.threshold for p in own.parts)))


def _promise(result: TuneResult) -> str:
    aim = result.aim
    assert isinstance(aim, KeepRisk)
    sure = f"with a chance of at least {1 - aim.delta:g} over the questions tuned on"
    if isinstance(aim, KeepNext):
        size = result.questions - result.runs[0].parts[0].tuned_on
        return (
            f"Promised, {sure} and those to come: of the answers to the next "
            f"{plural(size, 'question')} of the kind, at most {aim.alpha:g} are wrong."
        )
    return (
        f"Promised, {sure}: a risk of at most {aim.alpha:g}, which is what the share of wrong "
        "answers tends to. What is seen on few questions lies around it; a bound for "
        "the next questions covers that too."
    )


def _points(value: float) -> str:
    return f"{100 * value:+.2f} points".replace("-", "−")


def _better(value: float) -> str:
    return f"{100 * abs(value):.2f} points {'better' if value >= 0 else 'worse'}"


def _judged_how(result: TuneResult) -> str:
    split = result.split
    first = result.runs[0].parts[0]
    size = result.questions
    if split.tune_on is not None:
        rest = plural(size - first.tuned_on, "question")
        return f"Tuned on {plural(first.tuned_on, 'question')}, judged on {rest} of {split.label}."
    if split.attribute is not None:
        return (
            f"Tuned on the {first.tuned_on:,} questions with {split.attribute} '{split.value}', "
            f"judged on the other {size - first.tuned_on:,}."
        )
    times = f", {split.repeats} times" if split.repeats > 1 else ""
    return (
        f"{plural(size, 'question')} in {split.folds} folds{times} (seed {result.seed}): each is "
        "judged with a threshold tuned on the others."
    )
