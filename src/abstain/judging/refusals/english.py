"""How English declines."""

from __future__ import annotations

from abstain.judging.refusals.shapes import ENDS, Language, Rule

_SURE = (
    r"(?:(?:really|honestly|actually|simply|just|genuinely|truly|still|currently|personally"
    r"|unfortunately|myself|also|quite|entirely|completely) )*"
)
_ASKED = r"about|what|who|whom|whose|where|when|how|which|why|if|whether|of|on|at all|sorry"
_VERBS = (
    r"(?:answer|provide|help|assist|determine|give|say|tell|find|verify|confirm|comply|respond|"
    r"share|discuss|recall|remember|identify|speculate|predict|comment|guess|access|browse|engage|"
    r"fulfil+|be (?:sure|certain|of (?:help|assistance))|do (?:that|this|so)|create|write|generate|"
    r"recommend|offer|establish|locate|ascertain|infer|deduce|conclude|pinpoint|disclose|advise|"
    r"(?:work|figure|make) (?:it |that |this )?out|make (?:a|an|any) (?:\w+ )?(?:guess|judge?ment|"
    r"determination|claim))"
)
_SUBJECTS = (
    r"(?:text|passage|context|document|article|question|information|prompt|data|request|premise|"
    r"statement|topic|image|sources?)"
)
_BE = r"(?:'s|'re| is| was| are| were| has| had| (?:would|could|might|should|must|may) be)"

ENGLISH = Language(
    "en",
    r"(?:(?:i'?m|i am|we'?re|we are)? ?(?:very |so |really |terribly )?(?:sorry"
    r"|afraid)(?: to say)?(?: that)?[,.;:!]? ?(?:but )?|i apologi[sz]e[,.;:]? ?(?:but )?"
    r"|(?:my )?apologies[,.;:]? ?(?:but )?|unfortunately[,:]? |regrettably[,:]? |sadly[,:]? "
    r"|i regret (?:that|to say)(?: that)?,? |as an ai(?: language)?(?: model| assistant)?, "
    r"|as a(?: large)? language model, |i (?:have to|must) (?:admit|confess)(?: that)?,? |(?:i am"
    r"|i'm) (?:just |only )?an? (?:ai|language model|assistant)[^,.;:]{0,40}?(?: and|,|[.]) "
    r"|(?:hmm+|um+|uh+|oh|well|ok|okay|honestly|frankly|actually|currently|at this time"
    r"|to be (?:perfectly |completely )?honest)[,.…]* |(?:that'?s an? )?(?:good|great|interesting"
    r"|tough) question[.!,]* (?:but )?|(?:based on|from|according to|given|as of) (?:the|my|this"
    r"|now)[^,.;:]{0,80}, )*",
    asides=(
        rf"\b(?:what|which|who|whether|if) the (?:correct |right |exact )?answer{_BE}",
        rf"\bthe (?:provided |given |above )?{_SUBJECTS}\b[^.;!?]*",
        r"\bthe answer (?:depends|is not|isn't|cannot|can't|remains|is un)[^.;!?]*",
        r"\b(?:it|this|that|there|they)(?:'s| is| was| are| were| does| do| did| has)?(?: also"
        r"| simply| just| still)? ?(?:not|n't|isn't|wasn't|doesn't|don't|didn't|hasn't|no|unclear"
        r"|unknown|impossible|hard|difficult|beyond|outside|too|never|insufficient)\b[^.;!?]*",
        r"[^.;!?]*\b(?:you|your|please|consult|recommend|suggest|refer to|happy to|glad to|let me|"
        r"feel free)\b[^.;!?]*\??",
        r"\b(?:sorry|i'm sorry|apologi\w+|thanks|thank you)\b[^.;!?]*",
    ),
    hedges=(
        r"\b(?:i|we)(?:'d| would| will|'ll)? (?:guess|think|believe|suspect|assume|say|go with"
        r"|venture|estimate|bet|lean)\b|\b(?:best|my|educated|wild) guess\b|\bprobably\b"
        r"|\bpresumably\b|\bmost likely\b|\bperhaps\b|\bmaybe\b|\bif (?:i had|forced) to\b"
        r"|\b(?:around|approximately|roughly|circa) \d"
    ),
    goes_on=(
        rf"(?:[.;:,!?–—]|\b(?:but|however,?|though|although|and|so)\b) ?(?:it|that|this|he|she|they"
        rf"|there){_BE}\b|\bthe (?:correct |right |likely )?answer(?:{_BE}\b|:)|\bhowever\b"
        rf"|\bbut (?:it|the|he|she|they|this|that|there|some|one|in|based|according|my)\b"
        rf"|[.!] [^.!?]*\b(?:is|was|are|were|gives|says)\b|[.!] ?(?:[\w'-]+ ?){{1,3}}\?$|(?:[:;–—]"
        rf"| -) ?(?:[\w'-]+ ?){{1,4}}[.!]?$|[;:] ?(?:it|he|she|they) \w+"
        r"|[,;] (?:yet|so (?:i|we) (?:\w+ed|got|took|find|get)|still,?|nevertheless,?) "
        r"|[.!] (?:somewhere|sometime|something|in|near|at|between|around) |\b(?:historians|experts"
        r"|scholars|sources|most|many|some) (?:\w+ )?(?:say|believe|think|agree|estimate|put"
        r"|give)\b"
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
            unless=r"(?:\S+ ){2,5}know (?:anyone|anybody|a single|of any|of no|of an?)\b",
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
            rf"|clue)(?:{ENDS}| (?:{_ASKED})\b)|(?:it )?beats me\b|your guess is as good as mine\b"
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
            r"(?:i'?m|i am|i was|we'?re|we are|we were)(?: currently)? (?:unable|not (?:able"
            r"|allowed|"
            rf"permitted|authori[sz]ed|equipped|qualified|programmed|in a position)) to {_VERBS}\b"
            r"|(?:i'?m|i am) (?:prohibited|prevented|barred) from \w+ing\b",
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
            unless=r"(?:\S+ ){2,4}(?:help (?:but|\w+ing)|tell (?:a lie|lies)|(?:say|recommend"
            r"|give) enough|say (?:it|that|this) (?:better|more))\b",
        ),
        Rule(
            "en/not-something",
            r"(?:that|this|it)(?: question)?(?:'s| is| falls| lies| goes) (?:well |far )?(?:not"
            r" something (?:i|we) ?(?:can|could|am able|'m able|have|know)|(?:beyond|outside|out of"
            r"|above) (?:what (?:i|we)|my|the scope))\b",
            "That's not something I can help with.",
            "That's not something to be proud of, said Churchill.",
        ),
        Rule(
            "en/no-information",
            r"(?:(?:i|we) (?:do not|don'?t) (?:currently |really )?(?:have|possess)|i lack|(?:(?:i"
            r"|we) )?have (?:no|insufficient|too little)) (?:any |enough |sufficient |that |this "
            r"|such |an |access to |the |specific |reliable |personal |necessary "
            r"|real-time )*(?:information|data|knowledge|details|context|access|answer|opinions?"
            r"|beliefs|evidence|preferences|ability|feelings|emotions|experiences?|consciousness"
            r"|memory|recollection|records?|insight|expertise|figures|means|way (?:of|to))\b",
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
            r"no answer (?:can|could) be (?:given|found|determined)\b|(?:it|this|that) (?:cannot"
            r"|can'?t|could not) be (?:determined|known|said|answered|verified)\b|"
            rf"(?:the |this )?{_SUBJECTS} (?:gives|provides|contains|offers|has"
            rf"|makes) no (?:indication|information|mention|answer|details?)\b|(?:the |this |that "
            rf"|your )?(?:answer|{_SUBJECTS})s? "
            r"(?:is not|isn'?t|does not|doesn'?t|cannot be|can'?t be|is unknown|was not"
            r"|is un)(?: ?(?:answerable|answered|determined|contain|provide|provided|say|mention"
            r"|given|specified|specify|found|stated|state|known|clear|available)\b|[.!]?$)",
            "The answer cannot be determined from the text.",
            'The text does not say "king"; it says "queen".',
        ),
        Rule(
            "en/there-is-not-enough",
            r"there (?:is|was)(?: not|n'?t) (?:enough|sufficient|any) (?:information|data|context"
            r"|evidence)\b|(?:not enough|insufficient) (?:information|data|context|evidence)\b"
            r"|there(?:'s| is| was)(?: simply| really| currently)? no (?:information|mention|data"
            r"|way (?:(?:for \w+ )?to (?:know|tell|say|verify|check|determine)|of (?:knowing"
            r"|telling)))\b",
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
            r"|i (?:must |have to |will |respectfully )*(?:decline|abstain|refuse|pass)"
            rf"(?:{ENDS}| (?:on|from|here|answering|to (?:answer|respond|say|comment|guess|provide"
            rf"|comply|help|assist|speculate))\b)|i'll pass\b|(?:no comment){ENDS}"
            r"|i(?:'m| am| do not| don'?t)(?: not)? (?:feel )?comfortable (?:answering|with"
            r"|providing|sharing|discussing)\b",
            "I'd rather not answer.",
            "I pass the ball to John.",
        ),
        Rule(
            "en/nobody-knows",
            r"(?:nobody|no one|no-one)(?: really)? knows(?: for sure| for certain| the answer| yet"
            r"| that| this)*|(?:it|this|that)(?:'s| is| remains)(?: currently| still)? (?:unknown"
            r"|unclear|not known|not clear|unanswerable)(?: to me| at this time| yet)?",
            "Nobody knows.",
            "Nobody Knows is a song by Pink.",
            whole=True,
        ),
        Rule(
            "en/not-a-clue",
            r"(?:(?:i|we) )?(?:haven'?t|have not|don'?t have|do not have)(?: got)? (?:a|any"
            r"|the (?:faintest|slightest|foggiest|vaguest|remotest)) (?:clue|idea|notion|inkling)\b"
            r"|(?:(?:i|we)(?:'d| would)n?'?t|(?:i|we) would not) (?:really )?(?:know|have a clue)\b"
            rf"|search me{ENDS}|who knows[?.!]*$|(?:i )?haven'?t the (?:faintest|slightest"
            rf"|foggiest)\b"
            r"|(?:absolutely )?no (?:clue|idea) (?:whatsoever|at all)\b|(?:that|this|it)(?: one"
            r"| question)?(?:'s| is) (?:beyond|above|over) (?:me|us|my head)\b",
            "I haven't the faintest idea.",
            "I haven't got a clue, but I think it is Lima.",
        ),
        Rule(
            "en/never-met",
            r"(?:i|we)(?:'ve| have) (?:never|not) (?:actually )?(?:heard of|come across|encountered"
            r"|read about|been told)\b|(?:i|we) haven'?t (?:heard of|come across|encountered|read"
            r" about|been told)\b",
            "I have never heard of it.",
            "I have never heard of a better one; it is Paris.",
            unless=r".*\b(?:other than|besides|except|apart from|better|(?:\w+er|more \w+) than)\b",
        ),
        Rule(
            "en/escapes-me",
            r"(?:the (?:answer|name|exact \w+)|it|that|this) (?:escapes|eludes) me\b|(?:i'?m"
            r"|i am) drawing a blank\b|i draw a blank\b|my memory fails me\b|(?:that|this|it"
            r"|the)(?: name| term| title)? (?:doesn'?t|does not) ring (?:a|any) bells?\b",
            "The name escapes me.",
            "That name escapes me, but I think it is Lima.",
        ),
        Rule(
            "en/will-not-guess",
            r"(?:i|we) (?:do not|don'?t|would not|wouldn'?t) (?:want|wish|like|care"
            r"|dare) to (?:guess|speculate|say|answer|comment|make (?:\w+ )?up|mislead|be wrong)\b"
            r"|(?:i|we) can neither confirm nor deny\b|it(?:'d| would) be (?:irresponsible|wrong"
            r"|unwise|misleading|pure speculation)\b(?: \w+){0,3} to (?:guess|speculate|say"
            r"|answer)\b|i(?:'d| would) (?:only |just )?be (?:only |just )?(?:guessing|speculating"
            r"|making)\b|(?:i'?m|i am) (?:not going|going not) to (?:guess|speculate|answer|make)\b"
            r"|i(?:'ll| will)(?: have to)? (?:skip|sit) (?:this|that)\b",
            "I don't want to speculate.",
            "I don't want to guess, but the answer is 7.",
        ),
        Rule(
            "en/unclear-which",
            r"(?:it|this|that)(?:'s| is| was| remains)(?: still| simply)? (?:unclear|not clear"
            r"|uncertain|unknown|not known|not (?:stated|specified|mentioned))(?: to me)?"
            r" (?:from|in|based on|who|whom|whose|what|which|whether|if|how|when|where|why)\b",
            "It is unclear from the context who left.",
            "It is unclear who began, but the answer is 1914.",
        ),
        Rule(
            "en/asks-back",
            r"(?:could|can|would) you (?:please |kindly )?(?:clarify|specify|elaborate|rephrase"
            r"|(?:provide|give|share|tell)(?: me)?(?: with)? (?:more|some|the|further"
            r"|additional))\b|please (?:clarify|specify|rephrase|provide (?:more|the|some"
            r"|further))\b|(?:i|we)(?:'d| would|'ll| will)? (?:need|require) (?:some "
            r"|a bit )?(?:more|additional|further) (?:information|context|details?|data)\b|(?:your"
            r"|the|this) question is (?:too |somewhat |rather )?(?:ambiguous|vague|unclear|broad"
            r"|incomplete|underspecified)\b",
            "Could you clarify which one you mean?",
            "Your question is too broad; the answer is Lima.",
        ),
        Rule(
            "en/nothing-says",
            rf"(?:none of the|neither(?: of the)?|nothing in (?:the|this)) (?:\w+ )?{_SUBJECTS}s?"
            r" (?:say|mention|contain|answer|state|indicate|suggest|provide|specif|tell)\w*\b"
            r"|no (?:such |relevant |specific |further |reliable )?(?:information|data|details?"
            r"|records?|mention|answer)(?: of \w+| about \w+| on \w+)? (?:is|are|was|were|could be"
            r"|can be|exists?|has been) ?(?:available|given|provided|found|made|known|present)?\b",
            "None of the documents mention it.",
            "No data is lost; the answer is yes.",
        ),
        Rule(
            "en/not-allowed",
            r"(?:that|this|it|answering)(?: request| question| that| this)? (?:would )?(?:violates?"
            r"|goes? against|go against) (?:my|our)\b|my (?:guidelines|policies|instructions|"
            r"programming|rules) (?:do not|don'?t|prevent|prohibit|forbid)\b",
            "That goes against my guidelines.",
            "That violates our intuition, but it is true.",
        ),
        Rule(
            "en/one-word",
            r"(?:the answer is )?(?:unknown|unanswerable|not attempted|no answer|n/?a|idk|i dunno"
            r"|dunno|(?:can'?t|cannot|couldn'?t) (?:say|tell|help|be (?:sure|certain))|hard to say"
            r"|no comment|pass|skip|none given|not known|cannot answer|can'?t answer|no response"
            r"|refused|undetermined|(?:cannot|can'?t|could not) be (?:determined|answered|known)"
            r"|not (?:specified|stated|given|mentioned|provided|available|answerable"
            r"|determinable)(?: (?:in|by|from) the [\w ]{1,30})?|unavailable|unclear"
            r"|not enough info|no information)",
            "Unknown.",
            "Unknown Pleasures",
            whole=True,
        ),
    ),
)
