"""Sentences that tables of scores share: the policy, notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from abstain.outcomes import Effect, Policy, Why


def policy_sentence(policy: Policy | Mapping[str, str], touched: Mapping[str, int]) -> str:
    """The policy in words, with how many responses of each kind there were."""
    effects = policy.to_dict() if isinstance(policy, Policy) else policy
    parts = []
    for why, effect in effects.items():
        count = touched.get(why, 0)
        if not count and (effect == Effect.STOP or why == Why.LIMIT):
            continue
        parts.append(f"{count:,} {why} → {effect}")
    return "Policy: " + ", ".join(parts) + "."


def sentence(note: str, names: Iterable[str] = ()) -> str:
    """A note with a capital and a full stop; what is no plain word, or a given name, stays.

    >>> sentence("some rows were left out"), sentence("c@1 is low"), sentence("bold won", ["bold"])
    ('Some rows were left out.', 'c@1 is low.', 'bold won.')
    """
    plain = re.match(r"[a-z]+(['’-][a-z]+)*[,:]?(\s|$)", note)
    named = any(re.match(rf"{re.escape(name)}\b", note) for name in names if name)
    text = note[:1].upper() + note[1:] if plain and not named else note
    return text if text.endswith((".", "!", "?")) else text + "."
