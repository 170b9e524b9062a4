"""A user's script that asks for everything: mypy, strict, knows the type of each answer."""

from __future__ import annotations

from typing import assert_type

import polars as pl

import abstain as ab


def ask_everything(gold: pl.DataFrame, runs: pl.DataFrame, qrels: str, lists: str) -> None:
    read = ab.read(gold, runs, match="text", policy={"missing": "wrong"})
    assert_type(read, ab.Evaluation)
    assert_type(read.score(["c@1"], by="topic", interval=True), ab.ScoreResult)
    assert_type(read.compare("c@1", against="bold"), ab.CompareResult)
    assert_type(read.curve(), ab.CurveResult)
    assert_type(ab.histogram(read), ab.HistogramResult)
    assert_type(read.tune(risk=0.2), ab.TuneResult)
    assert_type(read.several(), ab.SeveralResult)
    assert_type(read.meta(), ab.MetaResult)
    assert_type(read.campaign(), ab.CampaignResult)
    assert_type(read.validate(), ab.ValidateResult)
    assert_type(read.outcomes(), pl.DataFrame)
    assert_type(read.with_policy({"empty": "wrong"}).only(runs=["a"]), ab.Evaluation)
    rankings = ab.read_rankings(qrels, lists, limit=100)
    assert_type(rankings, ab.Rankings)
    assert_type(rankings.only(runs="a", queries=["q1"]), ab.Rankings)
    assert_type(rankings.score(["AP'"]), ab.RankResult)
    assert_type(rankings.truncation(), ab.TruncationResult)
    scores = rankings.scores("AP'")
    assert_type(scores, ab.ScoreMatrix)
    assert_type(scores.compare(), ab.CompareResult)
    assert_type(scores.meta(), ab.MetaResult)
    assert_type(ab.score(gold, runs, "c@1", columns={"question": "id"}), ab.ScoreResult)
    assert_type(ab.compare(gold, runs), ab.CompareResult)
    assert_type(ab.curve(gold, runs), ab.CurveResult)
    assert_type(ab.tune(gold, runs), ab.TuneResult)
    assert_type(ab.meta(gold, runs), ab.MetaResult)
    assert_type(ab.campaign(gold, runs), ab.CampaignResult)
    assert_type(ab.validate(gold, runs), ab.ValidateResult)
    assert_type(ab.rank(qrels, lists), ab.RankResult)
    assert_type(ab.audit(["table.csv"]), ab.AuditResult)
    assert_type(ab.refusals(["run.csv"]), ab.RefusalsResult)
    assert_type(ab.baseline(gold, "random"), pl.DataFrame)
    assert_type(ab.demo(), ab.CampaignResult)
    assert_type(ab.explain("c@1").splitlines(), list[str])
    assert_type(ab.load("result.json"), ab.Result)
    assert_type(ab.load("result.json").to_frame(), pl.DataFrame)
    assert_type(ab.measure("c@1")(ab.Counts(right=1)), float)
