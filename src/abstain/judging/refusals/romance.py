"""How Spanish, French and Italian decline."""

from __future__ import annotations

from abstain.judging.refusals.shapes import ENDS, Language, Rule

SPANISH = Language(
    "es",
    r"(?:lo siento(?: mucho)?[,.;:]? ?(?:pero )?|perdón[,.;:]? ?(?:pero )?"
    r"|disculp[ae][,.;:]? ?(?:pero )?|lamentablemente[,:]? |desafortunadamente[,:]? |me temo que "
    r"|como (?:modelo de lenguaje|ia|inteligencia artificial), |respuesta: ?)*",
    asides=(
        r"\b(?:no|nunca) (?:es|está|se|hay|aparece|figura|tengo|puedo|dispongo)\b[^.;!?]*",
        r"[^.;!?]*\b(?:usted|puedes|puede|consulte|consulta|por favor|ayudarte"
        r"|ayudarle)\b[^.;!?]*\??",
        r"\b(?:lo siento|perdón|disculp\w+)\b[^.;!?]*",
    ),
    hedges=r"\bprobablemente\b|\bquizás?\b|\btal vez\b|\b(?:creo|supongo|diría|imagino) que\b",
    goes_on=r"(?:[.;:,!?–—]|\bpero\b) ?(?:es|fue|era|son|eran|se llama|dice|la respuesta es)\b"
    r"|\bpero (?:creo|supongo|es |fue |la |el |podría)|\bsin embargo\b|(?:[:;–—]"
    r"| -) ?(?:[\w\'-]+ ?){1,4}[.!]?$|[.!] ?¿?(?:[\w\'-]+ ?){1,3}\?$",
    rules=(
        Rule(
            "es/no-sé",
            rf"(?:yo )?(?:realmente )?no (?:lo )?(?:sé\b|se(?:{ENDS}| (?:qué|que|quién|quien|cuándo"
            r"|cuando|dónde|donde|cómo|como|cuál|cual|cuánt|si|la respuesta|puede|sabe|conoce"
            r"|menciona|especifica|indica|dice)))",
            "No lo sé.",
            "No sé por qué preguntan; es París.",
        ),
        Rule(
            "es/no-tengo-idea",
            r"no tengo (?:ni )?(?:la menor |ninguna )?idea\b|ni idea\b",
            "No tengo ni idea.",
            "No tengo ni idea, supongo que es Lima.",
        ),
        Rule(
            "es/no-seguro",
            r"no estoy (?:muy |del todo )?segur[oa]\b",
            "No estoy seguro.",
            "No estoy seguro, pero creo que es Lima.",
        ),
        Rule(
            "es/no-puedo",
            r"no (?:te |le |les |os )?(?:puedo|podemos|es posible|me es posible) (?:responder"
            r"|contestar|ayudar(?:te|le)?|proporcionar|determinar|dar|decir(?:te|le)?|encontrar"
            r"|confirmar|saber)\b",
            "No puedo responder a esa pregunta.",
            "No puedo decir más: es Lima.",
        ),
        Rule(
            "es/sin-información",
            r"no (?:tengo|tenemos|dispongo de|cuento con|hay) (?:suficiente |acceso a (?:la )?|esa "
            r"|es[oe]s? |ese |la |ninguna |bastante )*(?:información|datos?|conocimiento)\b|(?:la"
            r"|tu|su) pregunta es (?:demasiado |muy )?(?:ambigua|vaga|amplia|imprecisa)\b",
            "No tengo suficiente información.",
            "No hay datos exactos, pero la cifra es probablemente 10.",
        ),
        Rule(
            "es/el-texto-no-dice",
            r"(?:el texto|la respuesta|el pasaje|la pregunta) no (?:lo )?(?:dice|menciona|se puede|"
            r"aparece|se conoce|está|contiene|tiene respuesta)",
            "El texto no lo dice.",
            "El texto no dice rey; dice reina.",
        ),
        Rule(
            "es/no-sabría",
            r"no (?:te |le |les )?(?:sabría|podría) (?:\w+ )?(?:decir|responder|contestar)(?:te|le"
            r"|lo)?\b|no (?:lo |me )?(?:recuerdo|acuerdo|consta)\b|no (?:encuentro|tengo) (?:la "
            r"|una |ninguna |esa )?(?:respuesta|información)\b|nunca he oído\b",
            "No sabría decirlo.",
            "No recuerdo bien, pero creo que es Lima.",
        ),
        Rule(
            "es/prefiero-no",
            r"me abstengo\b|prefiero (?:abstenerme|no (?:responder|contestar|especular|adivinar"
            r"|decir|opinar)\w*)\b|no (?:quiero|deseo) (?:responder|contestar|especular|adivinar"
            r"|opinar)\b|(?:eso |esto )?está fuera de mi\w*\b",
            "Prefiero no responder.",
            "Prefiero no adivinar, pero supongo que es Lima.",
        ),
        Rule(
            "es/imposible-decir",
            r"(?:es )?(?:imposible|difícil) (?:de )?(?:saber|decir|determinar|responder)(?:lo)?\b"
            r"|no hay (?:forma|manera) de (?:saber|determinar)\w*\b|no (?:está claro|queda claro)\b"
            r"|(?:la información (?:\w+ )?)no (?:es suficiente|basta|permite)\b",
            "Es difícil de decir.",
            "Es difícil de decir, probablemente Lima.",
        ),
        Rule(
            "es/una-palabra",
            r"(?:desconocid[oa]|sin respuesta|no se sabe|n/?a|no contesta|ns/nc)",
            "Desconocido.",
            "El Desconocido",
            whole=True,
        ),
        Rule(
            "es/desconozco",
            r"(?:lo desconozco|es imposible (?:decirlo|saberlo|determinarlo)"
            r"|desconozco (?:la respuesta|eso|ese dato)|no conozco (?:la respuesta|ese dato))\b",
            "No conozco la respuesta.",
            "No conozco a nadie que lo niegue: es Lima.",
        ),
        Rule(
            "es/nadie-sabe",
            r"nadie (?:lo )?sabe(?: con certeza)?",
            "Nadie lo sabe.",
            "Nadie sabe nada de gatos persas",
            whole=True,
        ),
    ),
)

FRENCH = Language(
    "fr",
    r"(?:(?:je suis )?désolée?[,.;:]? ?(?:mais )?|pardon[,.;:]? ?(?:mais )?"
    r"|excusez-moi[,.;:]? ?(?:mais )?|malheureusement[,:]? |je regrette[,.;:]? ?(?:mais )?"
    r"|je crains que |en tant (?:que modèle de langage|qu'ia|que modèle"
    r"|qu'intelligence artificielle), |réponse ?: ?)*",
    asides=(
        r"\b(?:ce|cela|ça|il|elle) (?:ne |n')[^.;!?]*\bpas\b[^.;!?]*",
        r"[^.;!?]*\b(?:vous|votre|veuillez|aider)\b[^.;!?]*\??",
        r"\b(?:désolée?|pardon|je regrette)\b[^.;!?]*",
    ),
    hedges=r"\bprobablement\b|\bpeut-être\b|\bje (?:pense|crois|suppose|dirais)\b",
    goes_on=r"(?:[.;:,!?–—]|\bmais\b) ?(?:c'est|c'était|il s'agit|il dit|elle dit|la réponse est"
    r"|ce sont)\b|\bmais (?:je |c'est |il |elle |la |le )|\bcependant\b|\btoutefois\b|(?:[:;–—]"
    r"| -) ?(?:[\w'-]+ ?){1,4}[.!]?$|[.!] ?(?:[\w'-]+ ?){1,3} ?\?$",
    rules=(
        Rule(
            "fr/ne-sais-pas",
            r"(?:je|nous) (?:(?:ne|n') ?)?(?:le )?(?:sai[st]|savons) (?:vraiment "
            r"|malheureusement )?pas\b",
            "Je ne sais pas.",
            "Je ne sais pas pourquoi on demande ; c'est Paris.",
            unless=r"(?:\S+ ){2,4}pas (?:nager|danser|chanter|cuisiner|conduire|lire|écrire"
            r"|jouer)\b",
        ),
        Rule(
            "fr/aucune-idée",
            rf"(?:(?:je n'ai |nous n'avons |je n'en ai )?aucune idée)(?:{ENDS}| (?:de|du|où|quand"
            rf"|qui|pourquoi)\b)",
            "Aucune idée.",
            "Aucune idée n'est plus forte que la liberté.",
        ),
        Rule(
            "fr/pas-sûr",
            r"je ne suis pas (?:tout à fait |vraiment )?(?:sûre?|certaine?)\b",
            "Je ne suis pas sûr.",
            "Je ne suis pas sûr, peut-être Lima.",
        ),
        Rule(
            "fr/ne-peux-pas",
            r"(?:je|nous) ne (?:peux|puis|pouvons|suis) (?:malheureusement )?pas (?:en mesure de "
            r"|capable de )?(?:vous |te |y |le |la )?(?:répondre|aider|fournir|déterminer|donner"
            r"|dire|trouver|confirmer|affirmer)\b",
            "Je ne peux pas répondre à cette question.",
            "Je ne peux pas dire mieux : c'est Lima.",
        ),
        Rule(
            "fr/pas-information",
            r"(?:je|nous) (?:n'ai|n'avons|ne dispose|ne disposons"
            r"|ne possède) (?:malheureusement )?pas (?:assez |suffisamment |accès à )*(?:d'|de l'"
            r"|l'|de |des |la |les )?(?:informations?|données|connaissances?|éléments)",
            "Je n'ai pas assez d'informations.",
            "Je n'ai pas de données, probablement Lima.",
        ),
        Rule(
            "fr/le-texte-ne-dit-pas",
            r"(?:le texte|la réponse|le passage|la question|l'information) (?:ne |n')(?:le )?(?:dit"
            r"|mentionne|peut|figure|est|contient|précise) pas",
            "Le texte ne le dit pas.",
            "Le texte ne dit pas roi ; il dit reine.",
        ),
        Rule(
            "fr/pas-de-réponse",
            r"(?:je|nous) (?:n'ai|n'avons|ne trouve|ne trouvons"
            r"|ne vois) (?:malheureusement )?pas (?:de |la |d'autre |cette )?(?:réponse|information"
            r"|donnée)\b|(?:je (?:n'ai|n'en ai) )?pas la moindre idée\b"
            r"|je ne saurais (?:pas )?(?:vous |le |y )*(?:dire|répondre)\b|je ne (?:m'en souviens"
            r"|me rappelle|me souviens) (?:pas|plus)\b|je sèche\b|je n'ai jamais entendu\b",
            "Je n'ai pas la réponse.",
            "Je n'ai pas la réponse, mais je pense à Lima.",
        ),
        Rule(
            "fr/impossible-à-dire",
            r"(?:c'est |cela est |il est )?(?:impossible|difficile) (?:à|de) (?:le )?(?:dire|savoir"
            r"|déterminer|répondre|vérifier)\b|(?:aucune|pas d') ?(?:information|donnée|indication"
            r"|mention)s?\b (?:\w+ ){0,2}?(?:ne|n'|disponible|sur|à)|il n'y a (?:pas (?:assez"
            r"|suffisamment)|aucune) ?(?:d'|de )?(?:information|donnée|élément)s?\b|(?:cela"
            r"|ça) dépasse mes (?:connaissances|compétences)\b",
            "Impossible à dire.",
            "Difficile à dire, peut-être Lima.",
        ),
        Rule(
            "fr/préfère-ne-pas",
            r"je m'abstiens\b|je préfère m'abstenir\b|je (?:préfère|préférerais) ne pas (?:répondre"
            r"|me prononcer|deviner|spéculer|dire)\b|je ne (?:veux|souhaite"
            r"|tiens) pas (?:à )?(?:répondre|me prononcer|deviner|spéculer)\b",
            "Je préfère ne pas répondre.",
            "Je préfère ne pas deviner, mais je dirais Lima.",
        ),
        Rule(
            "fr/un-mot",
            r"(?:inconnue?|sans réponse|pas de réponse|n/?a|non communiqué|je passe)",
            "Inconnu.",
            "L'Inconnu du Nord-Express",
            whole=True,
        ),
        Rule(
            "fr/ignore",
            r"(?:je l'ignore|je n'en sais rien|il est impossible de (?:le )?(?:dire|savoir"
            r"|déterminer)|j'ignore (?:la réponse|cela)|(?:je|nous) ne (?:connais"
            r"|connaissons) pas la réponse)\b",
            "Je l'ignore.",
            "J'ignore les critiques, dit-il.",
        ),
        Rule(
            "fr/on-ne-sait-pas",
            r"(?:on ne (?:le )?sait pas|personne ne (?:le )?sait)(?: vraiment)?",
            "On ne sait pas.",
            "On ne sait pas tout, disait Montaigne.",
            whole=True,
        ),
    ),
)

ITALIAN = Language(
    "it",
    r"(?:mi dispiace[,.;:]? ?(?:ma )?|spiacente[,.;:]? ?(?:ma )?|scusa(?:mi|te)?[,.;:]? ?(?:ma )?"
    r"|purtroppo[,:]? |sfortunatamente[,:]? |temo di |temo che |come (?:modello linguistico|ia|"
    r"intelligenza artificiale), |risposta: ?)*",
    asides=(
        r"\bnon (?:è|si|c'è|ci sono|risulta|posso|ho)\b[^.;!?]*",
        r"[^.;!?]*\b(?:lei|puoi|può|consulti|consulta|per favore|aiutarti|aiutarla)\b[^.;!?]*\??",
        r"\b(?:mi dispiace|scusa\w*|spiacente)\b[^.;!?]*",
    ),
    hedges=r"\bprobabilmente\b|\bforse\b|\b(?:credo|penso|direi|suppongo) (?:che|di)\b",
    goes_on=r"(?:[.;:,!?–—]|\b(?:ma|però)\b) ?(?:è|era|fu|sono|erano|si tratta|si chiama|dice"
    r"|la risposta è)(?:\s|$)|\bma (?:credo|penso|è |la |il |potrebbe)|\bperò (?:la |il |l'|è )"
    r"|\btuttavia\b|(?:[:;–—]| -) ?(?:[\w'-]+ ?){1,4}[.!]?$|[.!] ?(?:[\w'-]+ ?){1,3}\?$",
    rules=(
        Rule(
            "it/non-so",
            r"(?:io )?non (?:lo )?(?:so|sappiamo|saprei)\b",
            "Non lo so.",
            "Non so perché lo chiedano; è Parigi.",
            unless=r"(?:io )?non so (?:nuotare|ballare|cantare|cucinare|guidare|suonare|giocare)\b",
        ),
        Rule(
            "it/nessuna-idea",
            rf"(?:non (?:ne )?ho (?:la minima |nessuna |alcuna )?idea|nessuna idea)(?:{ENDS}"
            rf"| (?:di|su|chi|dove|quando)\b)",
            "Non ne ho idea.",
            "Nessuna idea è più forte della libertà.",
        ),
        Rule(
            "it/non-sicuro",
            r"non (?:ne )?sono (?:del tutto |molto )?(?:sicur[oa]|cert[oa])\b",
            "Non sono sicuro.",
            "Non ne sono sicuro, forse Roma.",
        ),
        Rule(
            "it/non-posso",
            r"non (?:vi |ti |le )?(?:posso|possiamo|sono in grado di|è possibile"
            r"|riesco a) (?:rispondere|"
            r"aiutar(?:ti|la|vi|e)|fornire|determinare|dare|dir(?:lo|ti|e)|trovare|confermare)\b",
            "Non posso rispondere a questa domanda.",
            "Non posso dire di più: è Lima.",
        ),
        Rule(
            "it/senza-informazioni",
            r"non (?:ho|abbiamo|dispongo di|ci sono) (?:abbastanza |sufficienti |accesso a(?:lle)? "
            r"|le |nessuna )*(?:informazion[ei]|dati|conoscenze)\b",
            "Non ho abbastanza informazioni.",
            "Non ci sono dati esatti, probabilmente dieci.",
        ),
        Rule(
            "it/il-testo-non-dice",
            r"(?:il testo|la risposta|il passaggio|la domanda) non (?:lo )?(?:dice|menziona|può|è"
            r"|si|contiene|ha risposta)",
            "Il testo non lo dice.",
            "Il testo non dice re; dice regina.",
        ),
        Rule(
            "it/non-ricordo",
            r"non (?:lo |me lo |mi )?(?:ricordo|risulta)\b|non (?:ho|trovo) (?:la |una |alcuna )?"
            r"(?:risposta|informazione)\b|non ne ho mai sentito\b|non ho mai sentito\b",
            "Non ricordo.",
            "Non ricordo bene, forse Lima.",
        ),
        Rule(
            "it/preferisco-non",
            r"mi astengo\b|preferisco astenermi\b|preferi(?:sco|rei) non (?:rispondere|indovinare"
            r"|speculare|dir\w*|pronunciarmi)\b|non (?:voglio|vorrei) (?:rispondere|indovinare"
            r"|speculare)\b|(?:questo |ciò )?va oltre le mie\b",
            "Preferisco non rispondere.",
            "Preferisco non indovinare, ma credo che sia Lima.",
        ),
        Rule(
            "it/difficile-dirlo",
            r"(?:è )?(?:impossibile|difficile) (?:da |a )?(?:dir\w*|sapere|saperlo|determinare"
            r"|stabilire|rispondere)\b|(?:nel testo |qui )non (?:è|viene|si) (?:\w+ )?(?:specificat"
            r"|indicat|menzionat|dett|dic)\w*\b|non è (?:specificato|indicato|noto|chiaro"
            rf"|menzionato)(?:{ENDS}| (?:nel|dal|se|chi|quando|dove|quale|come|cosa)\b)",
            "Difficile dirlo.",
            "Difficile dirlo, probabilmente Lima.",
        ),
        Rule(
            "it/una-parola",
            r"(?:sconosciut[oa]|nessuna risposta|senza risposta|n/?d|non noto|boh)",
            "Sconosciuto.",
            "Lo Sconosciuto del lago",
            whole=True,
        ),
        Rule(
            "it/non-conosco",
            r"(?:(?:non conosco|ignoro) la risposta|non ne so (?:nulla|niente)"
            r"|è impossibile (?:dir|saper)lo)\b",
            "Non conosco la risposta.",
            "Non conosco Roma, ma credo che sia Parigi.",
        ),
        Rule(
            "it/nessuno-sa",
            r"(?:non si sa|nessuno lo sa)(?: con certezza)?",
            "Nessuno lo sa.",
            "Non si sa mai è un proverbio.",
            whole=True,
        ),
    ),
)
