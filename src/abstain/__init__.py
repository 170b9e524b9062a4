"""Score systems that may decline to answer.

>>> import abstain as ab
>>> ab.measure("c@1")(ab.Counts(right=138, wrong=87, unanswered_empty=59))
0.5868627256496727
"""

import re as _re
from importlib import import_module as _import_module
from pathlib import Path as _Path
from types import MethodType as _MethodType

__version__ = "0.1.0"

_STUB = _Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_LINE = r"^from (\S+) import (\w+) as \2$"
_HOMES = {name: home for home, name in _re.findall(_LINE, _STUB, _re.M)}
"""Where each public name is defined, as the stub beside this file has it."""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


class Asked:
    """A method that an analysis answers. Objects stand below analyses and find theirs by name."""

    def __init__(self, name):
        self.name = name

    def __get__(self, asked, kind):
        analysis = _import_module(f"abstain.analyses.{self.name}")
        function = getattr(analysis, self.name.rpartition(".")[2])
        if asked is None:
            return function
        return _MethodType(_import_module("abstain.errors").checked(function), asked)


def view_of(result):
    """How a result looks. Results stand below views and ask for theirs here."""
    return _import_module("abstain.report.view").view_of(result)


def __getattr__(name):
    """Load a public name's home only when somebody asks for it: `import abstain` is instant."""
    if name not in _HOMES:
        raise AttributeError(f"module 'abstain' has no attribute '{name}'")
    return getattr(_import_module(_HOMES[name]), name)


def __dir__():
    return sorted(__all__)
