from typing import Any

from abstain.cli import options
from abstain.cli.command import Showing, command, option, shows, working
from abstain.cli.options import LISTS, Input, reads_rankings


@command
@reads_rankings(*LISTS, qrels="The relevance judgments.", runs="The runs to score.")
@options.measures(
    "AP, NDCG@10, 'RBP(p=0.8)', 'P(rel=2)@10', NDCGt (NDCG'), …, or as trec_eval names them: map, "
    "ndcg_cut.5,10, P_10, official; the first one orders the runs."
)
@options.by("Slice by an attribute of --queries, or by nil: nil and relevant queries.")
@option("--per-query", "Show each query's scores too.")
@option(
    "--truncation",
    "Report what truncation does, as in the paper “Quit While Ahead” (Liu et al. 2016): list "
    "lengths; scores of the original measures, which count NIL as an answer, next to scores of the "
    "primed measures, which see the lists cut at NIL; pairs of runs that change places; Kendall's "
    "τ.",
)
@option("--same-lists", "As --truncation, but original and primed measures score the same lists.")
@option(
    "--silence",
    "Report on returning nothing as a decision: how often an empty list was right or wrong, its "
    "precision, recall and F1, with exact intervals.",
)
@options.level("The level of the intervals of --silence.")
@shows(chart=True, also=["trec_eval"])
def rank(inputs: Input, measures: tuple[str, ...], out: Showing, **how: Any) -> None:
    """Score rankings that may stop early, or find nothing.

    \b
    abstain rank qrels.txt run1.txt run2.txt.gz -m NDCG@10 -m NDCGt
    abstain rank qrels.txt run.txt --nil NIL --limit 10       (lists that say where they end)
    abstain rank qrels.txt runs/* --limit 1000 --truncation --chart charts
    abstain rank qrels.csv run.parquet --queries queries.csv --by type

    TREC files (plain, .gz, .zst) or tables: query, doc, rel for the judgments; query, doc, score
    and optionally run for the runs. A query that a run lacks counts as an empty list; a query
    without relevant documents is scored by the primed measures (RR', RBP', NDCG', AP'; typed RRt,
    RBPt, …).
    """
    from abstain.rankings.rankings import ranking_measures

    if measures:
        ranking_measures(measures)  # an unknown name ends it before anything is read
    with working("reading and ranking…"):
        result = inputs.rankings().score(measures, **how)
    out.show(result)
