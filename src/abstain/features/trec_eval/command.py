"""Answer as trec_eval does, byte for byte."""

import sys
from functools import partial
from typing import Any

import click

from abstain.cli.command import READING, argument, command, option, working

QRELS, RESULTS = click.Choice(["qrels"]), click.Choice(["trec_results"])
read_as = partial(option, section=READING)
only = partial(read_as, expose_value=False)


@command
@argument("qrels", metavar="QRELS", help="The relevance judgments.")
@argument("run", metavar="RUN", help="The run to score.")
@option(
    "-m --measure NAME",
    "map, P.5,10 (or P_5), ndcg_cut.10, ndcg.1=3,2=9, …; official (the default), set or all_trec. "
    "Repeatable.",
    to="measures",
    multiple=True,
    type=str,
)
@option("-q --query_eval_wanted", "Print each query too.", to="per_query")
@option("-n --nosummary", "Print no summary over the queries.", to="no_summary")
@option(
    "-c --complete_rel_info_wanted",
    "Average over all judged queries: one that the run lacks counts 0.",
    to="complete",
)
@option("-l --level_for_rel N", "The lowest relevant grade.", to="level", type=int, default=1)
@option(
    "-N --Number_docs_in_coll N",
    "Documents in the collection, for utility.",
    to="documents",
    type=int,
    default=0,
)
@read_as(
    "-M --Max_retrieved_per_topic N",
    "Use the first N documents of a query.",
    to="limit",
    type=click.IntRange(min=0),
)
@read_as(
    "-J --Judged_docs_only",
    "First remove from the lists all documents that nobody judged.",
    to="judged_only",
)
@only("-R --Rel_info_format NAME", "The format of the judgments (only qrels).", type=QRELS)
@only("-T --Results_format NAME", "The format of the run (only trec_results).", type=RESULTS)
def trec_eval(
    qrels: str, run: str, measures: tuple[str, ...], no_summary: bool, **how: Any
) -> None:
    """Print what trec_eval 9.0.8 prints for the same options and files, byte for byte.

    \b
    abstain trec_eval qrels.txt run.txt
    abstain trec_eval -q -c -m map -m ndcg_cut.5,10 qrels.txt run.txt
    abstain trec_eval -m all_trec -l 2 -M 1000 qrels.txt run.txt.gz

    As in trec_eval, scores are ordered in single precision, an undefined score counts 0, and a
    query that the run lacks is left out. `abstain rank` reports more about the same files.
    """
    from abstain.features.trec_eval.analysis import trec_eval as printed

    with working("reading and ranking…"):
        text = printed(qrels, run, measures or ("official",), summary=not no_summary, **how)
    sys.stdout.write(text)
