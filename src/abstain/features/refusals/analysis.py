"""What the rules find in the text of responses, and how often verdicts made with them err."""

from collections.abc import Sequence
from typing import Annotated, Any, Unpack

import msgspec
import numpy as np
import polars as pl

from abstain.errors import InputError, UsageError, option, plural, shown
from abstain.io.frames import collect, into_lazy, open_table, require, text_column
from abstain.outcomes import VERDICTS, Policy
from abstain.reading import Reading, ReadingOptions
from abstain.report import view
from abstain.report.grid import Column, Grid, frame_of_rows
from abstain.report.result import Facts, Result
from abstain.report.view import sentence
from abstain.runs.evaluation import refuse_undecided_rows
from abstain.runs.grades import grade_rows
from abstain.runs.judge import KIND
from abstain.runs.refusals import language
from abstain.runs.responses import RULE, Responses, opened_runs


class Rule(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A rule by which a text declines."""

    rule: str
    pattern: str
    unless: str
    """What must not follow."""
    whole: bool
    """Whether it looks at all of the text, not only at how it begins."""
    example: str
    counter: str
    """A text that it leaves alone."""

    @property
    def looks_at(self) -> Annotated[str, Column("looks at")]:
        return "all of it" if self.whole else "how it begins"


class Hit(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A response that declines."""

    run: str
    question: str | None
    rule: str
    text: str | None


class Confusion(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """What responses of one true outcome were judged."""

    true: str
    right: Annotated[int, Column(kind="count")]
    wrong: Annotated[int, Column(kind="count")]
    blank: Annotated[int, Column(kind="count")]


class RefusalsResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="refusals"):
    """Responses that decline, the rules, or how often verdicts made with the rules err."""

    languages: tuple[str, ...]
    responses: int | None = None
    refusals: int | None = None
    by_rule: dict[str, int] = {}
    """How many texts each rule matches, the most frequent first."""
    hits: tuple[Hit, ...] = msgspec.field(default_factory=lambda: ())  # written if empty too
    openings: dict[str, str] = {}
    """What may stand before a rule's words, by language."""
    hedges: dict[str, str] = {}
    """What makes a text an answer after all, by language."""
    rules: tuple[Rule, ...] = ()
    checked: int | None = None
    """Responses that were checked by hand."""
    judged_otherwise: int | None = None
    confusion: tuple[Confusion, ...] = ()

    def _frame(self, table: str) -> pl.DataFrame:
        kind = Confusion if self.confusion else Rule if self.rules else Hit
        rows: tuple[Facts, ...] = self.confusion or self.rules or self.hits
        return frame_of_rows(kind, rows, *kind.__struct_fields__)


def refusals(
    files: Any = (),
    *,
    languages: str | Sequence[str] = "all",
    rules: bool = False,
    check: Any = None,
    **options: Unpack[ReadingOptions],
) -> RefusalsResult:
    """List the responses whose text declines to answer, or measure how often the rules err.

    Args:
        files: Runs or logs with the text of their responses, as `read` takes runs.
        languages: Those in which refusals are looked for: `"en,de"` or `"all"`.
        rules: Whether to list the rules instead.
        check: A table of rows checked by hand (question, true: right, wrong or blank; perhaps
            run): then the result is how they were judged.
        options: Those of `read` that are about files and refusals, and `policy` with `check`.

    >>> run = pl.DataFrame({"question": ["q1", "q2"], "answer": ["I don't know.", "Paris"]})
    >>> refusals(run, languages="en").by_rule
    {'en/do-not-know': 1}
    """
    reading = Reading.of(**{**options, "detect_refusals": languages})  # type: ignore[arg-type]
    wanted = reading.detect_refusals
    if rules:
        return _rules(wanted)
    if isinstance(files, Sequence) and not isinstance(files, str) and not len(files):
        raise UsageError(f"name a run or a log, or say {option('rules')}")
    sources = opened_runs(files, reading)
    notes = tuple(note for source in sources for note in source.table.notes)
    if check is not None:
        return _checked(sources, check, reading, notes)
    every = pl.concat([_rows(source) for source in sources])
    hits = every.filter(pl.col(RULE).is_not_null())
    counted = hits.group_by(RULE).len().sort("len", RULE, descending=[True, False])
    return RefusalsResult(
        reading=reading,
        notes=notes,
        languages=wanted,
        responses=every.height,
        refusals=hits.height,
        by_rule=dict(counted.iter_rows()),
        hits=tuple(Hit(**row) for row in hits.rename({RULE: "rule"}).iter_rows(named=True)),
    )


def _rules(languages: Sequence[str]) -> RefusalsResult:
    return RefusalsResult(
        languages=tuple(languages),
        openings={code: language(code).openings for code in languages},
        hedges={code: language(code).hedges for code in languages},
        rules=tuple(
            Rule(rule=rule.name, **{n: getattr(rule, n) for n in Rule.__struct_fields__[1:]})
            for code in languages
            for rule in language(code).rules
        ),
    )


def _checked(
    sources: Sequence[Responses], check: Any, reading: Reading, notes: tuple[str, ...]
) -> RefusalsResult:
    """Verdicts with the rules at work against a hand-checked sample.

    A response counts as it does for `score`: by the policy, which leaves some out.
    """
    truth = open_table(check, name="the table to check by")
    columns = {"question": "which names each question", "true": "which holds the true outcome"}
    require(truth, columns)
    keys = ["question", *(["run"] if "run" in truth.columns else [])]
    texts = [pl.col(key).cast(pl.String) for key in keys]
    word = pl.col("true").cast(pl.String).str.strip_chars().str.to_lowercase()
    checked = collect(into_lazy(truth.frame), truth.name).with_columns(*texts, true=word)
    judged = pl.concat([_verdicts(source, reading.rules()) for source in sources])
    if keys == ["question"] and judged["run"].n_unique() > 1:
        raise InputError("has no column 'run', but the files have several runs", truth.name)
    joined = checked.join(judged, on=keys, how="left")
    known = pl.col("true").is_in(VERDICTS).fill_null(value=False)
    for faulty, problem in (
        (checked.filter(pl.struct(keys).is_duplicated()), "appears twice"),
        (joined.filter(pl.col("judged").is_null()), "has no verdict in the files"),
        (checked.filter(~known), f"'true' must be one of {', '.join(VERDICTS)}"),
    ):
        if faulty.height:
            question, true = shown(str(faulty["question"][0])), shown(str(faulty["true"][0]))
            raise InputError(f"question {question} ({true}): {problem}", truth.name)
    counted = {(t, j): n for t, j, n in joined.group_by("true", "judged").len().iter_rows()}
    counts = {t: {j: counted.get((t, j), 0) for j in VERDICTS} for t in VERDICTS}
    total = sum(sum(row.values()) for row in counts.values())
    return RefusalsResult(
        reading=reading,
        notes=notes,
        policy=reading.rules().to_dict(),
        languages=reading.detect_refusals,
        checked=total,
        judged_otherwise=total - sum(counts[word][word] for word in VERDICTS),
        confusion=tuple(Confusion(true=t, **row) for t, row in counts.items()),
    )


def _rows(source: Responses) -> pl.DataFrame:
    table = source.table
    require(table, {"question": "which names each question"})
    if RULE not in table.columns:
        raise InputError(
            "has no text of responses to look at (a column 'response' or 'answer')", table.name
        )
    rows = into_lazy(table.frame)
    names = ["question", *(["run"] if source.run is None else [])]
    texts = [text_column(rows, name, table.name).alias(name) for name in names]
    frame = collect(rows.with_columns(*texts), table.name)
    run = pl.col("run") if source.run is None else pl.lit(source.run).alias("run")
    return frame.select(run, "question", RULE, pl.col("response").alias("text"))


def _verdicts(source: Responses, policy: Policy) -> pl.DataFrame:
    needed = {
        "question": "which names each question",
        "outcome": "without which there is no verdict to check",
    }
    require(source.table, needed)
    rows = grade_rows(source)
    refuse_undecided_rows(rows, policy)
    ends = policy.outcomes(excluded=-1)
    words = np.where(ends < 0, "excluded", np.array(VERDICTS)[np.clip(ends, 0, 2)])
    verdict = pl.Series("judged", words[rows[KIND].to_numpy()])
    return rows.select("run", "question").with_columns(verdict)


class View(view.View[RefusalsResult]):
    def tables(self, *, most: int = 50, **options: Any) -> list[Grid]:
        if self.result.confusion:
            return [self._confusion()]
        return [self._rules() if self.result.rules else self._hits(most)]

    def title(self) -> str:
        return "Refusals found in text"

    def _hits(self, most: int) -> Grid:
        hits = self.result.hits[: most or None]
        grid = Grid.of_rows(Hit, hits, "run", "question", "rule", "text")
        grid.notes = [sentence(note) for note in self.result.notes]
        if counted := self.result.by_rule:
            rules = ", ".join(f"{rule} {count:,}" for rule, count in counted.items())
            grid.notes.append(f"{rules}.")
        if more := len(self.result.hits) - len(hits):
            grid.notes.append(f"{more:,} more; --most 0 (in Python: most=0) shows all.")
        return grid

    def _rules(self) -> Grid:
        grid = Grid.of_rows(Rule, self.result.rules, "rule", "looks_at", "example")
        grid.notes = [f"{plural(len(self.result.rules), 'rule')}; JSON has the patterns."]
        return grid

    def _confusion(self) -> Grid:
        grid = Grid.of_rows(Confusion, self.result.confusion, "true", *VERDICTS)
        grid.notes = [
            f"{plural(self.result.checked or 0, 'response')} checked by hand; the verdict in the "
            f"files was different for {self.result.judged_otherwise or 0:,} of them.",
            "As CSV this is what `abstain compare --judge-error` takes.",
        ]
        return grid
