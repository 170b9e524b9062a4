"""Refusals found in text as tables: the rules, what they found, how often they err."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from abstain import __version__
from abstain.analyses.compare.bounds import WORDS
from abstain.analyses.refusals import Found
from abstain.errors import plural
from abstain.judging.refusals.rules import LANGUAGES
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import sentence

Told = tuple[Grid, dict[str, Any]]


def rules_grid(languages: Sequence[str]) -> Told:
    """The rules of some languages."""
    found = [rule for code in languages for rule in LANGUAGES[code].rules]
    rows: list[list[Cell]] = [
        [rule.name, "all of it" if rule.whole else "how it begins", rule.example] for rule in found
    ]
    data = {
        "abstain": __version__,
        "openings": {code: LANGUAGES[code].openings for code in languages},
        "hedges": {code: LANGUAGES[code].hedges for code in languages},
        "rules": [
            {
                "rule": r.name,
                "pattern": r.pattern,
                "unless": r.unless,
                "whole": r.whole,
                "example": r.example,
                "counter": r.counter,
            }
            for r in found
        ],
    }
    columns = [Column("rule"), Column("looks at"), Column("example")]
    notes = [f"{plural(len(found), 'rule')}; JSON has the patterns."]
    return Grid(columns, rows, notes=notes), data


def hits_grid(found: Found, *, most: int) -> Told:
    """Every response that declines, with its rule; a table shows the first ones."""
    first = found.hits.head(most) if most else found.hits
    rows: list[list[Cell]] = [list(row) for row in first.iter_rows()]
    notes = [sentence(note) for note in found.notes]
    if found.by_rule:
        notes.append(", ".join(f"{rule} {count:,}" for rule, count in found.by_rule.items()) + ".")
    if found.hits.height > first.height:
        notes.append(f"{found.hits.height - first.height:,} more; set most to 0 to show all.")
    data = {
        "abstain": __version__,
        "responses": found.responses,
        "refusals": found.hits.height,
        "rules": found.by_rule,
        "hits": found.hits.to_dicts(),
        "notes": list(found.notes),
    }
    heads = [Column(name) for name in ("run", "question", "rule", "text")]
    return Grid(heads, rows, notes=notes, wrap=True), data


def confusion_grid(counts: Mapping[str, Mapping[str, int]]) -> Told:
    """Rows what is true, columns what was judged: what `compare --judge-error` takes."""
    rows: list[list[Cell]] = [[t, *(counts[t][j] for j in WORDS)] for t in WORDS]
    checked = sum(sum(own.values()) for own in counts.values())
    wrong = checked - sum(counts[word][word] for word in WORDS)
    heads = [Column("true"), *(Column(word, "count") for word in WORDS)]
    notes = [
        f"{plural(checked, 'response')} checked by hand, {wrong:,} judged otherwise.",
        "As CSV this is what `abstain compare --judge-error` takes.",
    ]
    data = {
        "abstain": __version__,
        "checked": checked,
        "judged_otherwise": wrong,
        "confusion": [{"true": word, **counts[word]} for word in WORDS],
    }
    return Grid(heads, rows, notes=notes), data
