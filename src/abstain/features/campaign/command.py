"""Write every table of an overview paper."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from abstain.cli import EXIT_NO, options
from abstain.cli.command import SHOWING, Showing, command, option, working
from abstain.cli.options import Input, is_typed, reads
from abstain.errors import UsageError, plural, shown
from abstain.report.view import FORMATS, Format

if TYPE_CHECKING:
    from abstain.features.campaign.result import CampaignResult


@command
@reads(without={"grades": "--grade is for judged rows; campaign reads a gold and runs"})
@options.measure("The measure that ranks the runs.", default="c@1")
@options.by("Break down by these attributes (default: all there are).")
@option("--topic-by ATTR", "The attribute that names the topic.", default="topic")
@option("--test-by ATTR", "The attribute that names the reading test.", default="test")
@option(
    "--pass-mark X",
    "The score that passes a reading test.",
    type=click.FloatRange(0, 1),
    default=0.5,
)
@option("--runs-info FILE", "A table of run, team, status, align, language, … to group by.")
@option("--skip-invalid", "Score the valid runs and list the others with their problems.")
@option(
    "--max-runs N",
    "With --skip-invalid: how many runs a team may submit.",
    type=click.IntRange(min=1),
)
@option("--blind", "Write nothing that gives the gold away.")
@option(
    "--organiser DIR",
    "Write a folder for the organiser alone too: problems, notes, paths, every name.",
)
@option("--letters DIR", "Write a text to send to each team: what was received, what is wrong.")
@option("--secret ATTR", "Hide its slices where --blind hides the gold. Repeatable.", multiple=True)
@option("--teams DIR", "Write a folder for each team too: its runs, ranks and problems.")
@option(
    "--pseudonyms FILE",
    "A table of team and pseudonym for the blind phase (if there is no such file, pseudonyms are "
    "drawn and written to it).",
)
@option("--reveal", "Let the pages of --teams show the gold and who is who.")
@option("--references/--no-references", "List reference runs (oracle, blank, …) in tables.")
@options.interval
@options.level()
@options.seed("The seed of the random reference run.")
@options.output(
    "The folder to write: all of it may be published. If that fails, no partial folder is left.",
    "DIR",
    writes=False,
    required=True,
)
@options.force("Replace the folder.")
@option(
    "--language CODE",
    "A language that the campaign offered, to list even without a run. Repeatable.",
    to="languages",
    multiple=True,
)
@option("--title TEXT", "The title of the page.", default="Campaign", section=SHOWING)
@option(
    "-f --format",
    "How to show the leaderboard on the terminal.",
    type=click.Choice([name for name in FORMATS if name != "html"]),
    section=SHOWING,
)
@click.pass_context
def campaign(
    context: click.Context,
    /,
    inputs: Input,
    by: tuple[str, ...],
    interval: str | bool,
    output: Path,
    force: bool,
    format: Format | None,
    skip_invalid: bool,
    max_runs: int | None,
    blind: bool,
    organiser: str | None,
    letters: str | None,
    teams: str | None,
    pseudonyms: str | None,
    reveal: bool,
    **how: Any,
) -> None:
    """Write what an overview paper needs to a folder: tables, a summary, results, a page.

    A folder or a zip archive stands for the runs in it, the folder of a season for its gold, its
    runs and what its ledger knows of them. Exit code 1 where runs were left out.

    \b
    abstain campaign gold.xml runs/*.xml -o overview --runs-info runs.csv
    abstain campaign gold.xml submissions -o blind --skip-invalid --blind --teams pages
    """
    from abstain.features.campaign import view
    from abstain.features.campaign.analysis import opened_campaign
    from abstain.features.campaign.blind import blinded, held_back
    from abstain.runs.season import STATUS

    if blind and reveal:
        raise UsageError("--blind and --reveal exclude each other")
    if reveal and not teams:
        raise UsageError("--reveal needs --teams")
    if pseudonyms and not (teams or blind):
        raise UsageError("--pseudonyms needs --teams or --blind")
    folders: dict[str, Any] = {"--teams": teams, "-o": output, "--organiser": organiser}
    folders |= {"--letters": letters}
    for folder in filter(None, folders.values()):
        view.whole_folder_free(Path(folder), force=force)
    named = folders | {"--pseudonyms": pseudonyms}
    paths = {name: Path(path).absolute() for name, path in named.items() if path}
    for (one, a), (other, b) in permutations(paths.items(), 2):
        if a == b:
            raise UsageError(f"{one} and {other} name the same path, expected two")
        if b in a.parents:
            raise UsageError(f"{one} lies in the folder of {other}, expected a place beside it")
    with working("judging and comparing…") as progress:
        how["interval"] = interval if isinstance(interval, str) else None
        season = inputs.season
        if season is None:
            runs = inputs.runs
        else:
            how |= {name: value for name, value in season.options.items() if not is_typed(name)}
            how["runs_info"] = season.info(how["runs_info"])
            runs, skip_invalid = season.runs(*STATUS), True
        evaluation, checked = opened_campaign(
            inputs.gold, runs, inputs.reading, how["runs_info"], skip_invalid, max_runs
        )
        result = evaluation.campaign(by=by or None, checked=checked, progress=progress, **how)
    held = held_back(evaluation, result) if blind or (teams and not reveal) else {}
    other_names = None if pseudonyms is None else _pseudonyms(pseudonyms, result)
    if teams is not None:
        with working("writing the teams' pages…"):
            revealed = evaluation if reveal else None
            view.write_teams(
                result, teams, pseudonyms=other_names, revealed=revealed, held=held, force=force
            )
    if letters is not None:
        view.write_letters(result, letters, force=force)
    command = f"{context.obj or 'abstain campaign'} -o overview"
    if organiser is not None:
        whole = structs.replace(result, command=command)
        view.write_campaign(whole, organiser, organiser=True, force=force)
    if blind:
        command, result = "", blinded(result, other_names, held)
    write(result, output, Showing(format=format, command=command), force=force)
    for run, why in held.items():
        click.echo(f"run {shown(run)} is held back until the gold is public: {why}", err=True)
    if checked is not None and checked.skipped:
        count = plural(len(checked.skipped), "run was", "runs were")
        where = f"{organiser}/problems.csv" if organiser else "--organiser DIR"
        click.echo(f"{count} left out for problems: {where} lists them", err=True)
        raise click.exceptions.Exit(EXIT_NO)


def _pseudonyms(path: str, result: CampaignResult) -> dict[str, str]:
    import polars as pl

    from abstain.features.campaign.blind import (
        drawn_pseudonyms,
        in_order_of_teams,
        read_pseudonyms,
        teams_of_campaign,
    )
    from abstain.io.tables import write_table

    teams = teams_of_campaign(result)
    if not Path(path).exists():
        pseudonyms = drawn_pseudonyms(teams)
        frame = pl.DataFrame({"team": [*pseudonyms], "pseudonym": [*pseudonyms.values()]})
        write_table(frame, Path(path), format="csv")
        click.echo(f"{path}: {len(teams)} pseudonyms drawn; keep this file secret", err=True)
    else:
        pseudonyms = read_pseudonyms(path, teams)
    if in_order_of_teams(pseudonyms):
        order = "the pseudonyms are in the same order as the teams' names"
        click.echo(f"{path}: {order}, so readers can guess who is who", err=True)
    return pseudonyms


def write(result: CampaignResult, output: Path, out: Showing, *, force: bool) -> None:
    from abstain.features.campaign.view import write_campaign

    with working("writing…"):
        tables = write_campaign(structs.replace(result, command=out.command), output, force=force)
    out.show(result, written=f"{output}/index.html shows {len(tables)} tables.")
