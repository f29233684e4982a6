"""Words: stems, similar meanings, and a repeatable choice among phrases."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

from evennia_ai.policy.retrieval.languages import ENGLISH, STOP_WORDS
from evennia_ai.policy.retrieval.words import stem_english

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
SENTENCE_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"”»)'’]))\s+(?=\S)")
ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Capt|Sgt|Lt|[A-Z])\.$")
# What answers and questions share, besides the function words.
COMMON = STOP_WORDS[ENGLISH] | frozenset(
    "go got it's mine myself said these those what's where's who's whom whose yours yourself "
    "known knew ever more most very i'm i've i'll i'd you're you've don't doesn't didn't isn't "
    "can't won't think thought anything something everything nothing anyone someone one ones "
    "thing things told ask asked make again now today still also only even may might must shall "
    "should ok okay ah hm hmm hello good sort bit lot way come came that's there's let's name "
    "named makes made happen happened happens people folk around moment ago before earlier always "
    "fair enough wonder wondering wondered matter remember recall called mean remind wrong "
    "mention mentioned tonight such because over under after while until own other another"
    .split()
)  # fmt: skip
IRREGULAR = {
    "children": "child", "men": "man", "women": "woman", "wives": "wife", "knives": "knife",
    "thieves": "thief", "stolen": "steal", "stole": "steal", "taken": "take", "took": "take",
    "lost": "lose", "kept": "keep", "sold": "sell", "bought": "buy", "drank": "drink",
    "drunk": "drink", "ate": "eat", "eaten": "eat", "wrote": "write", "written": "write",
    "went": "go", "gone": "go", "slept": "sleep", "died": "die", "dead": "die", "death": "die",
    "dying": "die", "built": "build", "fought": "fight", "hid": "hide", "hidden": "hide",
    "found": "find", "made": "make", "gave": "give", "given": "give", "seen": "see", "saw": "see",
    "broke": "break", "broken": "break", "married": "marry", "buried": "bury", "paid": "pay",
    "taught": "teach", "caught": "catch", "sang": "sing", "sung": "sing", "feet": "foot",
    "wolves": "wolf", "loaves": "loaf", "shelves": "shelf", "mice": "mouse", "heard": "hear", "sank": "sink", "sunk": "sink", "swore": "swear",
    "led": "lead", "rode": "ride", "grew": "grow", "grown": "grow", "worn": "wear", "wore": "wear",
}  # fmt: skip
NEAR = (
    "name call", "trade job work profession craft occupation", "home live dwell", "town village city",
    "husband wife spouse marry widow wed bury", "family father mother parent dad mum brother sister uncle aunt cousin grandfather grandmother relative",
    "brother sibling", "sister sibling", "child son daughter kid",
    "food eat dish meal stew supper dinner hungry cook breakfast hunger serve bread menu special",
    "drink ale beer cider wine thirsty cask mead rum brew brandy",
    "money coin owe debt pay gold silver price cost credit fee wage", "smith forge smithy blacksmith",
    "church chapel pray god temple shrine prayer", "sailor ship boat sail vessel captain crew",
    "ship boat vessel", "fear afraid scare dread frighten worry", "goal want wish hope dream need aim",
    "help hand assist assistance", "steal thief rob missing take rogue", "vanish disappear missing lose gone",
    "drown die perish kill sink wreck", "gossip rumour news tale story rumor", "secret confide hide",
    "love fond enjoy like favourite favorite adore prefer", "hate dislike loathe despise",
    "keep tend run own", "build make finish forge construct", "room bed lodge sleep stay inn lodging night",
    "guard watch gate sentry patrol", "old age year", "war battle fight soldier army",
    "trouble problem lose worry wrong", "heavy weigh weight pound", "law reeve judge magistrate fine sheriff rule court",
    "river cross ferry bridge ford", "danger wolf bandit robber outlaw", "special peculiar odd strange unusual",
    "offer give pay promise price", "order want need make buy", "alone nobody company lonely", "cure remedy help heal break bring",
    "inside contain hold full", "break split crack smash tear snap burst", "bring give gift", "horse stable mare pony mount steed", "sick ill heal cure medicine herb remedy wound hurt fever",
    "key lock unlock", "read book write library letter scroll", "sword blade weapon dagger knife",
    "tavern inn pub alehouse", "road path route track way", "learn teach apprentice lesson pupil master",
    "sell buy price cost shop stock trade peddle hawk", "storm weather rain wind",
    "colour color red blue green black white grey brown yellow golden silver purple orange",
    "buy purchase", "magic spell wizard witch sorcery enchant", "danger dangerous peril risk threat",
    "open close hour",
)  # fmt: skip


NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w+teen|twenty|thirty|forty|"
    "fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen"
)
SPELLINGS = {
    "whats": "what's", "wheres": "where's", "whos": "who's", "hows": "how's", "whens": "when's",
    "thats": "that's", "theres": "there's", "dont": "don't", "doesnt": "doesn't", "didnt": "didn't",
    "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "cant": "can't", "wont": "won't",
    "couldnt": "couldn't", "wouldnt": "wouldn't", "havent": "haven't", "youre": "you're",
    "youve": "you've", "im": "I'm", "ive": "I've", "i": "I", "u": "you", "ur": "your", "r": "are",
    "ya": "you", "pls": "please", "plz": "please", "thx": "thanks", "ty": "thanks", "wat": "what",
    "wot": "what", "rember": "remember", "remeber": "remember", "gimme": "give me",
    "lemme": "let me", "wanna": "want to", "gonna": "going to", "cuz": "because", "coz": "because",
    "abt": "about", "w": "with", "dunno": "do not know", "ppl": "people", "tho": "though", "teh": "the", "yr": "your", "wich": "which",
}  # fmt: skip
SPELLED = re.compile(rf"(?<![\w'’-])(?:{'|'.join(SPELLINGS)})(?![\w'’-])", re.I)


def plain_spelling(text: str) -> str:
    """Return a line without line breaks, with the short spellings of chat expanded."""
    even = " ".join(text.replace("’", "'").split())
    # re.IGNORECASE folds more than `lower`: "İ" matches the pattern of "i" and is not a key.
    return SPELLED.sub(
        lambda found: _like(SPELLINGS.get(found[0].lower(), found[0]), found[0]), even
    )


def _like(word: str, pattern: str) -> str:
    return capital(word) if pattern[:1].isupper() else word


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return WORD.findall(text.lower().replace("’", "'"))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without its common English endings."""
    word = word.removesuffix("'s").removesuffix("'")
    word = re.sub("ied$", "y", IRREGULAR.get(word, word))
    return stem_english(word)


def content(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, in order, each once."""
    return list(dict.fromkeys(stem(word) for word in words(text) if word not in COMMON))


def _near_table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for group in NEAR:
        stems = {stem(word) for word in group.split()}
        for item in stems:
            table.setdefault(item, set()).update(stems)
    return {item: frozenset(group - {item}) for item, group in table.items()}


NEARBY = _near_table()


def near(item: str) -> frozenset[str]:
    """Return the stems of similar meaning."""
    return NEARBY.get(item, frozenset())


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, with single spaces."""
    found: list[str] = []
    for part in SENTENCE_END.split(" ".join(text.split())):
        if found and ABBREVIATION.search(found[-1]):
            found[-1] += " " + part
        elif part.strip():
            found.append(part.strip())
    return found


def capital(text: str) -> str:
    """Return the text with a first letter in upper case."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """Return the text with a first letter in lower case, except for "I" and names."""
    first = text.split(" ", 1)[0].rstrip(",.")
    plain = first.lower() in COMMON and first.split("'")[0] != "I"
    return text[:1].lower() + text[1:] if plain else text


def ended(text: str) -> str:
    """Return the text with a full stop, unless it has an end."""
    text = text.rstrip(" ,;:-")
    return text if not text or text[-1] in '.!?…”"' else text + "."


def listed(items: Sequence[str], joint: str = "and") -> str:
    """Return several items as "a, b and c"."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"


def with_article(name: str, article: str = "the") -> str:
    """Return a thing's name with an article, unless it has one or is a proper name."""
    first = name.split(" ", 1)[0]
    if first.lower() in {"a", "an", "the", "some", "my", "your", "his", "her", "their"}:
        return name if first.lower() not in {"a", "an"} else f"the {name.split(' ', 1)[-1]}"
    return name if first[:1].isupper() else f"{article} {name}"


def an(name: str) -> str:
    """Return a thing's name with an indefinite article, if it needs one."""
    first = name.split(" ", 1)[0]
    if first.lower() in {"a", "an", "the", "some"} or first[:1].isupper() or is_plural(name):
        return name
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def is_plural(name: str) -> bool:
    """Return True for a name that takes "are": "brass scales", not "ring of keys"."""
    head = name.partition(" of ")[0].rstrip()
    return head.lower().endswith("s") and not head.lower().endswith(("ss", "us", "is"))


def being(name: str) -> str:
    """Return "is" or "are", whichever a thing's name takes."""
    return "are" if is_plural(name) else "is"


def seed_of(*parts: object) -> int:
    """Return a number that is the same for the same parts in every process."""
    return zlib.crc32("\x1f".join(str(part) for part in parts).encode("utf-8", "replace"))


def rotated(options: Iterable[str], seed: int) -> list[str]:
    """Return the options in order, beginning with the one the seed selects."""
    items = list(options)
    start = seed % len(items) if items else 0
    return items[start:] + items[:start]


def bare(item: str) -> str:
    """Return a thing's name without article or count."""
    return (
        re.sub(
            r"^(?:a|an|the|some|one|another|any|your|my|more|of)\s+(?:of (?:your|the) )?",
            "",
            item.strip(),
            flags=re.I,
        )
        or "such thing"
    )
