"""What a reader must know of the lists before reading scores, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abstain.analyses.rank import RankResult, lowest_grade
from abstain.errors import plural, shown, some_of
from abstain.measures.kinds import RankingMeasure
from abstain.report.shared import known_measure


def notes(result: RankResult) -> Iterator[str]:
    """How many lists and queries there were of each kind, and what became of them."""
    settings = result.settings
    items = (known_measure(name) for name in result.measures)
    measures = [item for item in items if isinstance(item, RankingMeasure)]
    primed = _primed(measures)
    yield _queries(result, measures)
    yield from _too_low(result, measures)
    yield _missing(result)
    yield from _unjudged(result)
    if settings.nil is not None or settings.limit is not None:
        yield _ends(result)
        yield from _full_for_nothing(result, measures)
    elif primed:
        yield "no limit was given: every list counts as ended by its system"
    yield from result.notes
    for word in result.nil_words:
        other = "" if settings.nil is None else f", which is not {shown(settings.nil)}"
        yield (
            f"a list has a document {shown(word)}{other}: where it says that there is nothing "
            "more to find, name it as nil"
        )
    yield from _grades(result, measures)
    if settings.trec_eval:
        yield "averages as trec_eval takes them: what does not exist counts 0"


def _primed(measures: Sequence[RankingMeasure]) -> list[str]:
    return [str(m) for m in measures if m.definition.knows_end]


def _queries(result: RankResult, measures: Sequence[RankingMeasure]) -> str:
    settings, count = result.settings, result.nil_queries
    text = f"{plural(len(result.lists), 'run')}, {plural(result.queries, 'query', 'queries')}"
    if not count:
        return f"{text}, none of them nil"
    text += f", {count:,} of them nil (nothing is relevant)"
    if settings.nil_as_answer:
        return f"{text}: there {settings.nil or 'NIL'} is the one right answer"
    left_out = [
        str(m)
        for m in measures
        if m.definition.leaves_out_nil and result.nothing_relevant[str(m)] == count
    ]
    if left_out and not settings.trec_eval:
        text += f": {_do(left_out, 'leave')} these out"
    return text if _primed(measures) else f"{text}; AP', NDCG', RR' and RBP' score them"


def _too_low(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """Queries where something is relevant, but too little for what a measure asks."""
    settings = result.settings
    known = 0 if settings.nil_as_answer else result.nil_queries
    for lowest in dict.fromkeys(map(lowest_grade, measures)):
        asking = [m for m in measures if lowest_grade(m) == lowest]
        nothing = result.nothing_relevant[str(asking[0])]
        if lowest is None or nothing == known:
            continue
        primed = _primed(asking)
        left_out = [
            str(m) for m in asking if m.definition.leaves_out_nil and not settings.trec_eval
        ]
        zero = [str(m) for m in asking if str(m) not in (*primed, *left_out)]
        kinds = [("left out by", left_out), ("0 for", zero), ("nil for", primed)]
        becomes = ", ".join(f"{what} {', '.join(names)}" for what, names in kinds if names)
        queries = plural(nothing, "query has", "queries have")
        yield f"{queries} no document of grade {lowest:g} or above: {becomes}"


def _do(names: Sequence[str], verb: str) -> str:
    return f"{', '.join(names)} {verb if len(names) > 1 else verb + 's'}"


def _missing(result: RankResult) -> str:
    some = [
        f"{own.run} lacks {plural(own.missing, 'query', 'queries')}"
        for own in result.lists
        if own.missing
    ]
    if not some:
        return "no query is missing from a run"
    runs = ", ".join(some[:3]) + (f" and {len(some) - 3} more runs lack some" if some[3:] else "")
    skipped = result.settings.missing == "skip"
    becomes = "left out" if skipped else "counted as empty lists"
    how = ", as in trec_eval without -c" if skipped and result.settings.trec_eval else ""
    return f"missing queries, {becomes}{how}: {runs}"


def _unjudged(result: RankResult) -> Iterator[str]:
    found = result.unjudged
    if found is not None:
        count = plural(found.queries, "query", "queries")
        first = f"; first: {found.place}" if found.place else ""
        yield f"not judged: {count} of the runs ({some_of(found.first)}{first}), not scored"


def _ends(result: RankResult) -> str:
    nil, limit = result.settings.nil, result.settings.limit
    full = sum(own.at_limit for own in result.lists)
    if result.settings.nil_as_answer:
        text = f"{nil} is a document like others, the right one where nothing else is (TREC 2001)"
        at_limit = plural(full, "list")
        return text if limit is None else f"{text}; at the limit of {limit:,}: {at_limit}"
    lists = plural(sum(own.lists for own in result.lists), "list")
    text = f"truncated: {sum(own.truncated for own in result.lists):,} of {lists}"
    if nil is not None:
        text += f", {sum(own.by_nil for own in result.lists):,} of them by {nil}"
    if limit is not None:
        text += f"; at the limit of {limit:,}, and scored in the original manner: {full:,}"
    return text


def _full_for_nothing(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """Lists at the limit for nil queries, which have found nothing and not stopped either."""
    there = [m for m in measures if str(m) in result.full_for_nothing]
    for lowest in dict.fromkeys(map(lowest_grade, there)):
        names = [str(m) for m in there if lowest_grade(m) == lowest]
        what = "relevant" if lowest is None else f"of grade {lowest:g} or above"
        lists = plural(result.full_for_nothing[names[0]], "list")
        yield f"{lists} at the limit where nothing is {what}: {_do(names, 'count')} 0 there"


def _grades(result: RankResult, measures: Sequence[RankingMeasure]) -> Iterator[str]:
    """What becomes of grades that are not 0 and 1."""
    scaled = [m for m in measures if _is_scaled(m)]
    top = result.top_grade
    if not scaled or top <= 1:
        return
    names = ", ".join(map(str, scaled))
    yield f"{names}: a document's gain is its grade / {top:g}, the top grade"
    lowered = [str(m) for m in scaled if m.definition.lower_grades_cost]
    if lowered and result.graded:
        yield (
            f"{', '.join(lowered)}: a perfect list with a grade below {top:g} scores less than 1; "
            "rel=1 makes every grade from 1 on a gain of 1"
        )


def _is_scaled(item: RankingMeasure) -> bool:
    """Whether it makes gains of grades by dividing them by the top grade."""
    return item.definition.scales_grades and "rel" not in item.arguments
