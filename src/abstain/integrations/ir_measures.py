"""abstain as a provider of ir_measures, and so of PyTerrier: measures that know where a list stops.

Importing this module registers the provider `abstain` and, for every measure of rankings that
ir_measures does not have, a measure of its own: APt, RRt, NDCGt, RBPt (the primed ones) and others.
Their parameters are ours; the primed ones take `nil`, `limit` and `top` too, and `@10` is
their limit. A query that a run lacks is an empty list. A measure that does not exist for a query is
NaN there, and its mean leaves it out; where a measure of ir_measures' own does not exist, it is 0,
as with its other providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import ir_measures
from ir_measures import measures as host
from ir_measures import providers
from ir_measures.providers.base import Any as Anything
from ir_measures.providers.base import Choices
from ir_measures.util import QrelsConverter, RunConverter

from abstain.measures import definitions
from abstain.measures import measure as named
from abstain.rankings.rankings import Rankings
from abstain.rankings.read import read_rankings

OF_LISTS = {
    "nil": (str, "the document id that ends a list"),
    "limit": (int, "how long a list could be: a shorter one was ended by its system"),
    "top": (int, "the grade that counts as a gain of 1 (default: the largest judged grade)"),
}
"""How lists are read, which the measures that know their end depend on."""
THEIRS = {name: name for name in ("AP", "P", "R", "RR", "Rprec", "Success")} | {"nDCG": "NDCG"}
"""Measures that ir_measures has by the same definition, and ours."""
CUTOFF, UNJUDGED_TOO = "cutoff", False


class _Mean(host.MeanAgg):
    def add(self, value: float) -> None:
        if value == value:
            super().add(value)


class Ours(host.Measure):
    """A measure of rankings that abstain computes."""

    OURS: str
    """Its name here."""
    TOTAL = False

    def aggregator(self) -> Any:
        return host.SumAgg() if self.TOTAL else _Mean()


def _declared(definition: Any) -> Any:
    spelled = next((alias for alias in definition.aliases if alias.isidentifier()), definition.name)
    name = definition.name if definition.name.isidentifier() else spelled.replace("-", "_")
    parameters = {}
    for item in definition.parameters:
        number: Any
        known, number = (CUTOFF, int) if item.name == "k" else (item.name, (int, float))
        parameters[known] = host.ParamInfo(dtype=number, required=False, desc=item.name)
    if definition.knows_end:
        for item, (kind, desc) in OF_LISTS.items():
            parameters[item] = host.ParamInfo(dtype=kind, required=False, desc=desc)
    facts = {
        "__doc__": definition.summary,
        "__name__": name,
        "NAME": name,
        "PRETTY_NAME": definition.name,
        "OURS": definition.name,
        "TOTAL": definition.total,
        "AT_PARAM": "limit" if definition.knows_end else CUTOFF,
        "SUPPORTED_PARAMS": parameters,
    }
    return type(f"_{name}", (Ours,), facts)


class AbstainProvider(providers.Provider):
    """abstain: truncation-aware measures, and the usual ones with trec_eval's order of ties."""

    NAME = "abstain"
    SUPPORTED_MEASURES: ClassVar[list[Any]] = []

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> AbstainEvaluator:
        return AbstainEvaluator(list(measures), _frame(qrels, QrelsConverter, "relevance"))


class AbstainEvaluator(providers.Evaluator):
    def __init__(self, measures: list[Any], qrels: Any) -> None:
        self.qrels = qrels
        self.empty = self._read({}, {})
        super().__init__(measures, set(self.empty.queries))

    def _read(self, run: Any, lists: Mapping[str, Any]) -> Rankings:
        return read_rankings(self.qrels, {"run": run}, **lists)

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """Each measure for each judged query, those that the run lacks included."""
        rows = _frame(run, RunConverter, "score")
        groups: dict[tuple[tuple[str, Any], ...], list[Any]] = {}
        for item in self.measures:
            asked = {k: v for k, v in item.params.items() if k in OF_LISTS}
            groups.setdefault(tuple(sorted(asked.items())), []).append(item)
        for lists, items in groups.items():
            read = self._read(rows, dict(lists))
            for item in items:
                values = read.scores(_our_text(item)).values[0, 0].tolist()
                for query, value in zip(read.queries, values, strict=True):
                    known = value if value == value or isinstance(item, Ours) else 0.0
                    yield ir_measures.Metric(query_id=query, measure=item, value=known)

    _iter_calc = iter_calc


def _our_text(item: Any) -> str:
    name = item.OURS if isinstance(item, Ours) else THEIRS[item.NAME]
    values = {k: v for k, v in item.params.items() if k not in (*OF_LISTS, "judged_only", "dcg")}
    at = values.pop(CUTOFF, None)
    asked = ", ".join(f"{k}={v}" for k, v in values.items())
    return str(named(name + (f"({asked})" if asked else "") + (f"@{at}" if at is not None else "")))


def _frame(data: Any, converter: Any, number: str) -> Any:
    """Judgments or a run in any of ir_measures' shapes, as `read_rankings` takes them."""
    if isinstance(data, Mapping) or hasattr(data, "itertuples"):
        return data
    import polars as pl

    items = converter(data).as_namedtuple_iter()
    rows = [(item.query_id, item.doc_id, getattr(item, number)) for item in items]
    schema = {"query_id": pl.String, "doc_id": pl.String, number: pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _register() -> tuple[AbstainProvider, dict[str, Any]]:
    """Ours by their names; the provider stands behind all others of the default pipeline."""
    result, taken = {}, {name.casefold() for name in host.registry}
    supported = AbstainProvider.SUPPORTED_MEASURES
    for definition in definitions("ranking").values():
        one = _declared(definition)
        if one.NAME.casefold() not in taken:
            result[one.NAME] = item = one()
            host.register(item)
            supported.append(one(**{name: Anything() for name in one.SUPPORTED_PARAMS}))
    plain = {
        "judged_only": Choices(UNJUDGED_TOO),
        "dcg": Choices("log2"),
        "gains": Choices(providers.base.NOT_PROVIDED),
    }
    for name in THEIRS:
        one = type(host.registry[name])
        supported.append(one(**{k: plain.get(k, Anything()) for k in one.SUPPORTED_PARAMS}))
    provider = providers.register(AbstainProvider())
    ir_measures.DefaultPipeline.providers.append(provider)
    return provider, result


abstain, MEASURES = _register()
"""The provider, and the measures that it brings, by their names."""
globals().update(MEASURES)
