"""Declarations of the features by import paths: a module is imported when it is first used.

A feature is a folder in `features/`. Deleting the folder and its declaration here removes its
command, its methods, its functions, its kinds of results and its page in the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, TypeVar

from msgspec import Struct

from abstain.errors import UnknownNameError

C = TypeVar("C", bound=type)


class Feature(Struct, frozen=True, kw_only=True):
    """The parts of a feature, each as `module:name` relative to its folder."""

    name: str
    """Its folder, and its command."""
    help: str
    """What its command does, in one line."""
    guide: str
    """The page of the manual that shows it at work."""
    command: str
    methods: dict[str, str] = {}
    """Methods to attach to classes: `Evaluation.score` to the function that implements it."""
    asked_by_function: dict[str, str] = {}
    """As `methods`, but with a shortcut alone, so that the class keeps few names."""
    shortcuts: dict[str, str] = {}
    """Public functions that read and call a method in one line: name to method."""
    functions: dict[str, str] = {}
    """Further public functions."""
    results: dict[str, tuple[str, str]] = {}
    """The tag of each kind of result to its struct and its view."""


FEATURES = (
    Feature(
        name="score",
        help="Score runs against a gold.",
        guide="scoring.md",
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
        guide="decisions.md",
        command="command:decisions",
        methods={"Evaluation.decisions": "analysis:decisions"},
        shortcuts={"decisions": "Evaluation.decisions"},
        results={"decisions": ("result:DecisionsResult", "view:View")},
    ),
    Feature(
        name="validate",
        help="Check runs before they are scored.",
        guide="campaign.md",
        command="command:validate",
        methods={"Evaluation.validate": "analysis:validate"},
        functions={"validate": "analysis:validate_files"},
        results={"validate": ("result:ValidateResult", "result:View")},
    ),
    Feature(
        name="baseline",
        help="Write a reference run: random, first, blank…",
        guide="campaign.md",
        command="command:baseline",
        functions={"baseline": "analysis:baseline"},
    ),
    Feature(
        name="campaign",
        help="Write every table of an overview paper.",
        guide="campaign.md",
        command="command:campaign",
        methods={"Evaluation.campaign": "analysis:campaign"},
        functions={"campaign": "analysis:campaign_of_files"},
        results={"campaign": ("result:CampaignResult", "view:View")},
    ),
    Feature(
        name="rank",
        help="Score rankings that may stop early.",
        guide="rank.md",
        command="command:rank",
        methods={"Rankings.score": "analysis:rank", "Rankings.truncation": "truncation:truncation"},
        shortcuts={"rank": "Rankings.score"},
        results={
            "rank": ("analysis:RankResult", "view:View"),
            "truncation": ("truncation:TruncationResult", "truncation_view:View"),
        },
    ),
    Feature(
        name="trec_eval",
        help="Answer as trec_eval does, byte for byte.",
        guide="coming-from/trec_eval.md",
        command="command:trec_eval",
        functions={"trec_eval": "analysis:trec_eval"},
    ),
    Feature(
        name="cut",
        help="Choose where a ranking stops.",
        guide="cut.md",
        command="command:cut",
        methods={"Rankings.cut": "analysis:cut"},
        shortcuts={"cut": "Rankings.cut"},
        results={"cut": ("result:CutResult", "view:View")},
    ),
    Feature(
        name="curve",
        help="Show how runs score at every threshold of their confidence.",
        guide="confidence.md",
        command="command:curve",
        methods={"Evaluation.curve": "analysis:curve"},
        asked_by_function={"Evaluation.histogram": "analysis:histogram"},
        shortcuts={"curve": "Evaluation.curve", "histogram": "Evaluation.histogram"},
        results={
            "curve": ("result:CurveResult", "view:View"),
            "histogram": ("result:HistogramResult", "view:HistogramView"),
        },
    ),
    Feature(
        name="tune",
        help="Choose the threshold to abstain at.",
        guide="confidence.md",
        command="command:tune",
        methods={"Evaluation.tune": "analysis:tune"},
        functions={"tune": "analysis:tune_files"},
        results={"tune": ("result:TuneResult", "result:View")},
    ),
    Feature(
        name="targets",
        help="Show whether a model heeds what an error costs.",
        guide="targets.md",
        command="command:targets",
        functions={"targets": "analysis:targets"},
        results={"targets": ("result:TargetsResult", "result:View")},
    ),
    Feature(
        name="cascade",
        help="Ask a small model first, a larger one where it is not sure.",
        guide="cascade.md",
        command="command:cascade",
        functions={"cascade": "analysis:cascade"},
        results={"cascade": ("result:CascadeResult", "result:View")},
    ),
    Feature(
        name="compare",
        help="Test whether runs differ.",
        guide="compare.md",
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
        guide="meta.md",
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
        guide="report.md",
        command="command:report",
    ),
    Feature(
        name="audit",
        help="Check the arithmetic of a published table.",
        guide="audit.md",
        command="command:audit",
        functions={"audit": "analysis:audit"},
        results={"audit": ("result:AuditResult", "result:View")},
    ),
    Feature(
        name="convert",
        help="Convert a table to another format.",
        guide="formats.md",
        command="command:convert",
        functions={"convert": "analysis:convert"},
    ),
    Feature(
        name="refusals",
        help="Find responses whose text declines to answer.",
        guide="logs.md",
        command="command:refusals",
        functions={"refusals": "analysis:refusals"},
        results={"refusals": ("analysis:RefusalsResult", "analysis:View")},
    ),
    Feature(
        name="measures",
        help="List the measures.",
        guide="reference/measures.md",
        command="command:measures",
    ),
    Feature(
        name="explain",
        help="Explain one measure.",
        guide="reference/measures.md",
        command="command:explain",
        functions={"explain": "card:explain"},
    ),
    Feature(
        name="demo",
        help="Run the bundled example.",
        guide="demo.md",
        command="command:demo",
        functions={"demo": "analysis:demo"},
    ),
    Feature(
        name="editions",
        help="Compare this year's campaign with earlier ones.",
        guide="campaign.md",
        command="command:editions",
        functions={"editions": "analysis:editions"},
        results={"editions": ("result:EditionsResult", "result:View")},
    ),
)
"""In the order of `abstain --help`."""

HOME = "abstain.features"
COMMANDS = {f.name: f for f in FEATURES}
METHODS = {n: f"{HOME}.{f.name}.{path}" for f in FEATURES for n, path in f.methods.items()}
ASKED = METHODS | {
    n: f"{HOME}.{f.name}.{path}" for f in FEATURES for n, path in f.asked_by_function.items()
}
SHORTCUTS = {name: method for f in FEATURES for name, method in f.shortcuts.items()}
FUNCTIONS = {n: f"{HOME}.{f.name}.{path}" for f in FEATURES for n, path in f.functions.items()}
RESULTS = {
    kind: (f"{HOME}.{f.name}.{struct}", f"{HOME}.{f.name}.{view}")
    for f in FEATURES
    for kind, (struct, view) in f.results.items()
}


@cache
def part(path: str) -> Any:
    """Import the object at `module:name`."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def view_of(result: Any) -> Any:
    """The view of a result, by its kind."""
    return part(RESULTS[result.kind][1])(result)


class Method:
    """A descriptor that imports a feature's function on first access and is replaced by it."""

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name

    def __get__(self, instance: object, owner: type) -> Any:
        function = part(self.path)
        setattr(owner, self.name, function)
        return function.__get__(instance, owner)


def with_feature_methods(kind: C) -> C:
    """Class decorator: attach the methods that features declare for the class."""
    for name, path in METHODS.items():
        owner, _, method = name.partition(".")
        if owner == kind.__name__:
            setattr(kind, method, Method(path, method))
    return kind


CLASSES = {
    "Evaluation": "abstain.runs.evaluation:Evaluation",
    "Rankings": "abstain.rankings.rankings:Rankings",
}
READERS = {"Evaluation": "abstain.runs:read", "Rankings": "abstain.rankings.read:read_rankings"}
"""The function that reads the object whose method a shortcut calls, by its class."""


@cache
def shortcut(name: str) -> Callable[..., Any]:
    """A function that reads and calls a method: `score(gold, runs)` is `read(gold, runs).score()`.

    It takes the arguments of both. For several analyses of the same runs, call `read` once: what
    it returns may stand in place of what to read.
    """
    method, owner = part(ASKED[SHORTCUTS[name]]), SHORTCUTS[name].partition(".")[0]
    read = part(READERS[owner])
    asked, reading = signature(method), signature(read).parameters
    inputs = [one for one in reading.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    options = [one for one in reading.values() if one.kind is Parameter.KEYWORD_ONLY]
    whole = asked.replace(parameters=[*inputs, *list(asked.parameters.values())[1:], *options])

    @wraps(method)
    def call(*args: Any, **named: Any) -> Any:
        if args and isinstance(args[0], part(CLASSES[owner])):
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
