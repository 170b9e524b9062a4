"""The measures of rankings that are asked for, by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstain.errors import UsageError, shown
from abstain.measures import Measure, measure
from abstain.measures.kinds import RankingMeasure
from abstain.rankings.settings import ListSettings

DEFAULT_MEASURES = ("AP", "NDCG@10", "P@10", "RR")
PRIMED_MEASURES = ("AP'", "NDCG'", "RR'")
"""Shown too where lists are known to stop."""

MRR = re.compile(r"\s*mrr\s*(?=[(@]|$)", re.IGNORECASE)
"""A name that belongs to a measure of confidence; who types it here means RR."""

CUT = re.compile(r"(P|recall|success|map_cut|ndcg_cut)_(\d+)", re.IGNORECASE)
"""What trec_eval calls P@10, R@10, Success@10, AP@10, NDCG@10."""


def default_measures(settings: ListSettings) -> tuple[str, ...]:
    """What is scored where no measure is named."""
    stops = settings.nil is not None or settings.limit is not None
    return (*DEFAULT_MEASURES, *(PRIMED_MEASURES if stops else ()))


def ranking_measures(
    given: Sequence[str | Measure] | str | Measure,
) -> tuple[RankingMeasure, ...]:
    """The measures asked for, each once; what is no measure of rankings is refused."""
    listed = [given] if isinstance(given, (str, Measure)) else list(given)
    for text in listed:
        if isinstance(text, str):
            _refuse_other_names(text)
    chosen = []
    for item in dict.fromkeys(measure(text) for text in listed):
        if not isinstance(item, RankingMeasure):
            raise UsageError(
                f"{item} is a measure of {item.definition.takes}, not of rankings "
                "(`abstain measures` lists those)"
            )
        chosen.append(item)
    if not chosen:
        raise UsageError("name at least one measure")
    return tuple(chosen)


def _refuse_other_names(text: str) -> None:
    """Names by which other tools call a measure: they are told ours."""
    if MRR.match(text):
        ours = MRR.sub("RR", text)
        raise UsageError(f"MRR is a measure of confidence; of rankings it is the mean of {ours}")
    if found := CUT.fullmatch(text.strip()):
        ours = f"{found[1].removesuffix('_cut')}@{found[2]}"
        raise UsageError(f"there is no measure {shown(text)}: here it is {measure(ours)}")
