"""A saved result as a page: which kind of page each kind of result gets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from abstain.report.pieces import Page, render
from abstain.report.results.reading import read_result
from abstain.report.results.saved import (
    CampaignResults,
    Compare,
    Curve,
    Meta,
    Result,
)


def report(path: str | Path, *, title: str = "") -> str:
    """The page of a saved result as HTML."""
    from abstain.analyses.result import KINDS, kind_of, load

    if kind_of(path) in KINDS:
        return load(path).page(title=title)
    page = page_of(read_result(path))
    return render(replace(page, title=title) if title else page)


def page_of(result: Result) -> Page:
    """The page of a result."""
    match result:
        case Compare():
            from abstain.report.results.compare import compare_page

            return compare_page(result)
        case Curve():
            from abstain.report.results.curve import curve_page

            return curve_page(result)
        case Meta():
            from abstain.report.results.meta import meta_page

            return meta_page(result)
        case CampaignResults():
            from abstain.report.results.campaign import campaign_results_page

            return campaign_results_page(result)
