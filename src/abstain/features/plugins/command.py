"""`abstain plugins`."""

import click
import msgspec

from abstain.cli.command import Showing, command, shows
from abstain.errors import plural
from abstain.features.plugins.analysis import Installed
from abstain.features.plugins.analysis import plugins as installed
from abstain.report.grid import Grid


@command
@shows(digits=False, page=False)
def plugins(out: Showing) -> None:
    """List what other packages add: measures, readers of logs, features.

    A broken plug-in is named in one line and stops no other; then the exit code is 1.
    """
    every = installed()
    grid = Grid.of_rows(Installed, every, "adds", "names", "package", "module")
    faults = [one.fault for one in every if one.fault]
    broken = f", {len(faults)} broken" if faults else ""
    grid.notes = [f"{plural(len(every), 'plug-in')} of other packages{broken}.", *faults]
    out.show_grid(grid, {"plugins": msgspec.to_builtins(every)})
    if faults:
        raise click.exceptions.Exit(1)
