"""`plugins`: what other packages add, from where, and what is wrong with it."""

from typing import Annotated

from abstain.entry_points import GROUPS
from abstain.io.readers import readers_of_plugins
from abstain.measures.registry import measures_of_plugins
from abstain.registry import plugged
from abstain.report.grid import Column
from abstain.report.result import Facts


class Installed(Facts, frozen=True):
    """An entry point of another package."""

    adds: Annotated[str, Column(means="measures, a reader of logs, or a feature")]
    names: Annotated[str, Column("what", means="their names; where it is broken, that of it")]
    package: Annotated[str, Column(means="the package that declares it, with its version")]
    module: Annotated[str, Column(means="the module that is imported, or the object in it")]
    folder: str
    fault: str = ""
    """Why it is left out; empty: it works."""


def plugins() -> tuple[Installed, ...]:
    """The plug-ins that are installed, each loaded and checked, whether or not it works."""
    return tuple(
        Installed(
            adds=GROUPS[plugin.group],
            names=loaded.names.get(plugin, plugin.name),
            package=f"{plugin.package} {plugin.version}".strip(),
            module=plugin.value,
            folder=str(plugin.point.dist.locate_file("")) if plugin.point.dist else "",
            fault=loaded.faults.get(plugin, ""),
        )
        for loaded in (measures_of_plugins(), readers_of_plugins(), plugged())
        for plugin in (*loaded.names, *loaded.faults)
    )
