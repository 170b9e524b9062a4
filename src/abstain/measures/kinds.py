"""The kinds of measures: of counts, of decisions, of answers with a confidence, of rankings, …

Each kind has its class, and its decorator that declares a function as a measure: `credit` and
`counting`, `deciding`, `confident`, `ranked`, `columnar`. A decorator takes the fields of
`Definition` that the measure needs; the others have defaults. The first line of the function's
docstring is the summary. A measure that is one expression needs no decorated function: its summary
and a lambda follow the name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, overload

from abstain.errors import UsageError, shown
from abstain.measures.definition import (
    NO_ANSWERS,
    NO_CONFIDENCE,
    NO_QUESTIONS,
    NONE_ASKED,
    SPLIT_UNKNOWN,
    CountsLike,
    Definition,
    Numeric,
    Proportion,
    Shares,
    np,
    number_text,
)
from abstain.outcomes import Counts, CountsArray, Decisions, DecisionsArray, Undefined

if TYPE_CHECKING:
    from abstain.measures.answers import Answers
    from abstain.measures.ranked_lists import Floats, RankedLists
    from abstain.outcomes import Array

F = TypeVar("F", bound=Callable[..., Numeric])
Facts: TypeAlias = Mapping[str, Any]
"""Fields of `Definition` by name."""

REGISTRY: dict[str, Definition] = {}
NAMES: dict[str, str] = {}
"""The measure of each name and alias, as `fold` writes it."""
BUILT_IN = "abstain.measures."


def fold(name: str) -> str:
    """A name as it is compared: in any case, with any dash and any prime."""
    folded = name.strip().casefold().replace("_", "-").replace(" ", "-")
    return folded.replace("′", "'").replace("’", "'")


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: a pure function of counts.

    Its text is its identity: `measure(str(m)) == m`.

    >>> from abstain.measures import measure
    >>> str(measure("CREDIT(.25)"))
    'credit(t=0.25)'
    >>> measure("precision")(Counts(unanswered_empty=3))
    undefined (no question was answered)
    """

    name: str
    parameters: tuple[tuple[str, float], ...] = ()
    definition: Definition = field(kw_only=True, compare=False, repr=False)
    MANY: ClassVar[type[CountsArray]] = CountsArray
    """A batch of what it takes."""

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        defaults = {p.name: p.default for p in self.definition.parameters if not p.always}
        cutoffs = {p.name for p in self.definition.parameters if p.cutoff}
        shown = [
            f"{k}={number_text(v)}"
            for k, v in self.parameters
            if v != defaults.get(k) and k not in cutoffs
        ]
        cut = "".join(f"@{number_text(v)}" for k, v in self.parameters if k in cutoffs)
        return (f"{self.name}({', '.join(shown)})" if shown else self.name) + cut

    @property
    def arguments(self) -> dict[str, float]:
        return dict(self.parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        from abstain.measures.registry import measure

        return measure, (str(self),)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.definition.bounds(**self.arguments)

    @property
    def higher_is_better(self) -> bool:
        return self.definition.higher_is_better

    @property
    def ranks_like(self) -> tuple[str, ...]:
        """Measures that order any runs over the same questions exactly as this one does."""
        alike = self.definition.ranks_like(**self.arguments)
        return tuple(name for name in alike if name != str(self))

    @overload
    def __call__(self, counts: CountsArray) -> Array: ...
    @overload
    def __call__(
        self, counts: Counts | Decisions | Answers | Sequence[float], **more: Any
    ) -> float: ...
    def __call__(self, counts: Any, **more: Any) -> Numeric:
        if more:
            raise UsageError(f"{self} takes only counts (got {', '.join(more)} too)")
        return self._evaluate(self.definition.function, counts)

    def kappa(self, counts: Counts | CountsArray) -> Numeric:
        """The credit for a blank, in right answers: M = c + κ·u."""
        return self._of_shares(self.definition.kappa, "κ", counts)

    def break_even(self, counts: Counts | CountsArray) -> Numeric:
        """p*: answering one more blank pays for a system whose chance of being right is above."""
        return self._of_shares(self.definition.break_even, "break-even", counts)

    def why_undefined(self, counts: Any) -> str | None:
        """Why the score of these counts (or answers) does not exist; None when it does."""
        reasons = (rule.reason for rule in self.definition.undefined if rule.when(counts))
        return next(reasons, None)

    def _of_shares(self, function: Shares | None, what: str, counts: Any) -> Numeric:
        if function is None:
            raise UsageError(f"{self} has no {what}: `abstain measures` lists those that have one")
        return self._evaluate(of_shares(function), counts)

    def _evaluate(self, function: Callable[..., Numeric], counts: Any) -> Numeric:
        if type(counts) is self.MANY.ONE:
            return self._one(function, counts)
        if type(counts) is self.MANY:
            return self._many(function, counts, counts.n.shape)
        got, takes = type(counts).__name__, self.MANY.ONE.__name__
        raise UsageError(f"{self} takes {takes}, such as {takes}(right=3, wrong=1) (got {got})")

    def _one(self, function: Callable[..., Numeric], item: Any) -> float:
        if (reason := self.why_undefined(item)) is not None:
            return Undefined(reason)
        value = function(item, **self.arguments)
        return value if isinstance(value, Undefined) else float(value)

    def _many(self, function: Callable[..., Numeric], items: Any, shape: tuple[int, ...]) -> Array:
        rules = (rule.when(items) for rule in self.definition.undefined)
        gone = np.broadcast_to(reduce(np.logical_or, rules, np.False_), shape)
        if gone.all():
            return np.full(shape, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.array(np.broadcast_to(function(items, **self.arguments), shape), np.float64)
        values[gone] = np.nan
        return values


def of_shares(function: Shares) -> Callable[..., Numeric]:
    """A function of shares as one of counts."""

    def of_counts(k: CountsLike, **arguments: float) -> Numeric:
        return function(k.right / k.n, k.wrong / k.n, k.unanswered / k.n, **arguments)

    return of_counts


class DecisionMeasure(Measure):
    """A measure of decisions to answer, on questions that can and that cannot be answered."""

    MANY: ClassVar[type[CountsArray]] = DecisionsArray


class ConfidenceMeasure(Measure):
    """A measure of answers with a confidence: a function of two sequences."""

    def __call__(  # type: ignore[override]
        self, right: Any, confidence: Any = None, **more: Any
    ) -> Numeric:
        """The score of `Answers`, or of right (1, 0) and confidence; rows of a matrix each."""
        from abstain.measures.answers import Answers

        if isinstance(right, Answers):
            return self._of_answers(right)
        if confidence is None:
            raise UsageError(f"{self} takes whether each answer is right and how confident it is")
        if np.ndim(right) == 2:
            rows = zip(right, confidence, strict=True)
            return np.array([self._of_answers(Answers.of(r, c, **more)) for r, c in rows])
        return self._of_answers(Answers.of(right, confidence, **more))

    def _of_answers(self, answers: Answers) -> Numeric:
        if answers.times is None:
            return self._one(self.definition.function, answers)
        return self._many(self.definition.function, answers, np.shape(answers.questions))


class RankingMeasure(Measure):
    """A measure of rankings: a pure function of the gains of the list and of the pool."""

    def __call__(  # type: ignore[override]
        self,
        gains: Sequence[float],
        *,
        pool: int | Sequence[float] | None = None,
        top: float | None = None,
    ) -> float:
        """The score of one ranking: its gains in order.

        `pool` is the number of relevant documents, or their gains; `top` is the grade that counts
        as a gain of 1 (default: the largest, if above 1).
        """
        if pool is None:
            raise UsageError(f"{self} takes gains and what there was to find: pool=3, pool=[1, 1]")
        from abstain.measures.ranked_lists import one

        rankings = one(gains, pool, top=top)
        reason = self.reasons(rankings)[0]
        return float(self.values(rankings)[0]) if reason is None else Undefined(reason)

    def relevant_from(self, level: float) -> RankingMeasure:
        """The same with another lowest relevant grade, where it takes one that was not set.

        >>> from abstain.measures import measure
        >>> str(measure("AP@10").relevant_from(2)), str(measure("NDCG").relevant_from(2))
        ('AP(rel=2)@10', 'NDCG')
        """
        rel = next((p for p in self.definition.parameters if p.name == "rel"), None)
        if rel is None or self.arguments.get("rel") not in (None, rel.default):
            return self
        values = {**self.arguments, "rel": rel.check(level, self.name)}
        return replace(self, parameters=self.definition.ordered(values))

    def values(self, rankings: RankedLists) -> Floats:
        """The score of each row; NaN where it is undefined."""
        values: Floats = self.definition.function(rankings, **self.arguments)
        return values

    def reasons(self, rankings: RankedLists) -> list[str | None]:
        """Why the score of each row is undefined; None where it is not."""
        reasons: list[str | None] = [None] * rankings.size
        for rule in self.definition.undefined:
            for row in rule.when(rankings, **self.arguments).nonzero()[0]:
                reasons[row] = rule.reason
        return reasons


class ColumnMeasure(Measure):
    """A measure of columns of a gold and a run, as the evaluator of another task has it."""

    def __call__(self, columns: Any) -> float:  # type: ignore[override]
        if isinstance(columns, Counts):
            raise UsageError(f"{self} takes columns of responses ({self.definition.convention})")
        return self._one(self.definition.function, columns)


STEP = 1e-6
"""The step of numerical derivatives, and the share of a first blank."""
ROUNDING = 1e-14
LEAST_ANSWERS = 40
"""Of each run, what a test needs where not all questions count (benchmarks/errors.py)."""


def credit(name: str, *short: Any, **facts: Any) -> Callable[[F], F]:
    """Declare a measure as a function of the shares right, wrong and unanswered.

    The function takes c, w and u; or it takes them as counts, and n, so that it can divide once
    and be exact. κ and p* are derived numerically unless declared (κ only where the score without
    blanks is the accuracy); None says that there is none.
    """

    def declare(*parts: Any) -> Any:
        shares, counts = _of_both(parts[-1])
        kappa = facts["kappa"] if "kappa" in facts else _kappa_of(shares, facts)
        even = facts["break_even"] if "break_even" in facts else _break_even_of(shares)
        known = {
            "family": "credit",
            "shares": True,
            "kappa_text": "–" if kappa is None else f"({name} − c)/u",
            "break_even_text": "–" if even is None else "(∂M/∂u − ∂M/∂w)/(∂M/∂c − ∂M/∂w)",
            **facts,
            "undefined": (NO_QUESTIONS, *facts.get("undefined", ())),
            "function": counts,
            "kappa": kappa,
            "break_even": even,
        }
        return _declare(name, "c, w, u", known, *parts)

    return declare(*short) if short else declare


def counting(name: str, *short: Any, **facts: Any) -> Callable[[F], F]:
    """Declare a measure of counts: a function of right, wrong, unanswered_right, …, n.

    `needs_candidates` says that it depends on the candidates behind blanks.
    """
    rules = facts.pop("undefined", ())
    if facts.get("needs_candidates") and SPLIT_UNKNOWN not in rules:
        rules = (SPLIT_UNKNOWN, *rules)
    facts = {"family": "counts", "undefined": (NO_QUESTIONS, *rules), **facts}
    declare = partial(_declare, name, "counts", facts)
    return declare(*short) if short else declare


def deciding(name: str, *short: Any, **facts: Any) -> Callable[[F], F]:
    """Declare a measure of decisions: a function of right, wrong, wrongly_declined, …, n."""
    rules = (NO_QUESTIONS, *facts.pop("undefined", ()))
    facts = {"takes": "decisions", "family": "decisions", "undefined": rules, **facts}
    declare = partial(_declare, name, "decisions", facts)
    return declare(*short) if short else declare


def confident(name: str, *short: Any, **facts: Any) -> Callable[[F], F]:
    """Declare a measure of answers with a confidence: a function of `Answers`.

    It has to take resamples too, for which most numbers are arrays. Differences are studentised
    where there is an influence function. Without answers and without confidences it is undefined,
    unless `undefined` says otherwise.
    """
    rules = (NONE_ASKED, *facts.pop("undefined", (NO_ANSWERS, NO_CONFIDENCE)))
    mean = facts.get("mean")
    facts = {
        "takes": "confidence",
        "family": "confidence",
        "undefined": rules,
        "studentised": facts.get("influence") is not None,
        "least": LEAST_ANSWERS if mean is None or mean.over == "answers" else 0,
        **facts,
    }
    declare = partial(_declare, name, "answers", facts)
    return declare(*short) if short else declare


def ranked(name: str, *short: Any, **facts: Any) -> Callable[[F], F]:
    """Declare a measure of rankings: a function of `RankedLists` that returns a number per row.

    Its (first) name in trec_eval is an alias.
    """
    facts = {"takes": "ranking", "family": "ranking", **facts}
    if trec := facts.get("trec"):
        aliases = facts.get("aliases", ())
        known = {text.replace("-", "_").casefold() for text in aliases} | {name.casefold()}
        facts["aliases"] = aliases + (() if trec[0].name.casefold() in known else (trec[0].name,))
    declare = partial(_declare, name, "rankings", facts)
    return declare(*short) if short else declare


def columnar(name: str, *short: Any, **facts: Any) -> Callable[[F], F]:
    """Declare a measure of columns of the gold and of a run: a function of `Columns`."""
    facts = {"takes": "columns", "family": "evaluators", **facts}
    declare = partial(_declare, name, "columns", facts)
    return declare(*short) if short else declare


def proportional(
    declare: Callable[..., Any], name: str, summary: str, proportion: Proportion, **facts: Any
) -> None:
    """Declare a proportion, which says how it is computed, for the module of its `home`."""

    def function(k: CountsLike) -> Numeric:
        successes, trials = proportion.of(k)
        return successes / trials

    function.__module__ = facts.pop("home")
    declare(name, summary, function, proportion=proportion, **facts)


def _declare(name: str, arguments: str, facts: Facts, *parts: Any) -> Any:
    *summary, function = parts
    if summary:
        function.__doc__, function.__qualname__ = summary[0], name
    if (proportion := facts.get("proportion")) is not None:
        varies = {} if proportion.trials == "n" else {"divides_by": proportion.trials}
        facts = {"studentised": bool(varies), **varies, "formula": proportion.formula, **facts}
    elif facts.get("divides_by"):
        facts = {"studentised": True, "least": LEAST_ANSWERS, **facts}
    home = f"{function.__module__}.{function.__qualname__}"
    docstring = (function.__doc__ or "").strip()
    if not docstring:
        raise UsageError(f"measure {shown(name)} needs a docstring that says what it is ({home})")
    bounds = facts.get("bounds", (0.0, 1.0))
    fields = {
        "formula": f"{function.__name__}({arguments})",
        "source": f"declared in {function.__module__}",
        "summary": docstring.splitlines()[0],
        "function": function,
        **facts,
        "bounds": bounds if callable(bounds) else lambda **_: tuple(bounds),
    }
    definition = Definition(name=name, home=home, **fields)
    if not home.startswith(BUILT_IN):  # the tests check the built-in measures
        from abstain.measures.registry import admit

        admit(definition)
    REGISTRY[name] = definition
    NAMES.update(dict.fromkeys(map(fold, (name, *definition.aliases)), name))
    return function


def _of_both(function: Callable[..., Numeric]) -> tuple[Shares, Callable[..., Numeric]]:
    """A function of shares, or of counts and their sum, in both forms."""
    if inspect.unwrap(function).__code__.co_argcount == 3:
        return function, of_shares(function)

    def of_counts(k: CountsLike, **arguments: float) -> Numeric:
        return function(k.right * 1.0, k.wrong * 1.0, k.unanswered * 1.0, k.n * 1.0, **arguments)

    return lambda c, w, u, **arguments: function(c, w, u, 1.0, **arguments), of_counts


def _kappa_of(score: Shares, facts: Facts) -> Shares | None:
    """κ = (M − c)/u, or a first blank's credit; None if M without blanks is not the accuracy."""
    example = {p.name: p.example for p in facts.get("parameters", ()) if not p.optional}
    if not all(abs(score(c, 1 - c, 0.0, **example) - c) < 1e-12 for c in (0.25, 0.625)):
        return None

    def kappa(c: Numeric, w: Numeric, u: Numeric, **arguments: float) -> Numeric:
        first = (u == 0) * STEP
        c, w, u = c * (1 - first), w * (1 - first), u + first
        return (score(c, w, u, **arguments) - c) / u

    return kappa


def _break_even_of(score: Shares) -> Shares:
    """p* = (∂M/∂u − ∂M/∂w) / (∂M/∂c − ∂M/∂w): where answering more changes nothing."""

    def break_even(c: Numeric, w: Numeric, u: Numeric, **arguments: float) -> Numeric:
        def slope(by_c: float, by_u: float) -> Numeric:
            up, down = (
                score(c + s * by_c, w - s, u + s * by_u, **arguments)  # by_c + by_u is 1
                for s in (STEP, -STEP)
            )
            return up - down

        above, below = slope(0, 1), slope(1, 0)  # a slope may be only rounding error
        nothing = np.full(np.shape(below), np.nan)
        return np.divide(above, below, out=nothing, where=np.abs(below) > ROUNDING)

    return break_even
