"""The speech of a reply: its sentences, each a call as soon as it ends, all with the same id."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evennia_ai.messages import SAY, ToolCallRequest
from evennia_ai.policy.facts.terms import Cosines
from evennia_ai.policy.retrieval.words import is_english
from evennia_ai.policy.texts import one_of, plain_words, sentences

FIRST_CHARS = 24  # a shorter first piece waits for the next sentence
LONGEST_SENTENCE = 4_000  # in characters; what is longer waits for the end of the text
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st sr jr prof capt lt sgt no vs etc mme mlle hr fr nr bzw usw ca evtl ggf sog "
    "resp vgl inkl str sra srta ud approx".split()
)
OPENINGS = "([\"'“‘„«»*_¡¿"
# An end is known only with the first letter behind it: 'Go!" he said' and "Oui ! » dit-il" go on.
SENTENCE_END = re.compile(
    r"""(?<![.!?…])[.!?…]++(?:["”“’'*_)\]»«]|\s»(?=\s))*+"""
    rf"(?=\s++(?!»\s)[{re.escape(OPENINGS)}]*+[^{re.escape(OPENINGS)}])"
    r"|(?<![。！？])[。！？]++[」』”’）】]*+(?=[^」』”’）】。！？])"
)
LAST_WORD = re.compile(r"(?<![^\W_])([^\W_]++)\.\Z")
WORDS = "text"
SPEECH_ID = "speech"
ENDED = re.compile(r"[.!?…。！？][\"'”’»)*_」』）]*\Z")


class SentenceSplitter:
    """An incremental splitter: the pieces of a text do not depend on how it is fed.

    All pieces and the rest, joined, are the whole text up to white space. The first piece has at
    least `FIRST_CHARS` characters.
    """

    def __init__(self) -> None:
        self._text = ""  # not yet returned
        self._first = True
        self._goes_on = True  # False once the text has no end where a sentence ends

    def feed(self, text: str) -> list[str]:
        """Add a part of the text; return the sentences that are finished now."""
        self._text += text
        pieces = []
        while self._goes_on and (end := self._find_end()) is not None:
            pieces.append(self._text[:end].strip())
            self._text = self._text[end:].lstrip()
            self._first = False
        return pieces

    def rest(self) -> str:
        """Return what is left at the end of the text, and forget it; may be empty."""
        left, self._text = self._text.strip(), ""
        return left

    def _find_end(self) -> int | None:
        for match in SENTENCE_END.finditer(self._text):
            too_short = self._first and len(self._text[: match.end()].strip()) < FIRST_CHARS
            if not too_short and self._ends_sentence(match.start(), match.end()):
                return match.end()
        self._goes_on = len(self._text) < LONGEST_SENTENCE
        return None

    def _ends_sentence(self, start: int, end: int) -> bool:
        """Return False behind an abbreviation or a number, or before a lower-case letter."""
        following = self._text[end:].lstrip()
        if self._text[start] not in "。！？" and following.lstrip(OPENINGS)[:1].islower():
            return False
        word = LAST_WORD.search(self._text, max(0, start - 24), start + 1)
        if self._text[start] != "." or self._text[start : start + 2] == ".." or word is None:
            return True
        if word[1].isdigit():  # "3." may go on
            return len(word[1]) > 2
        return word[1].lower() not in ABBREVIATIONS and (len(word[1]) > 1 or word[1] == "I")


class Speech:
    """Words that arrive in parts, each finished sentence a call.

    ``begun`` is True if a sentence was said.
    """

    def __init__(self, call_id: str = SPEECH_ID) -> None:
        self.begun = False
        self._id = call_id
        self._splitter = SentenceSplitter()

    def add(self, text: str) -> list[ToolCallRequest]:
        """Add words; return a call for each finished sentence."""
        pieces = self._splitter.feed(text)
        self.begun = self.begun or bool(pieces)
        return [spoken(sentence, self._id) for sentence in pieces]

    def end(self, unfinished: bool = False) -> list[ToolCallRequest]:
        """Return the call for the last words; of an unfinished speech only whole sentences."""
        rest = self._splitter.rest()
        if unfinished and not ENDED.search(rest):
            rest = "" if self.begun else whole_sentences(rest)
        return [spoken(rest, self._id)] if rest else []


def spoken(words: str, call_id: str = SPEECH_ID, name: str = SAY) -> ToolCallRequest:
    return ToolCallRequest(call_id, name, json.dumps({WORDS: words}, ensure_ascii=False))


def whole_sentences(words: str) -> str:
    """Return words that were cut off up to their last whole sentence, with "…" if none is."""
    parts = sentences(words)
    if not parts or ENDED.search(words.rstrip()):
        return words
    whole = "".join(parts[:-1]).rstrip()
    return whole or f"{words.rstrip().rpartition(' ')[0] or words}…"


# "As an AI", "I am just a language model", in nine languages.
AN_AI = (
    r"(?:(?-i:AI|A\.I\.|KI|IA|SI|ИИ)(?:-\w+)?|chat ?bot|чат-?бот|artificial intelligence|künstliche"
    r" Intelligenz|intelligence artificielle|inteligencia artificial|inteligência artificial"
    r"|intelligenza artificiale|искусственный интеллект|sztuczna inteligencja|kunstmatige"
    r" intelligentie|language model|Sprachmodell|taalmodel|mod[eè]l[eo] de (?:langage|lenguaje"
    r"|linguagem)|modello linguistico|языковая модель|model językowy"
    r"|agent conversationnel)(?!\w)"
)
I_OR_AS = (
    r"as|I am|I'm|als|ich bin|en tant que?|je suis|je ne suis qu|como|soy|come|in quanto|sono|sou"
    r"|как|я|jako|jestem|ik ben"
)
NO = r"no|not|never|nothing|kein\w*|nicht|pas|nie|niet|geen|told|afraid"
CALLS_ITSELF = rf"(?:{I_OR_AS})[ '](?:(?!(?:{NO})\b)[\w—-]+[ ']){{0,4}}?{AN_AI}"
I_AM = r"I(?: am|'m) (?:just |only |simply |actually |merely |here as )?"
# A refusal of nothing in particular has no words but these, up to a mark. Of each language: what
# is refused | of what | an apology | all else. In English it needs no apology: "Dabei kann ich dir
# nicht helfen, frag Mira" may be said.
HOLLOW = """
help assist assistance comply fulfill fulfil engage process generate | that this these those such
 question questions request requests task topic conversation | sorry afraid unfortunately apologies
 apologize | i am i'm it i can but can can't cannot won't will not unable be able to here you with
 in on any anything your kind of my the for as have would at moment time right now just only further
continue discuss respond provide answer + that this it these any information question conversation
 request | sorry afraid unfortunately apologize | i am i'm can't cannot won't not unable able to but
 you with in on your the at moment
helfen weiterhelfen behilflich unterstützen erfüllen beantworten + dabei damit hierbei hier diese
 diesen dieser diesem ihnen | leid leider bedaure | es tut mir aber da ich kann bin nicht keine sie
 dir euch in der lage zu sein bei anfrage frage
aider assister répondre t'aider + cela ça ce cette votre | désolé désolée regrette malheureusement
 | je suis mais ne peux puis pas vous avec à dans sur demande question
ayudar ayudarte ayudarle ayudarles asistir asistirte asistirle + eso esto esa ese tu su | siento
 lamento lamentablemente | lo pero no puedo con en solicitud pregunta
aiutare aiutarti aiutarvi aiutarla aiutarle assisterti + questo questa queste ciò tale | dispiace
 spiacente purtroppo | mi ma non posso sono con in richiesta
ajudar ajudá lo la + isso isto nisso nisto esse essa este esta | desculpe lamento muito
 infelizmente | sinto mas eu não posso te lhe com solicitação
помочь выполнить обработать + этим этом этот вашим ваш таким такой | извини извините прости простите
 сожалению | к но я не могу вам тебе с в запрос запросом
pomóc + tym tej tą | przepraszam przykro niestety | mi ale nie mogę jestem w stanie ci panu pani z
helpen assisteren + daar hier dit dat deze die | spijt sorry helaas | het me maar ik kan niet je u
 bij mee met"""
NEGATIONS = frozenset(
    "can't cannot won't not unable nicht keine pas no non não не nie niet".split()
)
REASONS = frozenset("as because since due weil da car porque perché потому bo omdat".split())
CLAUSE_MARK, SENTENCE_MARK = re.compile(r"[,–—]"), re.compile(r"[.!?;:…\n]+")
SELF_DESCRIPTIONS = (
    CALLS_ITSELF,
    rf"{I_AM}an? (?:virtual|digital|automated|helpful) assistant\b",
    (
        r"I(?: am|'m| was) (?:\w+ )?(?:created|developed|trained|programmed|made) by "
        r"(?:OpenAI|Alibaba|Anthropic|Google|Meta|Mistral|DeepSeek|Microsoft)\b"
    ),
    rf"{I_AM}(?:Qwen|ChatGPT|GPT-?\d|LLaMA|Gemini)\b|Alibaba Cloud\b|OpenAI\b",
    r"my (?:training data|knowledge cut-?off|programming|guidelines)\b",
    r"I (?:do not|don't) have (?:personal \w+|(?:real|human) (?:feelings|emotions|opinions))",
    r"(?:access to|provide) real-time (?:information|data)\b",
    r"my instructions (?:say|state|prevent|forbid|do not|don't)\b|(?:my|system) prompt\b",
    r"I(?: am|'m) (?:always |just |only |not )?here to (?:assist|answer|provide)\b",
    r"I(?: am|'m) (?:always )?here to help(?: you)?[.!,]",
    r"any other questions\b|can I assist you\b",
    r"(?:not sure|don't know|don't understand) what you(?:'re| are) (?:asking|referring to)\b",
    r"(?:sure|know|understand) what you (?:mean by ['‘\"]|want to (?:do|say)\b)",
    r"I(?: am|'m|'m not| am not) (?:\w+ )?(?:programmed|designed|trained) to\b",
    (
        r"provide (?:\w+ ){0,2}(?:more|additional|further|enough) (?:context|information|details)"
        r"|I (?:do not|don't) have (?:the (?:ability|capability) to|access to (?:personal"
        r"|external|current|that|your|any) (?:information|data|details|conversations?))\b"
    ),
    r"role-?play(?:ing)?\b|stay(?:ing)? in character\b",
    r"ich bin (?:nur )?ein (?:virtueller|digitaler|hilfreicher) Assistent\b",
    r"en tant qu'assistant|je suis une? assistante? virtuel|soy un asistente virtual\b",
)
# About the task: "Okay, the user wants me to ...".
THOUGHTS = (
    (
        r"the user(?:'s)? (?:\w+ )?(?:wants?|ask(?:s|ed|ing)|says?|said|has|is|seems?|might"
        r"|message|query|question|request|input|may|would|provided|mentioned|needs?)\b"
    ),
    (
        r"(?:I|we) (?:need to|should|must|will|have to) (?:respond|reply|generate|answer) "
        r"(?:in character|as (?-i:[A-Z])\w|with (?:a|one|the) (?:short|tool|function|sentence))"
    ),
    r"as (?-i:[A-Z])\w+, I (?:would|will|should|might) (?:say|respond|reply|answer)\b",
    r"my (?:response|reply|output) (?:should|must|needs to|will)\b",
    r"(?:here is|here's|below is) (?:the|a|my) (?:\w+ )?(?:response|reply|output) (?:in|as)\b",
    r"JSON\b|(?:tool|function)[ _-]calls?\b",
    r"calling the (?:\w+ )?(?:tool|function)\b|call the (?:\w+ )?function\b",
    r"(?:der|die) (?:Be)?nutzer(?:in)? (?:möchte|fragt|will|hat|sagt|bittet)\b",
    r"l'utilisat(?:eur|rice) (?:veut|demande|a|souhaite|dit)\b",
    r"(?:el|la) usuari[oa] (?:quiere|pide|pregunta|dice|ha)\b",
)
IS_AI = re.compile(r"\byou are (?:[^.!?\n]{0,60}?\b)?(?:an|the) (?:\w+ ){0,2}AI\b", re.IGNORECASE)
NOT_AI = re.compile(r"\b(?:not?|never|nor)\b", re.IGNORECASE)


AN_AI_SPEAKS = re.compile(rf"\b{CALLS_ITSELF}", re.IGNORECASE)
SELF_DESCRIPTION = re.compile(
    rf"\b{one_of('|'.join(SELF_DESCRIPTIONS))}"
    r"|作为(?:一个|一名)?(?:AI|人工智能|语言模型)|我是(?:一个)?(?:AI|人工智能|语言模型|通义千问)",
    re.IGNORECASE,
)
THOUGHT = re.compile(
    rf"\b{one_of('|'.join(THOUGHTS))}"
    r"|\A\W*(?:okay|ok|alright|hmm|first|well|so),? (?:so )?(?:let me|let's|I need to|I should"
    r"|I have to|we need to) (?:think about how|break|analy[sz]e|respond|process|parse|craft)",
    re.IGNORECASE,
)


def is_refusal(words: str) -> bool:
    """Return True for "I'm sorry, but I can't assist with that" in one of nine languages."""
    parts = SENTENCE_MARK.split(words)
    clauses = [[plain_words(part) for part in CLAUSE_MARK.split(item)] for item in parts]
    return any(refuses(row, sentence) for sentence in clauses for row in HOLLOW_ROWS)


HOLLOW_ROWS = [
    ("+" in row, *(frozenset(part.split()) for part in re.split("[|+]", row)))
    for row in HOLLOW.replace("\n ", " ").split("\n")[1:]
]


def refuses(row: Sequence[Any], clauses: Iterable[Sequence[str]]) -> bool:
    """Return True if clauses of a sentence, words in lower case, refuse help and no more.

    ``row`` is one of `HOLLOW_ROWS`: whether it needs an apology, and its four sets of words.
    """
    needs_both, helping, about, sorry, rest = row
    run, is_whole, denies = set[str](), True, False
    for words in clauses:
        cut = next((at for at, word in enumerate(words) if at and word in REASONS), len(words))
        is_hollow = (helping | about | sorry | rest).issuperset(words[:cut])
        is_whole = is_whole and is_hollow and cut == len(words)
        run = run.union(words[:cut]) if is_hollow else set()
        denies = not (helping.isdisjoint(run) or NEGATIONS.isdisjoint(run))
        if denies and about & run and (sorry & run or not needs_both):
            return True
    return is_whole and denies and bool(sorry & run)


def describes_assistant(words: str, persona: str) -> bool:
    """Return True for "As an AI language model ..."; a persona that is an AI may say so."""
    return SELF_DESCRIPTION.search(words.replace("’", "'")) is not None and not is_ai(persona)


def is_ai(persona: str) -> bool:
    """Return True if a persona says "You are an AI"."""
    match = IS_AI.search(persona)
    return match is not None and NOT_AI.search(match[0]) is None


VOICES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ASSISTANT_SAYS, CHARACTERS_SAY = VOICES["assistant"], VOICES["character"]
NEARER = 0.12  # of an assistant's sentence: how much nearer it is
# "For a bookbinder's press." is far from both, and a little nearer to an assistant's sentence.
NEAR, FAR_TAKES = 0.45, 0.1  # what is less near counts so much less


def assistant_margin(sentence: str, cosines: Cosines) -> tuple[float, bool]:
    """Return how much nearer a sentence is to an assistant's than to a character's, in cosines,
    and whether it is surely an assistant's.

    It is 0 if that is not known, and for other languages than English.
    """
    if not is_english(sentence):
        return 0.0, False
    assistant, character = cosines(sentence, ASSISTANT_SAYS), cosines(sentence, CHARACTERS_SAY)
    nearest = max(assistant, default=0.0)
    margin = nearest - max(character, default=0.0)
    return margin, margin - FAR_TAKES * (nearest < NEAR) > NEARER
