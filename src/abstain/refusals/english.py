"""How English declines."""

from __future__ import annotations

from abstain.refusals.shapes import ENDS, Language, Rule

_SURE = (
    r"(?:(?:really|honestly|actually|simply|just|genuinely|truly|still|currently|personally"
    r"|unfortunately|myself|also|quite|entirely|completely) )*"
)
_ASKED = r"about|what|who|whom|whose|where|when|how|which|why|if|whether|of|on|at all|sorry"
_VERBS = (
    r"(?:answer|provide|help|assist|determine|give|say|tell|find|verify|confirm|comply|respond|"
    r"share|discuss|recall|remember|identify|speculate|predict|comment|guess|access|browse|engage|"
    r"fulfil+|be (?:sure|certain)|do (?:that|this|so)|create|write|generate|recommend|offer)"
)
_SUBJECTS = (
    r"(?:text|passage|context|document|article|question|information|prompt|data|request|premise|"
    r"statement|topic|image|sources?)"
)
_BE = r"(?:'s|'re| is| was| are| were| has| had| (?:would|could|might|should|must|may) be)"

ENGLISH = Language(
    "en",
    r"(?:(?:i'?m|i am|we'?re|we are)? ?(?:very |so |really |terribly )?(?:sorry|afraid)"
    r"(?: to say)?(?: that)?[,.;:!]? ?(?:but )?|i apologi[sz]e[,.;:]? ?(?:but )?|(?:my )?apologies"
    r"[,.;:]? ?(?:but )?|unfortunately[,:]? |regrettably[,:]? |sadly[,:]? |i regret (?:that"
    r"|to say)(?: that)?,? |as an ai(?: language)?"
    r"(?: model| assistant)?, |as a(?: large)? language model, "
    r"|i (?:have to|must) (?:admit|confess)(?: that)?,? |(?:i am|i'm) (?:just |only )?an? (?:ai"
    r"|language "
    r"model|assistant)[^,.;:]{0,40}?(?: and|,|[.]) |(?:hmm+|um+|uh+|oh|well|ok|okay|"
    r"honestly|frankly|actually|currently|at this time|to be (?:perfectly |completely )?honest)"
    r"[,.…]* |(?:that'?s an? )?(?:good|great|interesting|tough) question[.!,]* (?:but )?"
    r"|(?:based on|from|according to|given|as of) (?:the|my|this|now)[^,.;:]{0,80}, )*",
    asides=(
        rf"\b(?:what|which|who|whether|if) the (?:correct |right |exact )?answer{_BE}",
        rf"\bthe (?:provided |given |above )?{_SUBJECTS}\b[^.;!?]*",
        r"\bthe answer (?:depends|is not|isn't|cannot|can't|remains|is un)[^.;!?]*",
        r"\b(?:it|this|that|there|they)(?:'s| is| was| are| were| does| do| did| has)?(?: also"
        r"| simply"
        r"| just| still)? ?(?:not|n't|isn't|wasn't|doesn't|don't|didn't|hasn't|no|unclear|unknown|"
        r"impossible|hard|difficult|beyond|outside|too|never|insufficient)\b[^.;!?]*",
        r"[^.;!?]*\b(?:you|your|please|consult|recommend|suggest|refer to|happy to|glad to|let me|"
        r"feel free)\b[^.;!?]*\??",
        r"\b(?:sorry|i'm sorry|apologi\w+|thanks|thank you)\b[^.;!?]*",
    ),
    hedges=(
        r"\b(?:i|we)(?:'d| would| will|'ll)? (?:guess|think|believe|suspect|assume|say|go with|"
        r"venture|estimate|bet|lean)\b|\b(?:best|my|educated|wild) guess\b|\bprobably\b"
        r"|\bpresumably\b"
        r"|\bmost likely\b|\bperhaps\b|\bmaybe\b|\bif (?:i had|forced) to\b"
        r"|\b(?:around|approximately|roughly|circa) \d"
    ),
    goes_on=(
        rf"(?:[.;:,!?–—]|\b(?:but|however,?|though|although|and|so)\b) ?(?:it|that|this|he|she"
        rf"|they|"
        rf"there){_BE}\b|\bthe (?:correct |right |likely )?answer(?:{_BE}\b|:)|\bhowever\b"
        rf"|\bbut (?:it|the|he|she|they|this|that|there|some|one|in|based|according|my)\b"
        rf"|[.!] [^.!?]*\b(?:is|was|are|were|gives|says)\b|[.!] ?(?:[\w'-]+ ?){{1,3}}\?$"
        rf"|(?:[:;–—]| -) ?(?:[\w'-]+ ?){{1,4}}[.!]?$|[;:] ?(?:it|he|she|they) \w+"
        r"|[.!] (?:somewhere|sometime|something|in|near|at|between|around) "
        r"|\b(?:historians|experts|scholars|sources|most|many|some) (?:\w+ )?(?:say|believe|think"
        r"|agree|"
        r"estimate|put|give)\b"
    ),
    rules=(
        Rule(
            "en/not-familiar",
            r"(?:i'?m|i am) (?:not (?:familiar with|aware of)|unfamiliar with)\b",
            "I'm not familiar with that.",
            "I'm not familiar with it, but I think it is a novel.",
        ),
        Rule(
            "en/do-not-know",
            rf"(?:i|we) {_SURE}(?:do not|don'?t|didn'?t|did not) {_SURE}(?:know|recall|remember)\b"
            rf"|don'?t (?:know|remember){ENDS}",
            "I don't know.",
            "I don't know why people ask; it's Paris.",
            unless=r"(?:\S+ ){2,5}know (?:anyone|anybody|a single|of any|of no)\b",
        ),
        Rule(
            "en/do-not-think-i-can",
            r"(?:i|we) (?:do not|don'?t) (?:think|believe) (?:i|we) (?:can|could|know|have"
            r"|am able)\b",
            "I don't think I can answer that.",
            "I don't think so.",
        ),
        Rule(
            "en/no-idea",
            rf"(?:(?:i|we)(?:'ve| have)?(?: got)? )?(?:absolutely |really )?(?:no|not a) (?:idea"
            rf"|clue)"
            rf"(?:{ENDS}| (?:{_ASKED})\b)|(?:it )?beats me\b|your guess is as good as mine\b"
            rf"|i wish i knew\b",
            "I have no idea.",
            "No idea is more powerful than freedom.",
        ),
        Rule(
            "en/not-sure",
            rf"(?:i'?m|i am|we'?re|we are) {_SURE}(?:not {_SURE}(?:sure|certain)|unsure|uncertain)"
            rf"(?:{ENDS}| (?:{_ASKED}|i|exactly|enough|the|this|that|any|either)\b)"
            rf"|(?:not (?:sure|certain)|unsure)(?:{ENDS}| (?:{_ASKED})\b)",
            "I'm not sure.",
            "I'm not certain; my best guess is 1912.",
        ),
        Rule(
            "en/not-able",
            r"(?:i'?m|i am|i was|we'?re|we are|we were)(?: currently)? (?:not able|unable) to "
            rf"{_VERBS}\b",
            "I am unable to answer that.",
            "I am unable to find fault with it: the answer is yes.",
        ),
        Rule(
            "en/cannot",
            rf"(?:i|we) {_SURE}(?:can'?t|cannot|can not|could not|couldn'?t|won'?t"
            rf"|will not) (?:be able to )?(?:really |"
            rf"reliably |definitively |currently |possibly )?{_VERBS}\b",
            "I cannot help with that.",
            "I cannot help but answer: Paris.",
            unless=r"(?:\S+ ){2,4}(?:help (?:but|\w+ing)|(?:say|recommend|give) enough|"
            r"say (?:it|that|this) (?:better|more))\b",
        ),
        Rule(
            "en/not-something",
            r"(?:that|this|it)(?:'s| is) (?:not something (?:i|we) ?(?:can|could|am able|'m able"
            r"|have|"
            r"know)|(?:beyond|outside) (?:what (?:i|we)|my))\b",
            "That's not something I can help with.",
            "That's not something to be proud of, said Churchill.",
        ),
        Rule(
            "en/no-information",
            r"(?:(?:i|we) (?:do not|don'?t) (?:currently |really )?(?:have|possess)"
            r"|i lack|(?:(?:i|we) )?have no) (?:any |"
            r"enough |sufficient |that |this |such |an |access to |the |specific |reliable "
            r"|personal |necessary "
            r"|real-time )*"
            r"(?:information|data|knowledge|details|context|access|answer|opinions?|beliefs|"
            r"preferences|ability)\b",
            "I don't have enough information to say.",
            "I don't have the exact data, but it is about 8 billion.",
        ),
        Rule(
            "en/my-knowledge",
            r"my (?:training data|training|knowledge(?: base| cutoff)?) (?:\w+ ){0,4}?(?:does not|"
            r"doesn'?t|do not|don'?t) (?:include|contain|cover|extend|have)\b",
            "My training data does not include that.",
            "My knowledge of Latin comes from school.",
        ),
        Rule(
            "en/no-answer-in-text",
            r"no answer (?:can|could) be (?:given|found|determined)\b|(?:it|this|that) (?:cannot|"
            r"can'?t|could not) be (?:determined|known|said|answered|verified)\b|"
            rf"(?:the |this )?{_SUBJECTS} (?:gives|provides|contains|offers|has"
            rf"|makes) no (?:indication|"
            rf"information|mention|answer|details?)\b|"
            rf"(?:the |this |that |your )?(?:answer|{_SUBJECTS})s? "
            r"(?:is not|isn'?t|does not|doesn'?t|cannot be|can'?t be|is unknown|was not|is un)"
            r"(?: ?(?:answerable|answered|determined|contain|provide|provided|say|mention|given|"
            r"specified|specify|found|stated|state|known|clear|available)\b|[.!]?$)",
            "The answer cannot be determined from the text.",
            'The text does not say "king"; it says "queen".',
        ),
        Rule(
            "en/there-is-not-enough",
            r"there (?:is|was)(?: not|n'?t) (?:enough|sufficient|any) (?:information|data|context|"
            r"evidence)\b|(?:not enough|insufficient) (?:information|data|context|evidence)\b"
            r"|there(?:'s| is| was) no (?:information|mention|data|way (?:to (?:know|tell|say"
            r"|determine)"
            r"|of (?:knowing|telling)))\b",
            "There is not enough information.",
            "There is no evidence that vaccines cause autism.",
        ),
        Rule(
            "en/impossible",
            r"(?:it(?:'s| is| would be) )?(?:impossible|not possible|hard|difficult) to (?:say|"
            r"determine|tell|know|answer|verify)\b",
            "It is impossible to say.",
            "It is impossible to divide by zero.",
            unless=r".*\bto say no\b",
        ),
        Rule(
            "en/declines",
            r"i(?:'d| would) (?:rather|prefer) not (?:to )?(?:answer|say|guess|comment|speculate)\b"
            r"|i (?:must |"
            r"have to |will |respectfully )*(?:decline|abstain|refuse|pass)"
            rf"(?:{ENDS}| (?:on|from|here|answering|to (?:answer|respond|say|comment|guess"
            rf"|provide|comply"
            rf"|help|assist|speculate))\b)|i'll pass\b|(?:no comment){ENDS}"
            r"|i(?:'m| am| do not| don'?t)(?: not)? (?:feel )?comfortable (?:answering|with"
            r"|providing|"
            r"sharing|discussing)\b",
            "I'd rather not answer.",
            "I pass the ball to John.",
        ),
        Rule(
            "en/nobody-knows",
            r"(?:nobody|no one|no-one)(?: really)? knows(?: for sure| for certain| the answer| yet|"
            r" that| this)*|(?:it|this|that)(?:'s| is| remains)(?: currently| still)? (?:unknown"
            r"|unclear"
            r"|not known|not clear|unanswerable)(?: to me| at this time| yet)?",
            "Nobody knows.",
            "Nobody Knows is a song by Pink.",
            whole=True,
        ),
        Rule(
            "en/one-word",
            r"(?:the answer is )?(?:unknown|unanswerable|not attempted|no answer|n/?a|idk|i dunno"
            r"|dunno|"
            r"pass|skip|none given|not known|cannot answer|can'?t answer|no response|refused"
            r"|undetermined"
            r"|(?:cannot|can'?t|could not) be (?:determined|answered|known)|not (?:specified"
            r"|stated|given"
            r"|mentioned|provided|available|answerable|determinable)(?: (?:in|by"
            r"|from) the [\w ]{1,30})?|unavailable|unclear|not enough info|"
            r"no information)",
            "Unknown.",
            "Unknown Pleasures",
            whole=True,
        ),
    ),
)
