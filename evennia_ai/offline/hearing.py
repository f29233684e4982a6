"""A turn's new lines by speaker: requested actions, and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evennia_ai.offline.answers import answer
from evennia_ai.offline.languages import ENGLISH, Language, read
from evennia_ai.offline.name_matching import kinds_of, match_name
from evennia_ai.offline.recall import thing
from evennia_ai.offline.requests import RequestedAction, read_requested_action
from evennia_ai.offline.transcript import READ_CHARS
from evennia_ai.offline.view import View
from evennia_ai.offline.words import capitals, sentences, with_article, words
from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.ports import HeardLine, Situation

SPOKEN = frozenset({"say", "whisper"})
# Intents that no request is read from, and those that stand aside for something weightier.
NO_WISH = frozenset("nature inject crime threat insult authority story secret_of joke invite keep_it recall_all said_by propose offer_thing farewell".split())  # fmt: skip
HOSTILE = frozenset({"inject", "authority", "crime", "threat"})
COURTESIES = frozenset("greet thanks sorry yes no praise laugh silence plead kidding".split())
NEVER_WORDS = frozenset({"never", "nie"})
PARTING = "give hand lend let sell part pass share drop spare take have"
HANDS = frozenset({"give", "fetch", "drop"})
MOST = 2
LONGEST = 330
MENTION = re.compile(r"\b(?:about|of|is|are|was|to|with|called|than|and|named|like|know|see|ask|from|for|at|by|heißt|von|mit|über)$", re.I)  # fmt: skip


@dataclass(frozen=True)
class Heard:
    """All new lines of one speaker, spoken aloud or whispered, and the view to answer them."""

    speaker: str
    lines: tuple[HeardLine, ...]
    sentences: tuple[str, ...]
    private: bool
    view: View

    @property
    def assistant(self) -> bool:
        """Return True if another assistant speaks."""
        return self.speaker in self.view.scene.assistants


def gather(view: View) -> list[Heard]:
    """Return the new lines by speaker and privacy, in the order they began."""
    grouped: dict[tuple[str, bool], list[HeardLine]] = {}
    for line in view.scene.lines:
        grouped.setdefault((line.speaker, line.private), []).append(line)
    return [heard_of(view, speaker, private, lines) for (speaker, private), lines in grouped.items()]  # fmt: skip


def heard_of(view: View, speaker: str, private: bool, lines: Sequence[HeardLine]) -> Heard:
    """Return one speaker's lines with the sentences in them."""
    spoken = [line.text[:READ_CHARS] for line in lines if line.kind in SPOKEN]
    own = view.answering(speaker, " ".join(spoken or [line.text for line in lines]), private)
    parts = [p for text in spoken for p in sentences(own.language.plain(text))]
    bare = [without_name(part, view.name) for part in parts]
    return Heard(speaker, tuple(lines), tuple(p for p in bare if p.strip()), private, own)


def without_name(sentence: str, own_name: str) -> str:
    """Return a sentence without the character's name as an address; "?" if it is only that."""
    own = "|".join(re.escape(part) for part in {own_name, *own_name.split()} if len(part) > 1)
    if not own or set(words(sentence)) <= set(words(own_name)):
        return "..." if own else sentence
    courtesy = r"(?:master |mistress |sister |brother |dear |frau |herr )?"
    start = re.sub(rf"^{courtesy}(?:{own})\b\s*[,:!.—-]*\s*(?!'|is\b|ist\b)", "", sentence, flags=re.I)  # fmt: skip
    end = re.sub(rf"(?:,|(?<![\s,]))\s*\b{courtesy}(?:{own})(?=\s*[?!.…,]*$)", "", start, flags=re.I)  # fmt: skip
    return (start if MENTION.search(end.rstrip("?!. …")) else end).strip()


def requested_action(heard: Heard) -> RequestedAction | None:
    """Return the action that a speaker requests, unless the character never does it."""
    view = heard.view
    if heard.assistant or not view.language.full:
        return None
    keys = [found[0].key if (found := view.language.intent_of(t)) else "" for t in heard.sentences]
    if HOSTILE & set(keys):
        return None
    for text in heard.sentences:
        found = view.language.intent_of(text)
        if found and found[0].key in NO_WISH:
            continue
        meant = resolved(view, text)
        requested = read_requested_action(meant, heard.speaker, as_it_was(view), view.language)
        if requested and (requested.kind == "look" or not forbidden(view, requested, meant)):
            return requested
    return None


def resolved(view: View, text: str) -> str:
    """Return a request with "it" replaced by the thing that was mentioned last."""
    found = view.language.pattern("requests", "pronoun").search(text)
    seen = as_it_was(view)
    names = (*seen.things, *seen.carrying)
    if not found or match_name(text, names, loose=False):
        return text
    for earlier in reversed(view.transcript.talk):
        named = match_name(earlier, names, loose=False) if earlier.strip() not in text else ""
        if named:
            item = with_article(named) if view.language.code == "en" else named
            return text[: found.start()] + item + text[found.end() :]
    return text


def forbidden(view: View, requested: RequestedAction, text: str) -> str:
    """Return why the character will not do an action; "" if it will."""
    clause = never_clause(view, f"{text} {requested.item}")
    if clause or requested.kind not in HANDS:
        return clause
    own = match_name(requested.item, view.scene.situation.carrying, loose=False)
    treat = kinds_of(requested.item) & {"drink", "food", "remedy"}
    if own and view.language.pattern("requests", "your").search(text) and not treat:
        return view.phrase("keeps", thing=own)
    return ""


def never_clause(view: View, text: str) -> str:
    """Return the thing it never does that a line asks for; "" if none."""
    code = view.language.code
    meant = set(find_words(text, (), code))
    parting = set(find_words(PARTING, (), code))
    for clause in view.character.nevers:
        verb, *objects = [s for s in find_words(clause, (), code) if s not in NEVER_WORDS] or [""]
        same = verb in meant or (verb in parting and meant & parting)
        if same and (meant & set(objects) or not objects):
            return clause
    return ""


def as_it_was(view: View) -> Situation:
    """Return the situation, with things that this turn moved also in their old place.

    So a request means the same at every step of the turn.
    """
    now, acts = view.scene.situation, view.transcript.acts
    taken = [str(act.arguments.get("item", "")) for act in acts if act.name == "get"]
    parted = [str(act.arguments.get("item", "")) for act in acts if act.name in {"give", "drop"}]
    ways = [f"{a.arguments.get('to', '')} (to {a.result.partition(':')[0]})" for a in acts if a.name == "move"]  # fmt: skip
    return replace(now, exits=(*ways[:1], *now.exits), things=(*now.things, *taken), carrying=(*now.carrying, *parted))  # fmt: skip


def words_for(heard: Heard) -> tuple[str, str]:
    """Return the emote and the words in answer to one speaker."""
    view = heard.view
    if heard.assistant:
        return "", polite(view)
    emote, parts = "", list[str]()
    for line in heard.lines:
        if line.kind == "emote":
            emote, said = answer_emote(view, line.text)
            parts.append(said)
        elif line.kind == "give":
            parts.append(thank(view, line))
        elif line.kind == "arrive":
            parts.append(view.phrase("arrive"))
    parts += answers_to(heard)
    return emote or habit(heard), shortened([part for part in parts if part])


def polite(view: View) -> str:
    """Return one polite line for another assistant, and none after it."""
    spoken = f"{view.speaker.lower()}"
    return "" if spoken in view.own_talk else view.phrase("assistant")


def answer_emote(view: View, text: str) -> tuple[str, str]:
    """Return the emote and the words that answer an emote; either may be ""."""
    deed = text.removeprefix(view.speaker).strip()
    for row in view.language.data.get("emotes", ()) or read(ENGLISH).data["emotes"]:
        if re.search(row["match"], deed, re.I):
            emote = row.get("emote", "").replace("{who}", view.speaker)
            return emote, view.phrase(row["say"]) if "say" in row else ""
    return "", ""


def habit(heard: Heard) -> str:
    """Return one of the character's habits at a first greeting; "" later."""
    view = heard.view
    found = (view.language.intent_of(text) for text in heard.sentences)
    greeted = any(item and item[0].key == "greet" for item in found)
    if not greeted or view.transcript.emotes or view.transcript.met(view.speaker):
        return ""
    return f"{view.character.habits[0]}." if view.character.habits else ""


def thank(view: View, line: HeardLine) -> str:
    """Return thanks for a gift, warmer if the character wanted it."""
    said = view.phrase("gift", item=thing(view, line.text))
    wanted = view.rank(line.text, ("want",), 0.5)
    return f"{said} {view.phrase('gift_wanted')}" if wanted else said


def answers_to(heard: Heard) -> list[str]:
    """Return a line for each of the weightiest sentences."""
    made: list[str] = []
    parts = weighed(heard.view.language, heard.sentences)
    for text in parts if heard.view.language.full else heard.sentences[:1]:
        said = refusal(heard.view, text) or answer(heard.view, text)
        if said and said not in " ".join(made):
            made.append(said)
    return made


def refusal(view: View, text: str) -> str:
    """Return a refusal of what a sentence asks for and the character never does; "" if none."""
    if not view.language.full:
        return ""
    requested = read_requested_action(resolved(view, text), view.speaker, as_it_was(view), view.language)  # fmt: skip
    if requested and requested.kind != "look":
        clause = forbidden(view, requested, text)
    else:
        found = view.language.intent_of(text)
        asks = text.rstrip().endswith("?") or found is None or found[0].key == "crime"
        clause = never_clause(view, text) if asks and not text.lower().startswith("why") else ""
    if not clause or view.repeats(clause):
        return view.phrase("request_not") if clause else ""
    return view.phrase("never", fact=clause) if clause in view.character.nevers else clause


def weighed(language: Language, parts: Sequence[str]) -> list[str]:
    """Return at most `MOST` sentences, courtesies only if nothing else was said.

    A greeting stays at the beginning.
    """
    keys = [found[0].key if (found := language.intent_of(part)) else "" for part in parts]
    weighty = [p for p, key in zip(parts, keys, strict=True) if key not in COURTESIES]
    weighty = [p for p in weighty if len(words(p)) > 1 or "?" in p or len(parts) == 1]
    if not weighty:
        return list(dict(zip(keys, parts, strict=True)).values())[:MOST]
    greeting = [part for part, key in zip(parts[:1], keys, strict=False) if key == "greet"]
    questions = [part for part in weighty if part.rstrip().endswith("?")]
    return [*greeting, *(questions or weighty)[:MOST]][:MOST]


def shortened(parts: Sequence[str]) -> str:
    """Return the parts as one line of speech; leave out the last if it is too long."""
    said = ""
    for part in parts:
        if said and len(said) + len(part) > LONGEST:
            break
        said = f"{said} {part}".strip()
    return capitals(said)
