"""List the measures."""

from abstain.cli.command import Showing, command, shows
from abstain.measures import definitions
from abstain.measures.registry import SETS
from abstain.report.grid import Cell, Column, Grid

TEXTS = ("name", "signature", "family", "takes", "convention", "summary", "formula")
MORE = ("needs_candidates", "gaming", "note", "source")


@command
@shows(digits=False, page=False)
def measures(out: Showing) -> None:
    """List the measures: formula, the credit for a blank, when answering pays."""
    every = definitions().values()
    rows: list[list[Cell]] = [
        [d.signature, d.formula, d.kappa_text, d.break_even_text] for d in every
    ]
    rows += [[name, f"{', '.join(s.measures)}: {s.summary}", "–", "–"] for name, s in SETS.items()]
    grid = Grid([Column(name) for name in ("measure", "formula", "κ", "p*")], rows)
    grid.notes = [
        "c, w, u are the shares right, wrong and unanswered; R, W, UR, UW, UE the counts (UR, "
        "UW, UE: unanswered, with a right, a wrong, no candidate).",
        "κ is the credit for a blank, in right answers. p* is the chance of being right above "
        "which answering pays.",
        "D, A, N: declined where an answer was due, answered and declined where none was; "
        "`abstain decisions` gives them.",
        "CWS and the measures after it take answers with a confidence: N answers, C(i) right among "
        "the i surest; `abstain curve` gives them.",
        "For rankings: r_i is the gain or grade at rank i, d the length of the list, R the "
        "number of relevant documents or their total gain, r_t the gain of the list's end.",
        "[@k] may be left out. `abstain explain c@1` explains one measure in full.",
    ]
    data = [
        {
            **{name: getattr(d, name) for name in TEXTS},
            "kappa": d.kappa_text,
            "break_even": d.break_even_text,
            "higher_is_better": d.higher_is_better,
            "parameters": [
                {"name": p.name, "meaning": p.meaning, "range": p.range_text, "default": p.default}
                for p in d.parameters
            ],
            "aliases": list(d.aliases),
            "undefined_when": [rule.reason for rule in d.undefined],
            **{name: getattr(d, name) for name in MORE},
        }
        for d in every
    ]
    out.show_grid(grid, {"measures": data})
