"""All that is known of a measure stands in its declaration; nothing else is looked up by names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import abstain as ab
from abstain.measures import Measure, Undefinedness, definitions
from abstain.measures.checks import check
from abstain.measures.registry import example_measure
from abstain.stats.delta_method import cells_of
from abstain.stats.hypotheses import Flips, randomise_clusters
from abstain.stats.randomisation import randomise
from tests.helpers import ROOT

SOURCES = ROOT / "src" / "abstain"
HELP = ("cli/", "command.py")
"""Help shows what may be typed: examples are no tables."""
NAMES = {n for d in definitions().values() for n in (d.name, *d.aliases) if len(n) > 1}
NAME = (
    rf"(?<![\w@'-])(?:{'|'.join(map(re.escape, sorted(NAMES, key=len, reverse=True)))})(?![\w'-])"
)
TEXT = re.compile(rf"{NAME}(\(.*|@.*)?")
"""A measure as it is typed, or the beginning of one."""
ENUMERATED = re.compile(rf"{NAME}(\(.*?\)|@\d+)?(,| and| or|, and|, or) {NAME}")


@pytest.mark.parametrize("name", definitions())
def test_every_measure_does_what_it_declares(name: str) -> None:
    """What a measure of another package has to show when it is declared."""
    check(example_measure(name))


# --------------------------------------------------------------------------- tables elsewhere


def lists_in(tree: ast.Module) -> set[str]:
    """The names of constants that list measures."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _has_name(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def tables_in(tree: ast.Module, listed: set[str]) -> Iterator[ast.AST]:
    """Mappings by measure names, and comparisons with them or with lists of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and node.keys and all(map(_is_name, node.keys)):
            yield node
        if isinstance(node, ast.MatchValue) and _is_name(node.value):
            yield node
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asked = isinstance(node.ops[0], (ast.In, ast.NotIn))
            if any(map(_is_name, sides[asked:])) or any(map(_has_name, sides)):
                yield node
            if asked and any(isinstance(s, ast.Name) and s.id in listed for s in sides):
                yield node


def rows_in(tree: ast.Module) -> Iterator[ast.AST]:
    """Rows that set measures beside one another: a table without keys."""
    for node in ast.walk(tree):
        for row in getattr(node, "elts", ()):
            if isinstance(row, (ast.Tuple, ast.List)) and sum(map(_is_text, row.elts)) > 1:
                yield row


def sentences_in(tree: ast.Module) -> Iterator[ast.AST]:
    """Sentences that enumerate measures which have something in common; docstrings may."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        own = node.value if isinstance(node, ast.Constant) and id(node) not in said else None
        if isinstance(own, str) and ENUMERATED.search(own):
            yield node


def _is_text(node: ast.AST) -> bool:
    first = node.values[0] if isinstance(node, ast.JoinedStr) else node
    value = first.value if isinstance(first, ast.Constant) else None
    return isinstance(value, str) and TEXT.fullmatch(value) is not None


def _is_name(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES


def _has_name(node: ast.AST) -> bool:
    if isinstance(node, ast.Starred):
        return _has_name(node.value)
    inside = getattr(node, "elts", []) if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else []
    return any(_is_name(item) or _has_name(item) for item in inside)


@pytest.mark.slow
def test_no_table_elsewhere_is_keyed_by_measure_names() -> None:
    """Lists of names that a command shows by itself are no tables: nothing is asked of them."""
    trees = {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCES.rglob("*.py"))
        if not (name := str(path.relative_to(SOURCES))).startswith("measures/")
    }
    ours = (tree for name, tree in trees.items() if not name.startswith("io/"))
    listed = set.union(*map(lists_in, ours))
    found = [
        f"{name}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)[:80]}"
        for name, tree in trees.items()
        for node in [
            *tables_in(tree, listed),
            *rows_in(tree),
            *(sentences_in(tree) if not (name.startswith(HELP) or name.endswith(HELP)) else ()),
        ]
    ]
    assert len(trees) > 100
    assert listed, "there are lists of names that commands show"
    assert not found, "\n".join(found)


def test_nothing_is_read_off_the_rules_for_the_undefined() -> None:
    """They are shown (`cards`), and asked by the measure itself; they say nothing else of it."""
    found = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in sorted(SOURCES.rglob("*.py"))
        if not path.is_relative_to(SOURCES / "measures")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "definition.undefined" in line
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "X = {'ECE': 1, 'Brier': 2}",
        "BIASED = ('ECE', 'ECE-mass')\nx = m.name in BIASED",
        "x = m.name not in ('accuracy', 'qa-accuracy')",
        "x = m.name == 'CWS'",
        "LATE = (*('forced-accuracy',), 'x')\nx = [c for c in y if c in LATE]",
        "match m.name:\n    case 'Pearson-r': pass",
    ],
)
def test_tables_are_found(text: str) -> None:
    tree = ast.parse(text)
    assert list(tables_in(tree, lists_in(tree)))


@pytest.mark.parametrize(
    "text",
    [
        """x = [("RR", f"RR'{rel}"), (f"RBP(p={p})", f"RBP'(p={p})")]""",
        """PAIRS = (("AP", "AP'"),)""",
        """x = [(f"NDCG{depth}", "NDCG'")]""",
    ],
)
def test_tables_without_keys_are_found(text: str) -> None:
    assert list(rows_in(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "x = f'take {method} with -m accuracy, ' f'precision or coverage'",
        """x = f"{text}; AP', NDCG', RR' and RBP' score them\"""",
    ],
)
def test_sentences_that_enumerate_measures_are_found(text: str) -> None:
    assert list(sentences_in(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "rows = [('F1', f1)]",
        "x = 'coverage of the answers, and its precision'",
        "DEFAULT = (*('c@1', 'UF'), 'accuracy')",
        "DEFAULT = ('c@1', 'UF')\ndef f(chosen=DEFAULT): return [measure(m) for m in DEFAULT]",
        "row = {'run': 1, 'coverage': 2}",
        "x = 'coverage' in row",
        "measure('c@1')(counts)",
    ],
)
def test_other_mentions_are_fine(text: str) -> None:
    tree = ast.parse(text)
    assert not list(tables_in(tree, lists_in(tree)))
    assert not [*rows_in(tree), *sentences_in(tree)]


# ------------------------------------------------------------------- rules for the undefined


def with_a_rule(item: Measure, rule: Undefinedness) -> Measure:
    """The same measure by another name, undefined in one case more."""
    name = f"{item.name} with a rule"  # results are kept by name
    definition = replace(item.definition, name=name, undefined=(*item.definition.undefined, rule))
    return Measure(name, item.parameters, definition=definition)


def p_values(item: Measure) -> list[float]:
    """Of two runs by outcomes: exact, by random swaps and by swaps of whole clusters."""
    rng = np.random.default_rng(2013)
    cells = cells_of(item)
    outcomes = rng.choice(5, (2, 60), p=[0.4, 0.2, 0.1, 0.2, 0.1]).astype(np.uint8)
    own, other = (cells.of(row) for row in outcomes)
    joint = np.zeros((1, len(cells), len(cells)), np.int64)
    np.add.at(joint[0], (other, own), 1)
    found = randomise(item, joint) + randomise(item, joint, trials=200, exact=False)
    clusters: Any = np.zeros((2, 12, len(cells)))
    for table, row in zip(clusters, (own, other), strict=True):
        np.add.at(table, (np.arange(60) % 12, row), 1)
    flips = Flips(12, trials=200, seed=0)
    return [p.p for p in found + randomise_clusters(item, clusters, [(0, 1)], flips)]


@pytest.mark.slow
@pytest.mark.parametrize("name", definitions("counts"))
def test_a_further_rule_for_the_undefined_changes_no_p_value(name: str) -> None:
    item = example_measure(name)
    rule = Undefinedness(lambda k: k.n > 1_000_000, "there are too many questions")
    changed = with_a_rule(item, rule)
    assert isinstance(changed(ab.Counts(right=1_000_001)), ab.Undefined)
    assert p_values(changed) == p_values(item)


def test_which_differences_are_tested_over_their_standard_error() -> None:
    """Measures whose denominator varies from run to run, or are no sums but have an influence."""
    assert {n for n, d in definitions().items() if d.studentised} == {
        *("selective-risk", "hallucination-rate"),
        *("abstention-precision", "abstention-F1", "grounded-refusal-F1"),
        *("precision", "wrong-rate-credit", "correctly-discarded", "discard-recall"),
        *("discard-F", "over-abstention", "under-abstention"),
        *("validation-precision", "validation-recall", "validation-F"),
        *("CWS", "Pearson-r", "AURC", "E-AURC", "AUGRC", "PRR", "risk@coverage"),
        *("accuracy@coverage", "AUROC", "AUPR-success", "AUPR-error", "Brier", "log-score"),
    }


def test_what_is_declared_of_answers() -> None:
    known = definitions("confidence")
    assert {n for n, d in known.items() if d.mean} == {"Brier", "log-score", "K1", "K", "MRR"}
    assert {n for n, d in known.items() if d.bootstrap_biased} == {
        *("ECE", "ECE-mass", "adaptive-ECE", "smooth-ECE", "RMSCE", "RMSCE-HLE")
    }
    assert {n for n, d in known.items() if d.several} == {"K", "MRR"}
    assert {n for n, d in known.items() if d.uses == "submitted"} == {"CWS", "K1", "K", "MRR"}
    for name, d in known.items():
        left_out = "answers without a confidence are left out" in d.convention
        assert (d.uses == "stated") == left_out, name


@pytest.mark.parametrize("name", definitions("confidence"))
def test_a_measure_takes_the_answers_that_it_says(name: str) -> None:
    """Candidates, or answers without a confidence, change nothing where they are not used."""
    few = any(p.name == "size" for p in definitions()[name].parameters)
    item: Any = example_measure(f"{name}(size=1)" if few else name)
    right, sure = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1]
    given = [0, 0, 1, 1, 1, 1]
    scores = [item([*first, *right[2:]], sure, submitted=given) for first in ((1, 1), (0, 0))]
    assert (scores[0] == scores[1]) == (item.definition.uses == "submitted")
    if item.definition.uses == "stated":
        unsure = item([*right, 1, 0], [*sure, None, None], questions=8)
        assert unsure == item(right, sure, questions=8)


@pytest.mark.parametrize("name", definitions("ranking"))
def test_what_is_declared_of_rankings(name: str) -> None:
    """A graded ranking scores as with gains of grade over top exactly where grades are scaled."""
    item = example_measure(name)
    d = item.definition
    if d.knows_end:
        assert item([], pool=0) == 1
        assert d.original == name.removesuffix("'")
    best = item([2, 1], pool=[2, 1])
    if d.scales_grades:
        assert best == item([1, 0.5], pool=[1, 0.5])
        assert "rel" in [p.name for p in d.parameters]
    if d.lower_grades_cost:
        assert best < 1
    assert d.scales_grades or not d.lower_grades_cost


@pytest.mark.parametrize("name", [n for n, d in definitions("ranking").items() if d.original])
def test_a_list_at_the_limit_has_the_score_of_the_original(name: str) -> None:
    """Three are relevant, the list is cut after two: its system did not end it."""
    d = definitions()[name]
    rankings = ab.read_rankings(
        {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}, {"q": {"d": 3.0, "a": 2.0, "b": 1.0}}, limit=2
    )
    original = f"{d.original}@2" if d.ideal_ends else d.original
    row = rankings.score([name, original]).rows[0]
    first, second = row.scores.values()
    assert first == second
    assert first is not None
    assert 0 < first < 1
