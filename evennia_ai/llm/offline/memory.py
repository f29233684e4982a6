"""What each speaker told: facts with a name, and every statement; the latest word counts.

It is read anew from each request's messages, so it holds nothing the prompt's audience may not know.
"""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evennia_ai.llm.offline.history import Said
from evennia_ai.llm.offline.words import plain_spelling, sentences, with_article

END = r"(?=\s*(?:[,.;:!?—]|$|\s-\s|\b(?:and|but|who|which|so|because|though|looking|on my|here|now|these days)\b))"
CAPS = r"[A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’-]*"
# Upper case is meant: most of these need a name.
SLOTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("name", re.compile(rf"\b(?:[Mm]y (?:full |real |true )?name(?:'s| is)(?: actually| really)?|[Tt]he name(?:'s| is)"
                        rf"|(?:[Pp]lease |[Jj]ust )?[Cc]all me|I(?:'m| am) (?:called|named|known as)|[Tt]hey call me"
                        rf"|(?:[Ff]olk|[Ff]riends|[Pp]eople|[Ee]veryone) calls? me|I go by)"
                        rf" (?:the name (?:of )?)?(?P<v>{CAPS}(?: (?:of |the |von |van |de |du )?{CAPS}){{0,2}}|[a-z]\w+(?=\W*$))")),
    ("name", re.compile(rf"\bI(?:'m| am) (?P<v>{CAPS}(?: {CAPS}){{0,2}})(?=\s*(?:[,.;!]|$|and\b|from\b|of\b|the\b|by\b|son\b|daughter\b))")),
    ("age", re.compile(r"\bI(?:'m| am) (?P<v>(?:\d{1,3}|[a-z]+(?:-[a-z]+)?))(?= (?:years old|winters|summers)\b)")),
    ("home", re.compile(rf"\b(?:I(?:'m| am| was)|I|I've|I have|,|and)\s?(?: originally)?(?:come|came|hail|travelled|travel|walked|sailed|journeyed)?(?: all the way| here| down| up)*"
                        rf" from (?P<v>(?:the (?:town|village|city|isle|island|port) of )?(?:the )?\w[\w' -]*?){END}")),
    ("home", re.compile(rf"\b(?:I (?:live|dwell|grew up|was born(?: and raised)?|was raised) (?:in|at|on|near|by)|[Mm]y (?:home|hometown|village|town|home town|homeland) is) (?P<v>\w[\w' -]*?){END}")),
    ("home", re.compile(rf"\bI(?:'m| am)\b[^.;!?]{{0,60}}? from (?P<v>(?:the )?\w[\w' -]*?){END}")),
    ("trade", re.compile(rf"\bI (?:work|earn my (?:bread|living|keep)|serve|sail|make my living) as (?P<v>an? [\w' -]+?){END}")),
    ("trade", re.compile(r"\b[Mm]y (?:trade|profession|craft|job|work|calling) is (?P<v>[\w' -]+)")),
    ("trade", re.compile(r"\bI(?:'m| am| was| used to be)(?: just| only| but| also| actually| now)? (?P<v>an? (?:[\w'-]+ ){0,3}?[\w'-]+?)(?=\s*(?:[,.;:!?—]|$|\b(?:and|but|who|which|from|by|in|at|of|for|looking|on|here|with|passing|to|come|so|then|myself|too|now)\b))")),
    ("trade", re.compile(rf"(?:{CAPS},|,) (?P<v>(?:an?|the) [\w' -]*?(?:er|or|smith|man|woman|wright|ist|ian|maid|herd|ant|ard|monk|nun|bard|scribe|cook|thief|knight|priest|wife|nurse|guard|spy))(?=[\s,.;!?]|$)(?= from|[,.;!?]|$| by| of| and)")),
    ("does", re.compile(rf"\bI (?P<v>(?:keep|make|sell|weave|mend|build|bake|brew|farm|fish|hunt|grow|herd|tend|teach|carve|catch|trade|raise|forge|paint|sew|cut|play|heal|guard|drive|sail|row|tan|spin|dig|mine|haul|run) (?!you|it|into|on|for\b)[\w' -]+?){END}")),
    ("home", re.compile(rf"\bI (?:keep|have|run|own|work|farm|teach|serve|sell|make|build|fish|grow|herd|tend|weave|bake|brew)\b[\w' -]*? (?:in|at|near|outside) (?P<v>{CAPS}(?: {CAPS})*)")),
    ("likes", re.compile(r"\b[Mm]y favou?rite (?:[\w ]+? )?(?:is|are) (?P<v>[\w' -]+)")),
    ("likes", re.compile(rf"\bI (?:really |do |also |quite |only |always )*(?:like|love|adore|prefer|enjoy|drink|am fond of|can't resist) (?P<v>(?!to see|it|that|you|this|your)[\w' -]+?){END}")),
    ("hates", re.compile(rf"\bI (?:really )?(?:hate|dislike|can't stand|cannot stand|can't abide|loathe|detest|don't like|do not like|never drink|never eat) (?P<v>[\w' -]+?){END}")),
    ("fears", re.compile(rf"\bI(?:'m| am) (?:a little |very |so |terribly )?(?:afraid|scared|terrified) of (?P<v>[\w' -]+?){END}")),
    ("quest", re.compile(r"\bI(?:'m| am|'ve been| have been| was|'ve come| came| come| have come)?(?: here)?(?: still| now| really)? ?(?:looking for|searching for|hunting(?: for)?|seeking|seek|in search of|trying to (?:find|reach|get to|learn)|(?:need|want|have|came|come|hope|wish|mean|must|am here|'m here)(?: here)? to|(?:have |'ve )?(?:come|came|am here|'m here) (?:for|about|because of)) (?P<v>[\w' -]+?)(?=\s*(?:[,.;:!?—]|$|\bbut\b))")),
    ("quest", re.compile(r"\b[Mm]y (?:quest|task|errand|mission|aim|goal) is (?:to )?(?P<v>[\w' -]+)")),
)  # fmt: skip
IMPERATIVE = re.compile(
    r"^(?:(?:please|now|then|and|so|well|oh|just|kindly|hey)[, ]+)*(?:go|give|fetch|bring|tell|show|take|get|hand|"
    r"pour|come|look|wave|follow|let|ask|say|repeat|remember (?:me|to)|wait|stop|help|pass|serve|drop|put|sing|"
    r"dance|bow|ignore|forget|make|kill|steal|remind|describe|explain|find|check|listen|hello|hi|good)\b", re.I
)  # fmt: skip
NOT_A_NAME = frozenset(
    "I Not So Very Just Here Sorry Sure Glad Fine Well Tired Looking Afraid Back English German French "
    "Spanish Russian Happy Sad Hungry Thirsty Lost Late Ready Done Good Bad Your The From In At Only A An"
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
ABOUT_SELF = re.compile(r"\b(?:i|my|me|mine|we|our|us|i'm|i've|i'd|i'll|we're|we've|call)\b", re.I)
CORRECTION = re.compile(
    r"^(?:(?:no|sorry|wait|oh|ah|hm|well|actually|correction|forgive me|pardon|my mistake|i misspoke|"
    r"scratch that|i was wrong|i lied|to be honest)\b[,.;:!—\s-]*)+|\b(?:i meant|i mean|actually|rather|instead)\b",
    re.I,
)  # fmt: skip
BARE_NO = re.compile(
    r"^(?:yes|no|nothing|none|hello|hi|why|maybe|perhaps|never|thanks?|ok|okay|well)\b", re.I
)
ANSWERS = (
    (re.compile(r"\b(?:come from|your home)\b", re.I), "I come from {}."),
    (re.compile(r"\b(?:your trade|for a living)\b", re.I), "My trade is {}."),
    (re.compile(r"\b(?:your name)\b", re.I), "My name is {}."),
    (re.compile(r"\bbrings you\b", re.I), "What brings me is {}."),
)
NOT_THIS = re.compile(
    r"\b(?P<new>[\w'-]+(?: [\w'-]+){0,3}?),? (?:and )?not (?:the |an? )?(?P<old>[\w'-]+(?: [\w'-]+)?)",
    re.I,
)
NEGATED = re.compile(r",? not \w|\bmake (?:it|that)\b", re.I)
APOLOGY = re.compile(
    r"\b(?:no|sorry|wait|oh|ah|hm|well|pardon|correction|my mistake)\b[,.!;: ]*", re.I
)
NOT_FIRST = re.compile(
    r"\bnot (?:the |an? )?(?P<old>[\w'-]+(?: [\w'-]+)?),? (?:but|it's|it is|rather) (?P<new>[\w' -]+)",
    re.I,
)
MEANT = re.compile(
    r"\b(?:i meant(?: to say)?|i mean|make that|make it|it's|it is|actually|i should say)[,:]? (?P<new>[\w' -]+?)[.!]*$",
    re.I,
)
NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty hundred thousand dozen"
)
NUMBER = re.compile(rf"\b(?:\d[\d.,]*|(?:{'|'.join(NUMBERS.split())})(?:-[a-z]+)?)\b", re.I)
NAMED = re.compile(rf"(?<!^)(?<![.!?] )\b(?!I\b){CAPS}(?: {CAPS})*")

LEANING = re.compile(
    r"\b(?:he|she|it|they|him|his|her|hers|its|their|them|that|this|there|we)\b", re.I
)
BARE = re.compile(rf"^(?:{NUMBER.pattern}|{CAPS})[.!]*$", re.I)


@dataclass(frozen=True)
class Statement:
    """One sentence of a speaker's; ``order`` counts up, ``line`` is the heard line it stood in.

    ``kind`` is told, asked (a question, a wish, an order), did (a gift) or came (an arrival); ``context`` is
    what the speaker had told before it, where the sentence leans on that ("He has one ear.").
    """

    speaker: str
    text: str
    order: int
    line: int = 0
    kind: str = "told"
    context: str = ""


@dataclass
class Memory:
    """Everything told in the conversation, by speaker."""

    statements: list[Statement] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)
    mended: dict[str, str] = field(default_factory=dict)

    def of(self, speaker: str) -> dict[str, str]:
        """The named facts a speaker told."""
        return self.facts.get(speaker, {})

    def told_by(self, speaker: str, *kinds: str) -> list[Statement]:
        """A speaker's statements of these kinds, of what was told where none is named."""
        wanted = kinds or ("told",)
        return [i for i in self.statements if i.speaker == speaker and i.kind in wanted]

    def add(self, speaker: str, text: str, line: int, kind: str = "told") -> None:
        """Add a statement at the end."""
        before = self.told_by(speaker)[-1:] if LEANING.search(text) else []
        context = f"{before[0].text} {before[0].context}"[:200] if before else ""
        order = len(self.statements)
        self.statements.append(Statement(speaker, text, order, line, kind, context))


def read_memory(heard: Sequence[Said]) -> Memory:
    """Read what was told out of what was heard, in its order."""
    memory = Memory()
    for number, said in enumerate(heard):
        if said.kind in {"say", "whisper"}:
            for sentence in sentences(plain_spelling(said.text)):
                remember(memory, said.speaker, completed(sentence, said.after), number)
        elif said.kind == "give":
            memory.add(said.speaker, f"I gave you {with_article(said.text)}.", number, "did")
        elif said.kind == "arrives":
            memory.add(said.speaker, "I came in.", number, "came")
    return memory


def completed(sentence: str, after: str) -> str:
    """A bare answer to the character's own question as a whole sentence: "Karlholm." → "I come
    from Karlholm."."""
    words_in = sentence.rstrip(".!").split()
    if not after.rstrip().endswith("?") or not 0 < len(words_in) <= 5 or "?" in sentence:
        return sentence
    if ABOUT_SELF.search(sentence) or BARE_NO.match(sentence):
        return sentence
    bare = re.sub(r"^(?:from|in|to|as|for) ", "", " ".join(words_in), flags=re.I)
    for asked, form in ANSWERS:
        if asked.search(after.rsplit(". ", 1)[-1]):
            return form.format(bare)
    return sentence


def remember(memory: Memory, speaker: str, sentence: str, line: int) -> None:
    """Add one sentence of a speaker: as told where it states something, else as asked."""
    corrects = CORRECTION.search(sentence) or NEGATED.search(sentence)
    if corrects and not is_question(sentence) and _correct(memory, speaker, sentence):
        return
    text = CORRECTION.sub("", sentence).strip(" ,") if CORRECTION.match(sentence) else sentence
    facts = {} if is_question(sentence) else facts_in(text)
    asks = is_question(sentence) or (IMPERATIVE.match(sentence) and not facts)
    memory.add(speaker, text or sentence, line, "asked" if asks else "told")
    if facts and ABOUT_SELF.search(sentence):
        memory.facts.setdefault(speaker, {}).update(facts)


def is_question(sentence: str) -> bool:
    """True for what asks and tells nothing."""
    return sentence.rstrip(' "”').endswith("?") or bool(QUESTION.match(sentence))


def facts_in(sentence: str) -> dict[str, str]:
    """The named facts in one sentence: name, trade, home, age, likes, hates, fears, quest."""
    found: dict[str, str] = {}
    text = sentence.replace("’", "'")
    for slot, pattern in SLOTS:
        match = None if slot in found else pattern.search(text)
        if match and (value := match["v"].strip(" '-")) and _fits(slot, value):
            found[slot] = value
    return found


def _fits(slot: str, value: str) -> bool:
    if slot == "name":
        return value.split(maxsplit=1)[0] not in NOT_A_NAME and value.split(maxsplit=1)[0] not in {
            "from",
            "not",
        }
    if slot == "trade":
        return not NOT_A_TRADE.match(value)
    if slot == "home":
        return not NO_HOME.match(value) and len(value.split()) <= 6
    return len(value.split()) <= 14


def _correct(memory: Memory, speaker: str, sentence: str) -> bool:
    """Put a correction into the statement it mends, as the newest; False where none fits."""
    earlier = memory.told_by(speaker)[::-1][:12]
    plain = APOLOGY.sub("", sentence)
    pair = NOT_FIRST.search(plain) or NOT_THIS.search(plain)
    if pair:
        old = pair["old"]
        for statement in earlier:
            if re.search(rf"\b{re.escape(old)}\b", statement.text, re.I):
                new = _same_kind(pair["new"], old)
                memory.mended[sentence] = _replace(memory, speaker, statement, old, new)
                return True
    if facts_in(CORRECTION.sub("", sentence).strip(" ,")):
        return False
    meant = MEANT.search(plain)
    bare = plain.strip(" ,.!")
    short = len(bare.split()) <= 4 and plain != sentence and not ABOUT_SELF.search(bare)
    new = meant["new"] if meant else bare if BARE.match(bare) or short else ""
    mended = _mend(memory, speaker, earlier, new) if new and earlier else ""
    if mended:
        memory.mended[sentence] = mended
    return bool(mended)


def _same_kind(new: str, old: str) -> str:
    """The part of a correction that stands for the old word: a number for a number."""
    if NUMBER.fullmatch(old) and (number := NUMBER.search(new)):
        return number[0]
    return _last_words(new)


def _last_words(text: str) -> str:
    """As in "it is the Heron" → "Heron", what stands for the old word."""
    text = re.sub(
        r"^.*\b(?:is|it's|was|are|be|meant|mean|say|in|from|at|have|a|an|the)\s+",
        "",
        text,
        flags=re.I,
    )
    return text.strip()


def _mend(memory: Memory, speaker: str, earlier: list[Statement], new: str) -> str:
    """Put a new number or name where the statement had one; returns the mended text."""
    for pattern in (NUMBER, NAMED):
        better = pattern.search("x " + new.strip(" '"))
        if not better:
            continue
        for statement in earlier[:4]:
            found = [match[0] for match in pattern.finditer(statement.text)]
            if found:
                return _replace(memory, speaker, statement, found[-1], better[0])
    return ""


def _replace(memory: Memory, speaker: str, statement: Statement, old: str, new: str) -> str:
    text = re.sub(rf"\b{re.escape(old)}\b", lambda _: new, statement.text, flags=re.I)
    memory.statements.remove(statement)
    memory.statements.append(replace(statement, text=text))
    facts = memory.facts.setdefault(speaker, {})
    for slot, value in facts.items():
        facts[slot] = re.sub(rf"\b{re.escape(old)}\b", lambda _: new, value, flags=re.I)
    return text
