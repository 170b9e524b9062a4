"""The words of column names, and whether they name systems."""

from __future__ import annotations

import re

SYSTEMS = (
    *("llm", "llms", "model", "models", "system", "engine"),
    *("checkpoint", "assistant", "agent", "bot"),
)
NAMING = ("name", "id", "version", "tag", "variant", "config", "key", "ai", "or", "path")
"""Words that may accompany them: a `model_output` names no system."""


def words_of(column: str) -> set[str]:
    """The words of a column's name."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return {word for word in re.split(r"[^a-z0-9]+", apart.casefold()) if word} or {column}


def names_systems(column: str) -> bool:
    """Whether a column's name is one for systems: `llm`, `model_id`, `ai-model`."""
    words = words_of(column)
    return bool(words & {*SYSTEMS}) and words.issubset((*SYSTEMS, *NAMING))
