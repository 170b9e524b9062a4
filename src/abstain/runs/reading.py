"""`Reading`: how files and frames are read and judged, said once for everything that is asked.

The arguments of `read`, the options that commands share and what a saved result says of its input
are these fields. A field's option and its help stand beside it in `OPTIONS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, get_args

import msgspec

from abstain.errors import UnknownNameError, UsageError, check_name, option
from abstain.outcomes import Effect, Policy, Why, policy_texts

Match: TypeAlias = Literal["id", "text", "squad"]
Align: TypeAlias = Literal["id", "position"]
EngineName: TypeAlias = Literal["polars", "duckdb", "spark"]
PolicyLike: TypeAlias = "Policy | Mapping[str, str] | Iterable[str] | None"


Kind: TypeAlias = Literal["gold", "judged", "counts", "scores"]
"""What kind of input is read: a gold and runs, judged rows, counts, scores."""


class ReadingOptions(TypedDict, total=False):
    """The arguments of reading, for functions that read and ask in one line."""

    format: str | None
    pick: Mapping[str, str] | None
    columns: Mapping[str, str] | None
    policy: PolicyLike
    match: Match
    align: Align
    detect_refusals: str | Sequence[str]
    cluster: str | None
    engine: EngineName | None
    master: str | None
    names: Sequence[str] | str | None


class JudgedOptions(ReadingOptions, total=False):
    """The same for rows that carry their grade."""

    grades: Mapping[str, str] | None


READING_OPTIONS = frozenset(JudgedOptions.__annotations__)
"""The arguments that every reader of runs takes."""


class Reading(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """How input is read and judged.

    >>> Reading.of(policy={"missing": "wrong"}, match="text")
    Reading(policy={'missing': 'wrong'}, match='text')
    """

    format: str | None = None
    """A table format or a tool's log; None: told by the bytes and the name."""
    pick: dict[str, str] = {}
    """What to pick of a tool's log, such as {"filter": "strict-match"}."""
    columns: dict[str, str] = {}
    """Known name to actual name; `gold:` or `run:` before a known name speaks of one side."""
    policy: dict[str, str] = {}
    """What was said of kinds of blanks; the others keep their default."""
    match: Match = "id"
    """When an answer is right."""
    align: Align = "id"
    """How responses are paired with questions."""
    detect_refusals: tuple[str, ...] = ()
    """Languages in which refusals are looked for."""
    grades: dict[str, str] = {}
    """What unusual grades of judged rows mean."""
    cluster: str | None = None
    """The attribute whose values make clusters."""
    engine: EngineName | None = None
    """The engine that reads and counts files (default: polars)."""
    master: str | None = None
    """Where Spark runs."""
    names: tuple[str, ...] = ()
    """What the runs are called, in their order; none: as they call themselves."""

    @classmethod
    def of(cls, **options: Unpack[JudgedOptions]) -> Reading:
        """The options of a caller, checked and in one form; None is the same as none."""
        values: dict[str, Any] = {name: item for name, item in options.items() if item is not None}
        for name in values:
            if name not in READING_OPTIONS:
                raise UnknownNameError("argument", name, READING_OPTIONS)
        for name, known in (("match", Match), ("align", Align), ("engine", EngineName)):
            if name in values:
                check_name(f"value of {option(name)}", values[name], get_args(known))
        if "master" in values and values.setdefault("engine", "spark") != "spark":
            raise UsageError(
                f"{option('master')} needs {option('engine', 'spark')} (got '{values['engine']}')"
            )
        if "names" in values:
            values["names"] = _names(values["names"])
        values["policy"] = policy_entries(values.get("policy"))
        if asked := values.pop("detect_refusals", ()):
            from abstain.runs.refusals.detect import languages_of

            codes = asked if isinstance(asked, str) else ",".join(asked)
            values["detect_refusals"] = languages_of(codes)
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise UsageError(f"an option of reading is not what was expected: {error}") from None

    def rules(self, **defaults: str) -> Policy:
        """The whole policy; `defaults` hold where nothing was said."""
        return Policy.of({**defaults, **self.policy})


def _names(texts: Sequence[str] | str) -> tuple[str, ...]:
    """Names for runs: each one different, none empty."""
    names = tuple(name.strip() for name in ([texts] if isinstance(texts, str) else texts))
    for name in names:
        if not name:
            raise UsageError(f"{option('names')}: a run needs a name (got an empty one)")
        if names.count(name) > 1:
            raise UsageError(f"{option('names')}: two runs cannot both be called '{name}'")
    return names


def policy_entries(policy: PolicyLike) -> dict[str, str]:
    """What a caller said of kinds of blanks: kind to effect, checked.

    >>> policy_entries(["error = Excluded"])
    {'error': 'excluded'}
    """
    if isinstance(policy, Policy):
        return policy.to_dict()
    texts = policy_texts(policy)
    whole = Policy.parse(texts).to_dict()
    return {
        kind: whole[kind] for kind in (text.partition("=")[0].strip().lower() for text in texts)
    }


KINDS_TEXT = ", ".join(Why)
EFFECTS_TEXT = ", ".join([effect for effect in Effect if effect is not Effect.STOP])

OPTIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "format": (
        ("--from",),
        "FORMAT",
        "The format, where it cannot be detected: csv, tsv, jsonl, json, parquet or qa4mre; or the "
        "log of a tool: lm-eval, inspect, simpleqa, pan, squad, abstentionbench, promptfoo, "
        "openai-evals, deepeval.",
    ),
    "pick": (
        ("--pick",),
        "NAME=VALUE",
        "The part of a tool's log to read: filter=strict-match (lm-eval), scorer=match (inspect). "
        "Repeatable.",
    ),
    "columns": (
        ("--column", "-c"),
        "NAME=COLUMN",
        "The column that holds question, answer, …: question=id; gold:correct=label for the gold "
        "only, run:answer=output for the runs only. Repeatable.",
    ),
    "policy": (
        ("--policy",),
        "KIND=EFFECT",
        f"What a kind of blank becomes. Kinds: {KINDS_TEXT}. Effects: {EFFECTS_TEXT}. Repeatable.",
    ),
    "match": (
        ("--match",),
        "WAY",
        "How an answer is matched: id (exactly), text (ignoring case, width and punctuation) or "
        "squad (ignoring English articles too).",
    ),
    "align": (("--align",), "HOW", "Pair responses with questions by id, or by position."),
    "detect_refusals": (
        ("--detect-refusals",),
        "LANGUAGES",
        "Detect refusals in the text of responses by rules: en,de,es,fr,it or all. A column or a "
        "judge's label takes precedence. `abstain refusals` lists what is found.",
    ),
    "grades": (
        ("--grade",),
        "WORD=OUTCOME",
        "With --judged: what an unusual grade means, such as meh=wrong. Repeatable.",
    ),
    "cluster": (
        ("--cluster",),
        "ATTR",
        "Questions with the same value are clustered (a test, a document).",
    ),
    "engine": (
        ("--engine",),
        "NAME",
        "The engine that reads and counts the runs: polars (the default, in batches), duckdb or "
        "spark.",
    ),
    "master": (
        ("--master",),
        "URL",
        "Where Spark runs: spark://host:7077 (default: local[*]).",
    ),
    "names": (
        ("--name",),
        "NAME",
        "The name of a run. Repeat it once for each RUN, in order. NAME=PATH names one RUN.",
    ),
}
"""For each field its option, what stands for its value, and its help."""

REPEATED: tuple[str, ...] = ("pick", "columns", "policy", "grades", "names")
"""Fields whose option may be given several times."""

_NO_GOLD = "needs a gold and runs: it judges answers"
_UNJUDGED = f"needs {option('judged')}: it says what a grade means"

_JUDGED = {"match": _NO_GOLD, "align": _NO_GOLD}
_CLUSTER = "is for questions; counts have no questions to cluster"


def _already(done: str) -> dict[str, str]:
    """What is for responses, where there are none any more."""
    why = f"applies to responses, but this input is already {done}"
    return dict.fromkeys(("policy", "detect_refusals", "master", "engine", "names"), why)


MEANINGLESS: dict[Kind, dict[str, str]] = {
    "gold": {"grades": _UNJUDGED},
    "judged": _JUDGED,
    "counts": {**_JUDGED, "grades": _UNJUDGED, "cluster": _CLUSTER, **_already("counted")},
    "scores": {**_JUDGED, "grades": _UNJUDGED, **_already("scored")},
}
"""For each kind of input the fields that mean nothing there, and why."""


def refuse_meaningless(reading: Reading, kind: Kind) -> None:
    """Refuse what was said although it means nothing for this kind of input."""
    refuse(reading, {name: f"{option(name)} {why}" for name, why in MEANINGLESS[kind].items()})


PLAIN = Reading()


def refuse(reading: Reading, why: Mapping[str, str]) -> None:
    """Refuse, for a reason each, the fields that were said."""
    for name in reversed([*why]):  # a master asks for an engine: it is named first
        if getattr(reading, name) != getattr(PLAIN, name):
            raise UsageError(why[name])
