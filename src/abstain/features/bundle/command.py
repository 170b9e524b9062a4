"""Make a season's bundle for a platform."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from abstain.cli import options
from abstain.cli.command import Words, argument, command


@command
@argument(
    "platform",
    metavar="codabench|evalai|tira",
    type=Words(("codabench", "evalai", "tira")),
    help="Who hosts the task.",
)
@argument("season", required=False, default=".", help="The folder of the season (default: here).")
@options.output("The archive to write.", required=True)
def bundle(platform: str, season: str, output: Path) -> None:
    """Make what a platform needs to host a season: its scoring program, gold and leaderboard.

    The scores are those of `abstain campaign`, with intervals.

    \b
    abstain bundle codabench season/ -o task.zip
    abstain bundle evalai season/ -o evaluation_script.zip
    """
    from abstain.features.bundle import analysis

    names = analysis.bundle(cast(analysis.Platform, platform), season, output)
    click.echo("\n  ".join((f"{output} holds", *names)))
