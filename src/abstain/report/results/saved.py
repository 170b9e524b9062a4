"""What saved results hold, one class a kind."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

Ends: TypeAlias = tuple[float | None, float | None]
Numbers: TypeAlias = dict[str, float | None]


class Saved(msgspec.Struct, kw_only=True):
    """What every saved result may say of itself."""

    abstain: str
    command: str = ""
    notes: list[str] = []
    policy: dict[str, str] = {}
    touched: dict[str, int] = {}
    seed: int | None = None


class Row(msgspec.Struct, kw_only=True):
    """A run, perhaps in a slice."""

    run: str
    slice: dict[str, str | None] = {}
    counts: Numbers | None = None
    scores: Numbers
    undefined: dict[str, str] = {}
    intervals: dict[str, Ends] = {}
    reference: str | None = None
    break_even: Numbers = {}
    group: str = ""
    unknown: int = 0
    bounds: dict[str, Ends] = {}
    corrected: Numbers = {}
    corrected_intervals: dict[str, Ends] = {}


class PairRow(msgspec.Struct, kw_only=True):
    """Two runs and their difference."""

    run: str
    against: str
    difference: float | None
    interval: Ends
    p: float | None
    p_adjusted: float | None
    questions: int
    exact: bool = False


class Move(msgspec.Struct, kw_only=True):
    """Questions that went from one outcome to another."""

    questions: float
    worth: float | None


class SliceShare(msgspec.Struct, kw_only=True):
    """What a slice contributes to a difference."""

    slice: dict[str, str | None]
    questions: int
    difference: float | None
    contribution: float | None


class Origin(msgspec.Struct, kw_only=True):
    """Where a difference comes from."""

    transitions: dict[str, Move]
    knowing: float | None
    abstaining: float | None
    slices: list[SliceShare] = []
    contributions: dict[str, float | None] = {}


class Compare(Saved, kw_only=True):
    """Of `abstain compare`."""

    measure: str
    questions: int
    level: float
    test: str
    correction: str
    trials: int
    interval_method: str | None = None
    reference: str | None = None
    cluster: str | None = None
    verdict: list[str] = []
    results: list[Row]
    pairs: list[PairRow]
    origin: Origin | None = None


class Crossing(msgspec.Struct, kw_only=True):
    """Two runs over t."""

    first: str
    second: str
    crossings: list[float]
    sentence: str


class DecisionCurve(msgspec.Struct, kw_only=True):
    """S over t with its band."""

    S: list[float]
    low: list[float | None]
    high: list[float | None]


class Decision(msgspec.Struct, kw_only=True):
    """The decision curves."""

    way: str
    confidence: float
    t: list[float]
    curves: dict[str, DecisionCurve]
    comparisons: list[Crossing] = []


Cells: TypeAlias = dict[str, str | float | bool | None]


class Curve(Saved, kw_only=True):
    """Of `abstain curve`: one of its views, and with the summary what its charts need."""

    questions: int
    along: str
    view: str
    conventions: dict[str, str] = {}
    undefined: dict[str, dict[str, str]] = {}
    results: list[Cells] = []
    curves: dict[str, list[Cells]] = {}
    decision: Decision | None = None


class FuzzyPoint(msgspec.Struct, kw_only=True):
    """Stability at one fuzziness."""

    fuzziness: float
    error: float | None
    error_se: float | None
    ties: float | None
    ties_se: float | None


class StabilityRow(msgspec.Struct, kw_only=True):
    """A measure's stability."""

    measure: str
    comparisons: int
    undefined: int
    curve: list[FuzzyPoint]


class SwapBin(msgspec.Struct, kw_only=True):
    """Comparisons of about one difference."""

    start: float = msgspec.field(name="from")
    count: int
    swap_rate: float | None
    se: float | None


class SwapRow(msgspec.Struct, kw_only=True):
    """A measure's sensitivity."""

    measure: str
    size: int
    width: float
    required: float | None
    required_range: Ends
    within_bins: float | None
    highest: float | None
    relative: float | None
    sensitivity: float | None
    comparisons: int
    undefined: int
    ties: int
    tied_elsewhere: float | None
    bins: list[SwapBin]
    reason: str = ""


class RequiredRow(msgspec.Struct, kw_only=True):
    """The difference required with so many questions."""

    measure: str
    questions: int
    required: float | None


class PowerRow(msgspec.Struct, kw_only=True):
    """The pairs that a measure tells apart."""

    measure: str
    pairs: int
    alpha: float
    bootstrap: int | None
    tukey: int | None
    honest_difference: float | None
    undefined: int
    undefined_resamples: int
    undefined_permutations: int
    asl: list[float]
    reason: str = ""


class AgreementRow(msgspec.Struct, kw_only=True):
    """Two measures."""

    measures: tuple[str, str]
    runs: int
    tau_b: float | None
    tau_ap: float | None
    spearman: float | None
    rbo: float | None
    reason: str = ""


class Meta(Saved, kw_only=True):
    """Of `abstain meta`."""

    questions: int
    runs: list[str]
    measures: list[str]
    trials: int
    size: int
    draws: str
    resamples: int
    confidence: float
    scores: dict[str, Numbers]
    stability: list[StabilityRow] = []
    sensitivity: list[SwapRow] = []
    required_by_questions: list[RequiredRow] = []
    power: list[PowerRow] = []
    agreement: list[AgreementRow] = []
    advice: str = ""


class CampaignTable(msgspec.Struct, kw_only=True):
    """A table of an overview."""

    title: str
    reading: str
    columns: list[str]
    rows: list[list[str | float | None]]
    rows_in_all: int = 0


class CampaignResults(Saved, kw_only=True):
    """Of `abstain campaign`: its results.json."""

    title: str
    about: str
    questions: int
    runs: int
    measure: str
    pass_mark: float
    summary: list[str]
    results: list[Row]
    tables: dict[str, CampaignTable]


Result: TypeAlias = Compare | Curve | Meta | CampaignResults
KINDS: dict[str, type[Result]] = {
    "compare": Compare,
    "curve": Curve,
    "meta": Meta,
    "campaign": CampaignResults,
}
