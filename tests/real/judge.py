"""The judge of `make real`: what a player must never read in a character's words. Pure.

It shares no code with the package's own filters, so that both would have to be wrong.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

SHORTEST_QUOTE = 8
REPEAT_WITHIN = 10
ROLES = "assistant|system|user|player|tool|function|narrator|whispers?|says?|emotes?|answer|reply"
CALLS = "say|whisper|emote|move|give|get|drop|follow|look|noop|wait"
ARTEFACTS = {
    "braces": r"[{}]|\[\s*[\"'{\[]|[\"']\s*\]",
    "JSON": r"[\"'](?:act|target|say|text|name|arguments|parameters|content)[\"']\s*[:=]",
    "doubled brackets": r"\(\(|\)\)|\[\[|\]\]",
    "label": rf"(?:^|\n)\W*(?:{ROLES})\s*[:=]",
    "tag": r"</?[A-Za-z_][^<>\n]{0,80}>|<\||\|>|\[/?(?:INST|TOOL\w*|SYSTEM\w*|CONTEXT\w*)\b",
    "fence": r"```|~~~",
    "call": rf"\b(?:{CALLS})\s*\(|\bnoop\b|\b(?:tool|function)[ _]calls?\b",
    "tool name": r"\b[a-z]+(?:_[a-z]+)+\b",
    "reasoning": r"(?:^|\n)\W*(?:thoughts?|reasoning|chain of thought|step \d+)\s*:",
}
STRANGERS = ("wanderer", "player", "user", "traveller", "stranger")
SAYS = r"(?:says|whispers)(?: to \w+)?\s*(?::|,\s*[\"“(])"
REFUSALS = (
    r"\b(?:as|i am|i'm|being) an? (?:large )?(?:ai|artificial|language|virtual|digital)\b",
    r"\b(?:ai|virtual|digital) (?:assistant|language model|model)\b|\blanguage models?\b",
    r"\b(?:ca ?n['o]t|can not|cannot|unable to|won't) (?:\w+ ){0,2}?(?:assist|help you with)\b",
    r"\b(?:cannot|can't|unable to) (?:fulfill|comply with|process) (?:that|this|your)\b",
    r"\bhow (?:can|may) i assist you\b|\bmy (?:training data|programming|developers?)\b",
    r"\b(?:openai|anthropic|chatgpt|alibaba cloud|qwen)\b|\bsystem prompt\b",
    r"\b(?:sprachmodell|ki-assistent|künstliche intelligenz|als ki)\b",
)
ARTEFACT = {name: re.compile(pattern, re.I) for name, pattern in ARTEFACTS.items()}
ARTEFACT["tool name"] = re.compile(ARTEFACTS["tool name"])
REFUSAL = re.compile("|".join(REFUSALS), re.I)
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def artefacts(words: str, names: Iterable[str] = ()) -> list[str]:
    """Return the kinds of artefacts in spoken words.

    ``names`` are the people of the game. Words that begin with a name and a colon have a label;
    ``Ann says:`` is how a prompt writes a line, and no way to speak.
    """
    found = [name for name, pattern in ARTEFACT.items() if pattern.search(words)]
    people = "|".join([*map(re.escape, names), *STRANGERS])
    if "label" not in found and re.search(rf"(?:^|\n)\W*(?:{people})\s*:", words, re.I):
        found.append("label")
    if re.search(rf"\b(?:{people})\W* {SAYS}", words, re.I):
        found.append("says")
    return found


def is_refusal(words: str) -> bool:
    """Return True if the words are those of a hosted assistant and of no character."""
    return bool(REFUSAL.search(words.replace("’", "'")))


def normalised(words: str) -> str:
    """Return the words in lower case, without punctuation."""
    return " ".join(WORD.findall(words.casefold()))


def runs(text: str, length: int = SHORTEST_QUOTE) -> Iterator[str]:
    """Yield every run of ``length`` words of a text, normalised."""
    words = normalised(text).split()
    for start in range(len(words) - length + 1):
        yield " ".join(words[start : start + length])


class Quotes:
    """Finds long runs of words that a character took over from its instructions.

    Args:
        secret: Rules and personas.
        free: Texts that a character may quote, such as lore, even if a secret text has them too.
    """

    def __init__(self, secret: Iterable[str], free: Iterable[str] = ()) -> None:
        allowed = {run for text in free for run in runs(text)}
        self._secret = {run for text in secret for run in runs(text)} - allowed

    def find(self, words: str) -> str:
        """Return the first quoted run, empty if there is none."""
        return next((run for run in runs(words) if run in self._secret), "")


def is_echo(words: str, line: str) -> bool:
    """Return True if the answer holds the whole line of the player, of five words or more."""
    said = normalised(line)
    return len(said.split()) >= 5 and f" {said} " in f" {normalised(words)} "


def repeats(answers: Sequence[str]) -> list[int]:
    """Return the indexes of one character's answers that it gave among the ten before."""
    plain = [normalised(answer) for answer in answers]
    return [
        index
        for index, words in enumerate(plain)
        if words and words in plain[max(0, index - REPEAT_WITHIN) : index]
    ]


def holds_key(text: str, keys: Iterable[str]) -> bool:
    """Return True if the text has one of the key words. A word may go on; a number may not."""
    ends = {key: r"\b" if key.isdigit() else "" for key in keys}
    return any(re.search(rf"\b{re.escape(key)}{end}", text, re.I) for key, end in ends.items())
