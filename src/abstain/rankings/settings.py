"""How lists are read and averages taken: where a list ends, what a missing query is, who ties."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

import msgspec
from msgspec import structs

from abstain.errors import UsageError, check_name, option
from abstain.measures.definition import number_text

Missing: TypeAlias = Literal["empty", "error", "skip"]
Ties: TypeAlias = Literal["trec", "rank"]
Engine: TypeAlias = Literal["polars", "duckdb", "spark"]

MOST_DOCUMENTS = 10**18


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
    """The grade that is a gain of 1, where it was passed; otherwise the largest judged."""
    all_queries: bool = False
    """Whether every query of the table of queries counts, judged or not."""
    relevance_level: float | None = None
    """The lowest relevant grade, for every measure that takes one, unless its name sets another."""
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
        check_name("value of missing", self.missing, get_args(Missing))
        check_name("value of ties", self.ties, get_args(Ties))
        level = self.relevance_level
        if level is not None and not 0 < float(level) < math.inf:
            raise UsageError(
                f"{option('relevance_level')} must be a grade above 0 (got {number_text(level)})"
            )
        if self.limit is not None and not 1 <= int(self.limit) <= MOST_DOCUMENTS:
            raise UsageError(f"the limit must be from 1 to {MOST_DOCUMENTS:.0e} (got {self.limit})")
        return structs.replace(
            self,
            top=None if self.top is None else float(self.top),
            relevance_level=None if level is None else float(level),
            limit=None if self.limit is None else int(self.limit),
        )
