"""Settings of reading: `Reading` for runs, `ListSettings` for rankings, `Selection` for a subset.

Their fields are the arguments of `read` and `read_rankings`, the options that commands share (which
`cli/options.py` declares) and the record of its input in a saved result.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args

import msgspec

from abstain.errors import UnknownNameError, UsageError, check_name, option, plural, some_of
from abstain.outcomes import Policy, Unanswerable, stated_effects

Match: TypeAlias = Literal["id", "text", "squad", "letters"]
Align: TypeAlias = Literal["id", "position"]
EngineName: TypeAlias = Literal["polars", "duckdb", "spark"]
PolicyLike: TypeAlias = "Policy | Mapping[str, str] | Iterable[str] | None"
Path: TypeAlias = "str | os.PathLike[str]"
Corrections: TypeAlias = "Mapping[str, str] | Iterable[Path] | Path | None"


CHOICES: dict[str, tuple[str, ...]] = {
    "unanswerable": get_args(Unanswerable),
    "match": get_args(Match),
    "align": get_args(Align),
    "engine": get_args(EngineName),
}
"""The allowed values of fields that are enumerations."""

Kind: TypeAlias = Literal["gold", "judged", "counts", "scores", "rankings"]
"""What kind of input is read: a gold and runs, judged rows, counts, scores, rankings."""


class ReadingOptions(TypedDict, total=False):
    """The keyword arguments of `read`, as a type for functions that pass them on."""

    format: str | None
    pick: Mapping[str, str] | None
    columns: Mapping[str, str] | None
    policy: PolicyLike
    unanswerable: Unanswerable | None
    match: Match
    align: Align
    detect_refusals: str | Sequence[str]
    refusal_pattern: str | Sequence[str]
    cluster: str | None
    engine: EngineName | None
    master: str | None
    names: Sequence[str] | str | None
    grades: Mapping[str, str] | None
    partial: str | None
    corrections: Corrections


class Reading(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """How input is read and judged, by the arguments of `read`.

    >>> Reading.of(policy={"missing": "wrong"}, match="text")
    Reading(policy={'missing': 'wrong'}, match='text')
    """

    format: str | None = None
    pick: dict[str, str] = {}
    columns: dict[str, str] = {}
    policy: dict[str, str] = {}
    unanswerable: Unanswerable | None = None
    match: Match = "id"
    align: Align = "id"
    detect_refusals: tuple[str, ...] = ()
    refusal_pattern: tuple[str, ...] = ()
    grades: dict[str, str] = {}
    """What unusual grades of judged rows mean."""
    partial: str | None = None
    """The scale of grades that are the share right of an answer: 0-1, 1-5, crag; None: none are."""
    cluster: str | None = None
    engine: EngineName | None = None
    master: str | None = None
    names: tuple[str, ...] = ()
    corrections: dict[str, str] = {}
    """Questions that were corrected after submission, each to `everyone`, `none` or its new key;
    before they are read, also tables of them, each to an empty text."""

    @classmethod
    def of(cls, **options: Unpack[ReadingOptions]) -> Reading:
        """Validate and normalise a caller's options; None means that an option is not set."""
        values: dict[str, Any] = {name: item for name, item in options.items() if item is not None}
        for name in values:
            if name not in cls.__struct_fields__:
                raise UnknownNameError("argument", name, cls.__struct_fields__)
        for name, known in CHOICES.items():
            if name in values:
                check_name(f"value of {option(name)}", values[name], known)
        if "master" in values and values.setdefault("engine", "spark") != "spark":
            needed = f"{option('master')} needs {option('engine', 'spark')}"
            raise UsageError(f"{needed} (got '{values['engine']}')")
        if "names" in values:
            values["names"] = _names(values["names"])
        values["policy"] = policy_entries(values.get("policy"))
        values["corrections"] = _corrections(values.get("corrections"))
        if asked := values.pop("detect_refusals", ()):
            values["detect_refusals"] = languages_of(asked)
        if isinstance(values.get("refusal_pattern"), str):
            values["refusal_pattern"] = (values["refusal_pattern"],)
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise UsageError(f"an option of reading is not what was expected: {error}") from None

    @property
    def refusals(self) -> tuple[str, ...]:
        """The languages in which refusals are looked for, and the patterns, each as `/pattern/`."""
        return (*self.detect_refusals, *map("/{}/".format, self.refusal_pattern))

    def rules(self, **defaults: str) -> Policy:
        """The complete policy; `defaults` replace the built-in ones where none was asked for."""
        return replace(Policy.of({**defaults, **self.policy}), unanswerable=self.unanswerable)


def _corrections(changes: Corrections) -> dict[str, str]:
    """Corrections as a mapping: `question=change` is one, a text without = is a table of them."""
    if isinstance(changes, Mapping):
        return dict(changes)
    every = [changes] if isinstance(changes, (str, os.PathLike)) else changes or ()
    texts = [os.fspath(text) for text in every]
    entries = {n.strip(): what.strip() for n, _, what in (text.partition("=") for text in texts)}
    if "" in entries or len(entries) < len(texts):
        raise UsageError(f"{option('corrections')} names each question once, as in 1/1/4=none")
    return entries


def _names(texts: Sequence[str] | str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in ([texts] if isinstance(texts, str) else texts))
    for name in names:
        if not name:
            raise UsageError(f"{option('names')}: a run needs a name (got an empty one)")
        if names.count(name) > 1:
            raise UsageError(f"{option('names')}: two runs cannot both be called '{name}'")
    return names


def policy_entries(policy: PolicyLike) -> dict[str, str]:
    """A validated policy as a dict from kind of blank to effect."""
    stated = policy.effects if isinstance(policy, Policy) else stated_effects(policy)
    return {kind.value: effect.value for kind, effect in stated.items()}


LANGUAGES = ("en", "de", "es", "fr", "it")
"""Languages in which refusals are known."""


def languages_of(codes: str | Sequence[str]) -> tuple[str, ...]:
    """Parse language codes from `en,de`, `all` or a list."""
    text = codes if isinstance(codes, str) else ",".join(codes)
    names = [n.strip().lower() for n in text.replace("+", ",").split(",") if n.strip()]
    if names == ["all"]:
        return LANGUAGES
    if not names:
        raise UsageError(f"name languages to detect refusals in: {', '.join(LANGUAGES)}")
    for name in names:
        check_name("supported language", name, LANGUAGES)
    return tuple(dict.fromkeys(names))


Need: TypeAlias = tuple[str, tuple[Kind, ...]]
_GOLD: Need = ("a gold and runs", ("gold",))
_RESPONSES: Need = ("responses", ("gold", "judged"))
_JUDGED: Need = (f"judged rows ({option('judged')})", ("judged",))
NEEDS: dict[str, Need] = {
    "match": _GOLD,
    "align": _GOLD,
    "corrections": _GOLD,
    "grades": _JUDGED,
    "partial": _JUDGED,
    "cluster": ("questions", ("gold", "judged", "scores")),
    **dict.fromkeys(
        ("policy", "unanswerable", "detect_refusals", "refusal_pattern", "master", "engine"),
        _RESPONSES,
    ),
    "names": _RESPONSES,
}
"""For each restricted field what it applies to, and the kinds of input that have it."""


def refuse_meaningless(reading: Reading, kind: Kind) -> None:
    """Raise if a field is set that does not apply to this kind of input."""
    wanting = {name: what for name, (what, kinds) in NEEDS.items() if kind not in kinds}
    whole = {"gold": "a gold and runs", "judged": "judged rows"}.get(kind, kind)
    refuse(reading, {n: f"{option(n)} needs {what}, not {whole}" for n, what in wanting.items()})


PLAIN = Reading()


def refuse(reading: Reading, why: Mapping[str, str]) -> None:
    for name in reversed([*why]):  # a master implies an engine, so it is checked first
        if getattr(reading, name) != getattr(PLAIN, name):
            raise UsageError(why[name])


Missing: TypeAlias = Literal["empty", "error", "skip"]
Ties: TypeAlias = Literal["trec", "rank"]
Item: TypeAlias = Literal["document", "document+answer"]
MeansOver: TypeAlias = Literal["each", "relevant", "all"]

MOST_DOCUMENTS = 10**18


def queries_asked(asked: Any) -> tuple[MeansOver, Any]:
    """Which queries means are over, and the table of queries: one of each, or neither."""
    known = get_args(MeansOver)
    words, tables = ["each"], [None]
    for each in asked if isinstance(asked, (list, tuple)) else [asked]:
        if each is not None:
            (words if isinstance(each, str) and each in known else tables).append(each)
    if max(len(words), len(tables)) > 2:
        which = f"{', '.join(known[:-1])} or {known[-1]}"
        raise UsageError(f"{option('queries')} takes {which} once, and one table of queries")
    return words[-1], tables[-1]  # type: ignore[return-value]


class ListSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How ranked lists are read; every result records all of it."""

    nil: str | None = None
    """The document id that ends a list."""
    nil_as_answer: bool = False
    """Whether that id is a document, which is relevant where no other is (as in TREC 2001)."""
    limit: int | None = None
    """The largest possible length of a list: a shorter one was ended by its system."""
    missing: Missing = "empty"
    """How a query that a run lacks is treated."""
    ties: Ties = "trec"
    """Documents of equal score: by falling id, or all by the rank column."""
    queries: MeansOver = "each"
    """The queries of a mean: those where its measure exists, those that are not nil, or all; with
    the latter two an undefined score counts as 0, so that all means are over the same queries."""
    trec_eval: bool = False
    """Whether averages are those of trec_eval: over all queries that the run has."""
    top: float | None = None
    """The grade with a gain of 1; None: the largest judged grade."""
    all_queries: bool = False
    """Whether every query of the table of queries counts, judged or not."""
    relevance_level: float | None = None
    """The lowest relevant grade, for every measure that takes one, unless its name sets another."""
    item: Item = "document"
    """What is listed and judged: a document, or a document with an answer string."""
    judged_only: bool = False
    """Whether unjudged documents are removed from the lists first."""

    def checked(self) -> ListSettings:
        """A validated copy, with numbers in their types."""
        if self.nil_as_answer and self.nil is None:
            raise UsageError(f"{option('nil_as_answer')} needs {option('nil', 'NIL')}")
        if self.nil is not None and not self.nil.strip():
            raise UsageError(f"{option('nil')} names a document, such as NIL or -1 (got nothing)")
        known = {"missing": Missing, "ties": Ties, "item": Item, "queries": MeansOver}
        for name, words in known.items():
            check_name(f"value of {name}", getattr(self, name), get_args(words))
        if self.trec_eval and self.queries == "relevant":
            both = f"{option('trec_eval', value=True)} and {option('queries', 'relevant')}"
            raise UsageError(f"{both} exclude each other: trec_eval's means are over all queries")
        level = self.relevance_level
        if level is not None and not 0 < float(level) < math.inf:
            raise UsageError(f"{option('relevance_level')} must be a grade above 0 (got {level:g})")
        if self.limit is not None and not 1 <= int(self.limit) <= MOST_DOCUMENTS:
            raise UsageError(f"the limit must be from 1 to {MOST_DOCUMENTS:.0e} (got {self.limit})")
        return msgspec.structs.replace(
            self,
            queries="all" if self.trec_eval else self.queries,
            top=None if self.top is None else float(self.top),
            relevance_level=None if level is None else float(level),
            limit=None if self.limit is None else int(self.limit),
        )


class Selection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A subset of the runs and the questions.

    >>> print(Selection(runs=("a",), of_runs=3, where={"topic": ("x",)}))
    subset: 1 of 3 runs ('a'), rows (topic 'x')
    """

    runs: tuple[str, ...] = ()
    """The selected runs; empty if runs were not selected."""
    of_runs: int | None = None
    """Out of how many."""
    where: dict[str, tuple[str, ...]] = {}
    """The values that attributes of questions must have; of queries, their names."""
    questions: int | None = None
    """The number of selected questions, if they were selected and can be counted."""
    of_questions: int | None = None
    """Out of how many."""
    unit: str = "question"
    """What the input calls a question: question, query or topic."""

    def __str__(self) -> str:
        parts = []
        if self.of_runs is not None:
            of = plural(self.of_runs, "run")
            parts.append(f"{len(self.runs):,} of {of} ({some_of(self.runs)})")
        if self.where:
            many = "queries" if self.unit == "query" else None
            by_name = self.where.keys() == {self.unit}
            values = "; ".join(
                some_of(values) if by_name else f"{name} {some_of(values)}"
                for name, values in self.where.items()
            )
            rows = "rows"
            if self.of_questions is not None:
                rows = f"{self.questions or 0:,} of {plural(self.of_questions, self.unit, many)}"
            parts.append(f"{rows} ({values})")
        return f"subset: {', '.join(parts)}"


def narrowed(
    before: Selection | None,
    *,
    runs: Sequence[str],
    of_runs: int,
    where: Mapping[str, Sequence[str]] | None = None,
    questions: int | None = None,
    of_questions: int | None = None,
    unit: str = "question",
) -> Selection | None:
    """Narrow a selection (None: everything); None again if nothing is left out."""
    left = before or Selection(unit=unit)
    if len(runs) < of_runs:
        all_runs = of_runs if left.of_runs is None else left.of_runs
        left = msgspec.structs.replace(left, runs=tuple(runs), of_runs=all_runs)
    if where and (questions is None or questions != of_questions):
        all_questions = of_questions if left.of_questions is None else left.of_questions
        values = left.where | {name: tuple(values) for name, values in where.items()}
        left = msgspec.structs.replace(
            left, where=values, questions=questions, of_questions=all_questions
        )
    return None if left == Selection(unit=unit) else left


def positions(what: str, names: Sequence[str], wanted: Collection[str] | str | None) -> list[int]:
    """Indices of the wanted names, in the order of `names`; an unknown name raises."""
    if wanted is None:
        return list(range(len(names)))
    asked = dict.fromkeys([wanted] if isinstance(wanted, str) else wanted)
    known = dict.fromkeys(names)
    for name in asked:
        if name not in known:
            raise UnknownNameError(what, name, names)
    if not asked:
        raise UsageError(f"there is no {what} left: name at least one")
    return [at for at, name in enumerate(names) if name in asked]
