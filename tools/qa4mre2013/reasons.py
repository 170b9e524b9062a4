"""Why printed figures do not hold, and which printed figures are no figures of these runs.

A reason names its cells; the command fails where a cell that does not hold has none, or a reason
has no cell.
"""

from __future__ import annotations

import re

REASONS = (
    (
        r"^14 .*: csui1308enen, right:",
        "a misprint: 60 right and 165 wrong are not the 234 answered; 69 fits every other cell",
    ),
    (
        r"^14 .*: evma1303enen, answered:",
        "a misprint: 64 right and 181 wrong are 245 answered, and 249 + 39 blanks are not 284",
    ),
    (
        r"^14 .*: kule1303enen, unanswered_empty:",
        "a misprint: the parts of the 42 blanks are printed as 0 + 0 + 0",
    ),
    (
        r"^7 .*, questions:",
        "contradicts Table 15, whose scores need other numbers of questions; 97 and 30 fit",
    ),
    (
        r"^15 .*(kule1306enen|buap1309enen|vens1302enen_LATE_RUN), auxiliary:",
        "no whole number of 44 rounds to it, and the run answered everything",
    ),
    (
        r"^15 .*: vens1302enen_LATE_RUN, modality_negation:",
        "no whole number of the 30 questions rounds to it",
    ),
    (
        r"^(17|chart: types) ",
        "no whole number of responses rounds to it: the percentages were cut off, not rounded",
    ),
    (
        r"^Appendix 1 .*: MEDIAN, Music and Society:|^Appendix 1 .*: MEDIAN, topic_2:",
        "the median of the rounded column; that of the exact scores is at most .32479",
    ),
    (
        r"^13 .*: (onto130[5-8]bgbg|uaic1303roro|uaic1305roro),",
        "the run stands in another language's column than its id says",
    ),
    (
        r"^13 .*: Baseline NCA,",
        "another count: 97 of 284 questions give .34; 94 of the 240 main questions give .39",
    ),
    (r"^13 .*: Baseline 2,", "explained nowhere in the paper"),
    (
        r"^22 ",
        "onto1301bgbg is printed against onto1302bgbg, but the best other run of that team is "
        "onto1305bgbg; so the mean of the others differs too",
    ),
    (
        r"^18 .*: AIDS, hyp_change:",
        "a misprint: 102 to 133 right responses, printed in the same row, are +30.39 %",
    ),
    (
        r"^reading tests passed: none:",
        "34 by the printed scores, of which one .50 is just below a half in the rebuilt campaign",
    ),
    (
        r"^section 7.2.*: percent:",
        "left free: which question a run has right is invented, and so is how many nobody had",
    ),
    (
        r"^section 7.4, where it increased",
        "left free: the sums over pairs are the paper's (Tables 18 to 21), those of a single pair "
        "are invented",
    ),
)
"""Where cells stand that do not hold, as a pattern, and why."""

NOT_OF_RUNS = (
    ("Tables 1 to 4", "–", "describe the task and its documents: nothing that a run could give"),
    ("Section 4.1", "–", "describes the test set; its questions and texts are not available"),
    (
        "Tables 8, 9: registered, downloaded",
        "2",
        "counted before there were runs; given to `editions --registrations`",
    ),
    (
        "Tables 8, 9: pilot tasks",
        "4",
        "counts of other tasks' teams and runs; campaigns of as many stand for them",
    ),
    (
        "Table 16: 2011, 2012",
        "4",
        "means of other years' runs; `editions 2012=table.csv` takes them as printed",
    ),
    ("Table 17: 2011, 2012", "30", "percentages of other years' runs; taken as printed"),
)
"""Printed numbers that these runs cannot give: where, how many are transcribed, and why."""


def explained(misses: list[str]) -> list[str]:
    """A table in Markdown of what does not hold, by its reason."""
    cells: dict[str, list[str]] = {why: [] for _, why in REASONS}
    for miss in misses:
        reasons = [why for pattern, why in REASONS if re.search(pattern, miss)]
        if len(reasons) != 1:
            raise SystemExit(f"{len(reasons)} reasons are known for: {miss}")
        cells[reasons[0]].append(miss)
    if unused := [why for why, own in cells.items() if not own]:
        raise SystemExit(f"these hold by now: {unused}")
    made = ["| does not hold | printed → written | why |", "| --- | --- | --- |"]
    for why, own in cells.items():
        split = [re.fullmatch(r"(.*): printed (.*), written (.*)", miss) for miss in own]
        places = [found[1] for found in split if found]
        table = places[0].partition(": ")[0].partition(" (")[0]
        table = f"Table {table}" if table[0].isdigit() else table
        several = f", {len(own)} cells" if len(own) > 1 else f": {places[0].partition(': ')[2]}"
        numbers = dict.fromkeys(f"{found[2]} → {_short(found[3])}" for found in split if found)
        shown = ", ".join(list(numbers)[:4]) + (", …" if len(numbers) > 4 else "")
        made.append(f"| {table}{several} | {shown} | {why} |")
    return made


def _short(text: str) -> str:
    """A number as it would be printed, with the digits that show the difference."""
    return f"{float(text):.4g}" if re.fullmatch(r"\d*\.\d+", text) else text


def others() -> list[str]:
    """A table in Markdown of the numbers that are no numbers of these runs."""
    made = ["| not a number of these runs | numbers | why |", "| --- | ---: | --- |"]
    return [*made, *(f"| {where} | {count} | {why} |" for where, count, why in NOT_OF_RUNS)]
