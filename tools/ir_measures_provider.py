"""AP' through ir_measures and PyTerrier beside `abstain rank`; prints what the manual shows.

    pip install ir_measures python-terrier ranx
    python tools/ir_measures_provider.py

Each line is one way to the same number; a difference ends the script with an error.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import ir_measures
import pandas as pd

import abstain as ab
from abstain.integrations.ir_measures import MEASURES

APt = MEASURES["APt"]
QRELS = "q1 0 d1 1\nq1 0 d2 1\nq1 0 d9 0\nq2 0 d3 0\nq3 0 d4 1\nq4 0 d1 1\n"
RUN = "q1 Q0 d1 1 0.9 short\nq2 Q0 NIL 1 1.0 short\nq3 Q0 d4 1 0.8 short\nq3 Q0 NIL 2 0.1 short\n"


def main() -> int:
    """One number, in every way that is installed."""
    folder = Path(tempfile.mkdtemp())
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    ours = ab.rank(qrels, run, ["AP'"], nil="NIL").rows[0].score("AP'")
    found = {"abstain rank": ours}
    item = APt(nil="NIL")
    judged, listed = (
        list(read(str(path)))
        for read, path in (
            (ir_measures.read_trec_qrels, qrels),
            (ir_measures.read_trec_run, run),
        )
    )
    found[f"ir_measures {ir_measures.__version__}"] = item.calc_aggregate(judged, listed)
    by_text = ir_measures.parse_measure("APt(nil='NIL')")
    found["ir_measures, beside AP"] = ir_measures.calc_aggregate(
        [by_text, ir_measures.AP], judged, listed
    )[by_text]
    frames = (
        pd.DataFrame(judged).drop(columns="iteration"),
        pd.DataFrame(listed),
    )
    found["frames of ir_measures"] = ab.rank(*frames, ["AP'"], nil="NIL").rows[0].score("AP'")
    try:
        import pyterrier as pt
    except ImportError:
        print("PyTerrier is not installed: left out")
    else:
        gold, results = (
            frame.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
            for frame in frames
        )
        topics = pd.DataFrame({"qid": ["q1", "q2", "q3", "q4"], "query": ["…"] * 4})
        table = pt.Experiment([results.assign(rank=0)], topics, gold, [item], names=["short"])
        found[f"PyTerrier {pt.__version__}"] = float(table[str(item)][0])
        found["frames of PyTerrier"] = (
            ab.rank(gold, results, ["AP'"], nil="NIL").rows[0].score("AP'")
        )
    try:
        from ranx import Qrels, Run
    except ImportError:
        print("ranx is not installed: left out")
    else:
        given: dict[str, dict[str, dict[str, float]]] = {"gold": {}, "run": {}}
        for one in judged:
            given["gold"].setdefault(one.query_id, {})[one.doc_id] = one.relevance
        for one in listed:
            given["run"].setdefault(one.query_id, {})[one.doc_id] = one.score
        objects = Qrels(given["gold"]), Run(given["run"], name="short")
        found["Qrels and Run of ranx"] = ab.rank(*objects, ["AP'"], nil="NIL").rows[0].score("AP'")
    for way, value in found.items():
        print(f"{way:24s} AP' {value:.10f}")
    return int(any(abs(value - ours) > 1e-12 for value in found.values()))


if __name__ == "__main__":
    sys.exit(main())
