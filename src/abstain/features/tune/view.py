"""How tuned thresholds look."""

from __future__ import annotations

from typing import Any

from abstain.errors import plural
from abstain.features.tune.result import Standing, Tuned, TuneResult
from abstain.report import view
from abstain.report.charts import chart, points
from abstain.report.grid import Cell, Column, Grid


class View(view.View[TuneResult]):
    """Each run: everything answered, as submitted, with the threshold, the best in hindsight."""

    def title(self) -> str:
        return f"The threshold to abstain at: {plural(len(self.result.runs), 'run')}"

    def tables(self, **options: Any) -> list[Grid]:
        """One table: what each run would score, judged where its threshold had no say."""
        columns = [
            *(Column("run"), Column("what"), Column("threshold")),
            *(Column(name, "score") for name in (self.result.measure, "risk", "coverage")),
            *(Column(n, "count", joined=n != "right") for n in ("right", "wrong", "blank")),
        ]
        grid = Grid(columns, [], notes=self._notes())
        for tuned in self.result.runs:
            grid.breaks.add(len(grid.rows))
            for what, threshold, standing in self._standings(tuned):
                if standing is tuned.best_in_hindsight:
                    grid.dim.add(len(grid.rows))
                k = standing.counts
                shares = (standing.score, standing.risk, standing.coverage)
                outcomes = (k.right, k.wrong, k.unanswered)
                grid.rows.append([tuned.run, what, threshold, *shares, *outcomes])
        return [grid]

    def _standings(self, tuned: Tuned) -> list[tuple[str, Cell, Standing]]:
        by, threshold = self.result.by, tuned.threshold
        cell: Cell = view.NOTHING if threshold is None else view.threshold_cell(threshold)
        standings: list[tuple[str, Cell, Standing]] = [
            ("answer everything", "", tuned.answer_everything),
            ("as submitted", "", tuned.as_submitted),
            ("with a threshold", f"{_text(threshold)}, per {by}" if by else cell, tuned.judged),
            ("best single threshold" if by else "best in hindsight", "", tuned.best_in_hindsight),
        ]
        if tuned.as_submitted.numbers == tuned.answer_everything.numbers:
            del standings[1]
        return standings

    def _notes(self) -> list[str]:
        """How it was tuned and judged, what was gained or kept, what is promised."""
        result, risk = self.result, self.result.aim.risk
        notes = [self._judged_how()]
        for tuned in result.runs:
            text = self._gained(tuned) if risk is None else self._kept(tuned, risk)
            notes += [f"{tuned.run}: {text}"] if text else []
            if tuned.thresholds:
                each = ", ".join(f"{k} {_text(v)}" for k, v in tuned.thresholds.items())
                notes.append(f"{tuned.run}, per {result.by}: {each} (shrink {result.shrink:g}).")
        answers = any(part.threshold is not None for tuned in result.runs for part in tuned.parts)
        notes += [self._promise(risk)] if answers and risk is not None else []
        notes += map(view.sentence, view.few([*result.notes, *self._warnings()]))
        return notes + view.policy_words(result.policy, result.touched)

    def _judged_how(self) -> str:
        """Which questions were tuned on and judged, and for what."""
        result, split, aim = self.result, self.result.split, self.result.aim
        sought = f"maximise {aim.maximise}"
        if aim.risk is not None:
            what = "risk seen on the next questions" if aim.next_questions else "risk"
            sought = f"{what} ≤ {aim.risk:g} with confidence {aim.level:g}"
        if split.tuned_on:
            on = result.runs[0].parts[0].tuned_on
            values = " and ".join(f"{name} '{value}'" for name, value in split.tuned_on.items())
            others = f" of {split.judged_on}" if split.judged_on else ""
            how = f"Tuned on {plural(on, 'question')} with {values}, judged on "
            return f"{how}{plural(result.questions - on, 'question')}{others}. Aim: {sought}."
        times = f", {split.repeats} times" if (split.repeats or 1) > 1 else ""
        whole = f" that keep clusters ({result.cluster}) whole" if result.cluster else ""
        return (
            f"{plural(result.questions, 'question')} in {split.folds} folds{whole}{times} (seed "
            f"{result.seed}): each fold is judged with a threshold tuned on the other folds. "
            f"Aim: {sought}."
        )

    def _gained(self, tuned: Tuned) -> str:
        """What a threshold gains, with its interval, and the optimism that was avoided."""
        if tuned.gain is None or tuned.optimism_avoided is None:
            return ""
        (low, high), within = tuned.gain_interval, ""
        if low is not None and high is not None:
            chance = "; this may be chance" if low <= 0 <= high else ""
            within = f" (95 % interval {_points(low, 1)} to {_points(high, 1)}{chance})"
        return (
            f"the threshold gains {_points(tuned.gain)} points of {self.result.measure} over "
            f"answering everything{within}. Optimism avoided: {_points(tuned.optimism_avoided)} "
            "points."
        )

    def _kept(self, tuned: Tuned, risk: float) -> str:
        """What became of a bound, on questions that had no say; nothing where all is silence."""
        kept, next_questions = tuned.kept, self.result.aim.next_questions
        if tuned.judged.risk is None or kept is None:
            return ""
        held = kept.seen if next_questions else kept.over_all
        silent = f", answering nothing in {kept.silent}" if kept.silent else ""
        against = ""
        if not next_questions:
            test = "test by clusters" if self.result.cluster else "exact binomial test"
            chance = "" if kept.chance is None else f", p = {kept.chance:.3f}"
            against = f"; {kept.refuted} contradict the bound ({test}, 5 % level{chance})"
        return (
            f"risk {tuned.judged.risk:.4f} on the judged questions (answering everything: "
            f"{tuned.answer_everything.risk or 0:.4f}). Optimism avoided: "
            f"{_points(tuned.risk_optimism_avoided or 0.0)} points. At most {risk:g} on "
            f"{'the judged' if next_questions else 'all'} questions in {held} of "
            f"{plural(kept.parts, 'part')}{silent}{against}."
        )

    def _promise(self, risk: float) -> str:
        """What a bound promises, and over what."""
        result, aim = self.result, self.result.aim
        units = f"clusters ({result.cluster})" if result.cluster else "questions"
        what, more, also = "The expected share of wrong answers", "", ""
        if aim.next_questions:
            size = plural(result.questions - result.runs[0].parts[0].tuned_on, "question")
            what = f"The share of wrong answers to the next {size} of this kind"
            more = " and the next"
        else:
            also = "; the observed share varies around it, and `abstain tune --next` bounds that"
        return (
            f"{what} is at most {risk:g}, with a probability of at least {aim.level:g} (over the "
            f"{units} tuned on{more}){also}."
        )

    def _warnings(self) -> list[str]:
        """Answers that no threshold gives, and runs that should answer nothing."""
        result, warnings = self.result, []
        why = "it scores best so"
        if result.aim.risk is not None:
            unit = "independent answer" if result.cluster else "answer"
            least = plural(result.fewest or 0, unit)
            why = (
                f"no threshold surely keeps a risk of {result.aim.risk:g} (at least {least} needed)"
            )
        for tuned in result.runs:
            if tuned.without_confidence:
                have = plural(tuned.without_confidence, "answer has", "answers have")
                warnings.append(f"run '{tuned.run}': {have} no confidence and are left blank")
            if tuned.threshold is None:
                warnings.append(f"run '{tuned.run}' should answer nothing: {why}")
        return warnings

    def charts(self) -> dict[str, dict[str, Any]]:
        """What each run would score, by what it answers."""
        measure, runs = self.result.measure, self.result.runs
        rows = [
            {"run": tuned.run, "what": what, measure: standing.score}
            for tuned in runs
            for what, _, standing in self._standings(tuned)
            if standing.score is not None
        ]
        names = [tuned.run for tuned in runs]
        titles: dict[str, Any] = {"x_title": measure, "y_title": " "}
        dots = points(measure, "run", sort=names, y_type="nominal", colour="what", **titles)
        dots["mark"] |= {"size": 60, "opacity": 1}
        dots["encoding"]["color"] |= {"sort": None, "title": None}
        height = max(80, 24 * len(names))
        return {"standings": chart("Tuned and judged", rows, [dots], height=height)}


def _text(value: float | None) -> str:
    return view.NOTHING if value is None else view.threshold_text(value)


def _points(value: float, digits: int = 2) -> str:
    """A share in points of a hundred, with its sign.

    >>> _points(-0.0162)
    '−1.62'
    """
    return f"{100 * value:+.{digits}f}".replace("-", "−")
