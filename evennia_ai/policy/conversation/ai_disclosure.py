"""Whether somebody asks a character in earnest if it is a machine, and the true answer.

No model is asked, so that none can deny it (EU AI Act, Art. 50; California, B&P Code 17941).
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from evennia_ai.messages import SPEECH, InboxEvent
from evennia_ai.policy.retrieval.words import WORD, name_words, without_words
from evennia_ai.policy.texts import sentences

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
    lines: str  # true answers


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
        """You ask in earnest, so in earnest: I am not a human being. A computer program, an
   AI, speaks for {name}.
A plain question, a plain answer: {name} is not a human being. An AI, a computer program,
   says these words.
I will not pretend: I am not a human being. {name} is played by an AI, a computer program.""",
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
        """Ernst gefragt, ernst geantwortet: Ich bin kein Mensch. Für {name} spricht eine KI, ein
   Computerprogramm.
Ganz ehrlich: {name} wird von einer KI gespielt, einem Computerprogramm. Kein Mensch sagt
   diese Worte.""",
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
        """À question franche, réponse franche : je ne suis pas un être humain. Une IA, un programme
   informatique, parle pour {name}.
En toute honnêteté : une IA, un programme informatique, joue {name}. Aucun être humain ne dit
   ces mots.""",
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
        """A pregunta sincera, respuesta sincera: no soy un ser humano. Por {name} habla una IA, un
   programa de ordenador.
Con toda franqueza: una IA, un programa de ordenador, da voz a {name}. Ningún ser humano dice
   estas palabras.""",
    ),
}
QUOTED = re.compile(r"[\"“„«][^\"”“»„«]{0,300}[\"”“»]")
# What a builder's line must say, and must not deny.
SAYS_SO = re.compile(
    r"\b(?:AI|KI|IA|ИИ|(?i:machine|maschine|máquina|машина|ro?bot\w*|chat ?bot|computer\w*"
    r"|ordinateur|programm?\w*|программа|artificial|artificielle|künstlich\w*))\b"
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
    what = before + noun + behind
    asks, answers = (
        "|".join(rf"\b{row.replace('N', what)}" for row in rows_of(text))
        for text in (tongue.asks, tongue.told)
    )
    return re.compile(asks), re.compile(answers)


PATTERNS = {code: compiled(tongue) for code, tongue in TONGUES.items()}


def language_asking(text: str) -> str:
    """Return the language in which a line asks if its hearer is a machine, "" if it does not."""
    bare = text.replace("’", "'").casefold().replace("a.i.", "ai").replace("i.a.", "ia")
    for sentence in sentences(QUOTED.sub(" ", bare)):
        # In chat the question mark is often left out.
        may_ask = sentence.rstrip(" \n\"'”»)")[-1:] not in ".!…"
        for code, (asks, answers) in PATTERNS.items():
            if asks.search(sentence) or (may_ask and answers.search(sentence)):
                return code
    return ""


def asking(events: Iterable[InboxEvent]) -> list[InboxEvent]:
    """Return the events by which somebody asks the character if it is a machine."""
    spoken = (event for event in events if event.heard.kind in SPEECH and not event.heard.hops)
    return [event for event in spoken if language_asking(event.heard.text)]


def rest_of(event: InboxEvent, name: str) -> InboxEvent | None:
    """Return an event with what it says beside such a question, None if that is a greeting."""
    others = [sentence for sentence in sentences(event.heard.text) if not language_asking(sentence)]
    rest = "".join(others).strip()
    is_short = len(WORD.findall(without_words(rest, name_words(name)))) <= GREETING_WORDS
    if is_short and "?" not in rest:
        return None
    return replace(event, heard=replace(event.heard, text=rest))


def denies(words: str, questions: Iterable[str]) -> bool:
    """Return True for words that deny a machine behind them, if a heard line may ask for one."""
    plain = words.replace("’", "'")
    return DENIAL.search(plain) is not None and any(map(MENTIONED.search, questions))


def true_answer(text: str, name: str, own: str = "", turn: int = 0) -> str:
    """Return the answer to a line that asks if the character is a machine, "" for another line.

    ``own`` are a builder's words, which count if they say so; else the package's own are taken, one
    after the other by the number of the ``turn``.
    """
    code = language_asking(text)
    if not code:
        return ""
    match = SAYS_SO.search(own)
    if match and not DENIES.search(own[: match.start()]):
        return own.strip()
    lines = rows_of(TONGUES[code].lines)
    return lines[turn % len(lines)].format(name=name)
