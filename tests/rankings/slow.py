"""The same numbers from slow and obvious loops over dictionaries; nan where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, nan
from typing import NamedTuple


class One(NamedTuple):
    """One query of one run."""

    grades: list[float | None]
    """Of the listed documents in rank order; None where not judged."""
    pool: list[float]
    """Of all judged documents, highest first."""
    top: float
    stopped: bool = True


Run = Mapping[str, Mapping[str, float]]


def ones(
    qrels: Run,
    run: Run,
    *,
    nil: str | None = None,
    limit: int | None = None,
    nil_is_answer: bool = False,
) -> list[One]:
    """Each gold query's ranking, the queries in the order of the qrels."""
    grades = [g for docs in qrels.values() for d, g in docs.items() if g >= 0 and d != nil]
    top = max(grades, default=0.0)
    rankings = []
    for query, judged in qrels.items():
        known = {doc: grade for doc, grade in judged.items() if grade >= 0 and doc != nil}
        scores = run.get(query, {})
        listed = sorted(sorted(scores, reverse=True), key=lambda doc: -scores[doc])
        if not nil_is_answer:  # what is worth as much as the end stands before it
            listed.sort(key=lambda doc: (-scores[doc], doc == nil))
        stopped = True
        if nil_is_answer:
            if not any(grade > 0 for grade in known.values()):
                known[str(nil)] = top or 1.0
        elif nil in listed:
            listed = listed[: listed.index(nil)]
        if limit is not None and len(listed) >= limit:
            listed, stopped = listed[:limit], False
        pool = sorted(known.values(), reverse=True)
        rankings.append(One([known.get(doc) for doc in listed], pool, top or 1.0, stopped))
    return rankings


def relevant(one: One, rel: float) -> list[bool]:
    return [grade is not None and grade >= rel for grade in one.grades]


def num_rel(one: One, rel: float = 1) -> int:
    return sum(grade >= rel for grade in one.pool)


def precision(one: One, k: int, rel: float = 1) -> float:
    return sum(relevant(one, rel)[:k]) / k


def recall(one: One, k: int | None = None, rel: float = 1) -> float:
    there = num_rel(one, rel)
    return sum(relevant(one, rel)[:k]) / there if there else nan


def success(one: One, k: int, rel: float = 1) -> float:
    return float(any(relevant(one, rel)[:k]))


def reciprocal_rank(one: One, k: int | None = None, rel: float = 1) -> float:
    for rank, hit in enumerate(relevant(one, rel)[:k], 1):
        if hit:
            return 1 / rank
    return 0.0


def average_precision(one: One, k: int | None = None, rel: float = 1) -> float:
    found, total = 0, 0.0
    for rank, hit in enumerate(relevant(one, rel)[:k], 1):
        if hit:
            found += 1
            total += found / rank
    there = num_rel(one, rel)
    return total / there if there else nan


def r_precision(one: One, rel: float = 1) -> float:
    there = num_rel(one, rel)
    return sum(relevant(one, rel)[:there]) / there if there else nan


def dcg(gains: list[float]) -> float:
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(gains, 1))


def ndcg(one: One, k: int | None = None) -> float:
    best = dcg(one.pool[:k])
    return dcg([grade or 0 for grade in one.grades][:k]) / best if best else nan


def bpref(one: One, rel: float = 1) -> float:
    there, others = num_rel(one, rel), sum(grade < rel for grade in one.pool)
    before, total = 0, 0.0
    for grade in one.grades:
        if grade is None:
            continue
        if grade < rel:
            before += 1
        elif before:
            total += 1 - min(before, there) / min(others, there)
        else:
            total += 1
    return total / there if there else nan


def gains(one: One, rel: float | None) -> list[float]:
    if rel is None:
        return [(grade or 0) / one.top for grade in one.grades]
    return [float(hit) for hit in relevant(one, rel)]


def pool_gains(one: One, rel: float | None) -> list[float]:
    return [float(g >= rel) if rel is not None else g / one.top for g in one.pool]


def rbp(one: One, p: float, k: int | None = None, rel: float | None = None) -> float:
    return (1 - p) * sum(gain * p**i for i, gain in enumerate(gains(one, rel)[:k]))


def rbp_residual(one: One, p: float, k: int | None = None) -> float:
    grades = one.grades[:k]
    listed = sum((1 - p) * p**i for i, grade in enumerate(grades) if grade is None)
    return listed + p ** len(grades)


def q_measure(one: One, beta: float, rel: float = 1) -> float:
    there = num_rel(one, rel)
    ideal = [grade for grade in one.pool if grade >= rel]
    total, found, gained = 0.0, 0, 0.0
    for rank, grade in enumerate(one.grades, 1):
        if grade is not None and grade >= rel:
            found += 1
            gained += grade
            total += (found + beta * gained) / (rank + beta * sum(ideal[:rank]))
    return total / there if there else nan


def terminal(one: One, rel: float | None = None) -> float:
    there = sum(pool_gains(one, rel))
    return sum(gains(one, rel)) / there if there else 1.0


def reciprocal_rank_t(one: One, rel: float | None = None) -> float:
    for rank, gain in enumerate(gains(one, rel), 1):
        if gain > 0:
            return 1 / rank
    return 1 / (len(one.grades) + 1) if one.stopped and not sum(pool_gains(one, rel)) else 0.0


def rbp_t(one: One, p: float, rel: float | None = None) -> float:
    plain = rbp(one, p, rel=rel)
    return plain + terminal(one, rel) * p ** len(one.grades) if one.stopped else plain


def ndcg_t(one: One, rel: float | None = None) -> float:
    listed = gains(one, rel)
    ideal = [gain for gain in pool_gains(one, rel) if gain > 0]
    if one.stopped:
        listed = [*listed, terminal(one, rel)]
        ideal = [*ideal, 1.0]
    best = dcg(ideal[: len(listed)])
    return dcg(listed) / best if best else 0.0


def average_precision_t(one: One, rel: float | None = None) -> float:
    listed = gains(one, rel)
    there = sum(pool_gains(one, rel))
    if one.stopped:
        listed = [*listed, terminal(one, rel)]
        there += 1
    total = sum(gain * sum(listed[:rank]) / rank for rank, gain in enumerate(listed, 1))
    return total / there if there else 0.0
