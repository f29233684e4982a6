"""What a sentence tells about its speaker: name, trade, home and more."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re

END = r"(?=\s-\s|\s*+(?:[,.;:!?—]|$|\b(?:and|but|who|which|so|because|though|looking|on my|here|now|these days|with|w|via|today|again)\b))"
# A few words; whole ones, so that long text without an end is read once.
FEW = r"[\w'-]++(?: {1,3}[\w'-]++){0,13}?"
PLACE = FEW.replace("13", "6")
CAPS = r"[A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’-]*"
# Case matters: most of these patterns need a name.
SLOTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("name", re.compile(rf"\b(?:[Mm]y (?:full |real |true )?name(?:'s| is)(?: actually| really)?|(?:[Tt]he |^)[Nn]ame(?:'s| is)"
                        rf"|(?:[Pp]lease |[Jj]ust )?[Cc]all me|I(?:'m| am) (?:called|named|known as)|[Tt]hey call me"
                        rf"|(?:[Ff]olk|[Ff]riends|[Pp]eople|[Ee]veryone) calls? me|I go by)"
                        rf" (?:the name (?:of )?)?(?P<v>{CAPS}(?: (?:of |the |von |van |de |du )?{CAPS}){{0,2}}|[a-z]\w+(?=\W*$))")),
    ("name", re.compile(rf"\bI(?:'m| am) (?P<v>{CAPS}(?: {CAPS}){{0,2}})(?=\s*(?:[,.;!]|$|and\b|from\b|of\b|the\b|by\b|son\b|daughter\b))")),
    ("age", re.compile(r"\bI(?:'m| am) (?P<v>(?:\d{1,3}|[a-z]+(?:-[a-z]+)?))(?= (?:years old|winters|summers)\b)")),
    ("home", re.compile(rf"\b(?:I(?:'m| am| was)|I|I've|I have|,|and)\s?(?: originally)?(?:come|came|hail|travelled|travel|walked|sailed|journeyed)?(?: all the way| here| down| up){{0,3}}"
                        rf" from (?P<v>(?:the (?:town|village|city|isle|island|port) of )?(?:the )?{PLACE}){END}")),
    ("home", re.compile(rf"\b(?:I (?:live|dwell|grew up|was born(?: and raised)?|was raised) (?:in|at|on|near|by)|[Mm]y (?:home|hometown|village|town|home town|homeland) is) (?P<v>{PLACE}){END}")),
    ("home", re.compile(rf"\bI(?:'m| am)\b[^.;!?]{{0,32}}? from (?P<v>(?:the )?{PLACE}){END}")),
    ("trade", re.compile(rf"\bI (?:work|earn my (?:bread|living|keep)|serve|sail|make my living) as (?P<v>an? {FEW}){END}")),
    ("trade", re.compile(r"\b[Mm]y (?:trade|profession|craft|job|work|calling) is (?P<v>[\w' -]+)")),
    ("trade", re.compile(r"\bI(?:'m| am)(?: just| only| but| also| actually| now)? (?P<v>an? (?:[\w'-]+ ){0,3}?[\w'-]+?)(?=\s*(?:[,.;:!?—]|$|\b(?:and|but|who|which|from|by|in|at|of|for|looking|on|here|with|passing|to|come|so|then|myself|too|now)\b))")),
    ("trade", re.compile(r", (?P<v>(?:an?|the) [\w' -]{0,60}?(?:er|or|smith|man|woman|wright|ist|ian|maid|herd|ant|ard|monk|nun|bard|scribe|cook|thief|knight|priest|wife|nurse|guard|spy))(?=[\s,.;!?]|$)(?= from|[,.;!?]|$| by| of| and)")),
    ("does", re.compile(rf"\bI (?P<v>(?:keep|make|sell|weave|mend|build|bake|brew|farm|fish|hunt|grow|herd|tend|teach|carve|catch|trade|raise|forge|paint|sew|cut|play|heal|guard|drive|sail|row|tan|spin|dig|mine|haul|run) (?!you|it|into|on|for\b){FEW}){END}")),
    ("home", re.compile(rf"\bI (?:keep|have|run|own|work|farm|teach|serve|sell|make|build|fish|grow|herd|tend|weave|bake|brew)\b(?: {{1,3}}[\w'-]++){{0,12}}? (?:in|at|near|outside) (?P<v>{CAPS}(?: {CAPS})*)")),
    ("likes", re.compile(r"\b[Mm]y favou?rite (?:\w++ ){0,8}?(?:is|are) (?P<v>[\w' -]+)")),
    ("likes", re.compile(rf"\bI (?:really |do |also |quite |only |always ){{0,3}}(?:like|love|adore|prefer|enjoy|drink|am fond of|can't resist) (?P<v>(?!to see|it|that|you|this|your){FEW}){END}")),
    ("hates", re.compile(rf"\bI (?:really )?(?:hate|dislike|can't stand|cannot stand|can't abide|loathe|detest|don't like|do not like|never drink|never eat) (?P<v>{FEW}){END}")),
    ("fears", re.compile(rf"\bI(?:'m| am) (?:a little |very |so |terribly )?(?:afraid|scared|terrified) of (?P<v>{FEW}){END}")),
    ("quest", re.compile(r"\bI(?:'m| am|'ve been| have been| was|'ve come| came| come| have come)?(?: here)?(?: still| now| really)? ?(?:looking for|searching for|hunting(?: for)?|seeking|seek|in search of|trying to (?:find|reach|get to|learn)|(?:need|want|have|came|come|hope|wish|mean|must|am here|'m here)(?: here)? to|(?:have |'ve )?(?:come|came|am here|'m here) (?:for|about|because of)) (?P<v>[\w'-]++(?: {1,3}[\w'-]++){0,13}?)(?=\s*(?:[,.;:!?—]|$|\bbut\b))")),
    ("quest", re.compile(r"\b[Mm]y (?:quest|task|errand|mission|aim|goal) is (?:to )?(?P<v>[\w' -]+)")),
)  # fmt: skip
NOT_A_NAME = frozenset(
    "I Not So Very Just Here Sorry Sure Glad Fine Well Tired Looking Afraid Back English German French "
    "Spanish Russian Happy Sad Hungry Thirsty Lost Late Ready Done Good Bad Your The From In At Only A An from not"
    .split()
)  # fmt: skip
NOT_A_TRADE = re.compile(
    r"^an? (?:bit|little|lot|few|friend|stranger|fan|man|woman|person|while|fool|guest|traveller here|"
    r"mess|moment|very|long|big fan|newcomer|day|week|month|year|good|bad|better|great|long way|huge)\b"
)
NO_HOME = re.compile(r"^(?:here|there|now|far|you|it|him|her|them|that|this|what|the start|work|away|"
                     r"nowhere|afar|everywhere|time|my|a |an |where|one|under|behind)\b", re.I)  # fmt: skip
QUESTION = re.compile(
    r"^(?:and |but |so |well,? |tell me,? |then |now,? |oh,? |please,? )*(?:who|what|where|when|why|how|"
    r"which|whose|do|does|did|is|are|was|were|can|could|would|will|have|has|may|shall|should|am)\b.*", re.I
)  # fmt: skip
# After "they say" or "I hear", these begin a statement about the speaker, not a question.
YOURS_TOO = re.compile(r"(?:my|i)\b", re.I)
ABOUT_SELF = re.compile(
    r"\b(?:i|my|me|mine|we|our|us|i'm|i've|i'd|i'll|we're|we've|call)\b|^(?:the )?name(?:'s| is)\b",
    re.I,
)


# "I told you my name, what is it", "name my sister".
ASKING_BACK = re.compile(
    r"(?:[,:;-]|\band)\s*(?:so )?(?:what|who|where|which|how|when|why)(?:'s)? (?:is|are|was|were|did|do|does|am|i|my|it|one)\b[^,]*$|"
    r"^(?:name|say|recall|repeat|remind|prove|guess) (?:me |us )?(?:of )?(?:my|what|who|where|which|the name|you)\b",
    re.I,
)
# Introductions such as "may I ask", before the question itself.
LEADING_UP = re.compile(
    r"^(?:(?:so|and|well|but|now|then|please|just|hey|oh|also)\b,? )*(?:"
    r"(?:may|can|could|might) (?:i|we) (?:just )?ask(?: you)?|(?:do you |would you )?mind (?:telling me|if i ask(?: you)?|saying)|"
    r"i (?:was |am |do |keep )?wonder(?:ing|ed)?|i(?:'d| would) (?:like|love) to (?:know|hear)|i want(?:ed)? to (?:know|ask)(?: you)?|"
    r"(?:do you have |have you |got )?any idea|could you tell me|can you tell me|would you (?:happen to )?(?:know|tell me)|"
    r"tell me(?: again| please| honestly)?|let me ask(?: you)?|(?:is it|it's|it is) true(?: that)?|(?:they|people|folk) say(?: that)?|i (?:hear|heard|am told|was told)(?: that)?|"
    r"remind me(?: again)?|quick (?:test|question)|let's see(?: if you (?:\w+ )*)?|prove you \w+|one (?:question|thing)|question)"
    r"[,:]? (?:if |whether )?(?=(?:who|what|where|when|why|how|which|whose|you|your|my|i|is|are|do|does|did|was|were)\b)", re.I
)  # fmt: skip


def plain_question(sentence: str) -> str:
    """Return a question without its introduction.

    "May I ask how old you are" becomes "how old you are?".
    """
    found = LEADING_UP.match(sentence)
    if not found or (YOURS_TOO.match(sentence[found.end() :]) and "?" not in sentence):
        return sentence
    return sentence[found.end() :].rstrip(" .!?") + "?"


def is_question(sentence: str) -> bool:
    """Return True for a sentence that asks and states nothing."""
    asks = sentence.rstrip(' "”').endswith("?") or QUESTION.match(sentence)
    return bool(asks or ASKING_BACK.search(sentence) or plain_question(sentence) != sentence)


def facts_in(sentence: str) -> dict[str, str]:
    """Return the named facts in a sentence, by the names in `SLOTS`."""
    found: dict[str, str] = {}
    text = sentence.replace("’", "'")
    for slot, pattern in SLOTS:
        match = None if slot in found else pattern.search(text)
        if match and (value := match["v"].strip(" '-")) and _fits(slot, value):
            found[slot] = value
    return found


def _fits(slot: str, value: str) -> bool:
    if slot == "name":
        return value.split(maxsplit=1)[0] not in NOT_A_NAME
    if slot == "trade":
        return not NOT_A_TRADE.match(value)
    if slot == "home":
        return not NO_HOME.match(value) and len(value.split()) <= 6
    return len(value.split()) <= 14
