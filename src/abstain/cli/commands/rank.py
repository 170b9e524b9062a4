"""Score rankings that may stop early."""

from __future__ import annotations

from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import FILE, Words, argument, command, option
from abstain.cli.reading import reading_options
from abstain.cli.showing import Showing, shows, working
from abstain.errors import UsageError
from abstain.judging.reading import Reading

COLUMNS = ("query", "doc", "rel", "score", "rank", "run")


@command
@argument("qrels", metavar="QRELS", help="The relevance judgments.")
@argument("runs", nargs=-1, required=True, metavar="RUN", help="The runs to score.")
@reading_options(
    *("format", "columns", "engine", "master"),
    otherwise="rankings hold documents, not answers",
    columns=COLUMNS,
    help={
        "format": "The format, if it cannot be detected: trec, csv, tsv, jsonl, json or parquet.",
        "columns": "The column that holds query, doc, rel, score, rank or run: query=qid; "
        "gold:doc=docno for the judgments only, run:doc=docid for the runs only. Repeatable.",
    },
)
@options.measures(
    "AP, NDCG@10, 'RBP(p=0.8)', 'P(rel=2)@10', NDCGt (NDCG'), …, or as trec_eval names them: map, "
    "ndcg_cut.5,10, P_10, official; the first one orders the runs."
)
@option("--nil ID", "The document id that ends a list, such as NIL or -1. It is never relevant.")
@option(
    "--limit N",
    "The maximum length of a list: a shorter one was ended by its system, a longer one is cut.",
    type=click.IntRange(min=1),
)
@option(
    "--nil-as-answer",
    "As in TREC 2001: the NIL of --nil is a document, relevant where no other is.",
)
@option(
    "--missing WHAT",
    "What to do with a query that a run lacks: empty (score an empty list, the default), error "
    "or skip.",
    type=Words(("empty", "error", "skip")),
)
@option(
    "--ties HOW",
    "trec: by score, ties by document id in descending order; rank: by the rank column.",
    type=Words(("trec", "rank")),
    default="trec",
)
@option(
    "--trec-eval",
    "Average as trec_eval does: 0 where nothing is relevant, missing queries left out.",
)
@option(
    "-l --relevance-level GRADE",
    "The lowest relevant grade, for every measure that takes rel= and is not given its own.",
    type=float,
)
@option(
    "-J --judged-only",
    "Take documents that nobody judged out of the lists first.",
)
@option("--top GRADE", "The grade that counts as a gain of 1 (default: the largest).", type=float)
@options.by("Slice by an attribute of --queries.")
@option("--queries FILE", "A table of queries and their attributes.", type=FILE)
@option("--all-queries", "Score every query of --queries: one without judgments is a nil query.")
@option("--per-query", "Show each query's scores too.")
@option(
    "--truncation",
    "Report what truncation does, as Quit While Ahead: lengths, original scores with NIL as an "
    "answer against primed ones of lists that NIL ends, inverted pairs, Kendall's τ.",
)
@option("--same-lists", "As --truncation, but original and primed measures score the same lists.")
@shows(chart=True, also=["trec_eval"])
def rank(
    qrels: str,
    runs: tuple[str, ...],
    reading: Reading,
    measures: tuple[str, ...],
    by: tuple[str, ...],
    per_query: bool,
    truncation: bool,
    same_lists: bool,
    out: Showing,
    **how: Any,
) -> None:
    """Score rankings that may stop early, or find nothing.

    \b
    abstain rank qrels.txt run1.txt run2.txt.gz -m NDCG@10 -m NDCGt
    abstain rank qrels.txt run.txt --nil NIL --limit 10       (lists that say where they end)
    abstain rank qrels.txt runs/* --limit 1000 --truncation --chart charts
    abstain rank qrels.csv run.parquet --queries queries.csv --by type

    TREC files (plain, .gz, .zst) or tables: query, doc, rel for the judgments; query, doc, score
    and optionally run for the runs. A query that a run lacks is an empty list; one without relevant
    documents is scored by the primed measures (RR', RBP', NDCG', AP'; typed RRt, RBPt, …).
    """
    from abstain.rankings.rankings import ranking_measures
    from abstain.rankings.read import read_rankings

    if measures:
        ranking_measures(measures)  # a name that nobody knows is told before anything is read
    truncation = truncation or same_lists
    if truncation and out.chosen == "csv" and (by or per_query):
        raise UsageError(
            "CSV is one table with a row for each run with --truncation: leave out --by and "
            "--per-query, or use JSON"
        )
    if by and out.chosen == "trec_eval":
        raise UsageError("--format trec_eval has no slices: leave out --by, or take CSV or JSON")
    if by and how["queries"] is None:
        raise UsageError("--by needs a table of the queries: --queries FILE")
    with working("reading and ranking…"):
        rankings = read_rankings(
            qrels,
            runs,
            columns=reading.columns,
            format=reading.format,
            engine=reading.engine,
            master=reading.master,
            **how,
        )
        result = rankings.score(
            measures, by=by, per_query=per_query, truncation=truncation, same_lists=same_lists
        )
    out.show(result)
