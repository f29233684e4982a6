"""One reading, one fitting line: the table from intents to words."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
from collections.abc import Callable

from evennia_ai.offline import (
    about_self,
    answers,
    hearsay,
    portrait,
    recalled_answers,
    senses,
    sights,
)
from evennia_ai.offline.grammar import turned_round
from evennia_ai.offline.phrases import PHRASES
from evennia_ai.offline.request_view import Mind
from evennia_ai.offline.speaker_facts import with_subject
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import capital, content, ended

SAD = re.compile(r"\b(?:lost at sea|was lost|were lost|never (?:came|come) (?:home|back)|did not come home|died|dead|lost (?:my|our|his|her)|drowned|killed|murdered|passed away|buried|grieving|mourn\w*|widowed|sad|lonely|weep\w*|"
                 r"robbed|stolen|hurt|wounded|sick|ill|in pain|burned down|afraid|miserable|homesick|ruined|bad day|missing)\b", re.I)  # fmt: skip
GLAD = re.compile(r"\b(?:married|engaged|won|found (?:my|it|him|her|them)|saved|happy|celebrat\w*|promoted|succeeded|finished|good news|great day|"
                  r"birthday|wonderful|delighted|free at last|in love)\b", re.I)  # fmt: skip
CORRECTING = re.compile(r"^(?:(?:actually|no|well|sorry|wait|oh)\b[, ]*)+", re.I)
SELF = re.compile(r"\b(?:i|my|me|i'm|i've|we|our|mine)\b", re.I)
# Readings that may turn out to be questions about its own life.
OPEN = frozenset(
    {"question", "ask_about", "opinion", "have", "ask_likes", "ask_dislikes", "ask_never", "way_to", "is_there",
     "count", "statement", "identity", "ask_feeling", "exits", "invite"}
)  # fmt: skip
FOLLOW_UPS = ("quest", "home", "trade")
Handler = Callable[[Mind, Reading, str], str]


def respond(mind: Mind, reading: Reading, speaker: str) -> str:
    """The line for one reading; "" where it needs none."""
    if reading.intent in OPEN and (line := about_self.of_itself(mind, reading, speaker)):
        return line
    handler = HANDLERS.get(reading.intent)
    if handler:
        return handler(mind, reading, speaker)
    if reading.intent in PLAIN:
        return mind.phrase(PLAIN[reading.intent], who=mind.called(speaker))
    return remark(mind, reading, speaker)


def greet(mind: Mind, reading: Reading, speaker: str) -> str:
    """A welcome: to a stranger with its name, to a guest who comes back with what he told."""
    who = mind.called(speaker)
    if not mind.past.met(speaker):
        key = (
            "greet_place"
            if mind.scene.situation.place and mind.character.tone == "hearty"
            else "greet"
        )
        return mind.phrase(key, who=who)
    quest = mind.memory.of(speaker).get("quest")
    holding = [item.text for item in mind.memory.told_by(speaker) if quest and quest in item.text]
    fact = recalled_answers.as_told(holding[-1]) if holding else ""
    if not mind.past.came_back(speaker):
        return mind.phrase("greet_more", who=who)
    if fact and len(fact) < 90 and not mind.was_said(fact):
        return mind.phrase("greet_quest", fact=fact, who=who)
    return mind.phrase("greet_again", who=who)


def nature(mind: Mind, reading: Reading, speaker: str) -> str:
    """The plain truth about what answers."""
    return mind.phrase("nature", who=mind.called(speaker))


def stay_oneself(mind: Mind, reading: Reading, speaker: str) -> str:
    """Somebody wants it to be somebody else."""
    line = mind.phrase("inject", who=mind.called(speaker))
    identity = mind.character.identity
    return f"{line} {identity}" if identity and not mind.was_said(identity) else line


def keep_secret(mind: Mind, reading: Reading, speaker: str) -> str:
    """Nobody's confidence is passed on."""
    other = reading.slots.get("who") or reading.slots.get("who2") or "them"
    return mind.phrase("secret", other=other, who=mind.called(speaker))


def tell(mind: Mind, reading: Reading, speaker: str) -> str:
    """Take in what somebody tells of himself, and ask on."""
    who, facts = mind.called(speaker), reading.facts
    if set(facts) == {"name"}:
        line = mind.phrase("name", value=facts["name"], who=who)
    elif (
        len(facts) == 1
        and next(iter(facts)) in {"trade", "home", "likes", "hates", "age"}
        and len(reading.text.split()) <= 9
    ):
        slot, value = next(iter(facts.items()))
        line = mind.phrase(slot, value=turned_round(value), who=who)
    else:
        line = echo(mind, reading, speaker)
    if SAD.search(reading.text):
        line = mind.phrase("sad", who=who) + " " + line
    return _with(line, related(mind, reading, speaker))


def echo(mind: Mind, reading: Reading, speaker: str) -> str:
    """What was told, said back as understood."""
    fact, who = (
        recalled_answers.as_told(with_subject(CORRECTING.sub("", reading.text))),
        mind.called(speaker),
    )
    fact = re.sub(
        rf"^(?:you are|your name is|hi there you are) {re.escape(who)},? (?:and )?(?=you\b)",
        "",
        fact,
    )
    if len(fact) > 110:
        return mind.phrase("remark", who=who)
    line = mind.phrase("echo", fact=fact, who=who)
    return line.replace(f", {who}", "") if who in words_of_names(fact) else line


def felt(mind: Mind, reading: Reading, speaker: str) -> str:
    """A word of sympathy or gladness alone, where a line is one or the other."""
    for pattern, key in ((SAD, "sad"), (GLAD, "glad")):
        if pattern.search(reading.text):
            return mind.phrase(key, who=mind.called(speaker))
    return ""


def words_of_names(text: str) -> set[str]:
    """The words of a text that begin with a capital."""
    return set(re.findall(r"\b[A-ZÀ-Þ][\w'-]*", text))


def related(mind: Mind, reading: Reading, speaker: str) -> str:
    """Something it knows that a statement touches closely, if it has not said it."""
    found = [
        item
        for item in mind.rank(reading.text)
        if item.cover >= 0.5 and item.passage.source in {"self", "want", "lore"}
    ]
    fresh = [item for item in found if not mind.was_said(item.passage.text)]
    return fresh[0].passage.text if fresh and len(fresh[0].passage.text) < 180 else ""


def follow_up(mind: Mind, speaker: str) -> str:
    """A question about what the speaker has not told yet, none of them twice."""
    if mind.character.tone == "terse" and mind.seed % 2:
        return ""
    known = mind.memory.of(speaker)
    for slot in FOLLOW_UPS:
        if slot not in known and not mind.asked_in(f"{slot}_ask"):
            return mind.phrase(f"{slot}_ask")
    return ""


def remark(mind: Mind, reading: Reading, speaker: str) -> str:
    """A word on a statement: feeling, something related, an example line, else that it heard."""
    who = mind.called(speaker)
    if SAD.search(reading.text):
        tail = related(mind, reading, speaker) or (
            echo(mind, reading, speaker) if SELF.search(reading.text) else ""
        )
        return _with(mind.phrase("sad", who=who), tail)
    if GLAD.search(reading.text):
        tail = (
            echo(mind, reading, speaker)
            if SELF.search(reading.text)
            else related(mind, reading, speaker)
        )
        return _with(mind.phrase("glad", who=who), tail)
    known = related(mind, reading, speaker)
    if SELF.search(reading.text) and len(content(reading.text)) >= 2:
        return _with(echo(mind, reading, speaker), known)
    if known:
        return _with(mind.phrase("remark", who=who), known)
    example = next(iter(mind.untold(mind.character.examples)), "")
    if example:
        return ended(example)
    return mind.phrase("remark", who=who)


def insult(mind: Mind, reading: Reading, speaker: str) -> str:
    """Parried, with an edge of its own where the persona has one."""
    return mind.phrase("insult", who=mind.called(speaker))


def feeling(mind: Mind, reading: Reading, speaker: str) -> str:
    """How it is, and what it is about, if that was not told yet."""
    line = mind.phrase("feeling", who=mind.called(speaker))
    fresh = mind.untold(mind.character.wants)
    short = [want for want in fresh if len(want) < 120]
    return (
        _with(line, short[0])
        if short and mind.seed % 2 and mind.character.tone != "terse"
        else line
    )


def offer_help(mind: Mind, reading: Reading, speaker: str) -> str:
    """An offer of help: welcome, with what is wanted."""
    fresh = mind.untold(mind.character.wants) or [""]
    return _with(mind.phrase("help", who=mind.called(speaker)), fresh[0])


def owing(mind: Mind, reading: Reading, speaker: str) -> str:
    """What the speaker owes: as far as it was told or is known."""
    told = recalled_answers.from_statements(mind, reading.text, speaker)
    return told or mind.phrase("owe_nothing", who=mind.called(speaker))


def own_words(mind: Mind, reading: Reading, speaker: str) -> str:
    """What it said last, or what it said about something."""
    if not mind.past.own:
        return mind.phrase("own_nothing", who=mind.called(speaker))
    about = re.search(r"\b(?:about|of|regarding) (.+)", reading.text)
    wanted = set(content(about[1])) if about else set()
    quoting = [option.split("{")[0] for option in PHRASES["own_words"]]
    plain = [line for line in mind.past.own if not any(lead in line[:50] for lead in quoting)]
    fitting = [line for line in plain if wanted & set(content(line))]
    if wanted and not fitting:
        return (
            mind.phrase("own_not", topic=about[1].rstrip("?!. "), who=mind.called(speaker))
            if about
            else ""
        )
    line = (fitting or plain or mind.past.own)[-1].replace('"', "'")
    return mind.phrase("own_words", fact=line[:220], who=mind.called(speaker))


def limits(mind: Mind, reading: Reading, speaker: str) -> str:
    """What it would never do."""
    clause = portrait.never_clause(mind, reading.text) or portrait.nearest_never(mind, reading.text)
    nevers = (
        [clause] if clause else mind.untold(mind.character.nevers) or list(mind.character.nevers)
    )
    if nevers and (clause or re.search(r"never|refuse|won't|not", reading.text)):
        return mind.told(nevers[0], mind.called(speaker))
    return answers.answer(mind, reading, speaker)


def name(mind: Mind, reading: Reading, speaker: str) -> str:
    """Its name."""
    return mind.phrase("ask_name", who=mind.called(speaker))


def _with(line: str, tail: str) -> str:
    return f"{line} {capital(tail)}" if tail else line


PLAIN = {
    "authority": "authority", "order": "authority", "crime": "crime", "threat": "threat", "farewell": "farewell", "thanks": "thanks",
    "sorry": "sorry", "praise": "praise", "yes": "yes", "no": "no", "greet_brief": "arrive", "dismiss": "go_refuse", "help_me": "help_me", "weary": "weary", "laugh": "laugh", "gibberish": "gibberish", "see_me": "see_you", "never_mind": "no", "why": "why", "called": "called", "silence": "silence", "keep_it": "keep_it", "you_seem": "you_seem", "spare_time": "spare_time",
}  # fmt: skip
HANDLERS: dict[str, Handler] = {
    "nature": nature, "inject": stay_oneself, "secret_of": keep_secret, "greet": greet, "tell": tell,
    "insult": insult, "ask_feeling": feeling, "own_words": own_words, "owing": owing, "ask_likes": answers.answer,
    "ask_dislikes": answers.answer, "ask_never": limits, "ask_name": name, "said_by": hearsay.said_by,
    "identity": lambda mind, reading, speaker: about_self.who_it_is(mind, reading, speaker) or answers.answer(mind, reading, speaker),
    "who_runs": lambda mind, _, speaker: portrait.self_portrait(mind, speaker),
    "invite": about_self.invited, "count": sights.count, "what_now": lambda mind, _, speaker: portrait.goals(mind, speaker), "my_looks": senses.looks_of_speaker,
    "senses": senses.sensed, "other_seen": senses.other_seen,
    "ask_ways": lambda mind, _, speaker: portrait.ways(mind, speaker),
    "talked_to": lambda mind, _, speaker: hearsay.talked_to(mind, speaker),
    "ask_self": lambda mind, _, speaker: portrait.self_portrait(mind, speaker),
    "ask_goal": lambda mind, _, speaker: portrait.goals(mind, speaker),
    "who_came": lambda mind, _, speaker: hearsay.who_came(mind, speaker),
    "saw": sights.saw, "is_there": sights.is_there,
    "request": portrait.asked_for, "offer_help": offer_help,
    "ask_doing": lambda mind, _, speaker: portrait.doing(mind, speaker),
    "ask_past": lambda mind, _, speaker: portrait.past(mind, speaker),
    "story": lambda mind, reading, speaker: portrait.tale(mind, reading.text, speaker),
    "who_here": lambda mind, _, speaker: sights.people(mind, speaker),
    "what_here": lambda mind, _, speaker: sights.things(mind, speaker),
    "carry": lambda mind, _, speaker: sights.carrying(mind, speaker),
    "where": sights.place,
    "time": lambda mind, _, speaker: sights.time(mind, speaker),
    "have": sights.having, "exits": sights.exits, "way_to": sights.way_to, "opinion": answers.opinion,
    "ask_about": portrait.about, "question": answers.answer,
    **dict.fromkeys(
        ("recall_name", "recall_last", "recall_first", "recall_all", "recall_trade", "recall_home", "recall_age", "recall_hates",
         "recall_likes", "recall_quest", "recall_topic"),
        recalled_answers.recall,
    ),
}  # fmt: skip
