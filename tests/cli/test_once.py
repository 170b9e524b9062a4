"""An option that takes one value and appears twice is refused, whatever the command."""

from __future__ import annotations

from typing import Any

import click
import pytest

from abstain.cli import app
from abstain.registry import COMMANDS
from tests.helpers import GOLD, RUN, Here


def options_of(command: str) -> list[click.Option]:
    context = click.Context(app)
    found: Any = app.get_command(context, command)
    return [param for param in found.params if isinstance(param, click.Option)]


EVERY = [(command, option) for command in COMMANDS for option in options_of(command)]
FLAGS = [(c, o) for c, o in EVERY if o.is_flag and not o.secondary_opts]
SINGLE = [(c, o) for c, o in EVERY if not o.multiple and (c, o) not in FLAGS]
SEVERAL = [(command, option) for command, option in EVERY if option.multiple]


def spelled(option: click.Option, value: str) -> list[list[str]]:
    """Twice, by its first name and by its last."""
    names = (option.opts[0], option.opts[-1])
    return [[name] if option.is_flag else [name, value] for name in names]


@pytest.mark.parametrize(
    ("command", "option"), SINGLE, ids=[f"{c}{max(o.opts, key=len)}" for c, o in SINGLE]
)
def test_every_option_with_one_value_is_refused_twice(
    here: Here, command: str, option: click.Option
) -> None:
    one, other = spelled(option, "1")
    refused = here.refuses(command, *one, *other)
    assert refused == f"{max(option.opts, key=len)} appears twice, expected once"


def test_repeatable_options_are_used_as_often_as_they_appear(here: Here) -> None:
    """Those that are declared so: none of them says that it appears twice."""
    assert len(SEVERAL) > 50
    for command, option in SEVERAL:
        one, other = spelled(option, "x")
        said = here(command, *one, *other)
        assert "appears twice, expected once" not in said.err, (command, option.opts)


def test_the_last_value_does_not_win_in_silence(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", RUN)
    assert here("score", "gold.csv", "a.csv", "--digits", "2").code == 0
    said = here.refuses("score", "gold.csv", "a.csv", "--digits", "2", "--digits=3")
    assert said == "--digits appears twice, expected once"
    said = here.refuses("score", "gold.csv", "a.csv", "-fjson", "--format", "json")
    assert said == "--format appears twice, expected once"
    said = here.refuses("score", "gold.csv", "a.csv", "--interval", "--interval", "bca")
    assert said == "--interval appears twice, expected once"


def test_a_flag_says_the_same_however_often_it_appears(here: Here) -> None:
    for command, option in FLAGS:
        said = here(command, option.opts[0], option.opts[-1])
        assert "appears twice, expected once" not in said.err, (command, option.opts)
