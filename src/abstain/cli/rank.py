"""`abstain rank`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from abstain.cli import options, showing
from abstain.cli.options import (
    ChartOption,
    DigitsOption,
    EngineOption,
    FormatOption,
    MasterOption,
    OutputOption,
)
from abstain.errors import UsageError

COLUMNS = ("query", "doc", "rel", "score", "rank", "run")


def rank(
    qrels: Annotated[str, typer.Argument(metavar="QRELS", help="The relevance judgments.")],
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="The runs to score.")],
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="AP, NDCG@10, 'RBP(p=0.8)', 'P(rel=2)@10', NDCGt (NDCG'), … Repeatable; the "
            "first one orders the runs.",
        ),
    ] = None,
    nil: Annotated[
        str | None,
        typer.Option(
            "--nil", metavar="ID", help="The document id that ends a list: NIL, -1. It is no hit."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            help="How long a list could be: a shorter one was ended by its system, a longer one "
            "is cut.",
        ),
    ] = None,
    nil_as_answer: Annotated[
        bool,
        typer.Option(
            "--nil-as-answer",
            help="As TREC 2001 had it: the NIL of --nil is a document, right where nothing is.",
        ),
    ] = False,
    missing: Annotated[
        Any,
        typer.Option(
            metavar="WHAT",
            help="A query that a run lacks: empty (an empty list, the default), error or skip.",
        ),
    ] = None,
    ties: Annotated[
        Any,
        typer.Option(
            metavar="HOW",
            help="trec: by score, equal ones by falling document id; rank: by the rank column.",
        ),
    ] = "trec",
    trec_eval: Annotated[
        bool,
        typer.Option(
            "--trec-eval",
            help="Average as trec_eval does: 0 where nothing is relevant, missing queries left "
            "out.",
        ),
    ] = False,
    top: Annotated[
        float | None,
        typer.Option(
            metavar="GRADE", help="The grade that is a gain of 1 (default: the largest judged)."
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="ATTR", help="Slice by an attribute of --queries."),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option("--queries", metavar="FILE", help="A table: query and its attributes."),
    ] = None,
    all_queries: Annotated[
        bool,
        typer.Option(
            "--all-queries",
            help="Score every query of --queries: one without judgments is a nil query.",
        ),
    ] = False,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="Show each query's scores too.")
    ] = False,
    truncation: Annotated[
        bool,
        typer.Option(
            "--truncation",
            help="Report what truncation does: lengths, original against primed scores, "
            "inverted pairs, Kendall's τ.",
        ),
    ] = False,
    chart: ChartOption = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME=COLUMN",
            help="The column that holds query, doc, rel, score, rank or run: query=qid; "
            "gold:doc=docno for the judgments alone, run:doc=docid for the runs alone. "
            "Repeatable.",
        ),
    ] = None,
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FORMAT", help="trec, csv, tsv, jsonl or parquet, if not evident."
        ),
    ] = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    digits: DigitsOption = 4,
) -> None:
    """Score rankings that may stop early, or find nothing.

    \b
    abstain rank qrels.txt run1.txt run2.txt.gz -m NDCG@10 -m NDCGt
    abstain rank qrels.txt run.txt --nil NIL --limit 10       (lists that say where they end)
    abstain rank qrels.txt runs/* --limit 1000 --truncation --chart charts
    abstain rank qrels.csv run.parquet --queries queries.csv --by type

    TREC files (plain, .gz, .zst) or tables: query, doc, rel for the judgments; query, doc, score
    and perhaps run for the runs. A query that a run lacks is an empty list; one without relevant
    documents is scored by the primed measures (RR', RBP', NDCG', AP'; typed RRt, RBPt, …).
    """
    from abstain.rankings.chosen import ranking_measures
    from abstain.rankings.queries import needs_queries
    from abstain.rankings.read import read_rankings
    from abstain.report.view import view_of

    ranking_measures(measures or "AP")  # a name that nobody knows is told before anything is read
    is_csv = showing.chosen_format(format, output) is options.Format.csv
    if truncation and is_csv and (by or per_query):
        raise UsageError(
            "CSV is one table, a row a run with --truncation: leave out --by and --per-query, "
            "or take JSON"
        )
    if by and queries is None:
        raise needs_queries("by")
    with showing.working("reading and ranking…"):
        rankings = read_rankings(
            qrels,
            runs,
            nil=nil,
            nil_as_answer=nil_as_answer,
            limit=limit,
            missing=missing,
            ties=ties,
            trec_eval=trec_eval,
            top=top,
            queries=queries,
            all_queries=all_queries,
            columns=options.known_columns(column, COLUMNS),
            format=from_format,
            engine=engine,  # type: ignore[arg-type]
            master=master,
        )
        result = rankings.score(
            measures or (),
            by=by or (),
            per_query=per_query,
            truncation=truncation,
        )
    if chart is not None:
        with showing.working("drawing…"):
            view_of(result).draw(chart)
    showing.show_result(result, format=format, output=output, digits=digits)
