"""How German declines."""

from __future__ import annotations

from abstain.judging.refusals.shapes import ENDS, Language, Rule

GERMAN = Language(
    "de",
    r"(?:(?:es )?tut mir (?:sehr )?leid[,.;:]? ?(?:aber )?"
    r"|(?:bitte )?entschuldigung[,.;:]? ?(?:aber )?"
    r"|entschuldige[,.;:]? ?|leider |bedauerlicherweise |als ki(?:-| )?(?:sprachmodell|modell|"
    r"assistent)? |ehrlich gesagt,? |antwort: ?)*",
    asides=(
        r"\b(?:es|das|dies|dazu) (?:ist|war|steht|geht|wird|liegt|gibt)[^.;!?]*\b(?:nicht|nichts"
        r"|keine?|unklar|unbekannt)\b[^.;!?]*",
        r"[^.;!?]*\b(?:sie|ihnen|du|dir|bitte|gerne?)\b[^.;!?]*\??",
        r"\b(?:tut mir leid|entschuldigung|sorry)\b[^.;!?]*",
    ),
    hedges=r"\bvermutlich\b|\bwahrscheinlich\b|\bvielleicht\b|\bich (?:glaube|denke|vermute"
    r"|schätze|tippe|nehme an|würde sagen)\b",
    goes_on=r"(?:[.;:,!?–—]|\b(?:aber|doch|und)\b) ?(?:es|das|er|sie|dies) (?:ist|war|heißt|sind"
    r"|waren|dürfte|müsste|könnte)\b|\baber (?:ich |es |die |der |das |vielleicht |wohl )"
    r"|\bjedoch\b|\bdie antwort (?:ist|lautet)\b|(?:[:;–—]| -) ?(?:[\w\'-]+ ?){1,4}[.!]?$"
    r"|[.!] ?(?:[\w\'-]+ ?){1,3}\?$",
    rules=(
        Rule(
            "de/weiß-nicht",
            r"(?:das )?(?:ich )?wei(?:ß|ss) (?:ich )?(?:es |das |leider |wirklich "
            r"|einfach )*nicht\b",
            "Das weiß ich leider nicht.",
            "Ich weiß nicht, warum alle fragen; es ist Paris.",
            unless=r"(?:\S+ ){1,4}nicht (?:viel|nur|alles)\b",
        ),
        Rule(
            "de/keine-ahnung",
            rf"(?:(?:da(?:von)? )?(?:ich )?habe? (?:ich )?(?:leider |absolut )*)?keine (?:ahnung"
            rf"|idee)(?:{ENDS}| (?:davon|wer|was|wo|wann|wie|welche[rsn]?|warum|ob)\b)",
            "Keine Ahnung.",
            'Keine Ahnung haben heißt auf Englisch "to have no idea".',
        ),
        Rule(
            "de/nicht-sicher",
            r"(?:da )?(?:ich )?bin (?:ich )?(?:mir )?(?:da |dabei )?(?:leider )?(?:nicht"
            r"|un) ?sicher\b",
            "Da bin ich mir nicht sicher.",
            "Ich bin nicht sicher, aber es dürfte 1848 sein.",
        ),
        Rule(
            "de/kann-nicht",
            r"(?:ich kann|kann ich|wir können|können wir) (?:ihnen |dir |euch |das |diese |die "
            r"|dazu |darauf |dabei |hier |leider |es |frage |auf |keine |nicht )*(?:nicht |keine "
            r"|frage |antwort |auskunft |angaben? |information(?:en)? )+(?:\w+ "
            r"){0,4}?(?:beantworten|antworten|sagen|helfen|geben|machen|bestimmen|finden|nennen"
            r"|bestätigen|ermitteln)\b",
            "Ich kann diese Frage leider nicht beantworten.",
            "Ich kann nicht mehr sagen als das: es ist Lima.",
        ),
        Rule(
            "de/frage-kann-ich-nicht",
            r"(?:diese|die|ihre|deine) frage (?:kann|können) (?:ich|wir) (?:ihnen |dir "
            r"|leider )*nicht beantworten\b|das kann (?:ich|man|niemand) (?:ihnen |dir "
            r"|leider )*nicht (?:sagen|wissen|beantworten)\b|(?:dazu|darüber|hierzu) (?:kann"
            r"|können) (?:ich|wir) (?:leider |ihnen |dir )*nichts\b|es ist (?:unmöglich"
            r"|nicht möglich),? (?:das )?zu (?:sagen|bestimmen|wissen)\b",
            "Das kann ich nicht sagen.",
            "Das kann ich nicht sagen, aber ich vermute Lima.",
        ),
        Rule(
            "de/keine-information",
            r"(?:dazu |darüber |hierzu )?(?:ich )?(?:habe?|liegen|verfüge) (?:ich |mir )?(?:dazu "
            r"|darüber |hierzu |leider |über )*(?:keine|nicht genug"
            r"|nicht genügend) (?:ausreichenden |genauen |verlässlichen )?(?:information(?:en)?"
            r"|angaben|antwort|daten|kenntnis(?:se)?|erkenntnisse)\b",
            "Dazu habe ich keine Informationen.",
            "Dazu habe ich keine Informationen, vermutlich Lima.",
        ),
        Rule(
            "de/steht-nicht-im-text",
            r"(?:das |die antwort |die frage |dies )(?:steht|geht|lässt sich|ist|wird"
            r"|kann) (?:\w+ ){0,4}?nicht (?:im text|beantworte[tn]|hervor|beantwortbar|erwähnt"
            r"|bestimmen|angegeben|bekannt)",
            "Die Frage lässt sich nicht beantworten.",
            "Das ist nicht Lima, sondern Cusco.",
        ),
        Rule(
            "de/finde-nichts",
            r"(?:(?:dazu|darüber|hierzu|hierüber|davon|dafür) )?(?:ich )?(?:finde|besitze|sehe"
            r"|kenne) (?:ich )?(?:dazu |darüber |hierzu |leider |im text |hier )*(?:keine"
            r"|nichts) (?:\w+ )?(?:angaben?|information(?:en)?|hinweise?|antwort|daten|aussage"
            r"|quelle)\b|mir fehlen (?:dazu |dafür |hierzu |leider |die "
            r"|nötigen )*(?:information(?:en)?|angaben|daten|kenntnisse)\b|(?:dafür |hierfür "
            r"|dazu )?(?:reichen )?die (?:vorliegenden |verfügbaren )?(?:information(?:en)?|angaben"
            r"|daten) (?:reichen )?(?:\w+ ){0,2}?nicht (?:aus|hin)?",
            "Dazu finde ich keine Angaben.",
            "Ich finde keine Angaben, vermutlich Lima.",
        ),
        Rule(
            "de/nicht-bekannt",
            r"(?:(?:das|dies|es) ist mir|mir ist (?:das|dies|es|dazu|darüber|hierzu"
            r"|davon)) (?:leider |derzeit )*(?:nicht bekannt|nichts bekannt|unbekannt|entfallen"
            r"|nicht geläufig)\b|(?:das |dies )?entzieht sich (?:leider )?meiner kenntnis\b"
            r"|(?:ich )?habe? (?:ich )?(?:davon |darüber )?(?:noch )?nie (?:davon "
            r"|etwas )?gehört\b",
            "Das entzieht sich meiner Kenntnis.",
            "Mir ist das nicht bekannt, aber es könnte Lima sein.",
        ),
        Rule(
            "de/möchte-nicht",
            r"(?:(?:dazu|darüber|hier) )?(?:ich )?(?:möchte|will|darf) (?:ich )?(?:dazu |darüber "
            r"|hier |lieber |mich |diese frage |das )*(?:nicht|nichts|keine) (?:\w+ ){0,3}?(?:raten"
            r"|spekulieren|antworten|sagen|äußern|beantworten|abgeben|anstellen)\b"
            rf"|(?:da|hier) muss ich (?:leider )?passen\b|ich passe{ENDS}",
            "Dazu möchte ich nichts sagen.",
            "Ich will nicht raten, aber die Antwort ist Lima.",
        ),
        Rule(
            "de/schwer-zu-sagen",
            r"(?:(?:das|es) ist )?(?:schwer|schwierig|unmöglich|nicht) zu (?:sagen|beantworten"
            rf"|bestimmen|beurteilen)(?:{ENDS}| (?:ob|wer|wann|wo|wie|warum|da|weil)\b)"
            r"|(?:da|hier) bin ich (?:leider )?überfragt\b|ohne (?:weitere|mehr"
            r"|nähere) (?:\w+ ){0,4}?nicht (?:\w+ )?(?:beantworten|sagen|bestimmen|möglich)\b"
            r"|(?:ich )?habe? (?:ich )?keinen (?:blassen )?(?:schimmer|dunst)\b"
            r"|(?:keinen )?blassen schimmer\b",
            "Das ist schwer zu sagen.",
            "Das ist schwer zu sagen, wahrscheinlich Lima.",
        ),
        Rule(
            "de/ein-wort",
            r"(?:unbekannt|nicht bekannt|unklar|nicht sicher|keine angaben?|k\. ?a\.?|keine antwort"
            r"|nicht beantwortbar|wei(?:ß|ss) nicht)",
            "Unbekannt.",
            "Unbekannt verzogen",
            whole=True,
        ),
        Rule(
            "de/kenne-nicht",
            r"(?:ich|wir) (?:kenne|kennen) (?:die|eine) (?:antwort|lösung) (?:leider |darauf "
            r"|dazu )*nicht\b",
            "Ich kenne die Antwort nicht.",
            "Ich kenne die Antwort: es ist Lima.",
        ),
        Rule(
            "de/niemand-weiß",
            r"(?:niemand|keiner) wei(?:ß|ss)(?: das| es)?(?: genau| sicher)?",
            "Niemand weiß das.",
            "Niemand weiß alles, sagt das Sprichwort.",
            whole=True,
        ),
        Rule(
            "de/im-text-nichts",
            r"(?:im|in dem|aus dem) (?:text|abschnitt|dokument) (?:steht|geht|findet sich|wird) "
            r"(?:\w+ ){0,3}?(?:nichts|nicht|keine)\b",
            "Im Text steht dazu nichts.",
            "Im Text steht: Lima.",
        ),
    ),
)
