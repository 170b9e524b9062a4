"""What each evaluator makes of nothing: writes the table of docs/peers.md.

    pip install pytrec-eval-terrier ir_measures ranx scikit-learn
    python tools/peers_table.py [--check]

Two queries: `good` has one relevant document, which is found first, so every measure gives 1;
`case` is one of the three cases. Shown are the scores of `case` and the mean over both.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import abstain as ab

PAGE = Path(__file__).parents[1] / "docs" / "peers.md"
Numbers = dict[str, dict[str, float]]
GOOD: Numbers = {"good": {"a": 1}}
NOTHING: Numbers = GOOD | {"case": {"a": 0, "b": 0}}
SOMETHING: Numbers = GOOD | {"case": {"a": 1, "b": 0}}
FOUND: Numbers = {"good": {"a": 1.0}}
CASES: dict[str, tuple[Numbers, Numbers]] = {
    "R = 0, documents listed": (NOTHING, FOUND | {"case": {"a": 2.0, "x": 1.0}}),
    "R = 0, empty list": (NOTHING, FOUND | {"case": {}}),
    "R > 0, missing from the run": (SOMETHING, FOUND),
}
Scores = tuple[float | None, float | None, float | None]
"""AP and NDCG of the case, None where the query is not there, and the mean AP."""


def by_pytrec_eval(qrels: Numbers, run: Numbers) -> Scores:
    """trec_eval through pytrec-eval-terrier."""
    pytrec_eval: Any = import_module("pytrec_eval")
    whole = {q: {d: int(g) for d, g in docs.items()} for q, docs in qrels.items()}
    scores = pytrec_eval.RelevanceEvaluator(whole, {"map", "ndcg"}).evaluate(run)
    case = scores.get("case", {})
    mean = sum(query["map"] for query in scores.values()) / len(scores)
    return case.get("map"), case.get("ndcg"), mean


def by_ir_measures(qrels: Numbers, run: Numbers) -> Scores:
    """ir_measures, with its own choice of provider."""
    ir_measures: Any = import_module("ir_measures")
    ap, ndcg = (ir_measures.parse_measure(name) for name in ("AP", "nDCG"))
    whole = {q: {d: int(g) for d, g in docs.items()} for q, docs in qrels.items()}
    each = {
        str(m.measure): m.value
        for m in ir_measures.iter_calc([ap, ndcg], whole, run)
        if m.query_id == "case"
    }
    mean = ir_measures.calc_aggregate([ap], whole, run)[ap]
    return each.get("AP"), each.get("nDCG"), mean


def by_ranx(qrels: Numbers, run: Numbers) -> Scores:
    """ranx, with make_comparable, without which it stops at a missing query."""
    ranx: Any = import_module("ranx")
    whole = {q: {d: int(g) for d, g in docs.items()} for q, docs in qrels.items()}
    rows = ranx.Run(run)
    mean = ranx.evaluate(ranx.Qrels(whole), rows, ["map", "ndcg"], make_comparable=True)["map"]
    case = {name: own.get("case") for name, own in rows.scores.items()}
    return case.get("map"), case.get("ndcg"), float(mean)


def by_scikit_learn(qrels: Numbers, run: Numbers) -> Scores:
    """scikit-learn, which has labels and scores, and no queries."""
    metrics: Any = import_module("sklearn.metrics")
    listed = run.get("case", {})
    labels = [int(qrels["case"].get(doc, 0)) for doc in listed]
    scores = list(listed.values())
    ap = metrics.average_precision_score(labels, scores)
    ndcg = metrics.ndcg_score([labels], [scores])
    return float(ap), float(ndcg), None


def by_abstain(qrels: Numbers, run: Numbers, *, prime: str = "") -> Scores:
    """abstain, by its measures for whole lists or by those that know where a list stops."""
    import polars as pl

    gold = [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()]
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    result = ab.rank(
        pl.DataFrame(gold, schema=["query", "doc", "rel"], orient="row"),
        pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row"),
        measures=[f"AP{prime}", f"NDCG{prime}"],
        per_query=True,
    )
    (case,) = (row for row in result.per_query if row.query == "case")
    names = (f"AP{prime}", f"NDCG{prime}")
    ap, ndcg = (
        ab.Undefined(case.undefined[name]) if case.scores[name] is None else case.scores[name]
        for name in names
    )
    return ap, ndcg, result.rows[0].scores[names[0]]


def by_abstain_primed(qrels: Numbers, run: Numbers) -> Scores:
    """AP' and NDCG'."""
    return by_abstain(qrels, run, prime="'")


PEERS: dict[str, tuple[str, Callable[[Numbers, Numbers], Scores]]] = {
    "trec_eval": ("pytrec-eval-terrier", by_pytrec_eval),
    "ir_measures": ("ir_measures", by_ir_measures),
    "ranx": ("ranx", by_ranx),
    "scikit-learn": ("scikit-learn", by_scikit_learn),
    "**abstain**, AP and NDCG": ("abstain", by_abstain),
    "**abstain**, AP' and NDCG'": ("abstain", by_abstain_primed),
}


def cell(work: Callable[[Numbers, Numbers], Scores], qrels: Numbers, run: Numbers) -> str:
    """What an evaluator says of one case, in a few words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            ap, ndcg, mean = work(qrels, run)
        except Exception as error:
            return f"stops: {type(error).__name__}"
    text = "dropped" if ap is None and ndcg is None else f"{number(ap)}, {number(ndcg)}"
    text += "" if mean is None else f"; mean {number(mean)}"
    return text + (", with a warning" if caught else "")


def number(value: float | None) -> str:
    """A score in few digits."""
    if value is None:
        return "–"
    if value != value:
        return "undefined" if type(value) is not float else "nan"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def page() -> str:
    """The whole page."""
    lines = [
        "<!-- made by tools/peers_table.py; do not edit -->",
        "",
        "# What each evaluator makes of nothing",
        "",
        "A query may have no relevant document (R = 0), and a system may list none. The table says",
        "what each evaluator returns then: AP and NDCG of that query, and the mean AP over it and",
        "one more query on which every score is 1. *Dropped* means that the query is in no mean.",
        "",
        "| | " + " | ".join(CASES) + " |",
        "| --- |" + " --- |" * len(CASES),
    ]
    used = {}
    for name, (package, work) in PEERS.items():
        used[package] = ab.__version__ if package == "abstain" else version(package)
        cells = [cell(work, *case) for case in CASES.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "With R = 0 an empty list is the only right answer. AP' and NDCG' give it 1, less the",
        "longer the list, and 0 if it fills up the `--limit`; AP and NDCG do not exist there,",
        "which abstain says and leaves out of the mean, telling how many it left out",
        "(`--trec-eval` counts 0 as trec_eval does).",
        "With R > 0 a query that the run lacks is an empty list and counts 0.",
        "",
        "Measured with " + ", ".join(f"{p} {v}" for p, v in used.items()) + ".",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page, or with --check say whether it is what it should be."""
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
