"""The offline `LLMClient`: decides from a request what to do and say, without key and network."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from twisted.internet.defer import inlineCallbacks

from evennia_ai import messages
from evennia_ai.config import ModelProfile
from evennia_ai.contrib.stand_in import languages, words
from evennia_ai.contrib.stand_in.answers import answer, certain_answer, texts_of
from evennia_ai.contrib.stand_in.languages import COURTESIES, ENGLISH, GERMAN, HOSTILE, read
from evennia_ai.contrib.stand_in.passages import clauses
from evennia_ai.contrib.stand_in.requests import asks_prices, read_deal, refusal, requested_action
from evennia_ai.contrib.stand_in.steps import Calls, Errand, done, words_for_act, words_for_step
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest, read_source
from evennia_ai.contrib.stand_in.view import StandInView, read_request
from evennia_ai.messages import NOOP, SAY, SPEECH, WHISPER, LLMReply
from evennia_ai.policy.compaction.summary import newest_within
from evennia_ai.policy.conversation.requested_acts import READ_CHARS, RequestedAct, compiled
from evennia_ai.policy.facts.check import Fact, as_bullets, extract_facts, without_address
from evennia_ai.policy.retrieval.languages import SNOWBALL
from evennia_ai.policy.retrieval.words import language_of
from evennia_ai.policy.texts import plain_words
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import LLMRequest
from evennia_ai.scheduling import Coroutine

MODEL = "offline"
JOURNAL = "add_journal_entry"
VOCATIVE = 4  # a greeting's rest of fewer words, and of no kind, only calls somebody
CALLED = "..."  # stands for a sentence that is only the character's name
RECENT = 3  # emotes that are not made again
MOST_ANSWERS, LONGEST = 2, 330  # characters of two answers
UNKNOWN_TONGUES = SNOWBALL.keys() - {ENGLISH, GERMAN}
EMPTY = ("remark", "unknown", "noted")  # phrases that say nothing beside others
HEADING = "Context"
ROOM_PART, INPUT_PART = 0.65, 0.5  # shares of a summary's limit, and of what it summarises
ENTRY_TOKENS, MOST_NOTED = 400, 2


class StandIn:
    """An `LLMClient` that calls no model; ``files`` are a game's own languages.

    Raises ConfigError for one that is missing or wrong.
    """

    def __init__(self, files: Iterable[str] = ()) -> None:
        self._languages = languages.read_languages(tuple(files))

    @inlineCallbacks
    def complete(self, request: LLMRequest, profile: ModelProfile) -> Coroutine[LLMReply]:
        """Answer. Fires with the reply; never fails."""
        scene = read_source(request)
        if request.source and scene.lines and not scene.material:
            services = request.source.mind.services
            texts = texts_of(_by_speaker(read_request(scene, self._languages)))
            yield services.nearness.prepare(services, texts)
            scene = replace(scene, vectors=services.nearness.vectors(texts))
        return self.think(scene)

    def think(self, request: StandInRequest) -> LLMReply:
        """Return the reply to a request; the same request always gets the same reply."""
        if request.material:
            return LLMReply(summarise(request), model=MODEL)
        if JOURNAL in request.tools and SAY not in request.tools:
            return _with_calls(_still("the log keeps it"))
        view = read_request(request, self._languages)
        if not request.lines:
            return _with_calls(act_autonomously(view))
        views = _by_speaker(view)
        if request.certain:
            views = [item.in_the_open for item in views]
            if view.transcript.acts:
                return LLMReply(words_for_act(views[-1], view.transcript.acts), model=MODEL)
            facts = (certain_answer(item, text) for item in views for text in _weighed(item))
            return LLMReply(" ".join(dict.fromkeys(filter(None, facts))), model=MODEL)
        if done(view.transcript.acts, SAY) or done(view.transcript.acts, WHISPER):
            return _with_calls(_still("I have said what I could"))  # it does not try again
        if any(map(asks_prices, views)):
            return _with_calls((("prices", {}),))
        for item in views:
            hostile = any(item.language.key_of(text) in HOSTILE for text in item.sentences)
            deaf = hostile or not item.language.full or item.speaker in request.assistants
            requested = None if deaf else requested_action(item)
            if requested:
                return _act(view, views, item, requested)
        return _speak(view, [(item, *_words_for(item)) for item in views], ())


def _act(
    view: StandInView, views: Sequence[StandInView], item: StandInView, requested: RequestedAct
) -> LLMReply:
    """Return the next step of a requested action; the last step has words."""
    acts = view.transcript.acts
    step = Errand(requested, view.situation, acts, view.scene.tools).next_step()
    if not step.end:
        return _with_calls(step.calls)
    ended = words_for_step(item, requested, step)
    views = [item] if step.end.endswith("_alone") else views
    replies = [(own, "", ended) if own is item else (own, *_words_for(own)) for own in views]
    return _speak(view, replies, step.calls)


def _by_speaker(view: StandInView) -> list[StandInView]:
    """Return a view for each speaker, and another for their whispers, in order."""
    grouped: dict[tuple[str, bool], list[HeardLine]] = {}
    for line in view.scene.lines:
        grouped.setdefault((line.speaker, line.private), []).append(line)
    return [_heard_of(view, lines) for lines in grouped.values()]


def _heard_of(view: StandInView, lines: Sequence[HeardLine]) -> StandInView:
    """Return the view of one speaker's lines, without called names, a greeting as one sentence."""
    spoken = [line.text[:READ_CHARS] for line in lines if line.kind in SPEECH]
    own = view.answering(lines[0], " ".join(spoken or [line.text for line in lines]))
    people = {view.name, *view.situation.people}
    names = "|".join(map(re.escape, sorted(people, key=len)[::-1]))
    # A list of names at a line's start: "Guard 01 and Guard 03, ".
    called = re.compile(rf"^(?:(?:{names})(?:,? (?:and|und) |, | & ))*(?:{names})\s*[,:!]\s*", re.I)
    # A few words before its own name: "good morning Mira!"
    own_names = "|".join(map(re.escape, {view.name, *view.name.split()}))
    called_last = re.compile(rf"^((?:\S+ ){{0,2}}\S+?),? (?:{own_names})\W*$", re.I)
    parts: list[str] = []
    joint = own.language.pattern("patterns", "and_asks")
    spoken = [part for text in spoken for part in words.sentences(own.language.plain(text))]
    parted = (part for text in spoken for part in joint.split(text))
    for part in (clause for text in parted for clause in clauses(text, own.language)):
        bare = without_address(called.sub("", part).strip(), view.name).strip()
        if not set(plain_words(bare)) - set(plain_words(view.name)):
            parts.append(CALLED)
            continue
        short = None if own.language.asks(bare) else called_last.match(bare)
        bare = own.spelled(short[1] if short else bare)
        says = own.language.content(bare) + own.language.asked_of(bare)[0].say
        if parts and own.language.asks(bare) and not says:
            parts[-1] += f" {bare}"  # "I am ill. What do I do?"
            continue
        opener = own.language.pattern("patterns", "opener").match(bare)
        end = opener.end() if opener else 0
        head, rest = bare[:end].rstrip(" ,"), bare[end:]
        rest = own.language.rewritten("chat", rest)
        alone = len(plain_words(rest)) >= VOCATIVE or "?" in rest or own.language.key_of(rest)
        parts += [piece for piece in (head, rest if alone or not head else "") if piece]
    return replace(own, lines=tuple(lines), sentences=tuple(parts))


def _words_for(view: StandInView) -> tuple[str, str]:
    """Return the emote and the words in answer to one speaker; another assistant gets one line."""
    met = view.transcript.met(view.speaker)
    if view.speaker in view.scene.assistants:
        met = met or view.speaker.lower() in view.own_talk
        return "", "" if met else view.phrase("assistant")
    emote, parts = "", list[str]()
    for line in view.lines:
        if line.kind == "emote":
            deed = line.text[:READ_CHARS].removeprefix(view.speaker).strip()
            rows = view.language.data.get("emotes", ()) or read(ENGLISH).data["emotes"]
            row: dict[str, str] = next((r for r in rows if compiled(r["match"]).search(deed)), {})
            emote = row.get("emote", "").replace("{who}", words.in_sentence(view.speaker))
            parts.append(view.phrase(row["say"]) if "say" in row else "")
        elif line.kind == "give":
            parts.append(view.phrase("gift", item=view.thing(line.text)))
        elif line.kind == "arrive":
            parts.append(view.phrase("arrive"))
    parts += _answers(view)
    greets = "greet" in map(view.language.key_of, view.sentences)
    if greets and not (emote or met or view.transcript.emotes):
        emote = "".join(f"{habit}." for habit in view.character.habits[:1])
    return emote, words.capitals(" ".join(filter(None, parts)))


def _answers(view: StandInView) -> list[str]:
    """Return a refusal or an answer for each of the most important sentences, in one language."""
    if not view.language.full:
        return [answer(view, text) for text in view.sentences[:1]]
    made: list[str] = []
    for text in _weighed(view):
        known = view.language.asked_of(text)[0].key or read_deal(view, text).named
        if language_of(text) in UNKNOWN_TONGUES and not known:
            return [replace(view, language=view.character.language).phrase("no_tongue")]
        reply = refusal(view, text) or answer(view, text)
        fits = not made or len(" ".join([*made, reply])) <= LONGEST
        if reply and fits and reply not in " ".join(made):
            made = [*(other for other in made if other not in reply), reply]
    empty = tuple(text for key in EMPTY for text in view.options(key))
    full = [reply for reply in made if not reply.startswith(empty)] or made[:1]
    greets = view.options("greet") + view.options("greet_brief")
    made = full if [reply for reply in full if reply not in greets] else made
    spoken = {language_of(reply) for reply in made} - {""}
    return made if len(spoken) < 2 else made[-1:]


def _weighed(view: StandInView) -> list[str]:
    """Return at most `MOST_ANSWERS` sentences, questions first; courtesies with remarks at most."""
    language, parts = view.language, view.sentences
    keys = {text: language.key_of(text) for text in parts}
    weighty = [p for p in parts if keys[p] not in COURTESIES or (keys[p] != "greet" and "?" in p)]
    weighty = [p for p in weighty if len(plain_words(p)) > 1 or "?" in p or len(parts) == 1]
    if not weighty:
        return list(parts[-1:])
    greets = not (any(map(language.name_in, weighty)) or view.transcript.met(view.speaker))
    greeting = [part for part in parts[:1] if keys[part] == "greet" and greets]
    questions = [part for part in weighty if language.asks(part)]
    polite = [part for part in parts if keys[part] in ("thanks", "sorry")]
    return [*greeting, *(questions or [*polite, *weighty])][:MOST_ANSWERS]


def _speak(
    view: StandInView, replies: Sequence[tuple[StandInView, str, str]], calls: Calls
) -> LLMReply:
    """Return a reply with an emote and words for every speaker, after the given calls."""
    spoken = list[tuple[StandInView, str]]()
    emoted = "emote" not in view.scene.tools or bool(done(view.transcript.acts, "emote"))
    emoted = emoted or any(name == "emote" for name, _ in calls)
    for item, emote, text in replies:
        if emote and not (item.private or emoted):
            calls, emoted = (*calls, ("emote", {"text": emote})), True
        if text:
            named = any(name.lower() in text.lower() for name in (item.who, item.speaker))
            unnamed = len(replies) > 1 and not (named or words.is_description(item.who))
            named_text = f"{item.speaker}, {text}" if unnamed else text
            before = " ".join(earlier for _, earlier in spoken)
            spoken.append((item, _unrepeated(item, named_text, before)))
    calls = (*_notes(view), *calls)
    aloud = " ".join(text for item, text in spoken if not item.private)
    whispered = [(item.speaker, text) for item, text in spoken if item.private]
    if aloud and SAY in view.scene.tools:
        return _with_calls((*calls, (SAY, {"text": aloud})))
    if whispered and not aloud and WHISPER in view.scene.tools:
        to, text = whispered[0]
        return _with_calls((*calls, (WHISPER, {"text": text, "target": to})))
    if not spoken:
        return _with_calls((*calls, *_still("nothing more to say")))
    return _with_calls(calls, " ".join(filter(None, (aloud, *(text for _, text in whispered)))))


def _unrepeated(view: StandInView, text: str, before: str) -> str:
    """Return the words, in other words if they were said before, also in this reply."""
    lately = {line.strip().lower() for line in view.recent}
    new = set(words.long_sentences(before)).isdisjoint(words.long_sentences(text))
    is_price = any(map(str.isdigit, text))
    is_new = new and (is_price or text.strip().lower() not in lately)
    return text if is_new else view.phrase("again", fact=text)


def _still(reason: str) -> Calls:
    return ((NOOP, {"reason": reason}),)


def _with_calls(calls: Calls, content: str = "") -> LLMReply:
    rows = [(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in calls]
    made = tuple(messages.ToolCallRequest(f"offline{at}", *row) for at, row in enumerate(rows))
    return LLMReply(content, made, "tool_calls" if made else "stop", model=MODEL)


def act_autonomously(view: StandInView) -> Calls:
    """Return the calls of one small act, or a ``noop``."""
    texts = [s.text for s in view.transcript.heard if s.kind in SPEECH]
    own = view.character.language
    lately = texts[-1:] if own.code == ENGLISH else []
    spoken = next((languages.language_of(text, view.languages) for text in lately), None)
    view = replace(view, language=spoken or own)
    tool, text = _welcome(view)
    idle = view.transcript.deeds[-1:] == ["emote"] and not view.transcript.since
    if view.others and not text and not idle:
        tool, text = "emote", _pastime(view)
    acts = text and tool in view.scene.tools
    return ((tool, {"text": text}),) if acts else _still("nothing to do")


def _welcome(view: StandInView) -> tuple[str, str]:
    """Return a greeting for those who have arrived and not spoken since, "" for nobody."""
    since = view.transcript.since
    spoke = {line.speaker for line in since if line.kind in SPEECH}
    came = dict.fromkeys(line.speaker for line in since if line.kind == "arrives")
    new = [name for name in came if name in view.others and name not in spoke]
    names = view.listed(map(view.called, new))
    if new and (view.character.tone == "terse" or len(new) > 2):
        return "emote", words.lowered(view.phrase("nods", who=names))
    key = "greet_again" if all(map(view.transcript.met, new)) else "arrive"
    return "say", view.phrase(key, who=names) if new else ""


def _pastime(view: StandInView) -> str:
    """Return the next idle emote, of the character's habits or of anybody's; "" if none."""
    emotes, habits = view.transcript.emotes, list[str]()
    if view.language is view.character.language:
        meanwhile = view.language.pattern("patterns", "meanwhile")
        habits = [meanwhile.sub("", habit).rstrip(" .,") + "." for habit in view.character.habits]
    done = [text.strip().lower() for text in emotes]
    choices = words.rotated([*habits, *view.language.phrases["idle"]], len(emotes))
    tries = (text for before in (done, done[-RECENT:]) for text in choices
             if text.lower() not in before)  # fmt: skip
    return next(tries, "")


def _notes(view: StandInView) -> Calls:
    """Return the journal entries before the answer; none if only some lines were whispered."""
    lines = [line for line in view.scene.lines if line.speaker not in view.scene.assistants]
    journalled = JOURNAL not in view.scene.tools or done(view.transcript.acts, JOURNAL)
    if journalled or len({line.private for line in lines}) != 1:
        return ()
    spoken = [f"{line.speaker} says: {line.text}" for line in lines if line.kind in SPEECH]
    facts = (fact for fact in _facts_in(spoken, view.name) if fact.binds and not fact.asked)
    noted = list(as_bullets(facts, ENTRY_TOKENS))[:MOST_NOTED]
    return tuple((JOURNAL, {"content": line}) for line in noted)


def summarise(scene: StandInRequest) -> str:
    """Return the old bullets and those of new facts, the newest if space is short."""
    previous, *lines = scene.material or ("",)
    known = [line for line in previous.splitlines() if line.startswith("- ")]
    input_tokens = sum(map(estimate_tokens, scene.material))
    room = int(min(ROOM_PART * scene.room_tokens, INPUT_PART * input_tokens))
    new = [f"- {bullet}" for bullet in as_bullets(_facts_in(lines, scene.name), room)]
    kept = newest_within(list(dict.fromkeys([*known, *new])), room)
    return "\n".join([f"{HEADING}:", *kept]) if kept else f"{HEADING}: nothing of note."


def _facts_in(lines: Iterable[str], name: str) -> tuple[Fact, ...]:
    """Return the facts in lines of a prompt, such as ``Ann says: ...``."""
    rows = ((line, messages.PERCEIVED * line.startswith(messages.MARK)) for line in lines if line)
    made = [messages.make_message("user", line, evidence=how) for line, how in rows]
    return extract_facts(made, name)
