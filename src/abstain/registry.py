"""Declarations of the features by import paths: a module is imported when it is first used.

A feature is a folder in `features/`. Deleting the folder and its declaration here removes its
command, its methods, its functions, its kinds of results and its page in the reference. Features
of other packages are declared by entry points, and loaded when something else is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, TypeVar

from msgspec import Struct

from abstain.entry_points import Loaded, Plugin, load_plugins, plugins
from abstain.errors import UnknownNameError, UsageError

C = TypeVar("C", bound=type)
HOME = "abstain.features"


class Feature(Struct, frozen=True, kw_only=True):
    """The parts of a feature, each as `module:name` relative to its folder.

    >>> FEATURES[0].at("analysis:score")
    'abstain.features.score.analysis:score'
    """

    name: str
    """Its folder, and its command."""
    help: str
    """What its command does, in one line."""
    command: str
    methods: dict[str, str] = {}
    """Methods to attach to classes: `Evaluation.score` to the function that implements it.

    One that begins with _ is for a shortcut alone, so that the class keeps few names.
    """
    shortcuts: dict[str, str] = {}
    """Public functions that read and call a method in one line: name to method."""
    functions: dict[str, str] = {}
    """Further public functions."""
    results: dict[str, tuple[str, str]] = {}
    """The tag of each kind of result to its struct and its view."""
    package: str = ""
    """The package with its modules, where that is not its folder here."""

    def at(self, path: str) -> str:
        """The whole import path of one of its parts."""
        return f"{self.package or f'{HOME}.{self.name}'}.{path}"


FEATURES = (
    Feature(
        name="score",
        help="Score runs against a gold.",
        command="command:score",
        methods={"Evaluation.score": "analysis:score", "Evaluation.several": "several:several"},
        shortcuts={"score": "Evaluation.score", "several": "Evaluation.several"},
        results={
            "score": ("result:ScoreResult", "result:View"),
            "several": ("several:SeveralResult", "several:View"),
        },
    ),
    Feature(
        name="decisions",
        help="Show whether runs answered where an answer was due.",
        command="command:decisions",
        methods={"Evaluation.decisions": "analysis:decisions"},
        shortcuts={"decisions": "Evaluation.decisions"},
        results={"decisions": ("result:DecisionsResult", "result:View")},
    ),
    Feature(
        name="validate",
        help="Check runs before they are scored.",
        command="command:validate",
        methods={"Evaluation.validate": "analysis:validate"},
        functions={"validate": "analysis:validate_files"},
        results={"validate": ("result:ValidateResult", "result:View")},
    ),
    Feature(
        name="testset",
        help="Write what participants may see of a gold.",
        command="command:testset",
        functions={"testset": "analysis:testset"},
    ),
    Feature(
        name="baseline",
        help="Write a reference run: random, first, blank…",
        command="command:baseline",
        functions={"baseline": "analysis:baseline"},
    ),
    Feature(
        name="campaign",
        help="Write every table of an overview paper.",
        command="command:campaign",
        methods={"Evaluation.campaign": "analysis:campaign"},
        functions={"campaign": "analysis:campaign_of_files"},
        results={"campaign": ("result:CampaignResult", "view:View")},
    ),
    Feature(
        name="receive",
        help="Keep submissions, with a receipt for each.",
        package="abstain.features.season",
        command="command:receive",
        functions={"receive": "intake:receive"},
    ),
    Feature(
        name="seal",
        help="Commit to a gold before it is public.",
        package="abstain.features.season",
        command="command:seal",
        functions={"seal": "intake:seal"},
    ),
    Feature(
        name="rank",
        help="Score rankings that may stop early.",
        command="command:rank",
        methods={"Rankings.score": "analysis:rank", "Rankings.truncation": "truncation:truncation"},
        shortcuts={"rank": "Rankings.score"},
        results={
            "rank": ("analysis:RankResult", "view:View"),
            "truncation": ("truncation:TruncationResult", "truncation:View"),
        },
    ),
    Feature(
        name="trec_eval",
        help="Answer as trec_eval does, byte for byte.",
        command="command:trec_eval",
        functions={"trec_eval": "analysis:trec_eval"},
    ),
    Feature(
        name="cut",
        help="Choose where a ranking stops.",
        command="command:cut",
        methods={"Rankings.cut": "analysis:cut"},
        shortcuts={"cut": "Rankings.cut"},
        results={"cut": ("result:CutResult", "view:View")},
    ),
    Feature(
        name="curve",
        help="Show how runs score at every threshold of their confidence.",
        command="command:curve",
        methods={
            "Evaluation.curve": "analysis:curve",
            "Evaluation._histogram": "analysis:histogram",
        },
        shortcuts={"curve": "Evaluation.curve", "histogram": "Evaluation._histogram"},
        results={
            "curve": ("result:CurveResult", "view:View"),
            "histogram": ("result:HistogramResult", "view:HistogramView"),
        },
    ),
    Feature(
        name="tune",
        help="Choose the threshold to abstain at.",
        command="command:tune",
        methods={"Evaluation.tune": "analysis:tune"},
        shortcuts={"tune": "Evaluation.tune"},
        results={"tune": ("result:TuneResult", "result:View")},
    ),
    Feature(
        name="targets",
        help="Show whether a model heeds what an error costs.",
        command="command:targets",
        functions={"targets": "analysis:targets"},
        results={"targets": ("result:TargetsResult", "result:View")},
    ),
    Feature(
        name="cascade",
        help="Ask a small model first, a larger one where it is not sure.",
        command="command:cascade",
        functions={"cascade": "analysis:cascade"},
        results={"cascade": ("result:CascadeResult", "result:View")},
    ),
    Feature(
        name="compare",
        help="Test whether runs differ.",
        command="command:compare",
        methods={
            "Evaluation.compare": "analysis:compare",
            "Rankings.compare": "analysis:compare",
            "ScoreMatrix.compare": "analysis:compare",
        },
        shortcuts={"compare": "Evaluation.compare"},
        results={"compare": ("result:CompareResult", "view:View")},
    ),
    Feature(
        name="meta",
        help="Evaluate measures: stability, sensitivity, power, agreement.",
        command="command:meta",
        methods={
            "Evaluation.meta": "analysis:meta",
            "Rankings.meta": "analysis:meta",
            "ScoreMatrix.meta": "analysis:meta",
        },
        shortcuts={"meta": "Evaluation.meta"},
        results={"meta": ("result:MetaResult", "view:View")},
    ),
    Feature(
        name="report",
        help="Make one HTML page of a saved result.",
        command="command:report",
    ),
    Feature(
        name="audit",
        help="Check the arithmetic of a published table.",
        command="command:audit",
        functions={"audit": "analysis:audit"},
        results={"audit": ("result:AuditResult", "result:View")},
    ),
    Feature(
        name="convert",
        help="Convert a table to another format.",
        command="command:convert",
        functions={"convert": "analysis:convert"},
    ),
    Feature(
        name="refusals",
        help="Find responses whose text declines to answer.",
        command="command:refusals",
        functions={"refusals": "analysis:refusals"},
        results={"refusals": ("analysis:RefusalsResult", "analysis:View")},
    ),
    Feature(
        name="measures",
        help="List the measures.",
        command="command:measures",
    ),
    Feature(
        name="explain",
        help="Explain one measure.",
        command="command:explain",
        functions={"explain": "card:explain"},
    ),
    Feature(
        name="tasks",
        help="Write tasks for a harness that asks models.",
        command="command:tasks",
        functions={"tasks": "analysis:tasks"},
    ),
    Feature(
        name="plugins",
        help="List what other packages add.",
        command="command:plugins",
        functions={"plugins": "analysis:plugins"},
    ),
    Feature(
        name="demo",
        help="Run the bundled example.",
        command="command:demo",
        functions={"demo": "analysis:demo"},
    ),
    Feature(
        name="bundle",
        help="Make what Codabench, EvalAI or TIRA needs to host a season.",
        command="command:bundle",
        functions={"bundle": "analysis:bundle"},
    ),
    Feature(
        name="editions",
        help="Compare this year's campaign with earlier ones.",
        command="command:editions",
        functions={"editions": "analysis:editions"},
        results={"editions": ("result:EditionsResult", "result:View")},
    ),
)
"""In the order of `abstain --help`."""


class Parts(Struct, frozen=True):
    """The parts of several features, by name, each with its whole import path."""

    commands: dict[str, Feature]
    methods: dict[str, str]
    shortcuts: dict[str, str]
    functions: dict[str, str]
    results: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, features: Iterable[Feature]) -> Parts:
        every = tuple(features)
        return cls(
            {f.name: f for f in every},
            {name: f.at(path) for f in every for name, path in f.methods.items()},
            {name: method for f in every for name, method in f.shortcuts.items()},
            {name: f.at(path) for f in every for name, path in f.functions.items()},
            {tag: (f.at(s), f.at(v)) for f in every for tag, (s, v) in f.results.items()},
        )

    def names(self) -> set[str]:
        return {*self.commands, *self.methods, *self.shortcuts, *self.functions, *self.results}


BUILT_IN = Parts.of(FEATURES)
COMMANDS, METHODS, RESULTS = BUILT_IN.commands, BUILT_IN.methods, BUILT_IN.results
SHORTCUTS, FUNCTIONS = BUILT_IN.shortcuts, BUILT_IN.functions


@cache
def plugged() -> Loaded:
    """The features of other packages by name, checked: their names are new."""

    def take(plugin: Plugin, feature: Any) -> tuple[str, Feature]:
        if not isinstance(feature, Feature):
            raise UsageError(f"{plugin} is a {type(feature).__name__}, expected a Feature")
        if feature.name != plugin.name:
            raise UsageError(f"{plugin} names a feature '{feature.name}': call both the same")
        if taken := Parts.of([feature]).names() & BUILT_IN.names():
            raise UsageError(f"{plugin}: there is a '{min(taken)}' already, choose another name")
        return feature.name, feature

    return load_plugins(HOME, take)


@cache
def added() -> Parts:
    """The parts of the features of other packages."""
    return Parts.of(plugged().items.values())


def commands_added() -> dict[str, str]:
    """The commands of other packages, with what their metadata say; none is imported."""
    return {p.name: p.summary or p.package for p in plugins(HOME) if p.name not in COMMANDS}


def feature_named(name: str) -> Feature | None:
    """The feature behind a command, if there is one; what is wrong with a broken one raises."""
    if name in COMMANDS or name not in commands_added():
        return COMMANDS.get(name)
    if name not in plugged().items:
        raise UsageError(next(f for p, f in plugged().faults.items() if p.name == name))
    feature: Feature = plugged().items[name]
    return feature


@cache
def part(path: str) -> Any:
    """Import the object at `module:name`."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def result_parts(kind: str) -> tuple[str, str] | None:
    """The struct and the view of a kind of result; None where there is no such kind."""
    return RESULTS.get(kind) or added().results.get(kind)


def view_of(result: Any) -> Any:
    """The view of a result, by its kind."""
    parts = result_parts(result.kind)
    assert parts is not None
    return part(parts[1])(result)


class Method:
    """A descriptor that imports a feature's function on first access and is replaced by it."""

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name

    def __get__(self, instance: object, owner: type) -> Any:
        function = part(self.path)
        setattr(owner, self.name, function)
        return function.__get__(instance, owner)


def with_feature_methods(kind: C) -> C:
    """Class decorator: attach the methods that features declare for the class.

    Those of other packages are looked up when something is asked for that the class lacks.
    """
    for name, path in METHODS.items():
        owner, _, method = name.partition(".")
        if owner == kind.__name__:
            setattr(kind, method, Method(path, method))

    def lacking(self: Any, name: str) -> Any:
        path = None if name.startswith("_") else added().methods.get(f"{kind.__name__}.{name}")
        if path is None:
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
        return part(path).__get__(self, kind)

    vars_of: Any = kind
    vars_of.__getattr__ = lacking
    return kind


READERS = {
    "Evaluation": ("abstain.runs:read", "abstain.runs.evaluation:Evaluation"),
    "Rankings": ("abstain.rankings.read:read_rankings", "abstain.rankings.rankings:Rankings"),
}
"""The function that reads the object whose method a shortcut calls, and the object's class."""


@cache
def shortcut(name: str) -> Callable[..., Any]:
    """A function that reads and calls a method: `score(gold, runs)` is `read(gold, runs).score()`.

    It takes the arguments of both. For several analyses of the same runs, call `read` once: what
    it returns may stand in place of what to read.
    """
    parts = BUILT_IN if name in SHORTCUTS else added()
    path = parts.shortcuts[name]
    method, owner = part(parts.methods[path]), path.partition(".")[0]
    read, kind = map(part, READERS[owner])
    asked, reading = signature(method), signature(read).parameters
    inputs = [one for one in reading.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    options = [one for one in reading.values() if one.kind is Parameter.KEYWORD_ONLY]
    whole = asked.replace(parameters=[*inputs, *list(asked.parameters.values())[1:], *options])

    @wraps(method)
    def call(*args: Any, **named: Any) -> Any:
        if args and isinstance(args[0], kind):
            return method(*args, **named)
        for key in named:
            if key not in whole.parameters:
                raise UnknownNameError("argument", key, whole.parameters)
        arguments = whole.bind(*args, **named).arguments
        to_read = {key: arguments.pop(key) for key in reading if key in arguments}
        return method(read(**to_read), **arguments)

    vars(call)["__signature__"] = whole
    call.__module__, call.__name__, call.__qualname__ = "abstain", name, name
    return call
