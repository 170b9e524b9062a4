"""`demo`: the bundled campaign, and the tables and figures of a paper on rankings that stop."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args, overload

from abstain.errors import check_name
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
        from abstain.features.demo.rankings import synthetic

        return synthetic().truncation()
    with as_file(files("abstain") / "examples" / "qa4mre2013") as folder:
        runs = read(folder / "gold.csv", folder / "runs.csv.gz")
        return runs.campaign(runs_info=folder / "runs_info.csv", title=TITLE, about=ABOUT)
