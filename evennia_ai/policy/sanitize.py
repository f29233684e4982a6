"""The one sanitizer: what a person sees of a text, and that text made inert for Evennia's clients.

Words are stored as they were said. Two edges change them, each of them once:

- `one_line` at a prompt: one line of what a person sees, without anything hidden.
- `inert` at a client: the same line, escaped so that nothing in it is active in Evennia and the
  reader sees it as it was said. Escaping twice shows the escapes.
"""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

# Whole escape sequences of a terminal: colours and cursor, then titles and links with their text.
TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)")
BREAKS = frozenset("\n\r\t\v\f\x1c\x1d\x1e\x85\u2028\u2029")
# Letters and signs without ink: the braille blank, Hangul fillers, a musical and a Khitan one.
BLANKS = "\u2800\u3164\u115f\u1160\uffa0\U0001d159\U00016fe4"
SPACE = re.compile(rf"[ \n\xa0\u1680\u2000-\u200a\u202f\u205f\u3000{BLANKS}]")
SPACES = re.compile(f"{SPACE.pattern}{{2,}}")
JOINERS = frozenset("\u200c\u200d")
DIRECTION_MARKS = frozenset("\u200e\u200f\u061c")
SELECTORS = re.compile(r"[\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0100-\U000e01ef]")
# Signs of the category Cf that have ink, such as the Arabic end of a verse.
WITH_INK = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2\U000110bd")
UNSEEN = re.compile(
    r"[\u034f\u17b4\u17b5\u2065\ufdd0-\ufdef\ufff0-\ufff8\ufffe\uffff\U000e0000-\U000e0fff]"
)
FLAG = re.compile("(\U0001f3f4[\U000e0061-\U000e007a]{3,6}\U000e007f)")  # such as Scotland's
JOINABLE = frozenset({"Lo", "Lm", "Mn", "Mc", "So", "Sk"})
SELECTABLE = frozenset({"Lo", "So", "Sk", "Sm", "Nd", "Po", "Pd"})
LATIN = frozenset({"Lu", "Ll"})
GAP = "\u200c"  # has no width, and separates what would be active together
# What `||` does not protect: links, and what forges lines in the screen reader mode, which Evennia
# parses twice.
FRAGILE_PIPE = re.compile(r"\|(?=l[cute]|[/>_-])")
BRACES = re.compile(r"\{{2,}")
FUNCTION = re.compile(r"\\*\$|\\+")
# What MXP clients act on in any line, and links. Evennia 6 sends a "<" to them as it is.
MXP_TAG = re.compile(
    r"<(?=/?(?:a|b|bold|strong|i|italic|em|u|underline|s|strikeout|c|color|h|high|h[1-6]|font"
    r"|hr|p|br|sbr|nobr|send|image|img|sound|music)\b|!\w)",
    re.IGNORECASE,
)
# What clients show as a link, and its host if nothing doubtful follows it.
LINK = re.compile(r"(?P<scheme>(?<=\w):(?=//))|\b(?:www|ftp)(?=\.)", re.IGNORECASE)
WEB = re.compile(r"https?:\Z", re.IGNORECASE)
HOST = re.compile(
    r"\A(?://)?+([a-z0-9.-]{1,253}+)(?::\d{1,5}+)?+(?=[/?#]|[.,;!?…'\")\]»”]*(?:\s|\Z))", re.I
)
LINK_CHARS = 400  # of a link with the marks behind its host
ANY_HOST = "*"
# Also ``seed:think``.
THINKING = r"(?:\w{1,20}[:_])?(?:think|thinking|reasoning|thought|reflection|scratchpad)"
# How reasoning begins and ends.
MARKS = (
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command R
    (r"◁think▷", r"◁/think▷"),  # Kimi
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus
    (r"<\|channel>\s?thought\b", r"<channel\|>"),  # Gemma 4
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # OpenThinker
    (r"<unused94>", r"<unused95>"),  # MedGemma
    (rf"&lt;{THINKING}&gt;", rf"&lt;/{THINKING}&gt;"),
)
REASONING = re.compile(
    rf"<({THINKING})\b[^<>]*>.*?(?:</\1\s*>|\Z)|"
    + "|".join(rf"{begin}.*?(?:{end}|\Z)" for begin, end in MARKS)
    + r"|\A\s*Here(?:'s| is) my thought process:.*?Here(?:'s| is) my response:"  # Granite
    # gpt-oss, without its special tokens
    r"|\A\s*analysis(?=\S).*?(?:assistant\s?final|(?=assistant\s?commentary\s?to=))"
    r"|<\|channel\|>\s?analysis\s?<\|message\|>.*?(?=<\|end\|>|<\|start\|>|<\|channel\|>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
DANGLING_REASONING = re.compile(
    rf"\A.*(?:</{THINKING}\s*>|{'|'.join(end for _, end in MARKS)})"
    r"|\A(?:(?!\bto=).)*<\|channel\|>\s?final\s?<\|message\|>",  # gpt-oss, behind no call
    re.IGNORECASE | re.DOTALL,
)
# Marks around words; what stands behind the header of another's turn goes as well.
SPECIAL_TOKEN = re.compile(
    r"(?s:<(?:\|(?:im_start|start_header_id|start)\|>|start_of_turn>|\|(?=user|system))\s?"
    r"(?:user|system|human|tool)\b.*)"
    r"|<\|(?:im_start\|>\s?assistant\b|start_header_id\|>\s?\w{1,20}\s?<\|end_header_id\|>)"
    r"|(?:<\|start\|>\s?assistant\s?)?<\|channel\|>\s?\w{1,20}\s?<\|message\|>"
    r"|<[|｜][\w▁]{1,40}[|｜]>|</?(?:answer|response|output|reply)>"
    r"|\A\s*(?:<s>|<bos>|assistant\s?final(?=[^\s\w]|[A-Z]))"
    r"|(?:<eos>|<end_of_turn>|</s>|\[/INST\])\s*\Z"
)
CALL_MARKUP = re.compile(r"<(tool_call|function_call)\b.*?(?:</\1\s*>|\Z)", re.DOTALL)
QUOTES = {'"': '"', "“": "”", "«": "»", "„": "“"}
SENTENCE_END = re.compile(r"[.!?…](?=\s|$)")


def one_line(text: str) -> str:
    """Return what a person sees of a text, on one line."""
    # Joiners, variation selectors and direction marks stay if they do something. Line breaks become
    # spaces; three spaces or blank letters in a row become one.
    pieces = FLAG.split(TERMINAL.sub("", text))
    pieces[::2] = map(seen, pieces[::2])
    line = SPACES.sub(shorten, "".join(pieces)).replace("\n", " ")
    return line.strip(f" \xa0\u3000{BLANKS}")


def seen(text: str) -> str:
    """Return a text without its hidden characters; every line break becomes a line feed."""
    if text.isascii() and text.isprintable():
        return text
    kept: list[str] = []
    for char in text:
        if char in BREAKS:
            kept.append("\n")
        elif is_seen(char, kept[-1] if kept else " "):
            kept.append(char)
    return "".join(kept)


def is_seen(char: str, before: str) -> bool:
    """Return True for a character that has ink or is a space, or that changes the one before."""
    if " " <= char <= "~":
        return True
    kind = "" if SPACE.match(before) else unicodedata.category(before)
    if char in JOINERS:
        return kind in JOINABLE
    if char in DIRECTION_MARKS:
        return kind not in ("", "Cf", *LATIN)
    if SELECTORS.match(char):
        return kind in SELECTABLE
    return char in WITH_INK or not is_hidden(char)


def is_hidden(char: str) -> bool:
    """Return True for a control, a format character, half a surrogate and a noncharacter."""
    # Unassigned characters count as seen: they may be emoji that are newer than Python's tables.
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") or bool(UNSEEN.match(char))


def with_ink(text: str) -> str:
    """Return one line of a text, in which every character has ink or is a plain space."""
    spaced = (" " if c in BREAKS or SPACE.match(c) else c for c in TERMINAL.sub("", text))
    inked = (c for c in spaced if c in WITH_INK or not (is_hidden(c) or SELECTORS.match(c)))
    return one_line("".join(inked))


def shorten(run: re.Match[str]) -> str:
    """Return a run of spaces and blank letters: two of them as they are, all else as one space."""
    return run[0] if len(run[0]) == 2 and "\n" not in run[0] else " "


def storable(text: str) -> str:
    """Return text that every database and encoder accepts: no lone surrogate, no NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def cut_text(text: str, limit: int) -> str:
    """Return text cut to a limit after a sentence, or after a word or anywhere with an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    ends = [match.end() for match in SENTENCE_END.finditer(head)]
    if ends and ends[-1] >= limit // 2:
        return head[: ends[-1]]
    space = head.rfind(" ")
    return (head[:space] if space >= limit // 2 else head).rstrip() + "…"


def inert(text: str, hosts: Collection[str] = (), functions: bool = False) -> str:
    """Return a line of text that shows as it is in Evennia's clients, with nothing active in it.

    Args:
        hosts: the hosts to which an address stays a link, ``*`` for all; see `is_allowed`.
        functions: True if Evennia parses ``$func()`` in all that it sends.
    """
    text = MXP_TAG.sub(f"<{GAP}", break_links(text, hosts))
    text = FRAGILE_PIPE.sub(f"|{GAP}", text.replace("|", "||"))
    text = BRACES.sub(lambda run: run[0] * 2, text)
    if functions:
        text = FUNCTION.sub(lambda run: f"\\{run[0]}", text)
    return f"{text}{GAP}" if text.endswith("|") else text  # Evennia adds a reset behind it


def break_links(text: str, hosts: Collection[str]) -> str:
    """Return a text in which no client finds a link, except to these hosts."""
    if ANY_HOST in hosts:
        return text
    return LINK.sub(lambda link: link[0] if is_allowed(link, hosts) else f"{link[0]}{GAP}", text)


def without_links(text: str, hosts: Collection[str]) -> str:
    """Return a text in which addresses at these hosts do not look like addresses."""
    return LINK.sub(lambda link: "" if is_allowed(link, hosts) else link[0], text)


def is_allowed(link: re.Match[str], hosts: Collection[str]) -> bool:
    """Return True if a link leads to one of the hosts, or to a part of one."""
    text, at = link.string, link.end() if link["scheme"] else link.start()
    if link["scheme"] and not WEB.search(text, max(0, at - 6), at):
        return False
    match = HOST.match(text[at : at + LINK_CHARS])
    name = match[1].lower().rstrip(".") if match else ""
    return ANY_HOST in hosts or any(
        name == host.lower() or name.endswith(f".{host.lower()}") for host in hosts
    )


def clean_heard(text: str, limit: int = 2_000) -> str:
    """Return words as one line for a prompt, as a person sees them."""
    return cut_text(one_line(text), limit)


def drop_reasoning(text: str) -> str:
    # Unclosed ``<think>`` blocks go up to the end of the text; so does everything before a closing
    # tag whose opening tag the chat template swallowed.
    return DANGLING_REASONING.sub("", REASONING.sub("", text))


def strip_reasoning(text: str) -> str:
    """Remove reasoning, text calls and special tokens such as ``<|im_end|>`` from a reply."""
    # `replies.text_calls` reads the calls before; those left here are none.
    return CALL_MARKUP.sub("", SPECIAL_TOKEN.sub("", drop_reasoning(text))).strip()


@lru_cache(maxsize=64)
def own_label(name: str) -> re.Pattern[str]:
    """Return the pattern of the character's own name before its words: a colon or dash ends it."""
    # "Mira, at your service." is no label, and "Mira - that is me." goes on.
    manner = r"(?: ?[(\[*][^()\[\]*\n:]{1,60})?[*_\])]{0,3}"  # "Mira (laughing):"
    end = rf"(?: says\s?[:,]|{manner}\s?[:：][*_]{{0,3}}|\s?[–—-]{{1,2}}\s(?=\s?[^a-z]))"
    return re.compile(rf"\A[*_\[(]{{0,3}}(?i:{re.escape(name)}){end}\s*")


def spoken_words(text: str, name: str, limit: int) -> str:
    """Return a reply as spoken words, without reasoning, own name and quotes; may be empty."""
    # Whoever shows them to a client escapes them: see `inert`.
    words = one_line(strip_reasoning(text))
    words = own_label(name).sub("", words)
    closing = QUOTES.get(words[:1])
    if closing and len(words) > 1 and words.endswith(closing) and words.count(words[0]) <= 2:
        words = words[1:-1].strip()
    return cut_text(words, limit)
