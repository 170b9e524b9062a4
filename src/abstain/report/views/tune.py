"""How tuned thresholds look."""

from __future__ import annotations

from typing import Any

from abstain.analyses.tune.result import Standing, Tuned, TuneResult
from abstain.errors import plural
from abstain.report import view, words
from abstain.report.charts import chart, points
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.shared import page_of

BEST_OF_ONE = "best single threshold"
"""With thresholds by slice the best one threshold, in hindsight, is no limit to them."""


class View(view.View[TuneResult]):
    """Each run: everything answered, as submitted, with the threshold, the best in hindsight."""

    def tables(self, **options: Any) -> list[Grid]:
        """One table: what each run would score, judged where its threshold had no say."""
        columns = [
            *(Column("run"), Column("what"), Column("threshold")),
            *(Column(name, "score") for name in (self.result.measure, "risk", "coverage")),
            *(Column(n, "count", joined=n != "right") for n in ("right", "wrong", "blank")),
        ]
        grid = Grid(columns, [], notes=self._notes())
        for own in self.result.runs:
            grid.breaks.add(len(grid.rows))
            for what, threshold, standing in self._standings(own):
                if standing is own.best_in_hindsight:
                    grid.dim.add(len(grid.rows))
                k = standing.counts
                grid.rows.append(
                    [
                        *(own.run, what, threshold),
                        *(standing.score, standing.risk, standing.coverage),
                        *(k.right, k.wrong, k.unanswered),
                    ]
                )
        return [grid]

    def _standings(self, own: Tuned) -> list[tuple[str, Cell, Standing]]:
        found: list[tuple[str, Cell, Standing]] = [("answer everything", "", own.answer_everything)]
        if own.as_submitted.numbers != own.answer_everything.numbers:
            found.append(("as submitted", "", own.as_submitted))
        threshold: Cell = words.NOTHING
        if self.result.by:
            threshold = f"{_text(own.threshold)}, per {self.result.by}"
        elif own.threshold is not None:
            threshold = words.threshold_cell(own.threshold)
        found.append(("with a threshold", threshold, own.judged))
        best = BEST_OF_ONE if self.result.by else "best in hindsight"
        return [*found, (best, "", own.best_in_hindsight)]

    def line(self) -> str:
        return f"<TuneResult: {plural(len(self.result.runs), 'run')}, {self._aim()}>"

    def _notes(self) -> list[str]:
        """How it was tuned and judged, what was gained, what was avoided."""
        result = self.result
        said = [f"{self._judged_how()} Aim: {self._aim()}."]
        for own in result.runs:
            said += self._gained(own)
            if own.thresholds:
                each = ", ".join(f"{k} {_text(v)}" for k, v in own.thresholds.items())
                said.append(f"{own.run}, per {result.by}: {each} (shrink {result.shrink:g}).")
        if result.by:
            said.append(
                f"{BEST_OF_ONE}: chosen in hindsight; a threshold for each {result.by} may beat it."
            )
        chosen = [own.threshold for own in result.runs]
        chosen += [part.threshold for own in result.runs for part in own.parts]
        if result.aim.risk is not None and any(threshold is not None for threshold in chosen):
            said.append(self._promise())
        said += [words.sentence(note) for note in words.few([*result.notes, *self._warnings()])]
        return said + words.policy_words(result.policy, result.touched)

    def _aim(self) -> str:
        aim = self.result.aim
        if aim.risk is None:
            return f"maximise {aim.maximise}"
        what = "risk seen on the next questions" if aim.next_questions else "risk"
        return f"{what} ≤ {aim.risk:g} with confidence {aim.level:g}"

    def _judged_how(self) -> str:
        split, size = self.result.split, self.result.questions
        first = self.result.runs[0].parts[0]
        if split.judged_on is not None:
            rest = plural(size - first.tuned_on, "question")
            tuned = plural(first.tuned_on, "question")
            return f"Tuned on {tuned}, judged on {rest} of {split.judged_on}."
        if split.tuned_on:
            named = " and ".join(f"{name} '{value}'" for name, value in split.tuned_on.items())
            return (
                f"Tuned on the {first.tuned_on:,} questions with {named}, judged on the other "
                f"{size - first.tuned_on:,}."
            )
        times = f", {split.repeats} times" if (split.repeats or 1) > 1 else ""
        whole = f" that keep clusters ({self.result.cluster}) whole" if self.result.cluster else ""
        return (
            f"{plural(size, 'question')} in {split.folds} folds{whole}{times} "
            f"(seed {self.result.seed}): each fold is judged with a threshold tuned on the other "
            "folds."
        )

    def _gained(self, own: Tuned) -> list[str]:
        result = self.result
        if result.aim.risk is not None:
            return self._of_risk(own, result.aim.risk)
        if own.gain is None or own.optimism_avoided is None:
            return []
        return [
            f"{own.run}: the threshold gains {_points(own.gain)} of {result.measure} over "
            f"answering everything, on questions it was not tuned on{_within(own)}. On the "
            "questions that it was tuned on, it would look "
            f"{_better(own.optimism_avoided)}."
        ]

    def _of_risk(self, own: Tuned, risk: float) -> list[str]:
        """What became of a bound, on questions that had no say; nothing where all is silence."""
        if own.judged.risk is None or own.kept is None:
            return []
        said = [
            f"{own.run}: on the judged questions, the share of wrong answers is "
            f"{own.judged.risk:.4f}; if the run answered everything, the share would be "
            f"{own.answer_everything.risk or 0:.4f}. On the questions that the threshold was tuned "
            f"on, the share would look {_better(own.risk_optimism_avoided or 0.0)}."
        ]
        kept, bound = own.kept, f"at most {risk:g}"
        test = "test by clusters" if self.result.cluster else "exact binomial test"
        above = f"{own.run}: the share of wrong answers on the judged questions is more than"
        if kept.parts == 1:
            if not kept.seen and self.result.cluster:
                shown = "contradicts" if kept.refuted else "does not contradict"
                said.append(f"{above} {risk:g}; this {shown} the bound ({test}, 5 % level).")
            elif not kept.seen:
                said.append(
                    f"{above} {risk:g}; if the risk were {risk:g}, the probability of this many "
                    f"wrong answers or more would be {kept.chance or 0:.3f} ({test})."
                )
            return said
        silent = f" (in {kept.silent} of these the run answers nothing)" if kept.silent else ""
        if self.result.aim.next_questions:
            said.append(
                f"{own.run}: on the judged questions, the share of wrong answers was {bound} in "
                f"{kept.seen} of {kept.parts} parts{silent}."
            )
        else:
            against = plural(kept.refuted, "part")
            said.append(
                f"{own.run}: on the tuning and the judged questions together, the share of wrong "
                f"answers was {bound} in {kept.over_all} of {kept.parts} parts{silent}; on the "
                f"judged questions alone, in {plural(kept.seen, 'part')}. In {against} "
                f"the answers to the judged questions contradict the bound ({test}, 5 % level)."
            )
        return said

    def _promise(self) -> str:
        result = self.result
        aim = result.aim
        units = f"clusters ({result.cluster})" if result.cluster else "questions"
        sure = f"with a probability of at least {aim.level:g}"
        if aim.next_questions:
            size = result.questions - result.runs[0].parts[0].tuned_on
            return (
                f"Of the answers to the next {plural(size, 'question')} of this kind, the share of "
                f"wrong ones is at most {aim.risk:g}, {sure} (over the random choice of both the "
                f"{units} tuned on and the new ones)."
            )
        return (
            f"The expected share of wrong answers is at most {aim.risk:g}, {sure} (over the random "
            f"choice of the {units} tuned on). On few questions the observed share varies around "
            "the expected one; a bound for the next questions (`abstain tune --next`) covers this "
            "too."
        )

    def _warnings(self) -> list[str]:
        """Answers that no threshold gives, and runs that should answer nothing."""
        found = []
        for own in self.result.runs:
            if own.without_confidence:
                have = plural(own.without_confidence, "answer has", "answers have")
                found.append(
                    f"run '{own.run}': {have} no confidence and would be left blank by every "
                    "threshold, even by the one that is best in hindsight"
                )
            if own.threshold is None:
                found.append(self._why_silent(own))
        return found

    def _why_silent(self, own: Tuned) -> str:
        aim = self.result.aim
        if aim.risk is None:
            return f"run '{own.run}' scores best if it answers nothing"
        fewest = self.result.fewest
        needed = (
            f"the answers must carry as much information as at least {fewest} independent ones"
            if self.result.cluster
            else f"at least {fewest} answers are needed"
        )
        why = "" if aim.next_questions else f" (even if all are right, {needed})"
        return (
            f"run '{own.run}' should answer nothing: none of the thresholds that were tried keeps "
            f"the risk at or below {aim.risk:g} with enough certainty{why}"
        )

    def charts(self) -> dict[str, dict[str, Any]]:
        """What each run would score, by what it answers."""
        return {"standings": self._figure(chart_title="Tuned and judged").spec}

    def _figure(self, *, chart_title: str = "") -> Figure:
        rows: list[dict[str, Any]] = []
        for own in self.result.runs:
            for what, _, standing in self._standings(own):
                if standing.score is not None:
                    rows.append({"run": own.run, "what": what, self.result.measure: standing.score})
        names = list(dict.fromkeys(own.run for own in self.result.runs))
        titles: dict[str, Any] = {"x_title": self.result.measure, "y_title": " "}
        dots = points(
            self.result.measure, "run", sort=names, y_type="nominal", colour="what", **titles
        )
        dots["mark"] |= {"size": 60, "opacity": 1}
        dots["encoding"]["color"] |= {"sort": None, "title": None}
        spec = chart(chart_title, rows, [dots], height=max(80, 24 * len(names)))
        caption = f"{self.result.measure} on questions that were not used to choose the threshold."
        return Figure("standings", caption, spec, title="With a threshold and without")

    def page(self) -> Page:
        """The thresholds, what they are worth, and every part."""
        result = self.result
        (grid,) = self.tables()
        said, grid.notes = list(grid.notes), []
        parts = result.to_frame("parts")
        columns = [
            Column(name, "text" if name in ("run", "threshold") else "score")
            for name in parts.columns
        ]
        cells: list[list[Cell]] = [
            [_text(value) if name == "threshold" else value for name, value in row.items()]
            for row in parts.rows(named=True)
        ]
        reading = "In each part, a threshold is tuned once and judged once."
        every = PageTable("parts", "Every part", reading, Grid(columns, cells), filters=("run",))
        section = Section(
            "thresholds",
            "Thresholds",
            said=said,
            tables=[PageTable("results", "Thresholds", "", grid, filters=("run", "what"))],
            figures=[self._figure()],
            folded=[every],
        )
        return page_of(
            result,
            f"The threshold to abstain at: {plural(len(result.runs), 'run')}",
            said[:2][-1],
            [section],
            ("questions", f"{result.questions:,}"),
            ("aim", self._aim()),
        )


def _text(value: float | None) -> str:
    return words.NOTHING if value is None else words.threshold_text(value)


def _within(own: Tuned) -> str:
    """The interval of a gain, and what it means where it covers 0."""
    low, high = own.gain_interval
    if low is None or high is None:
        return ""
    ends = " to ".join(f"{100 * end:+.1f}".replace("-", "−") for end in (low, high))
    told = "; this may be chance" if own.by_chance else ""
    return f" (95 % interval {ends} points{told})"


def _points(value: float) -> str:
    return f"{100 * value:+.2f} points".replace("-", "−")


def _better(value: float) -> str:
    """How the tuning questions would look, which is no result.

    >>> _better(0.0162)
    '1.62 points better: that is optimism, not a result'
    >>> _better(-0.0162)
    '1.62 points worse: that is not a result'
    """
    what = "better: that is optimism, not a result" if value >= 0 else "worse: that is not a result"
    return f"{100 * abs(value):.2f} points {what}"
