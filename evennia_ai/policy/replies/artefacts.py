"""Whether words may be spoken: calls, labels, tags, code, reasoning and quoted rules may not (P13).

Callers first take the calls out of a reply (`text_calls`); whatever still looks like a call is an
artefact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from evennia_ai.messages import MARK
from evennia_ai.policy.replies.assistant_voice import (
    describes_assistant,
    is_refusal,
    tells_thoughts,
)
from evennia_ai.policy.replies.likeness import (
    is_echo,
    is_loop,
    plain_words,
    quotes_persona,
    quotes_rules,
)
from evennia_ai.policy.sanitize import without_links
from evennia_ai.policy.word_patterns import one_of

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
NAME = r"[A-Z][\w'’-]{0,30}"
# A line of dialogue for anybody; `script_of` finds more of them for those present.
SCRIPT = re.compile(
    rf"\n\s{{0,9}}\**{NAME}(?: {NAME}){{0,2}}\** {SPEECH}(?: to \w+)?\s?:"
    rf"|{LINE}{NAME}(?: {NAME}){{0,2}} whispers to (?:you|\w+):"
)
SNAKE = re.compile(r"(?<![\w'’-])[a-z]{2,}(?:_[a-z]{2,})+(?![\w\[-])")
MOST_CHARS = 8_000  # that are read: more than any line has
MOST_TOOLS = 5  # named in a row, or fewer with one that is no English word


@dataclass(frozen=True)
class Surroundings:
    """What a reply is judged against."""

    name: str  # the name of the character
    rules: str = ""  # the part of the instructions that is the same for all characters
    persona: str = ""  # the character's own part, in the second person
    tools: Collection[str] = ()  # the names of the offered tools
    people: Collection[str] = ()  # the names of those present
    heard: Sequence[str] = ()  # the lines that are answered, with or without "Ann says: "
    link_hosts: Collection[str] = ()  # the hosts whose addresses may be said


def find_artefact(words: str, around: Surroundings) -> str:
    """Return why words may not be spoken, "" if they may.

    The reason completes the sentence "Your last reply was not spoken: ...". Leading words such as
    "Mira says:" are allowed for the character itself, since `sanitize.spoken_words` removes them.
    """
    words = own_label(around.name).sub("", words.strip()[:MOST_CHARS])
    for is_artefact, reason in CHECKS:
        if is_artefact(words, around):
            return reason
    return ""


@lru_cache(maxsize=64)
def own_label(name: str) -> re.Pattern[str]:
    """Return the pattern of the character's own name before its words."""
    return re.compile(rf"\A{re.escape(name)}(?: says)?\s*[:,]\s*", re.IGNORECASE)


@lru_cache(maxsize=256)
def script_of(names: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a line of dialogue for one of these people: "Ann:", "Ann says:"."""
    known = "|".join(re.escape(name) for name in sorted(names) if name)
    return (
        re.compile(rf"{LINE}(?:{known})[*_\])]{{0,3}}(?: {SPEECH}(?: to \w+)?)?\s?:")
        if known
        else NOTHING
    )


def is_script(words: str, around: Surroundings) -> bool:
    """Return True if the words hold a line of dialogue for somebody."""
    names = frozenset((around.name, *around.people))
    return bool(SCRIPT.search(words) or script_of(names).search(words))


@lru_cache(maxsize=64)
def tool_listing(tools: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a list of tools, or of one tool's line in a list."""
    known = "|".join(re.escape(tool) for tool in sorted(tools, key=len, reverse=True) if tool)
    if not known:
        return NOTHING
    row = rf"(?<!\w)(?:{known})(?!\w)"
    joined = rf"{row}(?:\W{{1,6}}(?:and |or |und |oder )?{row})"
    strange = "|".join(re.escape(tool) for tool in tools if "_" in tool or tool in STRANGE)
    odd = rf"|(?<!\w)(?:{strange})(?!\w)" if strange else ""
    return re.compile(
        rf"{joined}{{{MOST_TOOLS - 1},}}"
        rf"|(?:\n|\A)[^\S\n]{{0,20}}[-*•\d.]{{1,3}} {row}(?:\s?[:(]| [–-] ){odd}"
    )


STRANGE = frozenset({"noop", "emote"})  # no character says these words


def names_tools(words: str, around: Surroundings) -> bool:
    """Return True if the words list tools, or hold a name such as ``add_journal_entry``."""
    if tool_listing(frozenset(around.tools)).search(words):
        return True
    told = " ".join((*around.people, around.persona, *around.heard))
    return any(name not in told for name in SNAKE.findall(words))


def holds_new(pattern: re.Pattern[str], words: str, around: Surroundings) -> bool:
    """Return True if the words match a pattern with a piece that nobody present has just said."""
    # A character may answer somebody who asks what ``<b>`` means.
    found = pattern.search(words)
    if not found or not around.heard:
        return found is not None
    told = "\n".join(around.heard)
    return any(match[0].strip() not in told for match in pattern.finditer(words))


Check = Callable[[str, Surroundings], bool]
CHECKS: tuple[tuple[Check, str], ...] = (
    (lambda words, _: MARK in words, "it told an event; give only your own words"),
    (partial(holds_new, CODE), "it held code or a code fence, not words"),
    (
        lambda words, around: holds_new(MARKUP, without_links(words, around.link_hosts), around),
        "it held tags or other markup, not words",
    ),
    (partial(holds_new, DATA), "it was JSON, not words"),
    (partial(holds_new, CALL), "it was a function call, not words"),
    (names_tools, "it named tools, which nobody in the story knows"),
    (lambda words, _: ROLE.search(words) is not None, "it held a label before the words"),
    (is_script, "it held lines for others; give only your own words"),
    (lambda words, _: tells_thoughts(words), "it told what you think about the task"),
    (
        lambda words, around: is_refusal(words) or describes_assistant(words, around.persona),
        "it was the voice of an AI assistant, not your character's",
    ),
    (lambda words, _: is_loop(words, plain_words(words)), "it said the same again and again"),
    (
        lambda words, around: (
            quotes_rules(plain_words(words), around.rules)
            or quotes_persona(plain_words(words), around.persona, around.name)
        ),
        "it quoted your instructions",
    ),
    (
        lambda words, around: is_echo(plain_words(words), around.heard, around.name),
        "it only repeated what was said to you",
    ),
)
