"""A campaign asked for in one line, its facts as arrays."""

from __future__ import annotations

from typing import Any

import abstain as ab
from abstain.features.campaign.overview import Overview


def overview(gold: Any, runs: Any, **options: Any) -> Overview:
    return Overview(ab.campaign(gold, runs, **options))
