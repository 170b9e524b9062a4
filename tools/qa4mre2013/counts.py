"""Stage one: how many questions each run got right or left blank in each cell of each test.

A cell is a set of questions of one reading test that no published score tells apart further:
the main questions without a correct option (nca), the main questions with modality or
negation, the other main questions (plain) and the auxiliary questions.

A run's own scores constrain only its own counts, so each run gets a pool of counts that fit
all its scores; `choose_counts` then picks one from each pool so that what is published about
all runs together (means, medians, standard deviations, totals) fits as well.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from ortools.sat.python import cp_model

from published import MODALITY_QUESTIONS, NCA_QUESTIONS, Group, Published, ReadingTest, Run

CELLS = ("nca", "modality", "plain", "auxiliary")
NCA: Group = ("subset", "nca")
POOL_SIZE = 12
POOL_EFFORT = 0.3  # in CP-SAT's deterministic time
CHOICE_STEPS = 60_000

Cell = tuple[int, str]  # (test number, one of CELLS)
Allowed = dict[Group, list[tuple[int, int]]]  # the (right, blank) counts that a score allows


@dataclass(frozen=True)
class RunCounts:
    """One run's right and blank responses in each cell."""

    right: dict[Cell, int]
    blank: dict[Cell, int]


@dataclass(frozen=True)
class Expectation:
    """Expected right and blank responses in each cell."""

    right: dict[Cell, float]
    blank: dict[Cell, float]


@dataclass(frozen=True)
class Unknowns:
    """The variables that stand for one run's counts."""

    right: dict[Cell, cp_model.IntVar]
    blank: dict[Cell, cp_model.IntVar]


def c_at_1(right: int, blank: int, questions: int) -> Fraction:
    """c@1 as an exact fraction."""
    return Fraction(right * (questions + blank), questions**2)


def attainable(questions: int, printed: int, max_blank: int) -> list[tuple[int, int]]:
    """The (right, blank) counts whose c@1 rounds to the printed hundredths, halves either way."""
    return [
        (right, blank)
        for right in range(questions + 1)
        for blank in range(min(questions - right, max_blank) + 1)
        if abs(c_at_1(right, blank, questions) * 100 - printed) <= Fraction(1, 2)
    ]


def spread(total: int, places: int) -> list[int]:
    """Splits a total into nearly equal whole parts."""
    return [total * (i + 1) // places - total * i // places for i in range(places)]


def cell_sizes(tests: list[ReadingTest]) -> dict[Cell, int]:
    """Questions in each cell, the nca and modality ones spread evenly over the tests."""
    nca_sizes = spread(NCA_QUESTIONS, len(tests))
    modality_sizes = spread(MODALITY_QUESTIONS, len(tests))
    sizes: dict[Cell, int] = {}
    for test, nca, modality in zip(tests, nca_sizes, modality_sizes, strict=True):
        in_cells = (nca, modality, test.main - nca - modality, test.auxiliary)
        for cell, size in zip(CELLS, in_cells, strict=True):
            sizes[test.number, cell] = size
    return sizes


def cells_of_groups(published: Published, sizes: dict[Cell, int]) -> dict[Group, list[Cell]]:
    """The cells that make up each test, topic and subset with a published score."""
    topic_of = {test.number: test.topic for test in published.tests}
    subsets = {
        "nca": ["main", "nca"],
        "modality": ["main", "modality_negation"],
        "plain": ["main"],
        "auxiliary": ["auxiliary"],
    }
    groups: dict[Group, list[Cell]] = {}
    for number, kind in sizes:
        members: list[Group] = [("test", number), ("topic", topic_of[number])]
        members += [("subset", subset) for subset in subsets[kind]]
        for group in members:
            groups.setdefault(group, []).append((number, kind))
    return groups


class CountsFinder:
    """Finds counts that fit the published scores of a run."""

    def __init__(self, published: Published) -> None:
        self.published = published
        self.sizes = cell_sizes(published.tests)
        self.groups = cells_of_groups(published, self.sizes)
        self.group_sizes = {
            group: sum(self.sizes[cell] for cell in cells) for group, cells in self.groups.items()
        }

    def score(self, counts: RunCounts, group: Group) -> Fraction:
        """The c@1 of a group of questions."""
        right = sum(counts.right[cell] for cell in self.groups[group])
        blank = sum(counts.blank[cell] for cell in self.groups[group])
        return c_at_1(right, blank, self.group_sizes[group])

    def pool(self, run: Run) -> list[RunCounts]:
        """Several counts that fit a run, each near its own noisy expectation.

        Runs of one team share the noise, so that they come out alike.
        """
        allowed = self.lowest_nca(run, self.nearest_allowed(run))
        found = []
        for number in range(POOL_SIZE):
            noise = random.Random(f"{run.team} {number}")
            model, unknowns = self.model(run, allowed)
            expected = self.noisy(self.expected_counts(run), noise)
            distances = [
                add_distance(model, variables[cell], expectation[cell])
                for variables, expectation in (
                    (unknowns.right, expected.right),
                    (unknowns.blank, expected.blank),
                )
                for cell in self.sizes
            ]
            model.minimize(sum(distances))
            solver = solve(model, POOL_EFFORT)
            if solver is not None:
                found.append(
                    RunCounts(
                        {cell: solver.value(unknowns.right[cell]) for cell in self.sizes},
                        {cell: solver.value(unknowns.blank[cell]) for cell in self.sizes},
                    )
                )
        if not found:
            raise ValueError(f"{run.name}: no counts found with this effort")
        return found

    def model(self, run: Run, allowed: Allowed) -> tuple[cp_model.CpModel, Unknowns]:
        """The constraints that a run's printed figures put on its counts."""
        model = cp_model.CpModel()
        right, blank = {}, {}
        for cell, size in self.sizes.items():
            right[cell] = model.new_int_var(0, min(size, run.right), "")
            blank[cell] = model.new_int_var(0, min(size, run.unanswered), "")
            model.add(right[cell] + blank[cell] <= size)
        model.add(sum(right.values()) == run.right)
        model.add(sum(blank.values()) == run.unanswered)
        with_right_candidate = [blank[cell] for cell in self.sizes if cell[1] != "nca"]
        model.add(sum(with_right_candidate) >= run.unanswered_right)
        for group, cells in self.groups.items():
            group_right = model.new_int_var(0, run.right, "")
            group_blank = model.new_int_var(0, run.unanswered, "")
            model.add(group_right == sum(right[cell] for cell in cells))
            model.add(group_blank == sum(blank[cell] for cell in cells))
            model.add_allowed_assignments([group_right, group_blank], allowed[group])
        return model, Unknowns(right, blank)

    def feasible(self, run: Run, allowed: Allowed) -> bool:
        """Whether any counts fit."""
        model, _ = self.model(run, allowed)
        return solve(model) is not None

    def allowed(self, run: Run, scores: dict[Group, int]) -> Allowed:
        """The counts that each group's score allows."""
        return {
            group: attainable(self.group_sizes[group], printed, run.unanswered)
            for group, printed in scores.items()
        }

    def nearest_allowed(self, run: Run) -> Allowed:
        """What the run's scores allow, unattainable ones moved as little as all else permits."""
        for scores in self.moved_scores(run):
            allowed = self.allowed(run, scores)
            if self.feasible(run, allowed):
                return allowed
        raise ValueError(f"{run.name}: no counts fit the published scores")

    def moved_scores(self, run: Run) -> Iterator[dict[Group, int]]:
        """The printed scores, with unattainable ones moved further and further away."""
        allowed = self.allowed(run, run.scores)
        unattainable = [group for group, counts in allowed.items() if not counts]
        moves_of_each = itertools.product(range(-10, 11), repeat=len(unattainable))
        for moves in sorted(moves_of_each, key=lambda moves: sum(map(abs, moves))):
            moved = {
                group: run.scores[group] + move
                for group, move in zip(unattainable, moves, strict=True)
            }
            if all(self.allowed(run, moved).values()):
                yield run.scores | moved

    def lowest_nca(self, run: Run, allowed: Allowed) -> Allowed:
        """Narrows the nca counts to those with the lowest score that fits.

        Table 7's mean of .05 lies at the very edge of what the nca column of Table 15 allows.
        """
        by_score: dict[Fraction, list[tuple[int, int]]] = {}
        for right, blank in allowed[NCA]:
            by_score.setdefault(c_at_1(right, blank, self.group_sizes[NCA]), []).append(
                (right, blank)
            )
        for _, counts in sorted(by_score.items()):
            narrowed = allowed | {NCA: counts}
            if self.feasible(run, narrowed):
                return narrowed
        raise ValueError(f"{run.name}: no nca counts fit")

    def expected_counts(self, run: Run) -> Expectation:
        """The counts of a run that is equally good on all tests.

        Only the auxiliary questions of some topics are easier, as Tables 18 and 20 show.
        """
        in_kind = dict.fromkeys(CELLS, 0)
        for (_, kind), size in self.sizes.items():
            in_kind[kind] += size
        rates = {
            "nca": run.scores[NCA] / 100,
            "modality": run.scores["subset", "modality_negation"] / 100,
            "auxiliary": run.scores["subset", "auxiliary"] / 100,
        }
        elsewhere = sum(rate * in_kind[kind] for kind, rate in rates.items())
        rates["plain"] = max(0.0, run.right - elsewhere) / in_kind["plain"]
        ease = self.ease_of_auxiliary()
        right = {
            (number, kind): rates[kind] * size * (ease[number] if kind == "auxiliary" else 1)
            for (number, kind), size in self.sizes.items()
        }
        blank_rate = run.unanswered / sum(self.sizes.values())
        return Expectation(right, {cell: blank_rate * size for cell, size in self.sizes.items()})

    def noisy(self, expected: Expectation, noise: random.Random) -> Expectation:
        """Expected counts with noise for each topic, test and cell."""
        factors: dict[Group, float] = {
            group: noise.uniform(0.3, 1.7) for group in self.groups if group[0] != "subset"
        }
        topic_of = {test.number: test.topic for test in self.published.tests}

        def with_noise(counts: dict[Cell, float]) -> dict[Cell, float]:
            return {
                (number, kind): count
                * factors["test", number]
                * factors["topic", topic_of[number]]
                * noise.uniform(0.3, 1.7)
                for (number, kind), count in counts.items()
            }

        return Expectation(with_noise(expected.right), with_noise(expected.blank))

    def ease_of_auxiliary(self) -> dict[int, float]:
        """For each test: how much more often than on average its topic's auxiliary are right."""
        rights = {topic: self.published.auxiliary_right(topic) for topic in self.published.topics}
        sizes = {
            topic: sum(test.auxiliary for test in self.published.tests if test.topic == topic)
            for topic in rights
        }
        average = sum(rights.values()) / sum(sizes.values())
        return {
            test.number: rights[test.topic] / sizes[test.topic] / average if test.auxiliary else 1.0
            for test in self.published.tests
        }


def add_distance(
    model: cp_model.CpModel, variable: cp_model.IntVar, target: float
) -> cp_model.IntVar:
    """A variable's distance from a target, in tenths."""
    tenths = round(10 * target)
    distance = model.new_int_var(0, 10_000, "")
    model.add(distance >= 10 * variable - tenths)
    model.add(distance >= tenths - 10 * variable)
    return distance


def solve(model: cp_model.CpModel, effort: float | None = None) -> cp_model.CpSolver | None:
    """Solves a model the same way every time; None if no solution was found."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 2013
    if effort is not None:
        solver.parameters.max_deterministic_time = effort
    status = solver.solve(model)
    return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


def choose_counts(published: Published, finder: CountsFinder) -> dict[str, RunCounts]:
    """One of each run's pool, so that the figures about all runs together hold.

    Simulated annealing on the total amount by which those figures are missed.
    """
    pools = [finder.pool(run) for run in published.runs]
    misses = JointMisses(published, finder, pools)
    chance = random.Random(2013)
    choice = [0] * len(pools)
    current = misses.total(choice)
    for step in range(CHOICE_STEPS):
        if current == 0:
            break
        heat = 0.3 * (1 - step / CHOICE_STEPS) + 1e-6
        run = chance.randrange(len(pools))
        before = choice[run]
        choice[run] = chance.randrange(len(pools[run]))
        after = misses.total(choice)
        if after <= current or chance.random() < math.exp((current - after) / heat):
            current = after
        else:
            choice[run] = before
    return {
        run.name: pool[index]
        for run, pool, index in zip(published.runs, pools, choice, strict=True)
    }


class JointMisses:
    """How far a choice of counts is from the published figures about all runs together."""

    HALF_UNIT = 0.005 + 1e-12
    SCORE_WEIGHT = 1000.0
    TOTAL_WEIGHT = 0.05

    def __init__(
        self, published: Published, finder: CountsFinder, pools: list[list[RunCounts]]
    ) -> None:
        groups = list(published.summaries)
        summaries = published.summaries.values()
        self.means = hundredths_array([summary.mean for summary in summaries])
        self.medians = hundredths_array([summary.median for summary in summaries])
        self.deviations = hundredths_array([summary.deviation for summary in summaries])
        self.scores = [
            np.array([[float(finder.score(counts, group)) for group in groups] for counts in pool])
            for pool in pools
        ]
        tests_of = {
            topic: [test.number for test in published.tests if test.topic == topic]
            for topic in published.topics
        }
        self.auxiliary = [
            np.array([auxiliary_right(counts, tests_of.values()) for counts in pool])
            for pool in pools
        ]
        self.auxiliary_totals = np.array([published.auxiliary_right(topic) for topic in tests_of])

    def total(self, choice: list[int]) -> float:
        """All misses together; 0 when every figure holds at its printed precision."""
        scores = np.array(
            [of_run[index] for of_run, index in zip(self.scores, choice, strict=True)]
        )
        missed = 0.0
        for printed, obtained in (
            (self.means, scores.mean(axis=0)),
            (self.medians, np.median(scores, axis=0)),
            (self.deviations, scores.std(axis=0)),
        ):
            missed += np.nansum(np.maximum(0, np.abs(obtained - printed) - self.HALF_UNIT))
        auxiliary = sum(of_run[index] for of_run, index in zip(self.auxiliary, choice, strict=True))
        off = np.abs(auxiliary - self.auxiliary_totals).sum()
        return float(self.SCORE_WEIGHT * missed + self.TOTAL_WEIGHT * off)


def auxiliary_right(counts: RunCounts, topics: Iterable[list[int]]) -> list[int]:
    """Right responses to the auxiliary questions of each topic, given as its tests."""
    return [sum(counts.right[number, "auxiliary"] for number in tests) for tests in topics]


def hundredths_array(printed: list[int | None]) -> np.ndarray:
    """Printed hundredths as scores, not-a-number where nothing is printed."""
    return np.array([math.nan if value is None else value / 100 for value in printed])
