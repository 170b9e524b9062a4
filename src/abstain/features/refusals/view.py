"""How refusals found in text look: the responses, the rules, how often they err."""

from __future__ import annotations

from typing import Any

from abstain.errors import plural
from abstain.features.refusals.analysis import RefusalsResult
from abstain.outcomes import VERDICTS
from abstain.report import view
from abstain.report.grid import Cell, Column, Grid
from abstain.report.view import sentence


class View(view.View[RefusalsResult]):
    """Every response that declines, with its rule; or the rules; or how they were judged."""

    def tables(self, *, most: int = 50, **options: Any) -> list[Grid]:
        """One table; it has the first responses, or with 0 all of them."""
        if self.result.confusion:
            return [self._confusion()]
        return [self._rules() if self.result.rules else self._hits(most)]

    def title(self) -> str:
        return "Refusals found in text"

    def line(self) -> str:
        result = self.result
        if result.rules:
            return f"<RefusalsResult: {plural(len(result.rules), 'rule')}>"
        if result.confusion:
            checked = plural(result.checked or 0, "response")
            return f"<RefusalsResult: {checked} checked, {result.judged_otherwise} misjudged>"
        count = plural(result.refusals or 0, "refusal")
        return f"<RefusalsResult: {count} in {plural(result.responses or 0, 'response')}>"

    def _hits(self, most: int) -> Grid:
        hits = self.result.hits
        first = hits[:most] if most else hits
        rows: list[list[Cell]] = [[hit.run, hit.question, hit.rule, hit.text] for hit in first]
        notes = [sentence(note) for note in self.result.notes]
        if counted := self.result.by_rule:
            notes.append(", ".join(f"{rule} {count:,}" for rule, count in counted.items()) + ".")
        if len(hits) > len(first):
            notes.append(
                f"{len(hits) - len(first):,} more; --most 0 (in Python: most=0) shows all."
            )
        heads = [Column(name) for name in ("run", "question", "rule", "text")]
        return Grid(heads, rows, notes=notes)

    def _rules(self) -> Grid:
        rules = self.result.rules
        rows: list[list[Cell]] = [
            [rule.rule, "all of it" if rule.whole else "how it begins", rule.example]
            for rule in rules
        ]
        columns = [Column("rule"), Column("looks at"), Column("example")]
        notes = [f"{plural(len(rules), 'rule')}; JSON has the patterns."]
        return Grid(columns, rows, notes=notes)

    def _confusion(self) -> Grid:
        """Rows what is true, columns what was judged: what `compare --judge-error` takes."""
        result = self.result
        rows: list[list[Cell]] = [
            [row.true, *(getattr(row, word) for word in VERDICTS)] for row in result.confusion
        ]
        heads = [Column("true"), *(Column(word, "count") for word in VERDICTS)]
        notes = [
            f"{plural(result.checked or 0, 'response')} checked by hand; the verdict in the files "
            f"was different for {result.judged_otherwise or 0:,} of them.",
            "As CSV this is what `abstain compare --judge-error` takes.",
        ]
        return Grid(heads, rows, notes=notes)
