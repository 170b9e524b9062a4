"""Counts and scores of each row against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from abstain.analyses.audit.constraints import Score, Sum, complete, counts_of, sums_of
from abstain.analyses.audit.corrections import corrections
from abstain.analyses.audit.findings import COUNTS, SCORES, Audit
from abstain.analyses.audit.printed import Printed
from abstain.analyses.audit.result import Correction
from abstain.analyses.audit.sheet import ALL, Sheet
from abstain.measures.definition import SPLIT_UNKNOWN

LARGEST = 2**53
CORRECTED = 200
"""Rows for which a correction is looked for."""


def number_of_questions(sheet: Sheet, audit: Audit | None = None) -> int | None:
    """How many questions each row is over: as said, or as most rows agree."""
    if sheet.settings.questions is not None:
        return sheet.settings.questions
    said = sheet.settings.sizes.get(ALL)
    if "questions" in sheet.counts or not sheet.counts:
        return said
    totals = Counter(
        total for i in sheet.body if (total := _total(row_counts(sheet, i))) is not None
    )
    if not totals:
        return said
    (common, rows), everything = totals.most_common(1)[0], sum(totals.values())
    if everything < 3 or 3 * rows < 2 * everything:
        return said
    if audit is not None and common != said:
        audit.note(
            f"{sheet.name}: {common} questions, as {rows} of {everything} rows add up to that "
            "(another number of questions can be given)."
        )
    return common


def row_counts(sheet: Sheet, row: int) -> dict[str, int]:
    """The counts that a row prints, as far as they are whole numbers."""
    found: dict[str, int] = {}
    for role, column in sheet.counts.items():
        number = sheet.number(row, column)
        if number is not None and _is_count(number):
            found[role] = int(number.value)
    return found


def check_rows(sheet: Sheet, audit: Audit) -> None:
    """Check the counts and the scores of every row; a total's row must add up as well."""
    questions = number_of_questions(sheet, audit)
    corrected = 0
    for row, kind in enumerate(sheet.kinds):
        if not sheet.counts or kind not in (None, "total"):
            continue
        _check_whole(sheet, row, audit)
        printed = row_counts(sheet, row)
        if kind == "total":  # it sums runs or parts; who knows over which questions
            printed.pop("questions", None)
        counts = dict(printed)
        if questions is not None and kind is None:
            counts.setdefault("questions", questions)
        if not counts:
            continue
        sums = sums_of(list(counts))
        scores = _scores(sheet, row, counts, audit) if kind is None else []
        for total in sums:
            names = [sheet.counts[r] for r in (*total.parts, total.whole) if r in printed]
            audit.check(COUNTS, sheet, [(row, name) for name in names])
        for score in scores:
            audit.check(SCORES, sheet, [(row, score.column)])
        bad_sums = [s for s in sums if not s.holds(counts)]
        bad_scores = [s for s in scores if not s.holds(counts)]
        if not bad_sums and not bad_scores:
            continue
        corrected += 1
        fixes = (
            corrections(
                sheet.row_name(row),
                counts,
                {role: sheet.counts[role] for role in printed},
                sheet.texts[row],
                sums,
                scores,
            )
            if corrected <= CORRECTED
            else []
        )
        _report(sheet, row, counts, bad_sums, bad_scores, fixes, audit)


def _report(
    sheet: Sheet,
    row: int,
    counts: Mapping[str, int],
    sums: list[Sum],
    scores: list[Score],
    fixes: list[Correction],
    audit: Audit,
) -> None:
    for total in sums:
        column = sheet.counts.get(total.whole) or sheet.counts.get(total.parts[0]) or total.whole
        audit.find(COUNTS, sheet, row, column, total.text(counts), fixes)
    for score in scores:
        value = float(score.values_of(counts))
        follows = f"the counts give {value:.6g}"
        if score.printed.truncates(value):
            follows += f": truncated, rounded it is {score.printed.like(value)}"
        audit.find(SCORES, sheet, row, score.column, follows, fixes)


def _check_whole(sheet: Sheet, row: int, audit: Audit) -> None:
    for column in sheet.counts.values():
        number = sheet.number(row, column)
        if number is not None and not _is_count(number):
            audit.find(COUNTS, sheet, row, column, "a count is a whole number, 0 or more")


def _is_count(number: Printed) -> bool:
    return number.value.denominator == 1 and 0 <= number.value <= LARGEST


def _scores(sheet: Sheet, row: int, counts: Mapping[str, int], audit: Audit) -> list[Score]:
    """The scores of a row that its counts determine."""
    found: list[Score] = []
    for column in sheet.of(ALL):
        number = sheet.number(row, column.column)
        needs = column.measure.definition.needs_candidates
        if number is None or complete(counts, candidates=needs) is None:
            continue
        tally = counts_of(counts, candidates=needs)
        if tally is None:
            continue
        reason = column.measure.why_undefined(tally)
        if reason == SPLIT_UNKNOWN.reason:
            continue
        if reason is not None:
            audit.find(SCORES, sheet, row, column.column, f"undefined: {reason}")
            continue
        found.append(Score(column.column, column.measure, number, column.scale))
    return found


def _total(counts: Mapping[str, int]) -> int | None:
    """What a row's outcomes add up to."""
    table = complete(counts, candidates=False)
    if "answered" in counts and table is not None:
        return int(counts["answered"] + table[5])
    return None if table is None else int(table.sum())
