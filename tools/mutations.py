"""The changes that mutation testing makes to the code, one at a time.

A mutant changes one operator (+ - * / & | and or), one comparison (< <= > >= == !=), one number (by
1) or one condition of an `if` (negated), numbers in messages too. Other operators, types
(annotations, what is under TYPE_CHECKING) and texts are not changed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "abstain"
MODULES = (
    "measures/**/*.py",
    "outcomes.py",
    "judging/**/*.py",
    "stats/intervals.py",
    "stats/randomisation.py",
    "stats/hypotheses.py",
    "analyses/compare/bounds.py",
    "analyses/tune/*.py",
)

EQUIVALENT: dict[str, tuple[str, ...]] = {
    "how much is held or drawn at once; the same numbers come out": (
        "stats/randomisation.py: EXACT_STATES = 400000",
        "stats/intervals.py: BLOCK = 1 << 22",
        "stats/intervals.py: size = max(2, BLOCK // max(groups, 1))",
        "stats/intervals.py: size = max(1, BLOCK // max(groups, 2))",
        "stats/randomisation.py: AT_ONCE = 1 << 16",
        "stats/randomisation.py: BLOCK_BYTES = 1 << 26",
        "stats/randomisation.py: block = max(1, min(trials, BLOCK_BYTES // "
        "(9 * words * len(kinds))))",
        "stats/randomisation.py: if len(self.known) >= 500:",
        "stats/randomisation.py: if len(self.known) > 501:",
        "stats/hypotheses.py: MOST_KEPT = 1 << 24",
        "stats/hypotheses.py: kept = not divided and flips.trials * sums.size <= MOST_KEPT",
        "stats/hypotheses.py: block = max(1, min(AT_ONCE, BLOCK_BYTES // (9 * self.groups)))",
        "judging/cells.py: BATCH = 1 << 19",
        "judging/cells.py: MAX_BITS = 8 << 30",
        "judging/cells.py: MOST_BITS = 1 << 29",
        "judging/cells.py: room = MOST_BITS // (len(sizes) / int(sizes.to_numpy().max()))",
        "judging/cells.py: if len(counts) <= 4 * len(bins):",
        "judging/counting.py: LOOKED_AT = 1 << 16",
        "judging/counting.py: for rows_ahead in (LOOKED_AT, 16 * LOOKED_AT, EVERY_ROW):",
        "judging/cells.py: sure = np.full((2, cells.width if cells.confident else 0), np.nan)",
        "judging/aliases.py: found = collect(rows.head(MOST_GRADES + 2), table.name)[column]",
        "judging/counting.py: ahead = frame.filter(nw.col(SEAT) <= begins + rows_ahead)",
    ),
    "what is kept in a cache; the same numbers come out": (
        "judging/evaluation.py: if self._held is None or (confident or self._held[2] is None):",
        "stats/randomisation.py: if not len(self.known) > 500:",
        "stats/randomisation.py: @lru_cache(maxsize=9)",
        "stats/randomisation.py: @lru_cache(maxsize=4097)",
        "stats/randomisation.py: MOST_LISTED = 601",
        "stats/randomisation.py: few = counts.shape[-1] == 3 and n < MOST_LISTED and "
        "(counts.ndim > 1)",
        "stats/randomisation.py: few = counts.shape[-1] == 3 and n <= MOST_LISTED and "
        "(counts.ndim >= 1)",
        "stats/randomisation.py: few = counts.shape[-1] == 3 and n <= MOST_LISTED and "
        "(counts.ndim > 2)",
    ),
    "then all is computed, nothing looked up; the same numbers come out": (
        "stats/randomisation.py: if not few or not np.all(counts.sum(axis=-1) != n):",
        "stats/randomisation.py: n = round(float(counts[(0,) * (counts.ndim - 2)].sum()))",
        "stats/randomisation.py: few = counts.shape[-1] == 4 and n <= MOST_LISTED and "
        "(counts.ndim > 1)",
    ),
    "chances below 1e-20, which no double near 1 holds": (
        "stats/randomisation.py: return min(1.0, float(weights[loud].sum()) + unseen - BEYOND)",
        "stats/randomisation.py: return min(1.0, float(weights[loud].sum()) - unseen + BEYOND)",
        "stats/randomisation.py: tosses = [Tosses(g.integers(1, 1 << 64, size=(some, words), "
        "dtype=np.uint64, endpoint=False)) for g in generators]",
        "stats/randomisation.py: BEYOND = 3 * 2 * math.exp(-50)",
        "stats/randomisation.py: reach = 6 * np.sqrt(m) + 1",
        "stats/randomisation.py: reach = 5 * np.sqrt(m) + 2",
        "stats/randomisation.py: return np.arange(max(0, int(m / 2 - reach)), "
        "min(m, int(m / 2 + reach) + 2) + 1)",
    ),
    "any number that is smaller, or larger, than all there are will do": (
        "measures/influence.py: harmonic = np.append(harmonic_numbers(int(np.max(a.size, "
        "initial=1))), 0.0)",
        "measures/families/handed_in.py: unsure = np.where(a.stated, -a.confidence, 2.0)",
        "measures/ranked_lists.py: step = int(max(self.rank.max(), rank.max(initial=1))) + 1",
        "measures/checks.py: numbers = product(range(MOST + 2), repeat=5)",
        "judging/slices.py: numbers[alone] = numbers.max(initial=-2) + 1 + "
        "np.arange(int(alone.sum()))",
        "judging/counting.py: EVERY_ROW = 1 << 62",
        "judging/counting.py: FILE_SEATS = 1 << 40",
        "measures/families/handed_in.py: starts = np.flatnonzero(np.diff(question[order], "
        "prepend=-2))",
        "measures/families/recall_points.py: step = int(nth.max(initial=0)) + 3",
        "measures/families/gain.py: step = int(max(rankings.rank.max(), rank.max(initial=1))) + 1",
        "measures/families/gain.py: step = int(max(rankings.rank.max(), rank.max(initial=0))) + 2",
        "measures/ranked_lists.py: step = int(max(self.rank.max(), rank.max(initial=0))) + 2",
        "measures/families/ranking.py: first = np.diff(rows, prepend=-2) > 0",
        "judging/plans.py: logs = [own.table.frame.select(pl.col('question', SAMPLE)"
        ".cast(pl.String), pl.col(EPOCH).cast(pl.String)).collect() for own in responses if "
        "own.table.verdicts is not None and {SAMPLE, EPOCH} < {*own.table.columns}]",
        "analyses/compare/bounds.py: while math.comb(total // step + parts, parts - 1) >= "
        "MOST_WAYS:",
        "measures/answers.py: harmonic = harmonic_numbers(int(np.max(answers, initial=1)))",
    ),
    "a whole number times or over 1.0 is the same as a double": (
        "measures/declare.py: return function(k.right / 1.0, k.wrong * 1.0, k.unanswered * 1.0, "
        "k.n * 1.0, **arguments)",
        "measures/declare.py: return function(k.right * 1.0, k.wrong / 1.0, k.unanswered * 1.0, "
        "k.n * 1.0, **arguments)",
        "measures/declare.py: return function(k.right * 1.0, k.wrong * 1.0, k.unanswered / 1.0, "
        "k.n * 1.0, **arguments)",
        "measures/declare.py: return function(k.right * 1.0, k.wrong * 1.0, k.unanswered * 1.0, "
        "k.n / 1.0, **arguments)",
        "measures/families/truncated.py: return cut.scored(_terminal(cut) * "
        "np.power(p, cut.depth / 1.0), listed)",
    ),
    "all arrays of these have one length": (
        "stats/randomisation.py: found = np.empty((len(stay[1]), *joint.shape))",
        "stats/randomisation.py: size = joint.shape[-2]",
    ),
    "it is multiplied by the gain of the pool, which is 0 there": (
        "measures/ranked_lists.py: full = np.append(1.0, np.cumsum(weight))",
    ),
    "numpy takes any negative number for the length that is left": (
        "judging/evaluation.py: return pl.DataFrame({'run': pl.Series(names).gather(np.repeat("
        "np.arange(len(names)), len(ids))), 'question': ids.gather(np.tile(np.arange(len(ids)), "
        "len(names))), 'outcome': ends.gather(self.codes.reshape(-2)), 'why': "
        "reasons.gather(kinds.reshape(-1)), 'confidence': "
        "pl.Series(sure.reshape(-1)).fill_nan(None)})",
        "judging/cells.py: _add(table.reshape(-2), bins)",
        "judging/evaluation.py: table[number] = bins.reshape(-2, EXCLUDED + 1)",
        "judging/counting.py: table = found.table.reshape(-2, KINDS)",
        "judging/cells.py: held.reshape(-2)[at] = batch.kind + 1",
        "judging/cells.py: sure.reshape(-2)[at] = batch.confidence",
        "judging/cells.py: np.bitwise_or.at(met.reshape(-2), batch.run * stride + "
        "(batch.index >> 3), bit)",
    ),
    "numbers beyond 1e300 are not near 0": (
        "analyses/tune/choose.py: return f'{number:g}' if abs(number) < 1e+300 else "
        "f\"{('-' if number < 1 else '')}1e300 or more\"",
    ),
    "another stream of random numbers is as good": (
        "analyses/compare/bounds.py: generator, method = (np.random.default_rng([seed, 8]), "
        "'jeffreys')",
        "stats/hypotheses.py: generator = np.random.default_rng([self.seed, 100])",
        "stats/randomisation.py: words = questions // 64 + 2",
    ),
    "one halving more: no digit that is shown": ("stats/hypotheses.py: ROUNDS = 25",),
    "41 tosses have chances that only rounding tells apart, either way": (
        "stats/randomisation.py: WHOLE = 41",
    ),
    "differences after flips count by their size alone": (
        "stats/hypotheses.py: half = (total - moved) / 2",
    ),
    "a sign is 1 or -1": (
        "stats/randomisation.py: sums = np.where(signs >= 0, straight, swapped)",
    ),
    "any number that is no kind": ("judging/cells.py: MET = -2",),
    "all flips are listed there, none is drawn": (
        "stats/hypotheses.py: return randomise_scores(ranks, Flips(len(ranks), trials=1, seed=0))",
        "stats/hypotheses.py: return randomise_scores(ranks, Flips(len(ranks), trials=0, seed=1))",
    ),
    "such measures count blanks alike, whatever the candidate": (
        "analyses/compare/bounds.py: return (0, 1, 2, 3, 4) if "
        "measure.definition.needs_candidates else (0, 1, 5)",
    ),
    "the cases on which a declaration is tried: others would do": (
        "measures/checks.py: GAINS = (((1, 0, 1), 3), ((0, 0), 1), ((1,), 1), ((0,), 0), ((), 0))",
        "measures/checks.py: over = answers.questions if not d.mean.over == 'questions' else "
        "answers.size",
        "measures/checks.py: RIGHT = ((1, 1, 0, 1, 0), (1, 0), (0, 1, 1))",
        "measures/checks.py: GAINS = (((1, 0, 1), 4), ((0, 0), 1), ((1,), 1), ((0,), 0), ((), 0))",
        "measures/checks.py: GAINS = (((1, 0, 1), 3), ((0, 0), 1), ((1,), 2), ((0,), 0), ((), 0))",
        "measures/checks.py: same(item(CountsArray(3 * many.table)), 'with twice as many questions "
        "of each outcome')",
    ),
    "only a quicker way to what the other branch says": (
        "judging/counting.py: begins = int(collect(frame.select(nw.col(FILE).min()), "
        "label)[FILE][0]) / FILE_SEATS",
        "judging/counting.py: suspects = sizes.filter(pl.col('rows') >= "
        "pl.col('distinct'))['run'].to_list()",
        "judging/counting.py: if len(found) > most:",
        "measures/ranked_lists.py: part = np.flatnonzero(length <= np.diff(self.offsets)[query])",
        "judging/judge.py: longer = given.str.len_chars() >= correct.str.len_chars()",
        "judging/judge.py: return [nw.concat(group, how='diagonal') if len(group) >= 1 else "
        "group[0] for group in groups.values()]",
        "judging/judge.py: visible = (given > '!') & (given < '\\x7f')",
    ),
    "any bound near rounding will do": (
        "analyses/tune/choose.py: within = reached.wrong < self.alpha * reached.answered + 1e-09",
        "analyses/compare/bounds.py: flat = np.abs(np.linalg.det(rates)) <= 1e-09",
        "stats/intervals.py: acceleration = float((weights * off ** 3).sum()) / "
        "(6 * second ** 1.5) if second > close ** 3 else 0.0",
        "stats/intervals.py: below = (known <= observed - close).mean()",
        "measures/checks.py: if not (math.isnan(score) and math.isnan(other)) and (not "
        "abs(score - other) < close):",
        "measures/checks.py: if not low - CLOSE < score <= high + CLOSE:",
        "measures/checks.py: if not low - CLOSE <= score < high + CLOSE:",
        "measures/declare.py: if not all((abs(score(c, 1 - c, 0.0, **example) - c) <= 1e-12 for c "
        "in (0.25, 0.625))):",
        "measures/declare.py: return above / below if abs(below) >= ROUNDING else math.nan",
        "measures/declare.py: return np.where(np.abs(below) >= ROUNDING, above / below, np.nan)",
        "analyses/compare/bounds.py: if values[at] <= best - CLOSE:",
        "analyses/tune/tuning.py: delta = round(1 - level, 13)",
    ),
    "a cluster without questions is left out before anything is computed": (
        "analyses/tune/tuning.py: own_clusters = None if clusters is None else "
        "(clusters[judge], int(clusters.max()) + 2)",
    ),
    "how closely a sum bounds an integral from above: any number of steps is safe": (
        "analyses/tune/choose.py: CELLS = 33",
    ),
    "it is 1 or −1": ("measures/families/handed_in.py: return a.confidence / (2.0 * a.right - 1)",),
    "a query without a judged document has nothing to keep": (
        "measures/gains.py: return levels[-1][1] if levels else 1.0",
    ),
    "one more is made than is looked up": (
        "measures/families/stopping.py: longest = int(rankings.depth.max(initial=1))",
        "measures/families/handed_in.py: best = np.full(int(question.max()) + 2, nowhere)",
    ),
    "nothing is found there, so that the product is 0": (
        "measures/families/sets.py: recall = ratio(found, num_rel(rankings, rel=rel), empty=1.0)",
        "measures/families/sets.py: precision = ratio(found, num_ret(rankings), empty=1.0)",
    ),
    "one more harmonic number is made than is looked up": (
        "measures/answers.py: return np.concatenate([[0.0], "
        "np.cumsum(1 / np.arange(1, most + 2))])",
    ),
    "only infinite values come here": (
        "measures/definition.py: return '∞' if value >= 0 else '−∞'",
    ),
    "only the first is taken": (
        "judging/counting.py: first = repeats(judged, most=2, runs=runs)[0]",
    ),
    "what is more than there is to share is left out below": (
        "analyses/compare/bounds.py: marks = np.unique(np.append(np.arange(0, total + 2, step), "
        "total))",
    ),
    "another value is taken there": (
        "analyses/compare/bounds.py: return np.where(sums > 0, confusion / "
        "np.where(sums > 0, sums, 2), np.eye(3))",
        "analyses/compare/bounds.py: return np.where(sums > 0, confusion / "
        "np.where(sums > 1, sums, 1), np.eye(3))",
    ),
    "measures depend on shares, not on how many there are": (
        "analyses/compare/bounds.py: score = float(solved(measure, (cells * cells.sum())[None], "
        "rates[None])[0])",
    ),
    "twice a number of answers is 0 or at least 2": (
        "measures/families/calibration.py: middle = (2 * upto - sizes) * bins // "
        "np.maximum(2 * upto[-1], 2)",
    ),
    "a top grade is 0, 1 or more": (
        "measures/families/truncated.py: top = pool.top if rel is None and pool.top > 1 else 1.0",
    ),
    "from the first relevant document on the highest precision is that of the whole list": (
        "measures/families/recall_points.py: stuck |= begun & ((wanted < 2) | (wanted > reached))",
        "measures/families/recall_points.py: stuck |= begun & ((wanted <= 1) | (wanted > reached))",
    ),
    "an answer that is alone in its group leaves nothing there": (
        "measures/influence.py: own = np.where(sizes >= 1, own, 0.0)",
    ),
    "it does not look ahead": (
        "analyses/tune/choose.py: def choose(self, curve: Curve, ahead: Curve | int=1) -> float:",
    ),
    "only the first are taken": (
        "judging/counting.py: joined = frame.join(keys, on=key, how='inner').sort(key)"
        ".head(3 * most + 1)",
    ),
    "no group stands before the first": (
        "measures/influence.py: harmonic = np.append(harmonic_numbers(int(np.max(a.size, "
        "initial=0))), 1.0)",
    ),
    "each move has one the other way": ("analyses/compare/bounds.py: near = way - step * moves",),
    "a table without rows is refused before": (
        "judging/grades.py: sizes = per_slice.select(pl.col('size').max().fill_null(1))",
    ),
    "all of them are equal there": (
        "analyses/compare/bounds.py: raise UsageError(f\"the judge's table has {said[0][1]:.0f} "
        "responses of each verdict, so it does not look like a random sample: say how it was "
        "drawn, {option('judge_drawn', 'verdict')} (a fixed number of each verdict of the judge), "
        "{option('judge_drawn', 'truth')} (a fixed number of each true outcome) or "
        "{option('judge_drawn', 'random')}\")",
    ),
}
"""Why some mutants change nothing that can be seen: by reason, their module and line as changed, or
as it was where that is so of every change to it."""

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


class Mutant(NamedTuple):
    """One change: the module, which of its changes, the statement it is in."""

    module: str
    place: int
    statement: int
    in_function: bool


@cache
def plain(module: str) -> str:
    """A module's code without its layout: a statement is a line, so a mutant changes one line."""
    return ast.unparse(ast.parse((SOURCE / module).read_text("utf-8")))


def mutants_of(module: str) -> list[Mutant]:
    """Every change that a module allows."""
    found = enumerate(_changes(ast.parse(plain(module))))
    return [Mutant(module, place, line, inside) for place, (_, line, inside) in found]


def mutated(mutant: Mutant) -> str:
    """The module's code with the change made."""
    tree = ast.parse(plain(mutant.module))
    make, _, _ = list(_changes(tree))[mutant.place]
    make()
    return ast.unparse(ast.fix_missing_locations(tree))


def told(mutant: Mutant) -> tuple[str, str]:
    """The line that a mutant changes, with its module, before and after."""
    before, after = plain(mutant.module).splitlines(), mutated(mutant).splitlines()
    for old, new in zip(before, after, strict=True):
        if old != new:
            return f"{mutant.module}: {old.strip()}", f"{mutant.module}: {new.strip()}"
    return "", ""


def _changes(
    node: ast.AST, line: int = 0, inside: bool = False
) -> Iterator[tuple[Callable[[], object], int, bool]]:
    """What makes each change under a node, with its statement and whether a function has it."""
    line = node.lineno if isinstance(node, ast.stmt) else line
    for change in _changes_of(node):
        yield change, line, inside
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        if name == "body" and isinstance(node, ast.If) and _is_for_types(node):
            continue
        within = inside or (is_function and name == "body")
        for own in field if isinstance(field, list) else [field]:
            if isinstance(own, ast.AST):
                yield from _changes(own, line, within)


def _changes_of(node: ast.AST) -> Iterator[Callable[[], object]]:
    """What changes a node in place, one way after the other."""
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPPED:
        yield partial(setattr, node, "op", SWAPPED[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for number, op in enumerate(node.ops):
            if type(op) in SWAPPED:
                yield partial(node.ops.__setitem__, number, SWAPPED[type(op)]())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.value + 1 != node.value:  # type: ignore[operator]
            yield partial(setattr, node, "value", node.value + 1)  # type: ignore[operator]
    elif isinstance(node, (ast.If, ast.IfExp)) and not _is_for_types(node):
        yield partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test))


def _is_for_types(node: ast.If | ast.IfExp) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


def modules_named() -> list[str]:
    """The modules to change."""
    return sorted({str(own.relative_to(SOURCE)) for each in MODULES for own in SOURCE.glob(each)})


def probed(module: str) -> str:
    """A module's code in which each statement first tells that it is reached."""
    tree = ast.parse(plain(module))
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            listed = getattr(node, field, None)
            if isinstance(listed, list):
                setattr(node, field, [new for own in listed for new in _probe(module, own)])
    return ast.unparse(ast.fix_missing_locations(tree))


def _probe(module: str, own: ast.stmt) -> list[ast.stmt]:
    is_text = isinstance(own, ast.Expr) and isinstance(own.value, ast.Constant)
    if is_text or (isinstance(own, ast.ImportFrom) and own.module == "__future__"):
        return [own]
    return [ast.parse(f"__reach__({named(module, own.lineno)!r})").body[0], own]


def named(module: str, line: int) -> str:
    """What a statement is called: its module and its text, which other statements may have too."""
    return f"{module}: {plain(module).splitlines()[line - 1].strip()}"


def statements(module: str) -> list[str]:
    """What the statements of a module are called."""
    nodes = ast.walk(ast.parse(plain(module)))
    return [named(module, own.lineno) for own in nodes if isinstance(own, ast.stmt)]
