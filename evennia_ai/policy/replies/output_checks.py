"""Whether words may be spoken: calls, labels, tags, code, reasoning and quoted rules may not (P13).

Callers first take the calls out of a reply (`text_tool_calls`); what still looks like one is an
artefact.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.messages import MARK
from evennia_ai.policy.context.situation_updates import REMEMBERED
from evennia_ai.policy.conversation.ai_disclosure import denies, unknown
from evennia_ai.policy.facts.terms import Cosines, parse_heard_line
from evennia_ai.policy.replies.speech import THOUGHT, assistant_margin, describes_assistant, is_ai
from evennia_ai.policy.sanitize import own_label, without_links
from evennia_ai.policy.texts import one_of, plain_words, sentences

NOTHING = re.compile(r"(?!)")
LINE = r"(?:\A|\n|[.!?…\"”*)]\s{1,3})[\s>#*_\[(-]{0,6}+"  # where a line or a sentence begins
# Tags of ours and of chat templates, special tokens, headings, links. "vec<int>" is no tag.
MARKUP = re.compile(
    r"(?:(?<!\w)<|<(?=\s?[/!]))\s?[/!]?\s?[A-Za-z_][\w:=.-]{0,40}(?:\s[^<>\n]{0,80})?/?>"
    r"|<\s?/?\s?(?:situation|summary|you|think|thinking|tool_call|function|persona|parameter)\b"
    r"|<[|｜](?=\w)|(?<=\w)[|｜]>|<</?SYS>>|\[/?(?:INST|SYS|TOOL_?[A-Z]*|ARGS|CALL_ID|AVAILABLE_TOOLS)\]"
    r"|\[(?:CONTEXT SUMMARY|TOOL OUTPUT)|(?m:^#{1,6}\s)|\bhttps?://|\]\(http"
    r"|&(?:quot|amp|lt|gt|nbsp|#\d{1,5});"
)
VALUE = r"(?:[\"'“{\[(\d-]|[tT]rue\b|[fF]alse\b|null\b|None\b)"
# Pieces of JSON and of schemas, placeholders; also with the "(" that models write for "{".
DATA = re.compile(
    rf"(?:\A|[{{(\[,\n])\s{{0,9}}[\"'“][A-Za-z_]\w{{0,40}}[\"'”]\s?:\s{{0,9}}{VALUE}"
    r"|\{\s{0,9}[\"']?\w{1,40}[\"']?\s{0,3}:|\{\{|\}\}|\{\"(?!\s)|[\"\]}]\s{0,3}\}|\[\s{0,3}\{|(?<![\w.])\}\s{0,3}\]"
    r"|\(\(\s?\"|\"\s?\)\)|\[\"|\"\]|\{\s{0,3}\}|\A\s*\{[^{}]*\}\s*\Z"
    r"|\A\W*(?:null|undefined|NaN|string|n/a)\W*\Z|\Anone\Z|\\n(?![a-z])|\\\"|\\u[0-9a-f]{4}"
    r"|[{(](?:name|player|user|character|char|persona|target|speaker)[})]"
    r"|\A[^(]*\"\s?\)+\Z|\A(?=[^{(\[]*[{(\[])(?=[^})\]]*[})\]])[\s{}()\[\]\"',:]+\Z"
    r"|\bname\s?:\s?\w{1,40}\s{1,9}(?:arguments|parameters|args)\s?:"
    r"|\[(?i:insert|your|player|character|user|name)\b[^\]\n]{0,40}\]"
    r"|[\[(](?i:end)(?: of (?:response|reply|turn|message|scene))?[\])]"
)
CODE = re.compile(
    r"```|~~~|\"{3}|(?<!\w)`[^`\n]{1,80}`(?!\w)|(?m:^(?:def|import|from|class) \w.*[:\w]$)"
)
CALL = re.compile(
    r"\b[A-Za-z_]\w{0,40}\((?:\)|[\"'“{\[(]|\w{1,40}\s?=)"
    r"|(?m:^\s{0,9}+(?:arguments|parameters|args|function|tool|tool_name|action_input)\s?:)"
)
SPEAKERS = (
    "assistant assistante user human ai bot chatbot model developer npc system système sistema "
    "benutzer nutzer assistent utilisateur usuario asistente instructions prompt persona"
).split()
HEADINGS = (
    "say says whisper whispers emote emotes response reply answer output action act thought "
    "thoughts observation speech dialogue narrator antwort réponse respuesta result summary task "
    "situation call target text ooc speaker role dialog message content player character"
).split()
# Labels of a transcript, of a reasoning format, and of our description of the situation.
ROLE = re.compile(
    rf"{LINE}{one_of('|'.join(SPEAKERS) + '|system (?:prompt|message)|tool (?:result|output)')}"
    r"\s?(?:\(\w{1,20}\))?[*_\])]{0,3}\s?:"
    rf"|\A[\s>#*_\[(]{{0,6}}+(?:final )?{one_of('|'.join(HEADINGS))}[*_\])]{{0,3}}\s?:"
    r"|(?m:^\s{0,9}+(?:you see|people here|things here|exits|you carry|not answered yet|place)\s?:)"
    r"|(?-i:\A(?:assistant|user|system|say|whisper|emote)\s+(?=[A-Z\"“]))|[(\[]note\s?:",
    re.IGNORECASE,
)
SPEECH = r"(?:says?|asks?|whispers?|replies|answers|sagt|flüstert|dit|murmure|dice)"
NAME = r"[A-ZÀ-ÞА-ЯЁ][\w'’-]{0,30}(?: [A-ZÀ-ÞА-ЯЁ][\w'’-]{0,30}){0,2}"
SNAKE = re.compile(r"(?<![\w'’-])[a-z]{2,}(?:_[a-z]{2,})+(?![\w\[-])")
MOST_CHARS = 8_000  # that are read: more than any line has
ROW_BEGINS = (f"{REMEMBERED},", f"{REMEMBERED}:")  # of a prompt's rows of memories
MOST_TOOLS = 5  # named in a row, or fewer with one that is no English word


@dataclass(frozen=True)
class CheckContext:
    """What a reply is judged against."""

    name: str  # the name of the character
    rules: str = ""  # the part of the instructions that is the same for all characters
    persona: str = ""  # the character's own part, in the second person
    tools: Collection[str] = ()  # the names of the offered tools
    people: Collection[str] = ()  # the names of those present
    heard: Sequence[str] = ()  # the lines that are answered, with or without "Ann says: "
    link_hosts: Collection[str] = ()  # the hosts whose addresses may be said
    cosines: Cosines = unknown  # how near texts are in meaning

    @property
    def heard_words(self) -> list[str]:
        """The lines that are answered, without who said them."""
        return [parse_heard_line(line, "")[1] for line in self.heard]


def find_artefact(words: str, around: CheckContext) -> str:
    """Return why words may not be spoken, "" if they may.

    The reason completes the sentence "Your last reply was not spoken: ...". Leading words such as
    "Mira says:" are allowed for the character itself, since `sanitize.spoken_words` removes them.
    """
    words = own_label(around.name).sub("", words.strip()[:MOST_CHARS])
    return problem_of_form(words, around) or problem_of_speech(words, around)


def find_slip(words: str, around: CheckContext) -> str:
    """Return why words that are no artefact are not the character's to say, "" if they are."""
    if denies(words, around.heard_words, around.cosines):
        return "a machine speaks for you: never deny that"
    margins = (assistant_margin(part.strip(), around.cosines) for part in sentences(words))
    is_sure = any(is_sure for _margin, is_sure in margins) and not is_ai(around.persona)
    return ASSISTANT if is_sure else ""


@lru_cache(maxsize=256)
def label_of(names: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a label before a line of one of these people, or of a chat's roles.

    Its group ``name`` holds them; ``new`` is anybody else on a line of their own.
    """
    known = "|".join(map(re.escape, sorted(filter(None, names), key=len, reverse=True)))
    known = f"|{known}" if known else ""
    speaks = rf"(?: {SPEECH}(?: to \w+)?)"
    return re.compile(
        rf"{LINE}(?P<name>(?i:{'|'.join(SPEAKERS)}){known})[*_\])]{{0,3}}{speaks}?\s?:"
        rf"|\n[ \t]{{0,9}}[*_\[(]{{0,3}}(?P<new>{NAME})[*_\])]{{0,3}}"
        rf"(?:{speaks}\s?:|\s?:(?=\s?[A-Z\"“]))"
        rf"|{LINE}(?P<far>{NAME}) whispers to (?:you|\w+):"
    )


@lru_cache(maxsize=64)
def tool_listing(tools: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a list of tools, or of one tool's line: ``look: "the fire"``."""
    known = "|".join(re.escape(tool) for tool in sorted(tools, key=len, reverse=True) if tool)
    if not known:
        return NOTHING
    row = rf"(?<!\w)(?:{known})(?!\w)"
    joined = rf"{row}(?:\W{{1,6}}(?:and |or |und |oder )?{row})"
    strange = "|".join(re.escape(tool) for tool in tools if "_" in tool or tool in STRANGE)
    odd = rf"|(?<!\w)(?:{strange})(?!\w)" if strange else ""
    return re.compile(
        rf"{joined}{{{MOST_TOOLS - 1},}}"
        rf"|(?:\n|\A)[^\S\n]{{0,20}}(?:[-*•\d.]{{1,3}} {row}(?:\s?[:(]| [–-] )"
        rf"|{row}\s?[:\"“]){odd}"
    )


STRANGE = frozenset({"noop", "emote"})  # no character says these words


def names_tools(words: str, around: CheckContext) -> bool:
    """Return True if the words list tools, or hold a name such as ``add_journal_entry``."""
    if tool_listing(frozenset(around.tools)).search(words):
        return True
    shown_text = " ".join((*around.people, around.persona, *around.heard))
    return any(name not in shown_text for name in SNAKE.findall(words))


def holds_new(pattern: re.Pattern[str], words: str, around: CheckContext) -> bool:
    """Return True if the words match a pattern with a piece that nobody present has just said."""
    # A character may answer somebody who asks what ``<b>`` means.
    new_match = pattern.search(words)
    if not new_match or not around.heard:
        return new_match is not None
    known_text = "\n".join(around.heard)
    return any(match[0].strip() not in known_text for match in pattern.finditer(words))


ECHO = "it only repeated what was said to you"
FOR_OTHERS = "it held lines for others; give only your own words"
ASSISTANT = "it was the voice of an AI assistant, not your character's"


def problem_of_form(words: str, around: CheckContext) -> str:
    """Return why words do not look like words of one person, "" if they do."""
    if MARK in words:
        return "it told an event; give only your own words"
    if holds_new(CODE, words, around):
        return "it held code or a code fence, not words"
    if holds_new(MARKUP, without_links(words, around.link_hosts), around):
        return "it held tags or other markup, not words"
    if holds_new(DATA, words, around):
        return "it was JSON, not words"
    if holds_new(CALL, words, around):
        return "it was a function call, not words"
    if names_tools(words, around):
        return "it named tools, which nobody in the story knows"
    if ROLE.search(words):
        return "it held a label before the words"
    speakers = frozenset((around.name, *around.people))
    return FOR_OTHERS if label_of(speakers).search(words) else ""


def problem_of_speech(text: str, around: CheckContext) -> str:
    """Return why words are none of the character's own, "" if they are."""
    words = plain_words(text)
    if THOUGHT.search(text.replace("’", "'")):
        return "it told what you think about the task"
    if describes_assistant(text, around.persona):
        return ASSISTANT
    if is_loop(text, words):
        return "it said the same again and again"
    quotes = quotes_rules(words, around.rules) or text.startswith(ROW_BEGINS)
    if quotes or quotes_persona(words, around.persona, around.name):
        return "it quoted your instructions"
    return ECHO if is_echo(text, around.heard, (around.name,)) else ""


FEW_WORDS = 4  # a shorter line, such as "Aye.", may be said again
LATEST = 2  # but not within this many lines
LIKE, LIKE_IF_SHORT = 0.85, 0.9  # "A mug of ale/cider costs a penny" are two lines
SHORT = 10
MOST_OF = 0.5  # a line within a longer one is a repeat if it makes up this much of it
EXAMPLE = re.compile(r'"[^"\n]*"')  # in the rules, of what may be said
RULE_RUN = 6  # words in a row that only somebody says who quotes the rules
PERSONA_RUN = 6  # the same with "you": who speaks of themselves says "I"
SECOND_PERSON = frozenset(
    "you you're you've you'll your yours yourself du dein deine deinen deinem deiner dich dir ihr "
    "euch euer tu te ton ta tes toi vous votre vos tú usted eres".split()
)
ANSWERS = SECOND_PERSON | frozenset(  # words that turn a line into an answer to it
    "yes no not never nothing isn't don't ja nein nicht nie kein keine oui non pas jamais sí nunca "
    "i i'm my me mine we our us are am is ich mein meine meinen meiner mir mich bist bin je j'ai "
    "mon ma mes moi suis yo mi soy".split()
)
# What a persona knows, wants and might say may be said word for word.
MAY_BE_SAID = re.compile(r"^(?:You know|You want|Things you might say):\n(?:- .*(?:\n|\Z))+", re.M)
NEUTRAL = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are",
    "was": "were", "i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll",
}  # fmt: skip
ASKED_WORDS = 4
ECHO_WORDS = 5  # a shorter line may be returned: "Good evening to you!"
NEAR_ECHO_WORDS, NEAR_ECHO = 8, 0.88
MOST_MORE = 3  # words beside the line in "I know you are late"
OWN_WORDS = frozenset("not never no don't too also yourself nicht auch selbst pas aussi".split())
GRAM, MOST_SAME = 4, 5
SAME_PIECE = re.compile(r"(\S{1,8}?)\1{24}")
BLANK = re.compile(r"[ \t]{40}|(?:[ \t]{0,39}\n){6}")


def overlap(words: Sequence[str], others: Sequence[str]) -> float:
    """Return the share of common words, from 0 to 1 (Sørensen–Dice over multisets)."""
    if not words or not others:
        return 0.0
    common = (Counter(words) & Counter(others)).total()
    return 2 * common / (len(words) + len(others))


def difference(words: Sequence[str], others: Sequence[str]) -> set[str]:
    """Return the words that only one of two lines has, or has more often."""
    first, second = Counter(words), Counter(others)
    return set((first - second) + (second - first))


def find_repeat(words: str, earlier: Sequence[str]) -> str:
    """Return the latest earlier line that ``words`` repeats, "" if none; oldest line first."""
    words_spoken = plain_words(words)
    if not words_spoken:
        return ""
    for age, line in enumerate(reversed(earlier)):
        if is_repeat(words_spoken, plain_words(line), age):
            return line
    return ""


def is_repeat(words: Sequence[str], before: Sequence[str], age: int) -> bool:
    """Return True if words repeat those of a line; ``age`` is 0 for the latest line."""
    if min(len(words), len(before)) < FEW_WORDS:
        return words == before and age < LATEST
    if words == before or is_most_of(words, before) or is_most_of(before, words):
        return True
    short = min(len(words), len(before)) < SHORT
    if overlap(words, before) < (LIKE_IF_SHORT if short else LIKE):
        return False
    return not any(word.isdigit() for word in difference(words, before))


def is_most_of(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return True if ``part`` stands in ``whole`` and makes up most of it."""
    is_long = len(whole) * MOST_OF <= len(part) < len(whole)
    return is_long and f" {' '.join(part)} " in f" {' '.join(whole)} "


@lru_cache(maxsize=64)
def runs(text: str, length: int) -> frozenset[tuple[str, ...]]:
    words = plain_words(text)
    return frozenset(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def quotes_rules(words: Sequence[str], rules: str) -> bool:
    """Return True if `RULE_RUN` words in a row stand in the rules, outside of quotation marks."""
    known = runs(EXAMPLE.sub(" ", rules), RULE_RUN)
    return any(tuple(words[at : at + RULE_RUN]) in known for at in range(len(words)))


def quotes_persona(words: Sequence[str], persona: str, name: str) -> bool:
    """Return True for "You are Brannoc", or a long run with "you" that stands in the persona."""
    # What it tells of the character may be said: "I have outlived two mayors".
    padded, own = f" {' '.join(words)} ", " ".join(plain_words(name))
    if own and any(f" {how} {own} " in padded for how in ("you are", "du bist", "tu es")):
        return True
    known = runs(MAY_BE_SAID.sub("", persona), PERSONA_RUN)
    word_runs = (tuple(words[at : at + PERSONA_RUN]) for at in range(len(words)))
    return any(run in known and not SECOND_PERSON.isdisjoint(run) for run in word_runs)


def is_echo(text: str, lines: Iterable[str], names: Collection[str] = ()) -> bool:
    """Return True if a text only repeats a long line just heard, or a long sentence of it.

    A question is returned sooner, also with I for you. The ``names`` of those who speak count in
    neither.
    """
    own = {word for name in names for word in plain_words(name)}
    words = [word for word in plain_words(text) if word not in own]
    asks = text.rstrip(' "”').endswith("?")
    for line in lines:
        line_words = parse_heard_line(line, "")[1]
        for part in (line_words, *sentences(line_words)):
            part_words = [word for word in plain_words(part) if word not in own]
            if echoes(words, part_words) or throws_back(words, part_words):
                return True
            is_question = asks and "?" in part and len(words) >= ASKED_WORDS
            if is_question and neutral(words) == neutral(part_words):
                return True
    return False


def neutral(words: Iterable[str]) -> list[str]:
    """Return words with the second person for the first, in English."""
    return [NEUTRAL.get(word, word) for word in words]


def echoes(words: Sequence[str], line: Sequence[str]) -> bool:
    """Return True if the words are a line, or nearly so if both are long."""
    # "Your name is Tom" for "My name is Tom" is an answer.
    if list(words) == list(line):
        return len(words) >= ECHO_WORDS
    if min(len(words), len(line)) < NEAR_ECHO_WORDS or overlap(words, line) < NEAR_ECHO:
        return False
    return ANSWERS.isdisjoint(difference(words, line))


def throws_back(words: Sequence[str], line: Sequence[str]) -> bool:
    """Return True for "I know you are late" to "You are late": it says "you" of the wrong one."""
    more = len(words) - len(line)
    if SECOND_PERSON.isdisjoint(line) or len(line) < FEW_WORDS or not 0 <= more <= MOST_MORE:
        return False
    is_run = f" {' '.join(line)} " in f" {' '.join(words)} "
    return is_run and OWN_WORDS.isdisjoint(difference(words, line))


def is_loop(text: str, words: Sequence[str]) -> bool:
    """Return True if the same four words come back more often than in a refrain, or blank lines."""
    if SAME_PIECE.search(text) or BLANK.search(text.strip()):
        return True
    counts: Counter[tuple[str, ...]] = Counter()
    last: dict[tuple[str, ...], int] = {}
    for at in range(len(words) - GRAM + 1):
        run = tuple(words[at : at + GRAM])
        if at - last.get(run, -GRAM) >= GRAM:  # not overlapping with itself
            last[run] = at
            counts[run] += 1
    return bool(counts) and max(counts.values()) > MOST_SAME
