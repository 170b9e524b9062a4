"""The rules: what a refusal begins with, in each language. Data, to be read and argued with.

A text is lower-cased, its apostrophes made straight and its white space single; a polite opening
("I'm sorry, but", "Unfortunately,") may come first. A rule speaks of how the text goes on, or, for
`whole`, of all of it. A text that goes on to answer anyway ("I don't know for sure, but I think it
is Lima") is an answer: a language's `hedges` are the words that say so.

Patterns are those of Rust's regex: linear in the text, without look-around.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to decline."""

    name: str
    pattern: str
    example: str
    whole: bool = False

    @property
    def language(self) -> str:
        """The language it is of."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of a language, what may come before, and what takes them back."""

    code: str
    openings: str
    hedges: str
    rules: tuple[Rule, ...]


_SURE = r"(?:really |honestly |actually |simply |just )?"

ENGLISH = Language(
    "en",
    r"(?:(?:i'?m|i am|we'?re|we are)? ?(?:very |so |really |terribly )?(?:sorry|afraid)"
    r"(?: to say)?(?: that)?[,.;:]? ?(?:but )?|i apologi[sz]e[,.;:]? ?(?:but )?|my apologies[,.;:]? ?"
    r"(?:but )?|unfortunately[,:]? |regrettably[,:]? |as an ai(?: language)?(?: model| assistant)?, "
    r"|as a(?: large)? language model, |hmm+[,.]* |well, |honestly, |answer: ?)*",
    r"\bbut (?:i |it |the |my |if |based|perhaps|maybe|one |some|there )|\bhowever\b|\bbest guess\b"
    r"|\bi(?:'d| would)? (?:guess|think|believe|suspect|assume)\b|\bprobably\b|\bmost likely\b"
    r"|\bthe answer is (?:probably |likely )?[^u.]",
    (
        Rule(
            "en/do-not-know",
            rf"(?:i|we) {_SURE}(?:do not|don'?t|didn'?t|did not) {_SURE}know\b",
            "I don't know.",
        ),
        Rule(
            "en/no-idea",
            r"(?:i|we)(?:'ve| have)?(?: got)? (?:absolutely )?no (?:idea|clue)\b|no (?:idea|clue)\b",
            "I have no idea.",
        ),
        Rule(
            "en/not-sure",
            rf"(?:i'?m|i am|we'?re|we are) {_SURE}(?:not (?:sure|certain)|unsure|uncertain)\b"
            r"|not sure\b",
            "I'm not sure.",
        ),
        Rule(
            "en/not-able",
            r"(?:i'?m|i am|we'?re|we are)(?: currently)? (?:not able|unable) to (?:answer|provide|"
            r"help|assist|determine|give|say|tell|find|verify|confirm|comply|respond|share|discuss)\b",
            "I am unable to answer that.",
        ),
        Rule(
            "en/cannot",
            r"(?:i|we) (?:can'?t|cannot|can not|could not|couldn'?t|won'?t|will not) (?:really |"
            r"reliably |definitively )?(?:answer|provide|help|assist|determine|give|say|tell|find|"
            r"verify|confirm|comply|respond|share|discuss|recall|remember)\b",
            "I cannot help with that.",
        ),
        Rule(
            "en/no-information",
            r"(?:i|we) (?:do not|don'?t) (?:currently )?have (?:any |enough |sufficient |access to |"
            r"the |specific |reliable )*(?:information|data|knowledge|details|context|access|answer)\b",
            "I don't have enough information to say.",
        ),
        Rule(
            "en/no-answer-in-text",
            r"(?:the |this )?(?:answer|question|information|text|passage|context|document)s? "
            r"(?:is not|isn'?t|does not|doesn'?t|cannot be|can'?t be|is unknown|was not)"
            r"(?: (?:answerable|answered|determined|contain|provide|provided|say|mention|given|"
            r"specified|found|stated|known)\b|[.!]?$)",
            "The answer cannot be determined from the text.",
        ),
        Rule(
            "en/there-is-not-enough",
            r"there (?:is|was)(?: not|n'?t) (?:enough|sufficient|any) (?:information|data|context|"
            r"evidence)\b|(?:not enough|insufficient) (?:information|data|context|evidence)\b",
            "There is not enough information.",
        ),
        Rule(
            "en/declines",
            r"i(?:'d| would) (?:rather|prefer) not (?:to )?(?:answer|say|guess)\b|i (?:must |have to )?"
            r"(?:decline|abstain|refuse|pass)\b|no comment\b",
            "I'd rather not answer.",
        ),
        Rule(
            "en/one-word",
            r"(?:unknown|unanswerable|not attempted|no answer|n/?a|idk|i dunno|dunno|pass|skip|"
            r"none given|not known|cannot answer|can'?t answer|no response|refused)",
            "Unknown.",
            whole=True,
        ),
    ),
)

GERMAN = Language(
    "de",
    r"(?:(?:es )?tut mir (?:sehr )?leid[,.;:]? ?(?:aber )?|(?:bitte )?entschuldigung[,.;:]? ?(?:aber )?"
    r"|entschuldige[,.;:]? ?|leider |bedauerlicherweise |als ki(?:-| )?(?:sprachmodell|modell|"
    r"assistent)? |ehrlich gesagt,? |antwort: ?)*",
    r"\baber (?:ich |es |die |der |das |vielleicht |wohl )|\bjedoch\b|\bvermutlich\b|\bwahrscheinlich\b"
    r"|\bich (?:glaube|denke|vermute|schätze|nehme an)\b",
    (
        Rule(
            "de/weiß-nicht",
            r"(?:das )?(?:ich )?wei(?:ß|ss) (?:ich )?(?:es |das |leider |wirklich |einfach )*nicht\b",
            "Das weiß ich leider nicht.",
        ),
        Rule(
            "de/keine-ahnung",
            r"(?:(?:da(?:von)? )?(?:ich )?habe? (?:ich )?(?:leider |absolut )*)?keine (?:ahnung|idee)\b",
            "Keine Ahnung.",
        ),
        Rule(
            "de/nicht-sicher",
            r"(?:da )?(?:ich )?bin (?:ich )?(?:mir )?(?:da |dabei )?(?:leider )?(?:nicht|un) ?sicher\b",
            "Da bin ich mir nicht sicher.",
        ),
        Rule(
            "de/kann-nicht",
            r"(?:ich kann|kann ich|wir können|können wir) (?:ihnen |dir |euch |das |diese |die |dazu |"
            r"darauf |dabei |hier |leider |es |frage |auf |keine |nicht )*(?:nicht |keine |frage |"
            r"antwort |auskunft |angaben? |information(?:en)? )+(?:\w+ ){0,4}?(?:beantworten|antworten|"
            r"sagen|helfen|geben|machen|bestimmen|finden|nennen|bestätigen|ermitteln)\b",
            "Ich kann diese Frage leider nicht beantworten.",
        ),
        Rule(
            "de/frage-kann-ich-nicht",
            r"(?:diese|die|ihre|deine) frage (?:kann|können) (?:ich|wir) (?:ihnen |dir |leider )*nicht "
            r"beantworten\b|das kann ich (?:ihnen |dir |leider )*nicht (?:sagen|beantworten)\b",
            "Das kann ich nicht sagen.",
        ),
        Rule(
            "de/keine-information",
            r"(?:dazu |darüber |hierzu )?(?:ich )?(?:habe?|liegen|verfüge) (?:ich |mir )?(?:dazu |"
            r"darüber |hierzu |leider |über )*(?:keine|nicht genug|nicht genügend) (?:ausreichenden |"
            r"genauen |verlässlichen )?(?:information(?:en)?|angaben|daten|kenntnis(?:se)?)\b",
            "Dazu habe ich keine Informationen.",
        ),
        Rule(
            "de/steht-nicht-im-text",
            r"(?:das |die antwort |die frage |dies )(?:steht|geht|lässt sich|ist|wird|kann) (?:\w+ ){0,4}?"
            r"nicht (?:im text|beantworte[tn]|hervor|beantwortbar|erwähnt|bestimmen|angegeben|bekannt)",
            "Die Frage lässt sich nicht beantworten.",
        ),
        Rule(
            "de/ein-wort",
            r"(?:unbekannt|nicht bekannt|keine angabe|k\. ?a\.?|keine antwort|nicht beantwortbar|"
            r"wei(?:ß|ss) nicht)",
            "Unbekannt.",
            whole=True,
        ),
    ),
)

SPANISH = Language(
    "es",
    r"(?:lo siento(?: mucho)?[,.;:]? ?(?:pero )?|perdón[,.;:]? ?(?:pero )?|disculp[ae][,.;:]? ?"
    r"(?:pero )?|lamentablemente[,:]? |desafortunadamente[,:]? |me temo que |como (?:modelo de lenguaje"
    r"|ia|inteligencia artificial), |respuesta: ?)*",
    r"\bpero (?:creo|supongo|es |la |el |podría|quizás|tal vez)|\bsin embargo\b|\bprobablemente\b"
    r"|\b(?:creo|supongo|diría) que\b",
    (
        Rule("es/no-sé", r"(?:yo )?(?:realmente )?no (?:lo )?(?:sé|se)\b", "No lo sé."),
        Rule(
            "es/no-tengo-idea",
            r"no tengo (?:ni )?(?:la menor |ninguna )?idea\b|ni idea\b",
            "No tengo ni idea.",
        ),
        Rule("es/no-seguro", r"no estoy (?:muy |del todo )?segur[oa]\b", "No estoy seguro."),
        Rule(
            "es/no-puedo",
            r"no (?:te |le |les |os )?(?:puedo|podemos|es posible|me es posible) (?:responder|contestar"
            r"|ayudar(?:te|le)?|proporcionar|determinar|dar|decir(?:te|le)?|encontrar|confirmar|saber)\b",
            "No puedo responder a esa pregunta.",
        ),
        Rule(
            "es/sin-información",
            r"no (?:tengo|tenemos|dispongo de|cuento con|hay) (?:suficiente |acceso a (?:la )?|esa |la |"
            r"ninguna |bastante )*(?:información|datos|conocimiento)\b",
            "No tengo suficiente información.",
        ),
        Rule(
            "es/el-texto-no-dice",
            r"(?:el texto|la respuesta|el pasaje|la pregunta) no (?:lo )?(?:dice|menciona|se puede|"
            r"aparece|se conoce|está|contiene|tiene respuesta)",
            "El texto no lo dice.",
        ),
        Rule(
            "es/una-palabra",
            r"(?:desconocid[oa]|sin respuesta|no se sabe|n/?a|no contesta|ns/nc)",
            "Desconocido.",
            whole=True,
        ),
    ),
)

FRENCH = Language(
    "fr",
    r"(?:(?:je suis )?désolée?[,.;:]? ?(?:mais )?|pardon[,.;:]? ?(?:mais )?|excusez-moi[,.;:]? ?(?:mais )?"
    r"|malheureusement[,:]? |je regrette[,.;:]? ?(?:mais )?|je crains que |en tant (?:que modèle de "
    r"langage|qu'ia|que modèle|qu'intelligence artificielle), |réponse ?: ?)*",
    r"\bmais (?:je |c'est |il |elle |la |le |peut-être)|\bcependant\b|\bprobablement\b|\btoutefois\b"
    r"|\bje (?:pense|crois|suppose|dirais)\b",
    (
        Rule(
            "fr/ne-sais-pas",
            r"(?:je|nous) (?:(?:ne|n') ?)?(?:le )?(?:sai[st]|savons) (?:vraiment |malheureusement )?pas\b",
            "Je ne sais pas.",
        ),
        Rule(
            "fr/aucune-idée",
            r"(?:je n'ai |nous n'avons )?aucune idée\b|je n'en ai aucune idée\b",
            "Aucune idée.",
        ),
        Rule(
            "fr/pas-sûr",
            r"je ne suis pas (?:tout à fait |vraiment )?(?:sûre?|certaine?)\b",
            "Je ne suis pas sûr.",
        ),
        Rule(
            "fr/ne-peux-pas",
            r"(?:je|nous) ne (?:peux|puis|pouvons|suis) (?:malheureusement )?pas (?:en mesure de |"
            r"capable de )?(?:vous |te |y |le |la )?(?:répondre|aider|fournir|déterminer|donner|dire|"
            r"trouver|confirmer|affirmer)\b",
            "Je ne peux pas répondre à cette question.",
        ),
        Rule(
            "fr/pas-information",
            r"(?:je|nous) (?:n'ai|n'avons|ne dispose|ne disposons|ne possède) (?:malheureusement )?pas "
            r"(?:assez |suffisamment |accès à )*(?:d'|de l'|l'|de |des |la |les )?(?:informations?|données"
            r"|connaissances?|éléments)",
            "Je n'ai pas assez d'informations.",
        ),
        Rule(
            "fr/le-texte-ne-dit-pas",
            r"(?:le texte|la réponse|le passage|la question|l'information) (?:ne |n')(?:le )?(?:dit|"
            r"mentionne|peut|figure|est|contient|précise) pas",
            "Le texte ne le dit pas.",
        ),
        Rule(
            "fr/un-mot",
            r"(?:inconnue?|sans réponse|pas de réponse|n/?a|non communiqué|je passe)",
            "Inconnu.",
            whole=True,
        ),
    ),
)

ITALIAN = Language(
    "it",
    r"(?:mi dispiace[,.;:]? ?(?:ma )?|spiacente[,.;:]? ?(?:ma )?|scusa(?:mi|te)?[,.;:]? ?(?:ma )?"
    r"|purtroppo[,:]? |sfortunatamente[,:]? |temo di |temo che |come (?:modello linguistico|ia|"
    r"intelligenza artificiale), |risposta: ?)*",
    r"\bma (?:credo|penso|è |forse|la |il |potrebbe)|\btuttavia\b|\bprobabilmente\b|\bperò (?:credo|penso"
    r"|è )|\b(?:credo|penso|direi|suppongo) che\b",
    (
        Rule("it/non-so", r"(?:io )?non (?:lo )?(?:so|sappiamo|saprei)\b", "Non lo so."),
        Rule(
            "it/nessuna-idea",
            r"non (?:ne )?ho (?:la minima |nessuna |alcuna )?idea\b|nessuna idea\b",
            "Non ne ho idea.",
        ),
        Rule(
            "it/non-sicuro",
            r"non (?:ne )?sono (?:del tutto |molto )?(?:sicur[oa]|cert[oa])\b",
            "Non sono sicuro.",
        ),
        Rule(
            "it/non-posso",
            r"non (?:vi |ti |le )?(?:posso|possiamo|sono in grado di|è possibile|riesco a) (?:rispondere|"
            r"aiutar(?:ti|la|vi|e)|fornire|determinare|dare|dir(?:lo|ti|e)|trovare|confermare)\b",
            "Non posso rispondere a questa domanda.",
        ),
        Rule(
            "it/senza-informazioni",
            r"non (?:ho|abbiamo|dispongo di|ci sono) (?:abbastanza |sufficienti |accesso a(?:lle)? |"
            r"le |nessuna )*(?:informazion[ei]|dati|conoscenze)\b",
            "Non ho abbastanza informazioni.",
        ),
        Rule(
            "it/il-testo-non-dice",
            r"(?:il testo|la risposta|il passaggio|la domanda) non (?:lo )?(?:dice|menziona|può|è|si|"
            r"contiene|ha risposta)",
            "Il testo non lo dice.",
        ),
        Rule(
            "it/una-parola",
            r"(?:sconosciut[oa]|nessuna risposta|senza risposta|n/?d|non noto|boh)",
            "Sconosciuto.",
            whole=True,
        ),
    ),
)

LANGUAGES: dict[str, Language] = {
    own.code: own for own in (ENGLISH, GERMAN, SPANISH, FRENCH, ITALIAN)
}
