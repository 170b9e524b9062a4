"""Tables of two tasks with measures of their own: PAN's verification, SQuAD 2's reading."""

from __future__ import annotations

from abstain.analyses.pan import MEASURES, VerificationResult
from abstain.analyses.squad import ReadingResult
from abstain.errors import plural
from abstain.outcomes import Undefined
from abstain.report.grid import Cell, Column, Grid


def verification_grid(result: VerificationResult) -> Grid:
    """A row a system, the best overall first."""
    from abstain.stats.ties import places

    lacking = any(own.missing for own in result.runs)
    columns = [
        Column("#"),
        Column("run"),
        *(Column(name, "score") for name in (*MEASURES, "overall")),
        Column("blank", "count"),
        *([Column("missing", "count")] if lacking else []),
    ]
    ranks = places([own.scores["overall"] for own in result.runs], higher_is_better=True)
    rows: list[list[Cell]] = [
        [
            rank,
            own.run,
            *(own.scores[name] for name in (*MEASURES, "overall")),
            own.blank,
            *([own.missing] if lacking else []),
        ]
        for rank, own in zip(ranks, result.runs, strict=True)
    ]
    four = "AUC, c@1, F1 and F0.5u" if result.year == 2020 else "all five"
    notes = [
        f"{plural(len(result.runs), 'run')}, {plural(result.problems, 'problem')}.",
        f"Overall as in PAN {result.year}: the mean of {four}. Brier is 1 − the Brier score.",
        "A value of 0.5 and a missing problem are no answer (blank).",
    ]
    notes += _why([(own.run, own.scores) for own in result.runs])
    return Grid(columns, rows, notes=notes)


def reading_grid(result: ReadingResult) -> Grid:
    """Two rows a run, exact match and F1: over all questions, with and without an answer."""
    best = "best exact" in result.runs[0].scores
    heads = ["all", "HasAns", "NoAns", *(["best", "best at"] if best else [])]
    columns = [Column("run"), Column("score"), *(Column(name, "score") for name in heads)]
    rows: list[list[Cell]] = []
    for own in result.runs:
        for name in ("exact", "F1"):
            cells = [own.scores[key] for key in (name, f"HasAns {name}", f"NoAns {name}")]
            if best:
                cells += [own.scores[f"best {name}"], own.scores[f"best {name} at"]]
            rows.append([own.run, name, *cells])
    notes = [
        f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}, "
        f"{result.with_answer:,} of them with an answer."
    ]
    if result.threshold is not None:
        notes.append(
            f"An answer is held back where its no-answer probability is above {result.threshold:g}."
        )
    if best:
        notes.append(
            "best: tuned on the questions it is scored on, so no result to report; equal "
            "probabilities change sides together."
        )
        at = [own.scores[f"best {name} at"] for own in result.runs for name in ("exact", "F1")]
        if -1.0 in at:
            notes.append("best at −1: below every probability, so no question is answered.")
    notes += [
        f"{run}: {plural(count, 'question has', 'questions have')} no prediction; each counts "
        "as an empty one."
        for run, count in result.missing.items()
        if count
    ]
    notes += _why([(own.run, own.scores) for own in result.runs])
    return Grid(columns, rows, notes=notes)


def _why(scores: list[tuple[str, dict[str, float]]]) -> list[str]:
    return list(
        dict.fromkeys(
            f"{name} of {run} is undefined: {value.reason}."
            for run, own in scores
            for name, value in own.items()
            if isinstance(value, Undefined)
        )
    )
