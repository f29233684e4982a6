"""Aspects of a life: how questions ask for them, and how answers are recognised.

The table serves two kinds of answers: what the character says of itself, and what speakers told of
themselves. Questions say "you" or "I"; the answers are in the first person.
"""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evennia_ai.offline.words import NUMBER_WORDS, content
from evennia_ai.policy.word_patterns import one_of

T = TypeVar("T")
NUMBER = rf"(?:\d+|{one_of(f'{NUMBER_WORDS}|several|many|few')}(?:-\w+)?)"
SPAN = r"(?:years?|winters?|summers?|months?|weeks?|days?|decades?|seasons?)"
KIN = r"family|relatives?|kin|kinfolk|uncle|aunt|cousins?|nephews?|nieces?|grand\w+"
SPOUSE = r"husband|wife|spouse|widow(?:er|ed)?|betrothed|sweetheart|lover"
CHILD = r"child|children|sons?|daughters?|kids?|twins|boys|girls|lads"
SIBLING = r"brothers?|(?-i:sisters?)|siblings?"
PARENT = r"father|mother|parents|mum|dad|stepfather|stepmother"


@dataclass(frozen=True)
class Aspect:
    """One aspect of a life: ``asks`` matches a question, ``holds`` an answer."""

    name: str
    asks: re.Pattern[str]
    holds: re.Pattern[str]


# From the specific to the general; the first match wins.
ROWS: tuple[tuple[str, str, str], ...] = (
    ("age",
     r"\bhow old (?:are|were|am|was|i am|you are)\b(?: (?:you|i)\b|\W*$)|\b(?:your|my) (?:age|birthday)\b|\bwhat age (?:are|am)\b|\b(?:are|am) (?:you|i) (?:\w+ )?(?:old|young|elderly)\b|\bhow many (?:years|winters|summers) (?:are|do|have) (?:you|i) (?:seen|count|lived|on|old|have)\b|\bwhen (?:were|was) (?:you|i) born\b",
     rf"\b{NUMBER}(?: {SPAN})? old\b|\b{NUMBER} {SPAN} of age\b|\bI(?:'m| am) (?:nearly |almost |just |now |over |about |past )?(?!one\b|few\b|many\b|several\b|two\b){NUMBER}(?=[ ,.;!]|$)(?! (?:of|\w+s)\b)|\b(?:aged?|turn(?:ed)?|past) (?!one\b){NUMBER}\b|\bin my \w+ies\b|\bI(?:'m| am) (?:\w+ )?(?:old|young|elderly)\b|\b(?:old|young) (?:man|woman)\b"),
    ("teacher",
     r"\bwho (?:\w+ )?(?:taught|trained|schooled)\b|\b(?:your|my) (?:teacher|mentor|master|mistress|apprenticeship)\b|\b(?:did|have) (?:you|i) (?:learn(?:ed|t)?|study|studied|train(?:ed)?)\b|\byou learn(?:ed|t)? (?:your|the|this|that|it)\b",
     r"\b(?:taught|learn(?:ed|t)?|apprentic\w+|trained|stud(?:y|ied)|schooled|pupil|master|mentor)\b"),
    ("tenure",
     rf"\bhow long (?:have|had|did|has|were|was|are|is it since) (?:you|i)\b|\bhow many {SPAN} (?:have|has|did|were|are) (?:you|i)\b|\bsince when (?:have|do|are|did) (?:you|i)\b|\bwhen did (?:you|i) (?:\w+ )?(?:come|start|begin|arrive|take|open|join|become|move)\b|\b(?:have|are) you (?:been )?(?:here|doing this|at this) (?:for )?(?:a )?long\b|\bare you new here\b",
     rf"\b(?:for|since|these|after|past|last) (?:[^\s.;]++ ){{0,4}}?{SPAN}\b(?! old)|\b{NUMBER} {SPAN}\b(?! (?:old|of age))|\ball my life\b|\bsince (?:I was|my)\b|\b{SPAN} ago\b"),
    ("origin",
     r"\bwhere (?:\w+ )?(?:are|am|were|was|do|did) (?:you|i) (?:\w+ )?(?:from|born|raised|come from|hail from|grow up|grew up|originally)\b|\bwhere (?:you|i)(?:'re|'m| are| am)? (?:\w+ )?(?:from|born|raised|come from|grew up)\b|\bfrom where\b|\b(?:are|am|were|was) (?:you|i) (?:\w+ )?(?:from|born|a local|local|native|a native|a stranger)\b|\b(?:your|my) (?:home ?town|homeland|birthplace|native \w+|country|origins?|roots)\b|\b(?:which|what) (?:town|village|city|country|land|place|part|region) (?:\w+ ){0,3}(?:are|am|do|did|were|was) (?:you|i)\b|\b(?:which|what) (?:town|village|city|country|land|place) (?:\w+ )?(?:you|i)(?:'m| am)? (?:come|came|from|live|was)\b|\bmy (?:town|village|city)\b|\bhow did (?:you|i) (?:come|end up|get|land)(?: \w+)? here\b|\bwhat brought you here\b",
     r"\b(?:born|raised|grew up|(?:come|came|hail|hailed) (?:all the way )?(?:from|here)|came (?:to|up|down|over)|home ?town|homeland|native|childhood)\b|\bfrom (?:the )?(?:(?-i:[A-ZÀ-Þ])|far|across|over|north|south|east|west)"),
    ("home",
     r"\bwhere (?:do|did) (?:you|i) (?:live|sleep|stay|dwell|lodge)\b|\bwhere(?:'s| is) (?:your|my) (?:home|house|bed|room|place)\b|\bwhere(?:'s| is) home\b|\b(?:do|did) (?:you|i) live\b|\bwhere (?:you|i) (?:live|sleep|stay)\b|\b(?:your|my) (?:own )?house\b",
     r"\b(?:live|dwell|lodge|sleep|my (?:\w+ )?(?:home|house|hut|cottage|room|cabin|bed))\b"),
    ("spouse",
     rf"\b(?:are|were|am|was) (?:you|i) (?:\w+ )?(?:married|single|wed|engaged|widowed|in love|spoken for|a widow)\b|\b(?:have|your|my|got|there|any) (?:\w+ )?(?:{SPOUSE})\b|\bdid you (?:\w+ )?marry\b|\b(?:have you )?(?:ever )?been in love\b",
     rf"\bmy (?:\w+ )?(?:{SPOUSE})\b|\bI (?:am|was|have been|got|never) (?:\w+ )?(?:married|wed|widowed|engaged|betrothed|a widow)|\b(?:an?|one|two|three|no|first|second) (?:husband|wife|widow|widower)s?\b"),
    ("children",
     rf"\b(?:have|has|any|your|my|got|raise|of) (?:\w+ )?(?:{CHILD})\b|\b(?:are|am) (?:you|i) an? (?:mother|father|parent)\b",
     rf"\b(?:my|have|had|an?|one|two|three|four|five|six|seven|only|no|raised?) (?:\w+ )?(?:{CHILD}|boys?|girls?)\b"),
    ("siblings",
     rf"\b(?:have|any|your|my|got) (?:\w+ )?(?:{SIBLING}|sisters?)\b",
     rf"\b(?:{SIBLING})\b"),
    ("parents", rf"\b(?:your|my) (?:{PARENT})\b", rf"\b(?:{PARENT})\b"),
    ("family",
     rf"\b(?:have|any|your|my|got|mention) (?:\w+ )?(?:{KIN})\b",
     rf"\b(?:{KIN}|{SIBLING}|{PARENT}|{SPOUSE}|{CHILD})\b"),
    ("friends",
     r"\b(?:have|any|your|my|got) (?:\w+ )?friends?\b|\bwho(?:m)? do you (?:trust|know|like|talk to)\b|\bwho (?:are|is) you close to\b|\bdo you know (?:anyone|anybody|many people)\b",
     r"\b(?:friends?|trust|neighbours?)\b|\bI (?:\w+ )?know (?-i:[A-ZÀ-Þ])"),
    ("fears",
     r"\b(?:are|am|were) (?:you|i) (?:\w+ )?(?:afraid|scared|frightened|terrified)\b|\b(?:frightens|scares|terrifies|worries) (?:you|me)\b|\bwhat (?:do|did) (?:you|i) (?:\w+ )?(?:fear|dread)\b|\b(?:your|my) (?:\w+ )?fears?\b|\bwhat i(?:'m| am) afraid of\b",
     r"\b(?:afraid|fears?|scared|frighten\w*|terrified|dread|nightmares?)\b"),
    ("dislikes",
     r"\bwhat (?:\w+ )?(?:do|did|can't|don't) (?:you|i) (?:\w+ )*?(?:hate|dislike|detest|loathe|despise|not like|stand|abide|bear|like least)\b|\b(?:annoys|angers|bothers|irritates|upsets|enrages) (?:you|me)\b|\bmakes (?:you|me) (?:angry|mad|cross|furious)\b|\bwhom? (?:do|don't|can't) you (?:\w+ )?(?:distrust|mistrust|not trust|never trust)\b|\bwhom? (?:don't|can't) you trust\b|\bwhat (?:you|i) (?:hate|dislike|can't stand)\b|\bwho do you (?:hate|dislike)\b",
     r"\b(?:hate|dislike|(?:cannot|can't|can not) (?:stand|bear|abide)|loathe|detest|despise|distrust|mistrust|(?:do not|don't|never) trust|resent|no (?:patience|time) (?:for|with)|do not like|don't like)\b"),
    ("food",
     r"\bwhat (?:\w+ )?(?:do|did|would|will) (?:you|i) (?:\w+ )?(?:eat|drink|have for)\b|\b(?:your|my) favou?rite (?:food|drink|dish|meal)\b|\bwhat (?:food|drink|dish|meal)s? (?:do|did|would) (?:you|i)\b|\b(?:do|did|would) (?:you|i) (?:like|love|prefer) to (?:eat|drink)\b|\banything (?:that )?i (?:can't|cannot|don't|won't|never) (?:eat|drink)\b",
     r"\b(?:eat|drink|dine|ale|beer|wine|cider|mead|rum|tea|coffee|milk|stew|soup|fish|bread|cheese|cakes?|meat|pies?|honey|apples?|pears?|plums?|onions?|eggs?|broth|porridge|sausages?|mushrooms?)\b"),
    ("likes",
     r"\bwhat (?:else )?(?:do|did|would) (?:you|i) (?:\w+ )?(?:like|love|enjoy|prefer|fancy)\b|\b(?:your|my) (?:\w+ )?favou?rites?\b|\b(?:your|my) (?:hobb(?:y|ies)|pastimes?|pleasures?|interests?|passions?)\b|\b(?:for|any) (?:fun|hobbies|pleasure|hobby)\b|\b(?:spare|free|idle) (?:time|hours?|days?)\b|\b(?:makes|make) (?:you|me) (?:happy|laugh|smile|glad)\b|\bwhat (?:you|i) (?:like|love|enjoy)\b|\b(?:when|after) (?:you are|you're|the|your) (?:not working|work is done|free|off duty|day's work)\b|\bto (?:relax|amuse yourself|pass the time)\b",
     r"\b(?:(?<!would )like|love|enjoy|fond|favou?rite|adore|prefer|delight|treasure|cherish|play|sing|collect|dance|passion|whittle|read)\b(?! (?:a|an|the|people|if|when)\b)|\b(?<!would )(?:like|love|enjoy|play|prefer)\b"),
    ("looks",
     r"\bwhat do you look like\b|\bwhat are you wearing\b|\bhow tall are you\b|\bdescribe yourself\b|\bcolou?r (?:is|are) (?:your|my) (?:hair|eyes?)\b",
     r"\bmy (?:\w+ )?(?:hair|eyes?|beard|braids?|face|skin|scar)\b|\b(?:tall|bald|bearded|broad)\b"),
    ("wealth",
     r"\bare you (?:\w+ )?(?:rich|poor|wealthy|well off)\b|\bhow much (?:money|gold|coin|do you (?:earn|make))\b.{0,60}?\byou\b|\bdo you (?:earn|make) (?:\w+ )?(?:enough|well|money|much|a good living)\b",
     r"\b(?:rich|poor|wealthy|money|gold|in debt|my debts?|coins?|savings)\b"),
    ("mood",
     r"\bare you (?:\w+ )?(?:lonely|homesick|bored|content|unhappy|miserable|worried|nervous)\b|\b(?:do|don't) you (?:\w+ )?(?:get|feel) (?:\w+ )?(?:lonely|bored|tired|sad|homesick)\b|\bwhat do you miss\b|\bdo you miss\b",
     r"\b(?:lonely|homesick|bored|content|worry|worried|miss)\b"),
    ("calling",
     r"\b(?:do|are|don't) you (?:\w+ )?(?:like|enjoy|love|tired of|proud of|happy (?:with|in)|content with) (?:your|this|the|being|working|living|it here)\b(?: (?:work|job|trade|craft|life|calling|post|here|place|town|village|an?|the)\b)|\b(?:do|don't) you (?:\w+ )?(?:like|enjoy|love) (?:your (?:work|job|trade|craft|life|calling|post)|it here|working|living|being)\b|\bis (?:it|this|that|your work|your trade) (?:\w+ )?(?:hard|good|honest|dangerous|heavy|dull|difficult|lonely) (?:work|life|trade)\b|\b(?:best|worst|hardest|nicest) (?:thing|part|bit|side) (?:about|of|in) (?:your|this|the) (?:work|job|trade|life|craft)\b|\bis (?:your|the) work (?:\w+ )?(?:hard|heavy|dull|dangerous|difficult)\b",
     r"(?!)"),
    ("faith",
     r"\b(?:do|are) you (?:\w+ )?(?:believe|pray|worship|religious|pious|superstitious)\b",
     r"\b(?:believe|pray|prayers?|gods?|faith|worship|saints?|holy)\b"),
    ("work",
     r"\bwhat (?:trade|work|job|profession|craft|business|calling)\b.{0,60}?\b(?:i|you)\b|\bwhat (?:do|does) i (?:do|work)\b(?: as| for)?|\bmy (?:trade|job|profession|craft|work|business|occupation)\b|\bhow do i (?:earn|make)\b",
     r"\bI(?:'m| am) (?:\w+, )?(?:an?|the) (?:[\w-]+ ){0,2}?\w+(?:er|or|smith|man|woman|wright|ist|ian|maid|herd|ant|monk|nun|bard|cook|thief|priest|nurse|guard)\b|\bI (?:mend|make|sell|weave|build|bake|brew|farm|fish|hunt|grow|herd|tend|teach|carve|catch|trade|raise|forge|paint|sew|cut|play|heal|guard|drive|sail|row|tan|dig|mine|haul|run|keep|work|serve|cook)\b|\b(?:work as|my (?:trade|job|craft))\b"),
    ("seeks",
     r"\b(?:what|who|whom) (?:am|was|are|were) (?:i|you) (?:\w+ )?(?:looking for|searching for|seeking|hunting|after|chasing)\b|\bwhat (?:do|did) (?:i|you) (?:\w+ )?(?:want|need|seek)\b|\b(?:what|who) i(?:'m| am) (?:after|looking for)\b|\bwhy (?:am|did|was) i (?:here|come|came)\b|\bwhat am i doing here\b",
     r"\b(?:look(?:ing)? for|search\w*|seek\w*|want|need|after|find|hunt\w*|come (?:for|about|to)|came (?:for|about|to)|here (?:to|for|about))\b"),
    ("lost",
     r"\bwhat (?:\w+ )?(?:did|have|had|am|was) i (?:\w+ )?(?:lose|lost|missing|miss)\b|\bwhat i(?:'m| am|'ve| have)? (?:been )?(?:missing|lost)\b|\bwhat (?:was|got|have they|did they) (?:stolen|taken|steal|take)\b",
     r"\b(?:lost|missing|stolen|stole|misplaced|mislaid|dropped|gone|robbed)\b"),
    ("trouble",
     r"\bwhat(?:'s| is) (?:wrong|the matter) with (?:you|me)\b|\b(?:troubles|worries|bothers|ails) (?:you|me)\b|\b(?:your|my) (?:\w+ )?(?:troubles?|problems?|worry|worries|sorrows?|complaint)\b",
     r"\b(?:hurts?|ache|pain|can't|cannot|trouble\w*|worr\w+|afraid|sick|ill|lost|missing|stolen|robbed|broke\w*|owe|debt|vanished|wounded|fever)\b"),
    ("plans",
     r"\b(?:your|my) plans?\b|\bwhat (?:am|are|was|were) (?:you|i) (?:planning|going to|about to|thinking of|up to|hoping)\b|\bwhat (?:do|did) (?:you|i) (?:plan|intend|mean|hope|want) to do\b",
     r"\b(?:plan|thinking (?:of|about)|going to|want to|hope to|intend|mean to|will|shall|I'll|wish to|looking for)\b"),
    ("pets",
     r"\b(?:your|my|have|any|own) (?:\w+ )?(?:pets?|animals?)\b|\b(?:which|what) (?:kind of )?(?:animal|beast|pet|creature)s?\b|\bthe (?:animal|beast|creature) i\b",
     r"\b(?:dogs?|cats?|horses?|mules?|donkeys?|birds?|parrots?|goats?|cows?|pony|mare|hounds?|ravens?|hens?|kitten|puppy)\b"),
    ("journey",
     r"\bwhere (?:am|was|were) (?:i|we) (?:\w+ )?(?:going|headed|heading|bound|travelling|off to)\b|\b(?:where|what place) (?:do|did|must|should) i (?:\w+ )?(?:need|want|have|mean|wish|plan|hope)? ?(?:to )?(?:go|be|get|travel|reach)\b|\bmy destination\b|\bwhere i(?:'m| am) (?:\w+ )?(?:going|headed|heading|bound)\b",
     r"\b(?:going|heading|headed|bound|travell?\w*|journey\w*|on my way|(?:need|have|must|want|hope|got) (?:to )?(?:be in|be at|reach|get to|go to)|off to|ride to|sail\w* (?:for|to)|walk\w* to)\b"),
)  # fmt: skip
ASPECTS = tuple(Aspect(n, re.compile(a, re.I), re.compile(h, re.I)) for n, a, h in ROWS)


def aspects_of(question: str) -> list[Aspect]:
    """Return the aspects that a question asks for, the most specific first."""
    return [aspect for aspect in ASPECTS if aspect.asks.search(question)]


def fitting_of(
    question: str, items: Iterable[T], text_of: Callable[[T], str], found: Sequence[Aspect]
) -> list[T]:
    """Return the items that answer the first aspect that any item answers.

    Items that share more words with the question come first.
    """
    every, wanted = list(items), set(content(question))
    for aspect in found:
        held = [item for item in every if aspect.holds.search(text_of(item))]
        if held:
            return sorted(held, key=lambda item: -len(wanted & set(content(text_of(item)))))
    return []
