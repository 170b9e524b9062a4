"""The rules on texts labelled by hand, in five languages: refusals, answers, hedged answers."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

from abstain.errors import UnknownNameError, UsageError
from abstain.reading import LANGUAGES, languages_of
from abstain.runs.refusals import Rule, language, refuses, rule_of
from tests.helpers import ROOT
from tests.refusals.errors import SETS, errors, labelled, summary

DECLINES = {
    "en": [
        "I don't know.", "I do not know the answer to that.", "I’m sorry, but I don’t know.",
        "I really don't know", "I have no idea.", "No idea!", "I'm not sure.",
        "I am not certain about this one.", "I'm unable to provide that information.",
        "Sorry, I can't help with that.", "I cannot answer this question.",
        "Unfortunately, I don't have enough information to answer.",
        "As an AI language model, I cannot verify that.",
        "The answer cannot be determined from the passage.", "The text does not say.",
        "There is not enough information.", "I'd rather not answer.", "I must decline.",
        "Unknown", "N/A", "idk", '"I don\'t know"', "**I don't know.**",
        "I apologize, but I do not have access to that data.",
    ],
    "de": [
        "Das weiß ich nicht.", "Ich weiß es leider nicht.", "Keine Ahnung.",
        "Ich habe keine Ahnung.",
        "Da bin ich mir nicht sicher.", "Tut mir leid, ich kann diese Frage nicht beantworten.",
        "Diese Frage kann ich leider nicht beantworten.", "Das kann ich nicht sagen.",
        "Dazu habe ich keine Informationen.", "Dazu liegen mir keine Angaben vor.",
        "Die Frage lässt sich nicht beantworten.", "Unbekannt.", "Leider weiß ich das nicht.",
    ],
    "es": [
        "No lo sé.", "No sé.", "Lo siento, pero no lo sé.", "No tengo ni idea.", "No estoy seguro.",
        "No puedo responder a esa pregunta.", "No tengo suficiente información.",
        "El texto no lo dice.", "Desconocido.", "Lamentablemente, no dispongo de esa información.",
    ],
    "fr": [
        "Je ne sais pas.", "Désolé, mais je ne sais pas.", "Je sais pas", "Aucune idée.",
        "Je n'en ai aucune idée.", "Je ne suis pas sûre.",
        "Je ne peux pas répondre à cette question.",
        "Je n’ai pas assez d’informations.", "Le texte ne le dit pas.", "Inconnu.",
        "Malheureusement, je ne dispose pas de données.",
    ],
    "it": [
        "Non lo so.", "Mi dispiace, ma non lo so.", "Non ne ho idea.", "Non sono sicuro.",
        "Non posso rispondere a questa domanda.", "Purtroppo non ho abbastanza informazioni.",
        "Il testo non lo dice.", "Sconosciuto", "Boh.",
    ],
}  # fmt: skip
ANSWERS = {
    "en": [
        "Lima", "The answer is Lima.", "I don't know for sure, but I think it is Lima.",
        "I'm not sure, probably Lima.", "I'm not certain; my best guess is 1912.",
        "The song is called \"I don't know\".", "It is not known as Lima but as Cusco.",
        "He said that he did not know.", "No.", "None of the above", "Pass of Thermopylae",
        "Unknown Pleasures", "I know that it was 1912.", "Sorry is a song by Justin Bieber.",
        "I cannot answer with certainty, however the treaty was signed in 1848.",
        "42", "", "Not Sure is the hero of Idiocracy.", "I can help: it is Lima.",
    ],
    "de": [
        "Lima", "Ich weiß es: Lima.", "Ich bin mir nicht sicher, aber ich glaube, es ist Lima.",
        "Er wusste es nicht.", "Nein.", "Vermutlich Lima.", "Der Unbekannte Soldat",
    ],
    "es": [
        "Lima", "No.", "No lo sé con certeza, pero creo que es Lima.", "Se llama «No sé».",
        "Seguro que es Lima.", "El Desconocido",
    ],
    "fr": [
        "Lima", "Non.",
        "Je ne suis pas sûr, mais je pense que c'est Lima.", "Je sais que c'est Lima.",
        "L'Inconnu du Nord-Express", "Il ne savait pas.",
    ],
    "it": [
        "Lima", "No.", "Non sono sicuro, ma credo che sia Lima.", "So che è Lima.",
        "Lo Sconosciuto del lago", "Non è Lima, è Cusco.",
    ],
}  # fmt: skip
KNOWN_ERRORS: set[str] = set()
"""What the rules get wrong, and are known to."""

RULES = [rule for code in LANGUAGES for rule in language(code).rules]


@cache
def found_in(language: str) -> dict[str, str | None]:
    """The rule that each of all these texts meets in a language, looked for at once."""
    texts = [text for some in (*DECLINES.values(), *ANSWERS.values()) for text in some]
    texts += [text for rule in RULES for text in (rule.example, rule.counter)]
    frame = pl.DataFrame({"text": texts})
    rules = frame.select(rule_of("text", languages_of(language)))
    return dict(zip(texts, rules.to_series().to_list(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "text"), [(code, text) for code, texts in DECLINES.items() for text in texts]
)
def test_refusals_are_found(language: str, text: str) -> None:
    found = found_in(language)[text]
    assert found is not None
    assert found.startswith(f"{language}/")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "text"), [(code, text) for code, texts in ANSWERS.items() for text in texts]
)
def test_answers_are_left_alone(language: str, text: str) -> None:
    assert (found_in(language)[text] is not None) == (text in KNOWN_ERRORS)


@pytest.mark.slow
def test_no_language_mistakes_the_answers_of_another() -> None:
    texts = pl.DataFrame({"text": [text for some in ANSWERS.values() for text in some]})
    wrong = texts.filter(rule_of("text", languages_of("all")).is_not_null())
    assert sorted(wrong["text"]) == sorted(KNOWN_ERRORS)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_its_own_example(rule: Rule) -> None:
    assert found_in(rule.name.partition("/")[0])[rule.example] == rule.name


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_text_that_only_looks_like_it(rule: Rule) -> None:
    assert found_in("all")[rule.counter] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "<think>Is it Lima? It is Lima.</think>I don't know.",
        "<thinking>\nThe answer is 4.\n</thinking>\n\nI don't know.",
        "It is Lima, I think.</think> I don't know.",  # the prompt had opened it
        "<think>" + "It is Lima. " * 1_000 + "</think>I don't know.",
        "**I don't know.**", "*I don't know*", "__I don't know__", "# I don't know",
        "> I don't know",
        "`I don't know`", "- I don't know", "\\boxed{I don't know}", "“I don’t know.”",
        "Answer: I don't know", "**Answer:** I don't know", "**Final answer**: *I don't know*.",
        "A: I don't know", "The answer is: I don't know",
    ],
)  # fmt: skip
def test_thoughts_marks_and_labels_are_not_what_was_said(text: str) -> None:
    assert refuses(text, "en") == "en/do-not-know"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["<think>I don't know.</think> Lima", "<think>I don't know.", "Answer: Lima", "**Lima**",
     "<think>I don't know.</think>"],
)  # fmt: skip
def test_a_thought_declines_nothing(text: str) -> None:
    assert refuses(text, "all") is None


KNOWN_MISSES: dict[str, set[str]] = {
    "seen": set(),
    "fresh": set(),
    "second": {
        "This isn't something I have any details on.",
        "The documents you gave me never mention a second witness, so I can't answer.",
        "I wasn't able to find anything about a treaty of that name.",
        "My records only go up to 2021, and this happened later.",
        "Which Springfield are you asking about? There are dozens of them.",
        "Without the figure I am not in a position to answer.",
        "I do not feel qualified to give medical advice on this.",
        "The passage leaves open who fired first.",
        "No me es posible verificarlo.",
    },
    "held-out": {
        "I'm afraid that's not in my notes.",
        "Honestly? No idea.",
        "Not something I'm able to comment on.",
        "The excerpt ends before the verdict is announced.",
        "I would rather say nothing than mislead you.",
        "You would have to ask a lawyer; I can't advise on this.",
        "I have not been given the table you refer to.",
        "As a language model I don't have personal experiences.",
        "Darauf habe ich keine Antwort.",
        "Das lässt sich anhand des Textes nicht sagen.",
        "Dazu kann ich leider keine Auskunft geben.",
        "Désolé, je ne dispose pas de cette information.",
        "Mi dispiace, non ho questa informazione.",
        "La domanda è troppo vaga.",
    },
    "sources": set(),
    "sources-held-out": set(),
}
KNOWN_HITS: dict[str, set[str]] = {
    "seen": {
        "I have no idea where the myth comes from, since the wall is not visible from space.",
    },
    "fresh": set(),
    "second": {
        "Could you clarify is how most reviewers begin; the polite form is called a hedge.",
    },
    "held-out": {
        "Im Text steht nicht viel, aber er nennt das Jahr 1871.",
    },
    "sources": {
        "No information was leaked by the minister.",
    },
    "sources-held-out": {
        "The passage does not mention Rome by name but calls it the Eternal City.",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_the_labelled_texts_err_where_they_are_known_to(name: str) -> None:
    missed, hit = errors(name)
    assert set(missed) == KNOWN_MISSES[name]
    assert set(hit) == KNOWN_HITS[name]


@pytest.mark.slow
def test_the_labelled_texts_are_enough_and_about_half_refusals() -> None:
    for name in SETS:
        texts = labelled(name)
        share = sum(own.declines for own in texts) / len(texts)
        assert 0.45 <= share <= 0.6
    assert sum(len(labelled(name)) for name in SETS) >= 60


@pytest.mark.slow
def test_the_manual_says_how_the_rules_err() -> None:
    manual = " ".join(
        (ROOT / "docs" / "background" / "logs.md").read_text(encoding="utf-8").split()
    )
    for name in SETS:
        assert summary(name) in manual


@pytest.mark.slow
def test_a_long_text_is_read_only_at_its_beginning() -> None:
    assert refuses("I don't know. " + "x " * 100_000, "en") == "en/do-not-know"
    assert refuses("x " * 2_000 + "I don't know.", "en") is None


def test_languages() -> None:
    assert languages_of("all") == tuple(LANGUAGES)
    assert languages_of("de+en,de") == ("de", "en")
    with pytest.raises(UnknownNameError, match="no supported language 'xx'"):
        languages_of("en,xx")
    with pytest.raises(UsageError, match="name languages"):
        languages_of(",")
