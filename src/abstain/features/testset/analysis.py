"""`testset`: what participants may see of a gold, and nothing else.

What may be seen is listed, so that whatever else a gold holds stays out.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack
from xml.etree import ElementTree

from abstain.errors import UsageError, check_name, option
from abstain.io.files import Opened, write_errors
from abstain.io.output import whole
from abstain.io.qa4mre import seen_by_participants
from abstain.io.tables import format_of_name, write_table
from abstain.reading import Reading, ReadingOptions
from abstain.runs.gold import read_gold
from abstain.runs.season import gold_of

SEEN = ("question", "topic", "test", "text", "options", "option_texts")
"""All that is seen of a question, but for attributes that its organiser names."""
NEVER = ("correct", "nca", "answer", "accepted", "gold", "answerable", "unanswerable")
"""Attributes that say what is right, or whether anything is."""


def testset(
    gold: Any,
    target: str | os.PathLike[str],
    *,
    keep: Sequence[str] | str = (),
    **reading: Unpack[ReadingOptions],
) -> tuple[int, tuple[str, ...]]:
    """Write the test set of a gold: questions, options, texts, topics and tests, nothing else.

    The ending of the target sets its format; documents stay in QA4MRE XML that is written as such.
    `keep` names attributes of questions that participants see as well. Returns the number of
    questions, and the columns, or attributes and elements, that were left out.
    """
    standard = read_gold(*gold_of(gold, Reading.of(**reading)), answers=False)
    table, name, to = standard.table, os.fspath(target), format_of_name(os.fspath(target))
    chosen = [keep] if isinstance(keep, str) else list(keep)
    for attribute in chosen:
        check_name("attribute in the gold", attribute, standard.attributes)
        if attribute in NEVER:
            raise UsageError(f"{option('keep', attribute)} would show participants what is right")
    left_out: tuple[str, ...] = ()
    if table.format == "qa4mre" and table.opened is not None:
        tree, left_out = seen_by_participants(table.opened, chosen)
        if to == "qa4mre":
            with write_errors(name), whole(name) as draft:
                tree.write(draft, encoding="utf-8", xml_declaration=True)
            return len(standard), left_out
        bare = Opened(standard.name, data=ElementTree.tostring(tree.getroot()))
        standard = read_gold(bare, answers=False)
    elif to == "qa4mre":
        raise UsageError(f"{standard.name} is no QA4MRE XML, so its test set cannot be: {name}")
    shown = [n for n in (*SEEN, *chosen) if n in standard.frame.columns]
    write_table(standard.frame.select(shown), Path(name))
    return len(standard), left_out or tuple(n for n in table.columns if n not in shown)
