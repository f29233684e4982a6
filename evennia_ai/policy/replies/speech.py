"""The speech of a reply: its sentences as soon as they end, and whose voice they are."""

import json
import re
import tomllib
from pathlib import Path

from evennia_ai.messages import SAY, ToolCallRequest
from evennia_ai.policy.facts.terms import Cosines
from evennia_ai.policy.texts import one_of, sentences

FIRST_CHARS = 24  # a shorter first piece waits for the next sentence
LONGEST_SENTENCE = 4_000  # in characters; what is longer waits for the end of the text
OPENINGS = " \n([\"'“‘„«»*_¡¿"
# "z.B.", "Hr.", "3.": a letter or two consonants, or a small number.
ABBREVIATION = re.compile(r"(?<![^\W_])(?:\d\d?|[b-df-hj-np-tv-z]{1,4})\.\Z", re.IGNORECASE)
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
        self._least_chars = FIRST_CHARS

    def feed(self, text: str) -> list[str]:
        """Add a part of the text; return the sentences that are finished now."""
        self._text = (self._text + text).lstrip()  # no piece begins with white space
        pieces, piece = list[str](), ""
        for part in sentences(self._text) if len(self._text) <= LONGEST_SENTENCE else ():
            if piece and self._is_whole(piece.strip(), part.lstrip(OPENINGS)):
                pieces.append(piece.strip())
                self._text, piece, self._least_chars = self._text[len(piece) :], "", 1
            piece += part
        return pieces

    def rest(self) -> str:
        """Return what is left at the end of the text, and forget it; may be empty."""
        left, self._text = self._text.strip(), ""
        return left

    def _is_whole(self, piece: str, following: str) -> bool:
        """Return True if a piece is long enough, and no abbreviation, and no sentence goes on."""
        if len(piece) < self._least_chars or ABBREVIATION.search(piece):
            return False
        # Marks alone may still end the sentence before: `." …`.
        return any(map(str.isalnum, following)) and not following[0].islower()


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
MAKERS = "OpenAI|Alibaba|Anthropic|Google|Meta|Mistral|DeepSeek|Microsoft"
# In English; what sounds like an assistant beside these is known by its meaning.
SELF_DESCRIPTIONS = (
    CALLS_ITSELF,
    rf"{I_AM}an? (?:virtual|digital|automated|helpful) assistant\b",
    rf"I(?: am|'m| was) (?:\w+ )?(?:created|developed|trained|programmed|made) by (?:{MAKERS})\b",
    rf"{I_AM}(?:Qwen|ChatGPT|GPT-?\d|LLaMA|Gemini)\b|Alibaba Cloud\b|OpenAI\b",
    r"my (?:training data|knowledge cut-?off|programming|guidelines)\b|(?:my|system) prompt\b",
    r"my instructions (?:say|state|prevent|forbid)\b",
    r"I(?: am|'m) (?:always |just |only |not )?here to (?:assist|answer|provide)\b",
    r"I(?: am|'m) (?:always )?here to help(?: you)?[.!,]",
    r"any other questions\b|can I assist you\b|\b(?-i:AI) (?:assistant|model|chatbot)\b",
    (
        r"(?:can't|cannot|unable to|able to) (?:assist\b|help (?:you )?with (?:that|this)"
        r"(?=[.!,;]|\Z| (?:request|right)\b)|(?:\w+ ){1,2}this (?:request|conversation)\b)"
    ),
    r"role-?play(?:ing)?\b|stay(?:ing)? in character\b",
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
    r"(?:my|the|a) (?:\w+ )?(?:response|reply|output) (?:should|must|needs to|will|in|as)\b",
    r"JSON\b|(?:tool|function)[ _-]calls?\b|calling the (?:\w+ )?tool\b",
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


def describes_assistant(words: str, persona: str) -> bool:
    """Return True for "As an AI language model ..."; a persona that is an AI may say so."""
    return SELF_DESCRIPTION.search(words.replace("’", "'")) is not None and not is_ai(persona)


def is_ai(persona: str) -> bool:
    """Return True if a persona says "You are an AI"."""
    match = IS_AI.search(persona)
    return match is not None and NOT_AI.search(match[0]) is None


VOICES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ASSISTANT_SAYS, CHARACTERS_SAY = VOICES["assistant"], VOICES["character"]
VOICE_LINES = (*ASSISTANT_SAYS, *CHARACTERS_SAY)
NEARER = 0.12  # of an assistant's sentence: how much nearer it is
# "For a bookbinder's press." is far from both, and a little nearer to an assistant's sentence.
NEAR, FAR_TAKES = 0.45, 0.1  # what is less near counts so much less


def assistant_margin(sentence: str, cosines: Cosines) -> tuple[float, bool]:
    """Return how much nearer a sentence is to an assistant's than to a character's, in cosines,
    and whether it is surely an assistant's.

    It is 0 if that is not known. ``cosines`` is asked about `VOICE_LINES`, which are English: of a
    hosted model's 60 refusals in ten other languages the multilingual embedder finds 57, and takes
    2 of 200 other lines for one. MiniLM finds none in them; of 16 English ones it finds 12, of
    which patterns find 3, and takes none of 492 other lines for one.
    """
    assistant, character = cosines(sentence, ASSISTANT_SAYS), cosines(sentence, CHARACTERS_SAY)
    nearest = max(assistant, default=0.0)
    margin = nearest - max(character, default=0.0)
    return margin, margin - FAR_TAKES * (nearest < NEAR) > NEARER
