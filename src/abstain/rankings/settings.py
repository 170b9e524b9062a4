"""How lists are read and averages taken: where a list ends, what a missing query is, who ties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import msgspec
from msgspec import structs

from abstain.errors import UnknownNameError, UsageError, option
from abstain.measures.definition import number_text

Missing: TypeAlias = Literal["empty", "error", "skip"]
Ties: TypeAlias = Literal["trec", "rank"]
Engine: TypeAlias = Literal["polars", "duckdb", "spark"]

MOST_DOCUMENTS = 10**18


class RankingsOptions(TypedDict, total=False):
    """The arguments of `read_rankings`, for functions that read and ask in one line."""

    nil: str | None
    nil_as_answer: bool
    limit: int | None
    missing: Missing | None
    ties: Ties
    trec_eval: bool
    top: float | None
    queries: Any
    all_queries: bool
    relevance_level: float | None
    judged_only: bool
    columns: Mapping[str, str] | None
    format: str | None
    engine: Engine | None
    master: str | None


class ListSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of lists; all of it is declared in the output."""

    nil: str | None = None
    """The document id that ends a list."""
    nil_as_answer: bool = False
    """Whether it is a document instead, right where nothing else is, as in TREC 2001."""
    limit: int | None = None
    """How long a list could be: a shorter one was ended by its system."""
    missing: Missing = "empty"
    """What a query is that a run lacks."""
    ties: Ties = "trec"
    """Documents of equal score: by falling id, or all by the rank column."""
    trec_eval: bool = False
    """Whether averages are trec_eval's: what does not exist counts 0."""
    top: float | None = None
    """The grade that is a gain of 1, where it was said; otherwise the largest judged."""
    all_queries: bool = False
    """Whether every query of the table of queries counts, judged or not."""
    relevance_level: float | None = None
    """The lowest relevant grade, for every measure that takes one and is not given its own."""
    judged_only: bool = False
    """Whether documents that nobody judged are taken out of the lists first."""

    def checked(self) -> ListSettings:
        """The same, if it makes sense together."""
        if self.nil_as_answer and self.nil is None:
            raise UsageError(
                f"{option('nil_as_answer')} needs the name of the document that means "
                f'"nothing is relevant": {option("nil", "NIL")}'
            )
        if self.nil is not None and not self.nil.strip():
            raise UsageError(f"{option('nil')} names a document, such as NIL or -1 (got nothing)")
        for what, value, known in (
            ("missing", self.missing, get_args(Missing)),
            ("ties", self.ties, get_args(Ties)),
        ):
            if value not in known:
                there_are = f"there are {', '.join(known)}"
                raise UnknownNameError(f"value of {what}", value, known, hint=there_are)
        level = self.relevance_level
        if level is not None and not 0 < float(level) < math.inf:
            raise UsageError(
                f"{option('relevance_level')} must be a grade above 0 (got {number_text(level)})"
            )
        top = self.top
        plain = structs.replace(self, top=None if top is None else float(top))
        if level is not None:
            plain = structs.replace(plain, relevance_level=float(level))
        if self.limit is None:
            return plain
        if not 1 <= int(self.limit) <= MOST_DOCUMENTS:
            raise UsageError(f"the limit must be from 1 to {MOST_DOCUMENTS:.0e} (got {self.limit})")
        return structs.replace(plain, limit=int(self.limit))
