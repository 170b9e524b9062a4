"""Score predictions as SQuAD 2 does."""

from __future__ import annotations

from abstain.cli.command import FILE, argument, command, option
from abstain.cli.showing import Showing, shows, working


@command
@argument("gold", metavar="DATA", help="The data set: dev-v2.0.json.")
@argument("predictions", nargs=-1, required=True, metavar="PREDICTIONS", help="{question: text}.")
@option(
    "--na-prob FILE",
    "{question: probability of no answer}, one file per run.",
    type=FILE,
    multiple=True,
)
@option(
    "--threshold T",
    "Leave an answer blank where its no-answer probability is above this.",
    type=float,
)
@shows()
def squad(
    gold: str,
    predictions: tuple[str, ...],
    na_prob: tuple[str, ...],
    threshold: float | None,
    out: Showing,
) -> None:
    """Score predictions as SQuAD 2 does: exact and F1, over all questions and by kind.

    \b
    abstain squad dev-v2.0.json predictions.json
    abstain squad dev-v2.0.json predictions.json --na-prob na_prob.json --threshold 0.5

    The best threshold is tuned on the questions it is scored on; `abstain tune` tunes on others.
    Every other command reads predictions with `--from squad --pick gold=dev-v2.0.json`.
    """
    from abstain.analyses.squad import squad as scored

    with working("reading…"):
        result = scored(gold, predictions, na_prob=na_prob, threshold=threshold)
    out.show(result)
