"""Stage two: the questions, and which of them each run got right or left blank.

Given the counts of stage one, `plan_pairs` chooses how often the two questions of each
main/auxiliary pair are right, `lay_out_questions` numbers the questions, `fill_outcomes`
hands the counts of each cell out to its questions, and `assign_types` and
`assign_knowledge` label the questions so that the tables by type and by knowledge hold.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field, replace

import numpy as np
from counts import CELLS, Cell, RunCounts, solve
from ortools.graph.python import min_cost_flow
from ortools.sat.python import cp_model

from published import PairTally, Published

TASTE_WEIGHT = 1.0  # how much a team's strengths decide which questions its runs get right
EASE_WEIGHT = 0.5  # how much the question decides
NOISE_WEIGHT = 0.3  # how much the run decides
COST_SCALE = 1000
KNOWLEDGE_STEPS = 200_000
PAIRS_EFFORT = 20.0  # in CP-SAT's deterministic time

Category = tuple[str, str, str]  # (simplified part, kind of simplification, question type)


@dataclass(frozen=True)
class Pair:
    """A main question and its auxiliary one, and how many runs get each right."""

    test: int
    part: str
    kind: str
    type: str
    main_right: int
    auxiliary_right: int


@dataclass(frozen=True)
class Question:
    """One question; `right` is the number of runs that get it right, where that is planned."""

    name: str
    test: int
    topic: str
    cell: str
    correct: str
    type: str = ""
    knowledge: str = ""
    auxiliary_of: str = ""
    simplified: str = ""
    simplification: str = ""
    right: int | None = None


@dataclass
class Outcomes:
    """Runs by questions: which responses are right and which are blank."""

    right: np.ndarray
    blank: np.ndarray


@dataclass
class PairUnknowns:
    """What is to be found about one pair: its category, and its numbers in that category."""

    test: int
    chosen: dict[Category, cp_model.IntVar] = field(default_factory=dict)
    main: dict[Category, cp_model.IntVar] = field(default_factory=dict)
    auxiliary: dict[Category, cp_model.IntVar] = field(default_factory=dict)
    better: dict[Category, cp_model.IntVar] = field(default_factory=dict)


def plan_pairs(
    published: Published, sizes: dict[Cell, int], counts: dict[str, RunCounts]
) -> list[Pair]:
    """Categories and right responses for all pairs so that Tables 18 to 21 hold.

    Pairs of one category are made as alike as the tables allow.
    """
    model = cp_model.CpModel()
    topic_of = {test.number: test.topic for test in published.tests}
    categories = [
        key for key, tally in published.pairs.items() if tally.pairs and key[2] in published.types
    ]
    unknowns = []
    distances: list[cp_model.IntVar] = []
    for test in published.tests:
        for _ in range(test.auxiliary):
            pair = PairUnknowns(test.number)
            for category in categories:
                if published.pairs[category[0], category[1], test.topic].pairs:
                    add_category(model, pair, category, len(published.runs))
                    distances += add_distances(model, pair, category, published.pairs[category])
            model.add_exactly_one(pair.chosen.values())
            unknowns.append(pair)
    for (part, kind, level), tally in published.pairs.items():
        members = [
            (pair, category)
            for pair in unknowns
            for category in pair.chosen
            if category[:2] == (part, kind) and level in (category[2], topic_of[pair.test])
        ]
        for values, total in (
            ("chosen", tally.pairs),
            ("better", tally.better),
            ("main", tally.main_right),
            ("auxiliary", tally.auxiliary_right),
        ):
            model.add(sum(getattr(pair, values)[category] for pair, category in members) == total)
    for test in published.tests:
        pairs = [pair for pair in unknowns if pair.test == test.number]
        for cell, values in (("plain", "main"), ("auxiliary", "auxiliary")):
            rows = [of_run.right[test.number, cell] for of_run in counts.values()]
            columns = [sum(getattr(pair, values).values()) for pair in pairs]
            add_column_bounds(model, rows, columns, sizes[test.number, cell])
    model.minimize(sum(distances))
    solver = solve(model, PAIRS_EFFORT)
    if solver is None:
        raise ValueError("no main/auxiliary pairs fit Tables 18 to 21")
    return [
        Pair(
            pair.test,
            *category,
            main_right=solver.value(pair.main[category]),
            auxiliary_right=solver.value(pair.auxiliary[category]),
        )
        for pair in unknowns
        for category in pair.chosen
        if solver.value(pair.chosen[category])
    ]


def add_category(
    model: cp_model.CpModel, pair: PairUnknowns, category: Category, runs: int
) -> None:
    """Adds a category that a pair may have; its numbers are 0 unless it is the chosen one."""
    chosen, better = model.new_bool_var(""), model.new_bool_var("")
    main, auxiliary = model.new_int_var(0, runs, ""), model.new_int_var(0, runs, "")
    model.add(main <= runs * chosen)
    model.add(auxiliary <= runs * chosen)
    model.add(auxiliary > main).only_enforce_if(better)
    model.add(auxiliary <= main).only_enforce_if(~better)
    pair.chosen[category] = chosen
    pair.better[category] = better
    pair.main[category] = main
    pair.auxiliary[category] = auxiliary


def add_distances(
    model: cp_model.CpModel, pair: PairUnknowns, category: Category, tally: PairTally
) -> list[cp_model.IntVar]:
    """How far a pair's numbers are from the average of its category; 0 if it is not chosen."""
    distances = []
    for number, total in (
        (pair.main[category], tally.main_right),
        (pair.auxiliary[category], tally.auxiliary_right),
    ):
        distance = model.new_int_var(0, 1000, "")
        surplus = number - round(total / tally.pairs) * pair.chosen[category]
        model.add(distance >= surplus)
        model.add(distance >= -surplus)
        distances.append(distance)
    return distances


def add_column_bounds(
    model: cp_model.CpModel, rows: list[int], columns: list[cp_model.LinearExprT], size: int
) -> None:
    """Makes the planned column sums possible in a 0/1 table with the given row sums.

    The table may have more columns than are planned; those are free (Gale and Ryser's
    condition with free columns).
    """
    for count in range(1, len(columns) + 1):
        least = sum(max(0, row - (size - count)) for row in rows)
        most = sum(min(row, count) for row in rows)
        for some in itertools.combinations(columns, count):
            model.add_linear_constraint(sum(some), least, most)


def lay_out_questions(
    published: Published, sizes: dict[Cell, int], pairs: list[Pair]
) -> list[Question]:
    """All questions in order: in each test the main ones, shuffled, then the auxiliary ones."""
    chance = random.Random("questions")
    questions = []
    for test in published.tests:
        pairs_of_test = [pair for pair in pairs if pair.test == test.number]
        cells = [cell for cell in CELLS[:3] for _ in range(sizes[test.number, cell])]
        paired = iter(range(len(pairs_of_test)))
        roles = [(cell, next(paired, None) if cell == "plain" else None) for cell in cells]
        chance.shuffle(roles)
        main_of: dict[int, Question] = {}
        for number, (cell, pair_index) in enumerate(roles, 1):
            question = Question(
                name=f"t{test.number:02}q{number:02}",
                test=test.number,
                topic=test.topic,
                cell=cell,
                correct="5" if cell == "nca" else str(chance.randint(1, 4)),
            )
            if pair_index is not None:
                pair = pairs_of_test[pair_index]
                question = replace(question, type=pair.type, right=pair.main_right)
                main_of[pair_index] = question
            questions.append(question)
        for pair_index, pair in enumerate(pairs_of_test):
            main = main_of[pair_index]
            questions.append(
                replace(
                    main,
                    name=f"t{test.number:02}q{test.main + pair_index + 1:02}",
                    cell="auxiliary",
                    correct=main.correct if pair.part == "question" else str(chance.randint(1, 4)),
                    auxiliary_of=main.name,
                    simplified=pair.part,
                    simplification=pair.kind,
                    right=pair.auxiliary_right,
                )
            )
    return questions


def fill_outcomes(
    published: Published, questions: list[Question], counts: dict[str, RunCounts]
) -> Outcomes:
    """Hands each run's counts in each cell out to the questions of the cell."""
    chance = np.random.default_rng(2013)
    teams = sorted({run.team for run in published.runs})
    team_of = [teams.index(run.team) for run in published.runs]
    shape = (len(published.runs), len(questions))

    def inclination() -> np.ndarray:
        """How inclined each run is to get each question right (or to leave it blank)."""
        return (
            TASTE_WEIGHT * chance.standard_normal((len(teams), len(questions)))[team_of]
            + EASE_WEIGHT * chance.standard_normal(len(questions))
            + NOISE_WEIGHT * chance.standard_normal(shape)
        )

    ability, doubt = inclination(), inclination()
    outcomes = Outcomes(np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool))
    for cell in dict.fromkeys((question.test, question.cell) for question in questions):
        columns = [
            index
            for index, question in enumerate(questions)
            if (question.test, question.cell) == cell
        ]
        rows = [counts[run.name].right[cell] for run in published.runs]
        planned = [questions[index].right for index in columns]
        outcomes.right[:, columns] = fill_table(rows, planned, ability[:, columns])
        for row, run in enumerate(published.runs):
            not_right = [index for index in columns if not outcomes.right[row, index]]
            not_right.sort(key=lambda index: doubt[row, index], reverse=True)
            outcomes.blank[row, not_right[: counts[run.name].blank[cell]]] = True
    return outcomes


def fill_table(rows: list[int], planned: list[int | None], weights: np.ndarray) -> np.ndarray:
    """The 0/1 table of greatest weight with these row sums and the planned column sums."""
    flow = min_cost_flow.SimpleMinCostFlow()
    costs = np.rint(-weights * COST_SCALE).astype(int)
    first_column = len(rows)
    rest = first_column + len(planned)
    arcs = {}
    for row, total in enumerate(rows):
        flow.set_node_supply(row, total)
        for column in range(len(planned)):
            arcs[row, column] = flow.add_arc_with_capacity_and_unit_cost(
                row, first_column + column, 1, int(costs[row, column])
            )
    free = sum(rows)
    for column, planned_total in enumerate(planned):
        if planned_total is None:
            flow.add_arc_with_capacity_and_unit_cost(first_column + column, rest, len(rows), 0)
        else:
            flow.set_node_supply(first_column + column, -planned_total)
            free -= planned_total
    flow.set_node_supply(rest, -free)
    if flow.solve() != flow.OPTIMAL:
        raise ValueError("a cell's counts cannot be handed out to its questions")
    table = np.zeros(weights.shape, dtype=bool)
    for place, arc in arcs.items():
        table[place] = flow.flow(arc) == 1
    return table


def assign_types(
    published: Published, questions: list[Question], outcomes: Outcomes
) -> list[Question]:
    """Types for the questions outside pairs, so that Tables 5 and 17 hold exactly."""
    right, blank = outcomes.right.sum(axis=0), outcomes.blank.sum(axis=0)
    model = cp_model.CpModel()
    has_type = {}
    for index, question in enumerate(questions):
        for name in published.types:
            has_type[index, name] = (
                int(question.type == name) if question.type else model.new_bool_var("")
            )
        if not question.type:
            model.add_exactly_one(has_type[index, name] for name in published.types)
    for name, tally in published.types.items():
        for values, total in (
            (np.ones_like(right), tally.questions),
            (right, tally.right),
            (blank, tally.unanswered),
        ):
            model.add(
                sum(int(value) * has_type[index, name] for index, value in enumerate(values))
                == total
            )
    solver = solve(model)
    if solver is None:
        raise ValueError("no question types fit Tables 5 and 17")
    return [
        question
        if question.type
        else replace(
            question,
            type=next(name for name in published.types if solver.value(has_type[index, name])),
        )
        for index, question in enumerate(questions)
    ]


def assign_knowledge(
    published: Published, questions: list[Question], outcomes: Outcomes
) -> list[Question]:
    """Kinds of knowledge so that the sizes and mean scores of Table 6 hold.

    Starts at random and swaps two questions whenever that brings the means nearer.
    """
    chance = random.Random("knowledge")
    names = list(published.knowledge)
    sizes = [size for size, _ in published.knowledge.values()]
    targets = [mean / 100 for _, mean in published.knowledge.values()]
    kinds = [index for index, size in enumerate(sizes) for _ in range(size)]
    chance.shuffle(kinds)
    right, blank = outcomes.right.astype(int), outcomes.blank.astype(int)
    right_in = [right[:, np.array(kinds) == kind].sum(axis=1) for kind in range(len(names))]
    blank_in = [blank[:, np.array(kinds) == kind].sum(axis=1) for kind in range(len(names))]

    def miss(kind: int, rights: np.ndarray, blanks: np.ndarray) -> float:
        mean = (rights * (sizes[kind] + blanks)).mean() / sizes[kind] ** 2
        return abs(float(mean) - targets[kind])

    misses = [miss(kind, right_in[kind], blank_in[kind]) for kind in range(len(names))]
    for _ in range(KNOWLEDGE_STEPS):
        if max(misses) < 0.002:
            break
        one, other = chance.sample(range(len(questions)), 2)
        a, b = kinds[one], kinds[other]
        if a == b:
            continue
        more_right, more_blank = right[:, other] - right[:, one], blank[:, other] - blank[:, one]
        miss_a = miss(a, right_in[a] + more_right, blank_in[a] + more_blank)
        miss_b = miss(b, right_in[b] - more_right, blank_in[b] - more_blank)
        if miss_a + miss_b < misses[a] + misses[b]:
            kinds[one], kinds[other] = b, a
            right_in[a] += more_right
            right_in[b] -= more_right
            blank_in[a] += more_blank
            blank_in[b] -= more_blank
            misses[a], misses[b] = miss_a, miss_b
    return [
        replace(question, knowledge=names[kind])
        for question, kind in zip(questions, kinds, strict=True)
    ]
