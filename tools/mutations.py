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
    "runs/**/*.py",
    "stats/intervals.py",
    "stats/randomisation.py",
    "stats/hypotheses.py",
    "features/compare/judge_errors.py",
    "features/tune/*.py",
)

EQUIVALENT: dict[str, tuple[str, ...]] = {
    "each move has one the other way": ("features.lowest_score: +",),
    "any bound near rounding will do": (
        "features.KeepRisk.hindsight: <=",
        "features.lowest_score: <",
        "features._solved: <",
        "measures._kappa_of: <",
        "measures._break_even_of.break_even: >",
        "measures._same: <=",
        "measures._within: <=",
        "stats.levels_from_jackknife: 2 <",
    ),
    "any number that is smaller, or larger, than all there are will do": (
        "measures.Listed.before: 0 1",
        "measures._areas_without_one: 0",
        "measures._places: 1.0",
        "measures.few_counts: 1",
        "measures.is_repeat: 1",
        "measures.least_area: 0",
        "measures.with_first_rank: 1",
        "runs.FILE_SEATS: 1 40",
        "runs._with_epochs: <=",
        "runs.cluster_numbers: 1",
    ),
    "what is more than there is to share is left out below": ("features.ways_of_sharing: 1",),
    "all of them are equal there": ("features.check_drawn: 0",),
    "another stream of random numbers is as good": (
        "features.correct_for_judge: 7",
        "stats.Flips.blocks: 99",
        "stats.sampled_p: 1",
    ),
    "measures depend on shares, not on how many there are": ("features.correct_for_judge: /",),
    "another value is taken there": ("features.judge_rates: 0 1",),
    "how closely a sum bounds an integral from above: any number of steps is safe": (
        "features.CELLS: 32",
    ),
    "it does not look ahead": (
        "features.KeepRisk.choose: 0",
        "features.Maximise.choose: 0",
    ),
    "a cluster without questions is left out before anything is computed": ("features.tuned: 1",),
    "how much is held or drawn at once; the same numbers come out": (
        "runs.BATCH: 1 18",
        "runs.MAX_CELLS: 30 4",
        "runs.MOST_BITS: 1 29",
        "runs._grades_in: 1",
        "runs.fill: 1",
        "runs.fits_in_duckdb: *",
        "stats.AT_ONCE: 1 16",
        "stats.BLOCK: 1 22",
        "stats.BLOCK_BYTES: 1 26",
        "stats.EXACT_STATES: 400000",
        "stats.Flips.blocks: 8",
        "stats.MOST_KEPT: 1 24",
        "stats.randomise_clusters: * <= and",
        "stats.resampled: 1",
        "stats.sampled_p: 8",
    ),
    "numpy takes any negative number for the length that is left": (
        "runs.Evaluation.outcomes: 1",
        "runs.RunData.sliced: 1",
        "runs.fill: 1",
    ),
    "any number that is no kind": ("runs.MET: 1",),
    "only a quicker way to what the other branch says": (
        "measures.DocumentRows.total_of_first: >",
        "runs._again: *",
        "runs.by_engine: >",
        "runs.repeats: > <",
    ),
    "only the first is taken": ("runs.first_repeat: 1",),
    "what is kept in a cache; the same numbers come out": ("stats.binomial: 4096",),
    "one more harmonic number is made than is looked up": ("measures.harmonic_numbers: 1",),
    "the cases on which a declaration is tried: others would do": (
        "measures.ANSWERS: 0 1 0.1 0.2 0.4 0.5 0.6 0.7 0.8 0.9",
        "measures.RANKINGS: 0 1 3",
        "measures._of_answers: if",
        "measures._of_counts: 2",
    ),
    "a whole number times or over 1.0 is the same as a double": (
        "measures._of_both.of_counts: *",
        "measures._rbp_by_depth: *",
    ),
    "it is 1 or −1": ("measures.earnings: *",),
    "one more is made than is looked up": (
        "measures.mean_reciprocal_rank: 1",
        "measures.penalised_dcg: 0",
    ),
    "from the first relevant document on the highest precision is that of the whole list": (
        "measures.at_points: 1 <",
    ),
    "nothing is found there, so that the product is 0": ("measures.set_f_of_trec_eval: 0.0",),
    "a top grade is 0, 1 or more": ("measures._graded: 0",),
    "no group stands before the first": ("measures._areas_without_one: 0.0",),
    "an answer that is alone in its group leaves nothing there": (
        "measures._areas_without_one: >",
    ),
    "it is multiplied by the gain of the pool, which is 0 there": ("measures.Prefixes.ideal: 0.0",),
    "one halving more: no digit that is shown": ("stats.ROUNDS: 24",),
    "all flips are listed there, none is drawn": ("stats.wilcoxon: 0",),
    "41 tosses have chances that only rounding tells apart, either way": ("stats.WHOLE: 40",),
    "chances below 1e-20, which no double near 1 holds": (
        "stats.BEYOND: * 2 3 50",
        "stats.likely_heads: 1 5",
        "stats.exact_p: +",
        "stats.sampled_p: 0",
    ),
    "a sign is 1 or -1": ("stats.of_clusters: >",),
    "all arrays of these have one length": (
        "stats.after_swaps: 0",
        "stats.sampled_p: 1",
    ),
}
"""Changes that no test can notice, by the reason why: the package and the function (or constant)
that they are in, with the operators and numbers that are changed. Other edits leave them valid."""

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


SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.And: "and",
    ast.Or: "or",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}


class Mutant(NamedTuple):
    """One change: the module, which of its changes, the statement it is in."""

    module: str
    place: int
    statement: int
    in_function: bool
    function: str
    """The qualified name of its function, or the constant that is assigned at module level."""
    operator: str
    """The operator or number that is changed; `if` for a negated condition."""

    @property
    def key(self) -> tuple[str, str]:
        """Its package and function, and what is changed."""
        return f"{self.module.partition('/')[0].removesuffix('.py')}.{self.function}", self.operator

    @property
    def is_equivalent(self) -> bool:
        """Whether no test can notice it."""
        function, operator = self.key
        return operator in _equivalent().get(function, ())


@cache
def _equivalent() -> dict[str, set[str]]:
    """The operators of equivalent changes, by function."""
    operators: dict[str, set[str]] = {}
    for entries in EQUIVALENT.values():
        for entry in entries:
            function, _, signs = entry.partition(": ")
            operators.setdefault(function, set()).update(signs.split())
    return operators


def unmatched() -> list[str]:
    """The equivalent changes that the code does not have, or no more."""
    there = {mutant.key for module in modules_named() for mutant in mutants_of(module)}
    wanted = {(name, sign) for name, signs in _equivalent().items() for sign in signs}
    return sorted(f"{name}: {sign}" for name, sign in wanted - there)


@cache
def plain(module: str) -> str:
    """A module's code without its layout: a statement is a line, so a mutant changes one line."""
    return ast.unparse(ast.parse((SOURCE / module).read_text("utf-8")))


def mutants_of(module: str) -> list[Mutant]:
    """Every change that a module allows."""
    changes = enumerate(_changes(ast.parse(plain(module))))
    return [
        Mutant(module, place, line, inside, function, operator)
        for place, (_, line, inside, function, operator) in changes
    ]


def mutated(mutant: Mutant) -> str:
    """The module's code with the change made."""
    tree = ast.parse(plain(mutant.module))
    list(_changes(tree))[mutant.place][0]()
    return ast.unparse(ast.fix_missing_locations(tree))


def told(mutant: Mutant) -> tuple[str, str]:
    """The line that a mutant changes, with its module, before and after."""
    before, after = plain(mutant.module).splitlines(), mutated(mutant).splitlines()
    for old, new in zip(before, after, strict=True):
        if old != new:
            return f"{mutant.module}: {old.strip()}", f"{mutant.module}: {new.strip()}"
    return "", ""


def _changes(
    node: ast.AST, line: int = 0, inside: bool = False, function: str = ""
) -> Iterator[tuple[Callable[[], object], int, bool, str, str]]:
    """What makes each change under a node, with its statement, its function and its operator."""
    line = node.lineno if isinstance(node, ast.stmt) else line
    for change, operator in _changes_of(node):
        yield change, line, inside, function, operator
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        function = f"{function}.{node.name}".lstrip(".")
    elif not function and isinstance(node, (ast.Assign, ast.AnnAssign)):
        function = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        if name == "body" and isinstance(node, ast.If) and _is_for_types(node):
            continue
        within = inside or (is_function and name == "body")
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _changes(child, line, within, function)


def _changes_of(node: ast.AST) -> Iterator[tuple[Callable[[], object], str]]:
    """What changes a node in place, one way after the other, and what is changed."""
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPPED:
        yield partial(setattr, node, "op", SWAPPED[type(node.op)]()), SIGNS[type(node.op)]
    elif isinstance(node, ast.Compare):
        for number, op in enumerate(node.ops):
            if type(op) in SWAPPED:
                yield partial(node.ops.__setitem__, number, SWAPPED[type(op)]()), SIGNS[type(op)]
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: float = node.value  # type: ignore[assignment]
        if value + 1 != value:
            yield partial(setattr, node, "value", value + 1), repr(value)
    elif isinstance(node, (ast.If, ast.IfExp)) and not _is_for_types(node):
        yield partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test)), "if"


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
