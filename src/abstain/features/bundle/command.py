"""Make a season's bundle for a platform."""

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
@options.force("Replace the archive.")
def bundle(platform: str, season: str, output: Path, force: bool) -> None:
    """Make what a platform needs to host a season: its scoring program, gold and leaderboard.

    It scores the runs that `abstain validate` finds valid, as `abstain campaign` does.

    \b
    abstain bundle codabench season/ -o task.zip
    abstain bundle evalai season/ -o evaluation_script.zip
    """
    from abstain.features.bundle import analysis

    names = analysis.bundle(cast(analysis.Platform, platform), season, output, force=force)
    click.echo("\n  ".join((f"{output} holds", *names)))
