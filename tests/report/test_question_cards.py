"""Questions on a page: which are shown, with their text, their options and what was chosen."""

from __future__ import annotations

from pathlib import Path

from abstain.features.campaign.overview import Overview
from abstain.features.campaign.page import question_decks
from tests.campaign.asked import overview
from tests.snapshots import says

GOLD = """question,correct,options,text,option_texts,topic
q1,1,1|2,"Who, <b>when</b>?","[""Ann"", ""Bob & Co""]",x
q2,2,1|2,Why?,"[""Rain"", ""Sun""]",x
q3,,1|2,Whither?,"[""Up"", ""Down""]",y
"""
ANSWERS = {
    "a": {"q1": "1", "q2": "1", "q3": "none"},
    "b": {"q1": "1", "q2": "1", "q3": ""},
    "c": {"q1": "2", "q2": "7", "q3": ""},
}


def campaign(folder: Path) -> Overview:
    (folder / "gold.csv").write_text(GOLD)
    lines = [f"{run},{q},{a}" for run, own in ANSWERS.items() for q, a in own.items()]
    (folder / "runs.csv").write_text("\n".join(["run,question,answer", *lines]))
    return overview(folder / "gold.csv", folder / "runs.csv")


def test_the_hardest_the_easiest_and_the_most_blanked_come_first(tmp_path: Path) -> None:
    decks = question_decks(campaign(tmp_path))
    assert [deck.title for deck in decks] == ["Hardest", "Easiest", "Most often left blank"]
    assert [card.heading for card in decks[0].cards] == ["q2", "q3", "q1"]
    assert [card.heading for card in decks[1].cards] == ["q1", "q3", "q2"]
    assert [card.heading for card in decks[2].cards] == ["q3"]  # the others have no blank


def test_a_card_has_text_options_and_counts(tmp_path: Path) -> None:
    hardest, easiest, blanked = question_decks(campaign(tmp_path))
    (card, *_) = easiest.cards
    assert card.text == "Who, <b>when</b>?"
    assert card.about == "topic x"
    assert [(c.label, c.text, c.count, c.right) for c in card.choices] == [
        ("1", "Ann", 2, True),
        ("2", "Bob & Co", 1, False),
    ]
    says(card.outcomes, "2", "1", "0", "3")
    (card, *_) = hardest.cards
    assert [(c.label, c.text, c.count, c.right) for c in card.choices] == [
        ("1", "Rain", 2, False),
        ("2", "Sun", 0, True),
        ("7", "", 1, False),  # no option, but an answer that was given
    ]
    (card,) = blanked.cards
    assert [(c.label, c.count, c.right) for c in card.choices] == [
        ("1", 0, False),
        ("2", 0, False),
        ("none", 1, True),
    ]


def test_a_text_with_markup_stays_text(tmp_path: Path) -> None:
    page = campaign(tmp_path).result.page()
    assert "Who, &lt;b&gt;when&lt;/b&gt;?" in page
    assert "Bob &amp; Co" in page
