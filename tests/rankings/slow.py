"""The same numbers from slow and obvious loops over dictionaries; nan where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, log2, nan
from typing import NamedTuple


class One(NamedTuple):
    """One query of one run."""

    grades: list[float | None]
    """Of the listed documents in rank order; None where not judged."""
    pool: list[float]
    """Of all judged documents, highest first."""
    top: float
    stopped: bool = True
    sampled: tuple[bool, ...] = ()
    """Whether a listed document has a negative grade: in the pool, not judged."""


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
        sampled = tuple(judged.get(doc, 0) < 0 for doc in listed)
        grades_of = [known.get(doc) for doc in listed]
        rankings.append(One(grades_of, pool, top or 1.0, stopped, sampled))
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


def r_precision(one: One, rel: float = 1, mult: float = 1) -> float:
    there = num_rel(one, rel)
    if not there:
        return nan
    length = int(mult * there + 0.9)
    return sum(relevant(one, rel)[:length]) / length if length else 0.0


def dcg(gains: list[float]) -> float:
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(gains, 1))


def ndcg(one: One, k: int | None = None) -> float:
    best = dcg(one.pool[:k])
    return dcg([grade or 0 for grade in one.grades][:k]) / best if best else nan


def exponential_ndcg(one: One, k: int | None = None) -> float:
    """Burges et al. 2005: grades g as gains 2^g − 1."""
    best = dcg([2**grade - 1 for grade in one.pool][:k])
    return dcg([2 ** (grade or 0) - 1 for grade in one.grades][:k]) / best if best else nan


def rank_biased_overlap(first: list[object], second: list[object], p: float) -> float:
    """Depth by depth to 1000, as the published compatibility.py has it."""
    return sum(
        p ** (depth - 1) * len(set(first[:depth]) & set(second[:depth])) / depth
        for depth in range(1, 1001)
    )


def compatibility(one: One, p: float) -> float:
    """Clarke, Vtyurina and Smucker 2021: overlap with the nearest of the ideal rankings."""
    wanted = [grade for grade in one.pool if grade > 0]
    if not wanted:
        return nan
    run: list[object] = list(range(len(one.grades)))
    documents: list[tuple[float, object]] = [
        (grade, rank) for rank, grade in enumerate(one.grades) if grade is not None and grade > 0
    ]
    unlisted = list(wanted)
    for grade, _ in documents:
        unlisted.remove(grade)
    documents += [(grade, f"unlisted {at}") for at, grade in enumerate(unlisted)]
    documents.sort(key=lambda pair: -pair[0])  # stable: by rank, and the unlisted ones last
    ideal = [document for _, document in documents]
    return rank_biased_overlap(run, ideal, p) / rank_biased_overlap(ideal, ideal, p)


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


# ---------------------------------------------------------------- sets, and what was judged at all


def set_precision(one: One, rel: float) -> float:
    return sum(relevant(one, rel)) / len(one.grades) if one.grades else nan


def set_relative_precision(one: One, rel: float) -> float:
    best = min(len(one.grades), num_rel(one, rel))
    return sum(relevant(one, rel)) / best if best else nan


def set_average_precision(one: One, rel: float) -> float:
    precision_, recall_ = set_precision(one, rel), recall(one, None, rel)
    return precision_ * recall_


def set_f(one: One, x: float, rel: float) -> float:
    """The weighted harmonic mean of precision, of weight 1, and recall, of weight x."""
    hits = sum(relevant(one, rel))
    return (1 + x) / (len(one.grades) / hits + x * num_rel(one, rel) / hits) if hits else 0.0


def relative_precision(one: One, k: int, rel: float) -> float:
    there = num_rel(one, rel)
    return sum(relevant(one, rel)[:k]) / min(k, there) if there else nan


def utility(one: One, weights: tuple[float, ...], rel: float, documents: int) -> float:
    """Each document of the collection by itself."""
    hits = relevant(one, rel)
    worth = sum(weights[0] if hit else weights[1] for hit in hits)
    missed = num_rel(one, rel) - sum(hits)
    rest = documents - len(hits) - missed
    return worth + weights[2] * missed + weights[3] * rest


def judged(one: One, k: int | None = None) -> float:
    first = one.grades[:k]
    return sum(grade is not None for grade in first) / len(first) if first else nan


# ------------------------------------------------------------------ precision at points of recall


def interpolated(one: One, point: float, rel: float = 1) -> float:
    """The best precision from the rank on at which enough relevant documents are found."""
    there = num_rel(one, rel)
    if not there:
        return nan
    wanted, hits = int(point * there + 0.9), relevant(one, rel)
    return max(
        (sum(hits[:rank]) / rank for rank in range(1, len(hits) + 1) if sum(hits[:rank]) >= wanted),
        default=0.0,
    )


def eleven_points(one: One, rel: float = 1) -> float:
    return sum(interpolated(one, i / 10, rel) for i in range(11)) / 11


def inferred_ap(one: One, rel: float = 1) -> float:
    """Yilmaz and Aslam 2006, with trec_eval's smoothing: expected precision at relevant ranks."""
    total, there = 0.0, num_rel(one, rel)
    for at, grade in enumerate(one.grades):
        if grade is None or grade < rel:
            continue
        above = one.grades[:at]
        found = sum(g is not None and g >= rel for g in above)
        others = sum(g is not None and g < rel for g in above)
        pool = found + others + sum(one.sampled[:at])
        k = at + 1
        if k == 1:
            total += 1
            continue
        inside = (found + 0.00001) / (found + others + 0.00002)
        total += 1 / k + (k - 1) / k * (pool / (k - 1)) * inside
    return total / there if there else nan


def yaap(one: One, rel: float = 1) -> float:
    there = num_rel(one, rel)
    found = average_precision(one, None, rel) * there if there else 0.0
    return log((1 + found) / (1 + there - found))


# --------------------------------------------------------------------------------------- gain


def binary_g(one: One, rel: float = 1) -> float:
    there, others, total = num_rel(one, rel), 0, 0.0
    for hit in relevant(one, rel):
        if hit:
            total += 1 / log2(2 + others)
        else:
            others += 1
    return total / there if there else nan


def normalised_g(one: One) -> float:
    ideal = [grade for grade in one.pool if grade > 0]
    if not ideal:
        return nan
    total = 0.0
    for rank in range(1, len(one.grades) + 1):
        gain = one.grades[rank - 1] or 0
        best = [max(g, 1.0) for g in ideal[:rank]] + [1.0] * (rank - len(ideal))
        behind = sum(best) - sum(g or 0 for g in one.grades[:rank])
        total += gain / log2(2 + behind)
    return total / sum(ideal)


def ndcg_at_relevant(one: One) -> float:
    gaining = [grade for grade in one.pool if grade > 0]
    if not gaining:
        return nan
    at = [rank for rank, grade in enumerate(one.grades, 1) if grade]
    whole = dcg([grade or 0 for grade in one.grades]) / dcg(one.pool)
    return (sum(ndcg(one, rank) for rank in at) + (len(gaining) - len(at)) * whole) / len(gaining)


def r_ndcg(one: One) -> float:
    gaining = [grade for grade in one.pool if grade > 0]
    if not gaining:
        return nan
    falls = [
        rank
        for rank in range(1, len(gaining) + 1)
        if rank == len(gaining) or gaining[rank] != gaining[rank - 1]
    ]
    points = [ndcg(one, rank) for rank in falls]
    if len(one.grades) > len(gaining) + 1:
        points.append(ndcg(one))
    return sum(points) / len(points)


# ------------------------------------------------------------------------------- user models


def err(grades: list[float | None], top: float, k: int | None = None) -> float:
    """Chapelle et al. 2009, algorithm 2."""
    go_on, total = 1.0, 0.0
    for rank, grade in enumerate(grades[:k], 1):
        satisfied = (2 ** (grade or 0) - 1) / 2**top
        total += go_on * satisfied / rank
        go_on *= 1 - satisfied
    return total


def n_err(one: One, k: int | None = None) -> float:
    best = err(list(one.pool), one.top, k)
    return err(one.grades, one.top, k) / best if best else nan


FAR = 300
"""Ranks that are gone through one by one."""


def inst(one: One, t: float, unjudged: float = 0.0) -> tuple[float, float]:
    """Moffat et al. 2015: the expected depth and total gain, rank by rank.

    After the last rank the rest is a sum of 1/x² by Euler and Maclaurin, or nothing where the
    chances fall as powers.
    """
    reach, wanted, depth, total = 1.0, t, 0.0, 0.0
    for rank in range(1, FAR + 1):
        grade = one.grades[rank - 1] if rank <= len(one.grades) else None
        gain = unjudged if grade is None else grade / one.top
        wanted -= gain
        depth += reach
        total += reach * gain
        reach *= ((rank + t + wanted - 1) / (rank + t + wanted)) ** 2
    if unjudged:
        return depth, total
    x = FAR + t + wanted
    rest = 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5)
    return depth + reach * x**2 * rest, total


def inst_score(one: One, t: float, unjudged: float = 0.0) -> float:
    depth, total = inst(one, t, unjudged)
    return total / depth
