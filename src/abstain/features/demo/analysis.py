"""`demo`: the bundled campaign, and the tables and figures of a paper on rankings that stop.

The paper is "Quit While Ahead" (Liu, Moffat, Baldwin and Zhang, SIGIR 2016). Table 1 is computed
from its rankings. The runs of TREC 2001 are not public, so Table 3 and the figures come from a
synthetic collection of their shape: 47 runs, 492 questions of which 49 have no answer, at most 5
answers each.
"""

from __future__ import annotations

import csv
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args, overload

import numpy as np
import polars as pl
from msgspec.structs import replace

from abstain.errors import check_name
from abstain.io.output import whole_folder
from abstain.measures import measure
from abstain.rankings.rankings import Rankings
from abstain.rankings.read import read_rankings
from abstain.registry import view_of
from abstain.report.charts import write_charts
from abstain.report.grid import Cell, Column, Grid
from abstain.runs import read

if TYPE_CHECKING:
    from abstain.features.campaign.result import CampaignResult
    from abstain.features.rank.truncation import TruncationResult

Demo: TypeAlias = Literal["campaign", "rankings"]
TITLE = "QA4MRE 2013, rebuilt from its published tables"
ABOUT = (
    "The responses shown here are not the original ones, which are not public: they are "
    "reconstructed from the figures of the overview paper (Sutcliffe et al. 2013), so that they "
    "reproduce its tables. The texts of the questions are not available. The manual's page on the "
    "bundled campaign lists the printed figures that no set of responses can give."
)


@overload
def demo(what: Literal["campaign"] = "campaign") -> CampaignResult: ...
@overload
def demo(what: Literal["rankings"]) -> TruncationResult: ...
def demo(what: Demo = "campaign") -> CampaignResult | TruncationResult:
    """Run the bundled campaign, a reconstruction of QA4MRE 2013: 54 runs, 284 questions.

    "rankings" is the report on truncation of "Quit While Ahead", of synthetic runs.

    >>> demo()
    <CampaignResult: 54 runs, 284 questions, c@1>
    """
    check_name("example", what, get_args(Demo))
    if what == "rankings":
        return synthetic().truncation()
    with as_file(files("abstain") / "examples" / "qa4mre2013") as folder:
        runs = read(folder / "gold.csv", folder / "runs.csv.gz")
        return runs.campaign(runs_info=folder / "runs_info.csv", title=TITLE, about=ABOUT)


RUNS, QUESTIONS, NIL_QUESTIONS, LIMIT, NIL, SEED = 47, 492, 49, 5, "NIL", 2001
PRINTED = {"RR": "RR'", "RBP_p0.5": "RBP'(p=0.5)", "NDCG": "NDCG'", "AP": "AP'"}
"""The measure of each column of the published table."""
SYNTHETIC = (
    f"Synthetic: {RUNS} runs of {QUESTIONS} questions, drawn with the seed {SEED} in the shape of "
    "TREC 2001's question answering. The runs are not those of TREC, so neither is τ."
)


def table1() -> Grid:
    """The scores of the paper's ten rankings, computed, and how many are those printed."""
    text = (files("abstain") / "examples" / "quit_while_ahead" / "table1.csv").read_text("utf-8")
    rows: list[list[Cell]] = []
    right = dict.fromkeys(("rt", *PRINTED), 0)
    for printed in csv.DictReader(text.splitlines()):
        gains, there = [int(gain) for gain in printed["ranking"]], int(printed["R"])
        terminal = sum(gains) / there if there else 1.0
        scores = {"rt": terminal}
        scores |= {name: measure(ours)(gains, pool=there) for name, ours in PRINTED.items()}
        for name, value in scores.items():
            right[name] += f"{value:.3f}" == f"{float(printed[name]):.3f}"
        rows.append([printed["ranking"], there, *scores.values()])
    columns = [Column("ranking"), Column("R", "count"), Column("r_t", "score")]
    columns += [Column(ours, "score") for ours in PRINTED.values()]
    terminals, scores_right = right.pop("rt"), sum(right.values())
    note = (
        f"{scores_right} of {len(rows) * len(PRINTED)} scores and {terminals} of {len(rows)} r_t "
        "are those printed, to three decimals."
    )
    return Grid(columns, rows, title="Table 1: rankings that stop", notes=[note])


def table2() -> Grid:
    """What becomes of lists with and without a NIL, read as any run is."""
    texts = ("a b c d e", "a b", "a NIL", "a NIL c d e", "NIL", "a b c d NIL", "")
    lists = [text.split() for text in texts]
    names = [f"q{at}" for at in range(len(lists))]
    runs = {
        q: {d: -float(i) for i, d in enumerate(each)} for q, each in zip(names, lists, strict=True)
    }
    read = read_rankings({q: {"a": 1} for q in names}, {"run": runs}, nil=NIL, limit=LIMIT).lists
    rows: list[list[Cell]] = []
    for each, depth, stopped in zip(lists, read.depth.tolist(), read.stopped.tolist(), strict=True):
        kept = [*each[:depth], *(["t"] if stopped else [])]
        how = "the limit" if not stopped else NIL if NIL in each else "its system"
        rows.append([" ".join(each) or "(empty)", " ".join(kept), how])
    columns = [Column("list"), Column("as it is scored"), Column("ended by")]
    note = f"t is the terminal document, with the gain r_t; lists of at most {LIMIT}."
    return Grid(columns, rows, title="Table 2: where lists end", notes=[note])


def synthetic(seed: int = SEED) -> Rankings:
    """Runs of different skill that answer questions of different difficulty, and may say NIL."""
    rng = np.random.default_rng(seed)
    there = np.minimum(rng.geometric(0.15, QUESTIONS), 40)
    there[rng.choice(QUESTIONS, NIL_QUESTIONS, replace=False)] = 0
    skill = np.sort(rng.beta(1.6, 2.4, RUNS))[::-1]
    ease = rng.beta(1.2, 1.2, QUESTIONS) * (there > 0)
    at = (RUNS, QUESTIONS, LIMIT)
    chance = (skill[:, None] * ease)[..., None] * 0.8 ** np.arange(LIMIT)
    hits = rng.random(at) < chance
    number = hits.cumsum(axis=-1)
    hits &= number <= there[:, None]
    # some systems always list five answers, others stop or say NIL somewhere
    never = rng.random(RUNS) < 0.3
    says_nil, stops = (
        rng.random(at[:2]) < (rng.beta(a, b, RUNS) * ~never)[:, None]
        for a, b in ((0.5, 1.2), (0.4, 3.0))
    )
    nil_at = np.where(says_nil, rng.integers(0, LIMIT, at[:2]), LIMIT)
    length = np.where(stops, rng.integers(0, LIMIT, at[:2]), LIMIT)
    rank = np.broadcast_to(np.arange(LIMIT), at)
    listed = rank < length[..., None]
    run, question, place = (axis[listed] for axis in np.indices(at))
    frame = pl.DataFrame(
        {"run": run, "query": question, "rank": place, "hit": hits[listed], "n": number[listed]}
        | {"nil": (rank == nil_at[..., None])[listed]}
    )
    answer = pl.when("hit").then(pl.format("r{}", "n")).otherwise(pl.format("x{}", "rank"))
    frame = frame.select(
        run=pl.format("s{}", pl.col("run") + 1),
        query=pl.format("q{}", "query"),
        doc=pl.when("nil").then(pl.lit(NIL)).otherwise(answer),
        score=-pl.col("rank").cast(pl.Float64),
    )
    qrels = {
        f"q{q}": {f"r{n}": 1 for n in range(1, count + 1)} | {"x0": 0}
        for q, count in enumerate(there.tolist())
    }
    return read_rankings(qrels, frame, nil=NIL, limit=LIMIT)


def tables(result: TruncationResult) -> list[Grid]:
    _, _, agreement, *_ = view_of(result).tables()
    agreement.title = f"Table 3: {agreement.title[:1].lower()}{agreement.title[1:]}"
    return [table1(), table2(), replace(agreement, notes=[SYNTHETIC])]


def write(result: TruncationResult, folder: Path) -> None:
    with whole_folder(folder) as draft:
        write_charts(result.charts(), draft / "figures")
        result.page(draft / "index.html", title=SYNTHETIC.partition(",")[0])
        result.to_json(draft / "results.json")
