"""The table from intents to lines: each reading gets one line."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
from collections.abc import Callable

from evennia_ai.offline import (
    answers,
    aspect_answers,
    persona_answers,
    recalled_answers,
    reported_speech,
    scene_answers,
)
from evennia_ai.offline.grammar import turned_round
from evennia_ai.offline.phrases import PHRASES
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.speaker_facts import with_subject
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import capital, content, ended

SAD = re.compile(r"\b(?:lost at sea|was lost|were lost|never (?:came|come) (?:home|back)|did not come home|died|dead|lost (?:my|our|his|her)|drowned|killed|murdered|passed away|buried|grieving|mourn\w*|widowed|sad|lonely|weep\w*|"
                 r"robbed|stolen|hurt|wounded|sick|ill|in pain|burned down|afraid|miserable|homesick|ruined|bad day|missing)\b", re.I)  # fmt: skip
GLAD = re.compile(r"\b(?:married|engaged|won|found (?:my|it|him|her|them)|saved|happy|celebrat\w*|promoted|succeeded|finished|good news|great day|"
                  r"birthday|wonderful|delighted|free at last|in love)\b", re.I)  # fmt: skip
CORRECTING = re.compile(r"^(?:(?:actually|no|well|sorry|wait|oh)\b[, ]*)+", re.I)
SELF = re.compile(r"\b(?:i|my|me|i'm|i've|we|our|mine)\b", re.I)
# Intents that may be questions about the character's own life.
OPEN = frozenset(
    {"question", "ask_about", "opinion", "have", "ask_likes", "ask_dislikes", "ask_never", "way_to", "is_there",
     "count", "statement", "identity", "ask_feeling", "exits", "invite"}
)  # fmt: skip
FOLLOW_UPS = ("quest", "home", "trade")
Handler = Callable[[RequestView, Reading], str]


def respond(view: RequestView, reading: Reading) -> str:
    """Return the line for one reading; "" if it needs none."""
    if reading.intent in OPEN and (line := aspect_answers.of_itself(view, reading)):
        return line
    handler = HANDLERS.get(reading.intent)
    if handler:
        return handler(view, reading)
    key = PHRASE_OF.get(reading.intent, reading.intent)
    return view.phrase(key) if key in PHRASES else remark(view, reading)


def greet(view: RequestView, reading: Reading) -> str:
    """Return a greeting: for a stranger, for a talk under way, or for a return."""
    if not view.transcript.met(view.speaker):
        return view.phrase("greet")
    return view.phrase("greet_again" if view.transcript.came_back(view.speaker) else "greet_more")


def stay_oneself(view: RequestView, reading: Reading) -> str:
    """Return a refusal to play somebody else."""
    line = view.phrase("inject")
    identity = view.character.identity
    return f"{line} {identity}" if identity and not view.was_said(identity) else line


def keep_secret(view: RequestView, reading: Reading) -> str:
    """Return a refusal to pass on what somebody confided."""
    other = reading.slots.get("who") or reading.slots.get("who2") or "them"
    return view.phrase("secret", other=other)


def tell(view: RequestView, reading: Reading) -> str:
    """Acknowledge what speakers tell of themselves."""
    slot, value = next(iter(reading.facts.items()))
    alone = len(reading.facts) == 1
    if alone and slot == "name":
        line = view.phrase("name", value=value)
    elif alone and slot in PHRASES and len(reading.text.split()) <= 9:
        line = view.phrase(slot, value=turned_round(value))
    else:
        line = echo(view, reading)
    if SAD.search(reading.text):
        line = f"{view.phrase('sad')} {line}"
    return _with(line, related(view, reading))


def echo(view: RequestView, reading: Reading) -> str:
    """Return what was told, as understood."""
    fact = recalled_answers.as_told(with_subject(CORRECTING.sub("", reading.text)))
    fact = re.sub(
        rf"^(?:you are|your name is|hi there you are) {re.escape(view.who)},? (?:and )?(?=you\b)",
        "",
        fact,
    )
    if len(fact) > 110:
        return view.phrase("remark")
    line = view.phrase("echo", fact=fact)
    return line.replace(f", {view.who}", "") if view.who in words_of_names(fact) else line


def felt(view: RequestView, reading: Reading) -> str:
    """Return sympathy for a sad line, gladness for a glad one; "" for others."""
    for pattern, key in ((SAD, "sad"), (GLAD, "glad")):
        if pattern.search(reading.text):
            return view.phrase(key)
    return ""


def words_of_names(text: str) -> set[str]:
    """Return the words of a text that begin with a capital."""
    return set(re.findall(r"\b[A-ZÀ-Þ][\w'-]*", text))


def related(view: RequestView, reading: Reading) -> str:
    """Return an unsaid fact that is close to a statement; "" if none."""
    found = [
        item
        for item in view.rank(reading.text)
        if item.cover >= 0.5 and item.passage.source in {"self", "want", "lore"}
    ]
    fresh = [item for item in found if not view.was_said(item.passage.text)]
    return fresh[0].passage.text if fresh and len(fresh[0].passage.text) < 180 else ""


def follow_up(view: RequestView) -> str:
    """Return a question about what the speaker has not told, none twice."""
    if view.character.terse and view.seed % 2:
        return ""
    known = view.speaker_facts.of(view.speaker)
    for slot in FOLLOW_UPS:
        if slot not in known and not view.asked_in(f"{slot}_ask"):
            return view.phrase(f"{slot}_ask")
    return ""


def remark(view: RequestView, reading: Reading) -> str:
    """Comment on a statement: a feeling, a related fact, an example line, or a nod."""
    feels, known = felt(view, reading), related(view, reading)
    of_speaker = SELF.search(reading.text)
    if feels:
        return _with(feels, known or (echo(view, reading) if of_speaker else ""))
    if of_speaker and len(content(reading.text)) >= 2:
        return _with(echo(view, reading), known)
    examples = view.untold(view.character.examples)
    if examples and not known:
        return ended(examples[0])
    return _with(view.phrase("remark"), known)


def feeling(view: RequestView, reading: Reading) -> str:
    """Return how the character is, at times with an untold goal."""
    short = [want for want in view.untold(view.character.wants) if len(want) < 120]
    talkative = view.seed % 2 and not view.character.terse
    return _with(view.phrase("feeling"), short[0] if short and talkative else "")


def offer_help(view: RequestView, reading: Reading) -> str:
    """Accept an offer of help, with an untold goal."""
    fresh = view.untold(view.character.wants) or [""]
    return _with(view.phrase("help"), fresh[0])


def told_or(key: str) -> Handler:
    """Return a handler that says what the speaker told, else a phrase."""
    return lambda view, reading: (
        recalled_answers.from_statements(view, reading.text) or view.phrase(key)
    )


def own_words(view: RequestView, reading: Reading) -> str:
    """Return what the character said last, or said about a topic."""
    if not view.transcript.own:
        return view.phrase("own_nothing")
    about = re.search(r"\b(?:about|of|regarding) (.+)", reading.text)
    wanted = set(content(about[1])) if about else set()
    quoting = [option.split("{")[0] for option in PHRASES["own_words"]]
    plain = [line for line in view.transcript.own if not any(lead in line[:50] for lead in quoting)]
    fitting = [line for line in plain if wanted & set(content(line))]
    if wanted and not fitting:
        return answers.answer(view, reading)
    line = (fitting or plain or view.transcript.own)[-1].replace('"', "'")
    return view.phrase("own_words", fact=line[:220])


def limits(view: RequestView, reading: Reading) -> str:
    """Return what the character never does."""
    clause = persona_answers.never_clause(view, reading.text) or persona_answers.nearest_never(
        view, reading.text
    )
    nevers = (
        [clause] if clause else view.untold(view.character.nevers) or list(view.character.nevers)
    )
    if nevers and (clause or re.search(r"never|refuse|won't|not", reading.text)):
        return view.told(nevers[0])
    return answers.answer(view, reading)


def _with(line: str, tail: str) -> str:
    return f"{line} {capital(tail)}" if tail else line


# The phrases of intents that have no handler and no phrases of their own name.
PHRASE_OF = {
    "order": "authority", "greet_brief": "arrive", "dismiss": "go_refuse", "never_mind": "no",
    "spare_time": "called", "you_seem": "judge",
}  # fmt: skip
HANDLERS: dict[str, Handler] = {
    "inject": stay_oneself, "secret_of": keep_secret, "greet": greet, "tell": tell,
    "ask_feeling": feeling, "own_words": own_words, "owing": told_or("owe_nothing"), "ask_likes": answers.answer,
    "ask_dislikes": answers.answer, "ask_never": limits, "said_by": reported_speech.said_by,
    "identity": lambda view, reading: aspect_answers.who_it_is(view, reading) or answers.answer(view, reading),
    "who_runs": lambda view, _: persona_answers.self_portrait(view),
    "count": scene_answers.count, "what_now": lambda view, _: persona_answers.goals(view), "my_looks": told_or("see_yourself"),
    "senses": scene_answers.sensed, "other_seen": scene_answers.other_seen,
    "ask_ways": lambda view, _: persona_answers.ways(view),
    "talked_to": lambda view, _: reported_speech.talked_to(view),
    "ask_self": lambda view, _: persona_answers.self_portrait(view),
    "ask_goal": lambda view, _: persona_answers.goals(view),
    "who_came": lambda view, _: reported_speech.who_came(view),
    "saw": scene_answers.saw, "is_there": scene_answers.is_there,
    "request": persona_answers.asked_for, "offer_help": offer_help,
    "ask_doing": lambda view, _: persona_answers.doing(view),
    "ask_past": lambda view, _: persona_answers.past(view),
    "story": lambda view, reading: persona_answers.tale(view, reading.text),
    "who_here": lambda view, _: scene_answers.people(view),
    "what_here": lambda view, _: scene_answers.things(view),
    "carry": lambda view, _: scene_answers.carrying(view),
    "where": scene_answers.place,
    "time": lambda view, _: scene_answers.time(view),
    "have": scene_answers.having, "exits": scene_answers.exits, "way_to": scene_answers.way_to, "opinion": answers.opinion,
    "ask_about": persona_answers.about, "question": answers.answer,
    **dict.fromkeys(
        ("recall_name", "recall_last", "recall_first", "recall_all", "recall_trade", "recall_home", "recall_age", "recall_hates",
         "recall_likes", "recall_quest", "recall_topic"),
        recalled_answers.recall,
    ),
}  # fmt: skip
