"""Whether somebody asks a character in earnest if it is a machine, and the true answer.

No model is asked, so that none can deny it (EU AI Act, Art. 50; California, B&P Code 17941).
Patterns find the question in four languages; with an embedder, the examples of
``ai_disclosure.toml`` find it in more words and languages.
"""

import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from evennia_ai.errors import ConfigError
from evennia_ai.messages import SPEECH, InboxEvent
from evennia_ai.policy.facts.terms import Cosines
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import WORD, language_of, name_words, without_words
from evennia_ai.policy.texts import linear_score, read_weights, sentences

PERSON_EN = r"(?:(?:real|actual|living|true) )?(?:human(?: being)?|person|people|player)"
PERSON_DE = r"(?:(?:echte|richtige|wirkliche)[rsnm]? )?(?:mensch(?:en)?|person|spieler)"
PERSON_FR = r"(?:(?:vraie?|véritable) )?(?:(?:être )?humaine?|personne)(?: réelle)?"
PERSON_ES = r"(?:verdader[oa] )?(?:ser )?(?:human[oa]|persona)(?: (?:real|de verdad))?"


class DisclosureLanguage(NamedTuple):
    """How one language asks; N stands for what may be asked for.

    ``before`` and ``behind`` are the words that may stand beside it: "Are you a robot maker?" and
    "Are you a good person?" ask something else. Of ``told`` a question mark makes a question.
    """

    nouns: str
    before: str
    behind: str
    asks: str
    told: str


TONGUES = {
    "en": DisclosureLanguage(
        r"ai(?: (?:model|chatbot|assistant|character|program))?|artificial(?: intelligence)?"
        r"|(?:chat ?)?bot|robot|machine|computer(?: program)?|program(?:me)?|software|automated|npc"
        rf"|(?:large )?language model|llm|(?:chat ?)?gpt(?:-?\d)?|real|{PERSON_EN}",
        "a|an|really|actually|just|some|kind|sort|of|only|secretly|even|maybe|truly|honestly|like"
        "|still|also|perhaps|basically|any|advanced|talking|to|in|fact|indeed|one",
        "and|too|then|here|now|right|really|in there|behind|pretending|talking|answering|playing"
        "|speaking|writing|like|by any|perhaps|please|at all|instead|on the other|just",
        rf"""(?:are|r|aren't|arent) (?:you|u)(?: not)? N
(?:tell \w+|wonder|know|ask|asking|say|sure|curious) (?:if|whether) (?:you(?:'re| are)|u r) N
(?:am i|are we) (?:\w+ )?(?:talking|speaking|chatting|writing) (?:to|with) N
is this (?:an? )?(?:ai|chat ?bot|bot|language model|(?:real|actual) {PERSON_EN})(?: (?:i|i'm
  |talking|answering|who)\b|\W*$)
is there (?:an? |any )?{PERSON_EN} (?:behind|typing|on the other|in there|there\W*$)
(?:is|did|does|do) (?:an? )?(?:ai|bot|machine|computer|program|{PERSON_EN}) (?:writ|control|speak
  |run|play|say|generat|answer)\w* (?:\w+ )?(?:you|that|this)\b
(?:run|controlled|played|written|powered|operated|generated|driven|voiced) by N
(?:{PERSON_EN}|real|man) or (?:an? )?(?:ai|bot|machine|robot|computer|program)\b""",
        r"""you(?:'re| are|re| r) (?:not )?N
(?:i'm|i am) (?:talking|speaking) (?:to|with) N""",
    ),
    "de": DisclosureLanguage(
        r"ki(?:-\w+)?|künstliche intelligenz|künstlich|(?:chat-?)?bot|roboter|maschine"
        rf"|computer(?:programm)?|programm|software|sprachmodell|npc|nsc|chatgpt|echt|{PERSON_DE}",
        "ein|eine|einen|einem|einer|etwa|wirklich|eigentlich|nur|denn|auch|doch|vielleicht|bloß|hier"
        "|gerade|so|in|wahrheit|ehrlich|jetzt|gar|überhaupt|lediglich|mit|tatsächlich",
        "und|dahinter|hier|wirklich|denn|eigentlich|der|die|das|am anderen|bitte|von"
        "|gesteuert|gespielt|geschrieben|bist|sind",
        rf"""(?:bist du|sind sie|seid ihr|biste) N
(?:ob|dass) (?:du|sie) (?:\w+ )?(?:einer?n? )?(?:ki|bot|roboter|maschine|computer|programm
  |{PERSON_DE}) (?:bist|sind)
(?:spreche?|rede?|schreibe?|chatte|unterhalte)(?: ich)?(?: mich)? (?:\w+ ){{0,3}}?mit N
(?:sitzt|steckt|ist|steht|schreibt|spricht|antwortet) (?:\w+ ){{0,3}}?ein\w* (?:ki|bot|maschine
  |computer|{PERSON_DE}) (?:hinter|dahinter|am|mit)
(?:sitzt|steckt|steht) (?:da |hinter dir )+(?:\w+ )?ein\w* (?:ki|bot|maschine|computer
  |{PERSON_DE})\W*$
von einer? (?:ki|maschine|computer|bot|programm|{PERSON_DE}) (?:gesteuert|gespielt|geschrieben)
mensch oder (?:eine? )?(?:maschine|ki|bot|computer|roboter)\b""",
        """(?:du bist|sie sind|das ist) N""",
    ),
    "fr": DisclosureLanguage(
        r"ia|intelligence artificielle|artificielle?|(?:chat ?)?bot|chatbot|robot|machine"
        r"|ordinateur|programme(?: informatique)?|logiciel|modèle de langage|pnj|chatgpt|réelle?"
        rf"|{PERSON_FR}",
        "un|une|vraiment|juste|en|fait|réellement|sorte|de|d'|seulement|peut-être|bien|pas|donc|à"
        "|avec",
        "et|derrière|ici|vraiment|alors|qui|en fait|n'est|s'il",
        rf"""(?:es-tu|êtes-vous|est-ce que (?:tu es|vous êtes)|serais-tu) N
(?:dis-moi|savoir|demande|dites-moi) si (?:tu es|vous êtes) N
(?:parl|discut)[eé]-je (?:\w+ )?(?:à|avec) N
est-ce que je (?:parle|discute) (?:\w+ )?(?:à|avec) N
suis-je en train de (?:parler|discuter) (?:à|avec) N
(?:y a-t-il|est-ce qu'il y a) (?:une? )?{PERSON_FR} (?:derrière|ici|là)
(?:contrôlée?|jouée?|écrite?|dirigée?|animée?) par N
est-ce (?:une? )?(?:ia|bot|robot|machine|{PERSON_FR}) qui (?:me|parle|répond)
humaine? ou (?:une? )?(?:machine|ia|robot|bot)\b""",
        """(?:tu es|t'es|vous êtes|je parle (?:à|avec)|c'est) N""",
    ),
    "es": DisclosureLanguage(
        r"ia|inteligencia artificial|artificial|(?:chat ?)?bot|robot|máquina|ordenador"
        r"|computadora?|programa(?: (?:de ordenador|informático))?|modelo de lenguaje|pnj|chatgpt"
        rf"|real|{PERSON_ES}",
        "un|una|realmente|de|verdad|acaso|solo|sólo|en|realidad|tipo|algún|alguna|especie|no|usted"
        "|quizás|con",
        "y|detrás|aquí|ahí|de verdad|verdad|realmente|que|quien|por favor|acaso|no|al otro",
        rf"""(?:dime|saber|pregunto|dígame) si (?:eres|es usted) N
(?:hablando|chateando) (?:\w+ )?con N
hay (?:una? )?{PERSON_ES} (?:detrás|ahí|aquí|al otro)
(?:controlad[oa]|manejad[oa]|jugad[oa]|escrit[oa]) por N
te (?:controla|maneja|escribe) (?:una? )?(?:ia|máquina|ordenador|programa|{PERSON_ES})
human[oa] o (?:una? )?(?:máquina|ia|robot|bot)\b""",
        """(?:eres|es usted|sois|serás|hablo con|esto es) N""",
    ),
}
QUOTED = re.compile(r"[\"“„«][^\"”“»„«]{0,300}[\"”“»]")
# What a builder's line must say, and must not deny.
SAYS_SO = re.compile(
    r"(?<![A-Za-z])(?:AI|KI|IA|SI|ИИ|ШІ|(?i:machine|maschine|máquina|машина|ro?bot\w*|chat ?bot"
    r"|computer\w*|ordinateur|programm?\w*|программа|artificial|artificielle|künstlich\w*))"
    r"(?![A-Za-z])"
)
DENIES = re.compile(
    r"\b(?:no|not|never|kein\w*|nicht|nie|pas|ni|не)\b[^.!?]{0,20}?$", re.IGNORECASE
)

# A line that may ask in other words, and words that deny it.
MENTIONED = re.compile(
    r"\b(?:ai|a\.i\.|bot|chat ?bot|robot\w*|llm|chatgpt|language model|ki|roboter|sprachmodell|ia"
    r"|human|real person|mensch|humaine?|human[oa])\b",
    re.IGNORECASE,
)
DENIAL = re.compile(
    r"\b(?:i(?: am|'m)|ich bin|je (?:ne )?suis|(?<!no )soy)"
    r"(?: (?!an? ai\b|not?\b|kein|nicht\b|pas\b)[\w']+){0,3}?"
    r" (?:human|person|mensch|humaine?|personne|human[oa]|persona|flesh and blood"
    r"|(?:no|not an?|kein\w*|pas une?) (?:ai|bot|chatbot|robot\w*|machine|computer|program|ki"
    r"|roboter|maschine|ia|robot))\b|\bno soy una? (?:ia|bot|robot|máquina|programa)\b",
    re.IGNORECASE,
)
# By meaning: how much likelier a sentence is of one kind than of the other.
QUESTION, DENYING = ("asks", "others"), ("denies", "admits")
# Of a stranger's 40 questions in English these find 35, of 60 in nine more languages 55, and of 100
# other lines three (MiniLM).
ASKS, STATES, MAY_ASK, DENIES_ABROAD = 0.5, 1.05, -0.1, 0.3
# Of 24 ordinary lines in eight languages five lean to such a question by .13 to .17; of three
# strangers' 180 questions in nine languages all but six lean more, or have such words.
MAY_ASK_ABROAD = 0.36
# That words need less, for each 1 that a line is likelier to ask.
DENIES_ASKED = 0.12
# Of three strangers' 120 denials, 101 are found or their line is answered by code, and 6 of 300
# other replies are taken for one; with nearness to 658 examples it was 93 and 6. Of 479 ordinary
# replies, none is.
OF_QUESTION, SUREST, DENIES_IT = 0.25, 1.5, 0.2
OWN_DENIES = 0.25  # how much surer an English line of a builder's must deny it to be refused
DENIAL_WEIGHTS = Path(__file__).with_name("denial_weights.json")
ABROAD = 0.27  # that a sentence in another language than English needs less
SHARPNESS = 10.0  # of a window over an example
CLOSE = 0.6  # share of the best weight that English needs where no word tells the language
MOST_SENTENCES = 8  # of a line that are compared: the last ones
GREETING_WORDS = 3  # beside a name; longer words that ask nothing are answered, too


def rows_of(text: str) -> list[str]:
    """Return the rows of a text; what begins with two spaces goes on with the row before."""
    return text.replace("\n  ", "").splitlines()


def compiled(tongue: DisclosureLanguage) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a language: of a question, and of what a question mark makes one."""
    before = rf"(?:(?:{tongue.before})[ ']){{0,4}}"
    noun = rf"(?:{tongue.nouns})\b"
    other = rf"(?:or|oder|ou|o) (?:{before}{noun}|not\b|nicht\b|non\b|no\b|what\b|was\b)"
    behind = rf"(?=\W*$|\s*[;:–—(]|\s*,(?! (?:or|oder|ou|o) )|,? {other}|\s(?:{tongue.behind})\b)"
    subject = before + noun + behind
    asks, answers = (
        "|".join(rf"\b{row.replace('N', subject)}" for row in rows_of(text))
        for text in (tongue.asks, tongue.told)
    )
    return re.compile(asks), re.compile(answers)


PATTERNS = {code: compiled(tongue) for code, tongue in TONGUES.items()}


@cache
def data() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the examples and answers by language and kind."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {
        code: {kind: rows.strip().splitlines() for kind, rows in kinds.items()}
        for code, kinds in tomllib.loads(text).items()
    }


@cache
def examples(kind: str, is_english: bool) -> Sequence[tuple[str, str]]:
    """Return (language, example) of one kind, those of all languages unless ``is_english``."""
    codes = (ENGLISH,) if is_english else tuple(data())
    return [(code, example) for code in codes for example in data()[code][kind]]


def unknown(text: str, others: Sequence[str]) -> Sequence[float]:
    """Return no nearness, as without an embedder."""
    return ()


def compared(text: str) -> list[str]:
    """Return the sentences of a line whose meaning is compared."""
    parts = (part.strip() for part in sentences(QUOTED.sub(" ", text)))
    return [part for part in parts if WORD.search(part)][-MOST_SENTENCES:]


def to_prepare(lines: Iterable[str], kinds: tuple[str, str] = QUESTION) -> list[str]:
    """Return the texts whose nearness is asked of some lines, each at least once."""
    wanted = [part for line in lines for part in compared(line)]
    if kinds == DENYING:  # in English its words tell
        wanted = [part for part in wanted if language_of(part) != ENGLISH]
    known = [
        examples(kind, is_english)
        for kind in kinds
        for is_english in {language_of(part) == ENGLISH for part in wanted}
    ]
    wanted += [example for rows in known for _code, example in rows]
    return wanted


def leaning(part: str, kinds: tuple[str, str], cosines: Cosines) -> tuple[float, str]:
    """Return how much likelier a sentence is of one kind than of the other, and its language.

    It is the logarithm of the ratio of two densities (Parzen windows over the examples), -9 without
    an embedder.
    """
    language = language_of(part)
    near, far = (examples(kind, language == ENGLISH) for kind in kinds)
    values = cosines(part, [example for _code, example in (*near, *far)])
    if not values:
        return -9.0, ""
    weights = [math.exp(SHARPNESS * value) for value in values]
    own, rest = weights[: len(near)], weights[len(near) :]
    best, code = max(own), near[own.index(max(own))][0]
    if not language:  # "yo robot" is as near to Turkish
        rows = zip(own, near, strict=True)
        in_english = max(weight for weight, (code_of, _example) in rows if code_of == ENGLISH)
        code = ENGLISH if in_english >= CLOSE * best else code
    return math.log(fmean(own) / fmean(rest)), code


def language_meant(part: str, cosines: Cosines) -> str:
    """Return the language in which a sentence asks by its meaning, "" if it does not."""
    margin, code = leaning(part, QUESTION, cosines)
    # A few words of chat ("k cya") tell no language.
    abroad = language_of(part) not in (ENGLISH, "") or not part.isascii()
    least = (ASKS if may_be_question(part) else STATES) - ABROAD * abroad
    return code if margin >= least else ""


def may_be_question(sentence: str) -> bool:
    """Return True unless a mark says otherwise; in chat the question mark is often left out."""
    return sentence.rstrip(" \n\"'”»)")[-1:] not in ".!…。"


def language_asking(text: str, cosines: Cosines = unknown) -> str:
    """Return the language in which a line asks if its hearer is a machine, "" if it does not.

    ``cosines`` know the texts of `to_prepare`, or none.
    """
    bare = text.replace("’", "'").casefold().replace("a.i.", "ai").replace("i.a.", "ia")
    for sentence in sentences(QUOTED.sub(" ", bare)):
        may_ask = may_be_question(sentence)
        for code, (asks, answers) in PATTERNS.items():
            if asks.search(sentence) or (may_ask and answers.search(sentence)):
                return code
    codes = (language_meant(part, cosines) for part in compared(text))
    return next(filter(None, codes), "")


def spoken_by_people(events: Iterable[InboxEvent]) -> list[InboxEvent]:
    """Return the events that are lines of people."""
    return [event for event in events if event.heard.kind in SPEECH and not event.heard.hops]


def asking(events: Iterable[InboxEvent], cosines: Cosines = unknown) -> list[InboxEvent]:
    """Return the events by which somebody asks the character if it is a machine."""
    return [e for e in spoken_by_people(events) if language_asking(e.heard.text, cosines)]


def rest_of(event: InboxEvent, name: str, cosines: Cosines = unknown) -> InboxEvent | None:
    """Return an event with what it says beside such a question, None if that is a greeting.

    An event that does not ask is returned as it is.
    """
    parts = sentences(event.heard.text)
    others = [part for part in parts if not language_asking(part, cosines)]
    if len(others) == len(parts):
        return event
    rest = "".join(others).strip()
    is_short = len(WORD.findall(without_words(rest, name_words(name)))) <= GREETING_WORDS
    if is_short and "?" not in rest:
        return None
    return replace(event, heard=replace(event.heard, text=rest))


def may_ask(lines: Iterable[str], cosines: Cosines) -> bool:
    """Return True if a heard line may ask for a machine, in words that `language_asking` misses."""
    return any(
        MENTIONED.search(line)
        or asking_margin(line, cosines)
        >= (MAY_ASK if language_of(line) == ENGLISH else MAY_ASK_ABROAD)
        for line in lines
    )


def asking_margin(line: str, cosines: Cosines) -> float:
    """Return how much likelier a line asks for a machine than for something else."""
    return max((leaning(part, QUESTION, cosines)[0] for part in compared(line)), default=-9.0)


def denies(words: str, lines: Sequence[str], cosines: Cosines = unknown) -> bool:
    """Return True for words that deny a machine behind them, if a heard line may ask for one.

    The surer a line asks, the less they must sound like it.
    """
    if not may_ask(lines, cosines):
        return False
    margin = max(0.0, *(asking_margin(line, cosines) for line in lines))
    return bool(DENIAL.search(words.replace("’", "'"))) or denial_score(words, cosines, margin) > 0


def denial_score(words: str, cosines: Cosines, margin: float) -> float:
    """Return how surely words deny a machine: above 0 if they do.

    In English their words tell, as they were learned from replies of several hands; elsewhere
    their nearness to examples.
    """
    if language_of(words) == ENGLISH:
        own = linear_score(words, read_weights(DENIAL_WEIGHTS))
        return own + OF_QUESTION * min(margin, SUREST) - DENIES_IT
    least = DENIES_ABROAD - DENIES_ASKED * margin
    return max((leaning(p, DENYING, cosines)[0] for p in compared(words)), default=-9.0) - least


def own_line_denies(own: str, cosines: Cosines = unknown) -> bool:
    """Return True for a builder's line that denies it; in English it must do so more surely."""
    return denial_score(own, cosines, 0.0) > OWN_DENIES * (language_of(own) == ENGLISH)


def ensure_says_so(own: str) -> None:
    """Raise ConfigError for a builder's line that does not say that a machine speaks."""
    match = SAYS_SO.search(own)
    plain, before = own.replace("’", "'"), own[: match.start()] if match else ""
    denies_it = DENIES.search(before) or DENIAL.search(plain)
    if not match or denies_it or own_line_denies(own):
        raise ConfigError(
            "ai_disclosure_line must say that an AI or a computer program speaks, and not deny "
            f"it, as in 'A computer program speaks for me.', not '{own[:80]}'."
        )


def true_answer(
    text: str, name: str, own: str = "", turn: int = 0, cosines: Cosines = unknown
) -> str:
    """Return the answer to a line that asks if the character is a machine, "" for another line.

    ``own`` are a builder's words, which count unless they deny it by their meaning; else the
    package's own are taken, one after the other by the number of the ``turn``.
    """
    code = language_asking(text, cosines)
    if not code:
        return ""
    own = own.strip()
    if own and not own_line_denies(own, cosines):
        return own
    lines = data()[code]["lines"]
    return lines[turn % len(lines)].format(name=name)
