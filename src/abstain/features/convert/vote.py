"""Several samples of a run become one: the majority's answer, agreement as confidence.

Self-consistency (Wang et al. 2023): the answer sampled most often, with its share of the samples.
"""

from __future__ import annotations

import polars as pl

from abstain.errors import InputError, plural
from abstain.io.normalise import matcher
from abstain.runs.judge import NO

ROW, TEXT, VOTES = "__row", "__text", "__votes"


def voted(rows: pl.DataFrame, name: str) -> tuple[pl.DataFrame, str]:
    """A row for each question of each run, and what there is to say of ties.

    Answers are the same where they differ in case, width and punctuation alone. The first of tied
    ones is taken. Blanks count as samples: more of them than of any answer make a blank, whose
    candidate that answer is; as many are a tie, which the answer wins.
    """
    for column in ("question", "answer"):
        if column not in rows.columns:
            raise InputError(f"has no column '{column}', expected samples to vote on", name)
    keys = [key for key in ("run", "question") if key in rows.columns]
    if not rows.select(keys).is_duplicated().any():
        raise InputError("has one row for each question, expected several samples", name)
    text = pl.col("answer").cast(pl.String).fill_null("").str.strip_chars()
    if "answered" in rows.columns:
        declined = pl.col("answered").cast(pl.String).str.to_lowercase().is_in(list(NO))
        text = pl.when(declined.fill_null(value=False)).then(pl.lit("")).otherwise(text)
    normal, rows = matcher("text"), rows.with_columns(text.alias("answer")).with_row_index(ROW)
    texts = rows["answer"].unique().to_list()
    same = pl.col("answer").replace_strict(texts, [normal(t) or t for t in texts])
    counted = (
        rows.group_by(*keys, same.alias(TEXT))
        .agg(pl.col(ROW).min(), pl.len().alias(VOTES))
        .sort(pl.col(TEXT) == "", -pl.col(VOTES).cast(pl.Int64), ROW)  # blanks last
    )
    most = pl.col(VOTES).filter(pl.col(TEXT) != "").max()
    questions = counted.group_by(keys, maintain_order=True).agg(
        pl.col(ROW).first(),
        blank=pl.col(VOTES).filter(pl.col(TEXT) == "").sum() > most.fill_null(0),
        tied=(pl.col(VOTES) == most).sum() > 1,
        confidence=most / pl.col(VOTES).sum(),
    )
    stale = ("answered", "why", "confidence", "candidate")
    kept = rows.drop(stale, strict=False).join(questions.drop(keys), on=ROW).sort(ROW)
    blank, nothing = pl.col("blank"), pl.lit("")
    made = kept.with_columns(
        answer=pl.when(blank).then(nothing).otherwise("answer"),
        candidate=pl.when(blank).then("answer").otherwise(nothing),
    )
    note = f"{plural(rows.height, 'sample')} became {plural(made.height, 'response')}"
    if ties := int(made["tied"].sum()):
        note += f", {ties:,} of them tied: the answer sampled first is taken"
    return made.drop(ROW, "blank", "tied"), note
