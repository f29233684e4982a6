"""From a request to tool calls, one step at a time.

The brain keeps no state: what was done so far in a turn is read from the turn's own calls and
results, and what is where from the situation as it is now. Nothing is claimed that no tool did.
"""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evennia_ai.llm.offline.grammar import third_form
from evennia_ai.llm.offline.history import Act
from evennia_ai.llm.offline.words import content, near, stem, with_article, words
from evennia_ai.ports import Situation

OPPOSITE = {
    "north": "south", "east": "west", "up": "down", "in": "out", "northeast": "southwest",
    "northwest": "southeast", "upstairs": "downstairs", "inside": "outside", "n": "s", "e": "w",
}  # fmt: skip
OPPOSITES = OPPOSITE | {back: way for way, back in OPPOSITE.items()}
ASK = (
    r"^(?:(?:please|now|then|and|so|well|oh|hey|kindly|just|quickly|would you|could you|can you|will you|"
    r"would you mind|do|you may|you can|go and|go|come|be so (?:good|kind) as to|be a dear and|i need you to|"
    r"i want you to|i'd like you to|i would like you to|let's|why don't you|maybe|perhaps|if you (?:can|would|please))[ ,]+)*"
)
GIVE = re.compile(ASK + r"(?:give|hand|pass|pour|bring|fetch|get|serve|lend|sell|find|draw|toss|throw|offer|slide|show me to|spare|loan)(?:ing)? "
                  r"(?:(?P<to>me|us|him|her|them|(?-i:[A-Z][\w']*(?: [A-Z][\w']*)?)) )?(?P<item>.+)", re.I)  # fmt: skip
WISH = re.compile(
    r"\b(?:(?:can|could|may|might) i (?:please )?(?:have|get|borrow|take|buy|see|trouble you for|ask for)|i(?:'d| would| will|'ll)"
    r" (?:like|love|have|take|fancy|want|buy)|i(?:'m| am) (?:dying|longing|parched) for|i could (?:murder|kill for|do with)|i (?:want|need|could use|could do with)|"
    r"how about|let me (?:have|get|buy|borrow)|make (?:it|that|mine))(?: to (?:have|buy|drink|borrow))? (?P<item>(?!to\b|you\b|your help).+)",
    re.I,
)
PLEASE = re.compile(
    r"^(?P<item>(?:an? |one |some |the |another )?[\w' -]{2,30}?),? please\W*$", re.I
)
GO = re.compile(ASK + r"(?:go|walk|run|head|step|pop|nip|climb|hurry|move|check|search|visit|look|see|take a look|have a look)\b"
                r"(?P<rest>.*\b(?:to|into|in|down|up|at|over|out|through|inside|towards?|upstairs|downstairs|outside|"
                r"check|visit|north|south|east|west|the|what)\b.*)", re.I)  # fmt: skip
GET = re.compile(
    ASK + r"(?:pick up|take|grab|collect|get|pick|lift) (?:up )?(?P<item>.+?)(?: up)?\W*$", re.I
)
DROP = re.compile(
    ASK
    + r"(?:drop|put down|set down|lay down|put|let go of|leave) (?:down )?(?P<item>.+?)(?: down| (?:on|here|there)\b.*)?\W*$",
    re.I,
)
LOOK = re.compile(ASK + r"(?:look (?:closely )?(?:at|over|into)|examine|inspect|study|read|describe|take a look at|have a look at|"
                  r"what does (?:the |that |this )?(?=.+ (?:say|look|read))|what(?:'s| is) (?:written |carved |scratched )?(?:on|in)|"
                  r"what do you (?:think of|see (?:on|in))|tell me about|what about|what(?:'s| is)|what is it with) (?P<item>.+)", re.I)  # fmt: skip
USE = re.compile(r"\b(?:good for|used? for|for\W*$|cost|worth|mean|made of|come from)", re.I)
VAGUE_LOOK = re.compile(
    ASK
    + r"(?:what(?:'s| is) (?!on\b|in\b|inside\b|written|carved|that\b|this\b)|tell me|what about)",
    re.I,
)
GESTURE = re.compile(ASK + r"(?P<deed>wave|nod|bow|smile|dance|laugh|clap|curtsy|salute|jump|wink|kneel|shrug|sigh|grin|frown|"
                     r"stretch|cheer|spin|stand up|sit down|blink|whistle|hum|yawn)(?: too| again| once more| please| now)*(?P<rest>(?: (?:for|at|to|with|your|his|her|the)\b.*?)?)(?: too| again| once more| please| now)*\W*$", re.I)  # fmt: skip
FOLLOW = re.compile(ASK + r"(?:follow me|come with me|come along|walk with me|join me)\b", re.I)
BACK = re.compile(
    r"\b(?:come|be|hurry|walk|go|get|run)(?: right| straight)? back\b|\breturn\b|\band back\b|\btell (?:me|us) what\b|\breport\b",
    re.I,
)
FROM = re.compile(
    r"\b(?:from|out of|in|at|down in|up in|off) (?:the |your |that )?(?P<place>[\w' -]+)", re.I
)
TO_WHOM = re.compile(r"\b(?:to|for) (?P<to>me|us|him|her|[A-Z][\w']*(?: [A-Z][\w']*)?)\b\W*$")
IDIOM = re.compile(r"^(?:me )?(?:a (?:hand|break|moment|minute|chance|hint|reason|try|story|tale|joke|song|second|kiss|hug|smile|wave)|up|off|out|advice|"
                   r"some (?:advice|peace|time)|(?:your|his|her|my) (?:name|word|opinion|regards|best|thanks|greetings)|the (?:way|truth|time|news|story)|directions|"
                   r"information|help|to|in|lost|what|how|why|more about|know|a look|your attention|mind)\b|^(?:him|her|you|me|us)\W*$", re.I)  # fmt: skip
KINDS = {
    "drink": "ale beer cider wine mead rum brandy tea water milk drink mug tankard cup flask bottle jug pint brew stout goblet glass round whisky cordial broth",
    "food": "bread stew pie cheese apple fish soup meat loaf food meal supper dinner bite cake biscuit pasty ham sausage egg breakfast",
    "light": "light lantern candle lamp torch", "weapon": "weapon sword dagger knife axe bow spear blade mace halberd",
    "tool": "tool hammer tongs saw file chisel shovel spade pick rake",
    "remedy": "remedy medicine salve potion herb poultice tonic bandage balm ointment",
    "paper": "book letter map scroll page paper chart note",
}  # fmt: skip
KIND_OF = {stem(word): kind for kind, group in KINDS.items() for word in group.split()}


@dataclass(frozen=True)
class Wish:
    """What somebody wants done; ``kind`` is give, fetch, go, get, drop, look, gesture or follow."""

    kind: str
    speaker: str
    item: str = ""
    place: str = ""
    to: str = ""
    back: bool = False
    text: str = ""


@dataclass(frozen=True)
class Step:
    """What to do now: calls, and, where the plan is at its end, how it ended.

    ``end`` is a key of the phrases; ``slots`` fill it. An empty ``end`` goes on next step.
    """

    calls: tuple[tuple[str, dict[str, str]], ...] = ()
    end: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)


def exit_parts(exit_name: str) -> tuple[str, str]:
    """As in "quay (to Saltmarket Quay)" → its name and where it leads."""
    name, _, rest = exit_name.partition(" (to ")
    return name, rest.removesuffix(")")


def match_name(phrase: str, names: Sequence[str], loose: bool = True) -> str:
    """The one of the names that a phrase means, by its words, else by its kind; "" for none."""
    wanted = [stem(word) for word in words(phrase)]
    best, points = "", 0.0
    for name in names:
        stems = [stem(word) for word in words(name) if word not in {"of", "the", "a", "an", "to"}]
        shared = sum(1.0 + (item == stems[-1]) for item in stems if item in wanted)
        if shared > points:
            best, points = name, shared
    if best or not loose:
        return best
    kinds = {KIND_OF[item] for item in wanted if item in KIND_OF}
    for name in names:
        stems = [stem(word) for word in words(name)]
        if any(
            KIND_OF.get(item) in kinds or near(item) & set(wanted)
            for item in stems
            if item in KIND_OF
        ):
            return name
    return ""


def match_exit(phrase: str, exits: Sequence[str]) -> str:
    """The exit a phrase means, by its name or by where it leads."""
    return match_name(re.sub(r"\bgo\b", "", phrase), exits, loose=False)


def read_wish(text: str, speaker: str, situation: Situation) -> Wish | None:
    """What a sentence wants done in the world, or None. What it names decides: an idiom such as
    "give me a hand" names nothing."""
    plain = re.sub(r"^(?:and|but|so|well|oh|ah|then|also)\b[, ]+", "", text.strip(), flags=re.I)
    for reader in (_read_follow, _read_walk, _read_give, _read_hands, _read_look, _read_gesture):
        wish = reader(plain, speaker, situation)
        if wish:
            return wish
    return None


def _read_follow(text: str, speaker: str, situation: Situation) -> Wish | None:
    return Wish("follow", speaker, to=speaker, text=text) if FOLLOW.search(text) else None


def _read_walk(text: str, speaker: str, situation: Situation) -> Wish | None:
    found = GO.match(text)
    if not found:
        return None
    place = match_exit(found["rest"], situation.exits)
    if not place or (
        match_name(found["rest"], situation.things, loose=False) and "go" not in words(text)
    ):
        return None
    item = re.search(
        r"\b(?:and|to)\s+(?:bring|fetch|get|find|give)(?: me| us| him| her)?(?: back)? (?P<item>(?:a |an |the |some |one )?[\w' -]+)",
        text,
        re.I,
    )
    if item:
        thing = re.split(r"\b(?:from|back|for me|to me|please)\b", item["item"])[0]
        return Wish("fetch", speaker, thing.strip(), place, speaker, text=text)
    away = re.search(r"\b(?:go away|leave us|stay there|wait (?:there|for me))\b", text, re.I)
    back = bool(BACK.search(text) or re.search(r"\b(?:check|see|look)\b", text, re.I)) and not away
    return Wish("go", speaker, place=place, back=back, text=text)


def _read_give(text: str, speaker: str, situation: Situation) -> Wish | None:
    found = GIVE.match(text) or WISH.search(text) or PLEASE.match(text)
    if not found or IDIOM.match(found["item"]):
        return None
    groups = found.groupdict()
    item = re.sub(
        r"[?.!]+$|,? (?:please|now|would you|will you|could you|if you (?:please|would|can|have (?:it|one|any)))\b.*$"
        r"|(?: over)? there\b.*$|,? as well\b.*$|, .*$",
        "",
        groups["item"],
        flags=re.I,
    ).strip()
    to = groups.get("to") or ""
    tail = TO_WHOM.search(item)
    if tail:
        to, item = to or tail["to"], item[: tail.start()].strip()
    source = FROM.search(item)
    place = match_exit(source["place"], situation.exits) if source else ""
    if source and (place or match_name(source["place"], situation.things, loose=False)):
        item = item[: source.start()].strip()
    if to.lower() in {"", "me", "us", "him", "her", "them"} or not match_name(
        to, situation.people, loose=False
    ):
        if to[:1].isupper() and to.lower() not in {"me", "us"}:
            item = f"{to} {item}"
        to = speaker
    named = bool(match_name(item, (*situation.carrying, *situation.things)))
    asked = bool(GIVE.match(text)) or bool(place)
    drink = bool({KIND_OF.get(stem(word)) for word in words(item)} & {"drink", "food"})
    if not (named or asked or drink) or len(words(item)) > 8:
        return None
    return Wish(
        "fetch" if place else "give",
        speaker,
        item,
        place,
        match_name(to, situation.people, loose=False) or to,
        text=text,
    )


def _read_hands(text: str, speaker: str, situation: Situation) -> Wish | None:
    for kind, pattern, names in (
        ("drop", DROP, situation.carrying),
        ("get", GET, situation.things),
    ):
        found = pattern.match(text)
        item = match_name(found["item"], names) if found else ""
        if item and not found["item"].lower().startswith(("care", "a look", "a seat")):
            return Wish(kind, speaker, item, text=text)
    return None


def _read_look(text: str, speaker: str, situation: Situation) -> Wish | None:
    found = LOOK.match(text)
    if not found:
        return None
    item = match_name(found["item"], (*situation.things, *situation.carrying), loose=False)
    if item and USE.search(text):
        return None
    if item and VAGUE_LOOK.match(text) and not set(content(found["item"])) <= set(content(item)):
        return None
    return Wish("look", speaker, item, text=text) if item else None


def _read_gesture(text: str, speaker: str, situation: Situation) -> Wish | None:
    found = GESTURE.match(text)
    if not found:
        return None
    verb, _, more = found["deed"].lower().partition(" ")
    rest = re.sub(r"\b(?:me|us)\b", speaker, found["rest"])
    rest = re.sub(r"\byour\b|\bfor .*$|\bwith me\b", "", rest).rstrip(" ?.!")
    deed = f"{third_form(verb)} {more}{rest}".strip()
    return Wish("gesture", speaker, " ".join(deed.split()), text=text)


def next_step(wish: Wish, situation: Situation, acts: Sequence[Act], tools: frozenset[str]) -> Step:
    """What to do next for a wish, given what this turn has done."""
    if wish.kind in {"give", "fetch"}:
        return _hand_over(wish, situation, acts, tools)
    if wish.kind == "go":
        return _walk(wish, situation, acts, tools)
    if wish.kind == "gesture":
        if "emote" not in tools or done(acts, "emote"):
            return Step(end="deed_done" if done(acts, "emote") else "deed_not")
        return Step((("emote", {"text": wish.item + "."}),), "deed_done")
    if wish.kind == "follow":
        return _follow(wish, acts, tools)
    return _one_call(wish, acts, tools)


def done(acts: Sequence[Act], name: str) -> list[Act]:
    """The turn's calls of a tool."""
    return [act for act in acts if act.name == name]


def _one_call(wish: Wish, acts: Sequence[Act], tools: frozenset[str]) -> Step:
    tried = done(acts, wish.kind)
    thing = with_article(wish.item)
    if wish.kind not in tools:
        return Step(end=f"{wish.kind}_not", slots={"item": thing, "why": ""})
    if not tried:
        argument = "target" if wish.kind == "look" else "item"
        return Step(((wish.kind, {argument: wish.item}),))
    result = tried[-1].result
    failed = tried[-1].failed and wish.kind != "look"
    return Step(
        end=f"{wish.kind}_{'not' if failed else 'done'}", slots={"item": thing, "why": result}
    )


def _follow(wish: Wish, acts: Sequence[Act], tools: frozenset[str]) -> Step:
    tried = done(acts, "follow")
    if "follow" not in tools:
        return Step(end="follow_not")
    if not tried:
        return Step((("follow", {"target": wish.speaker}),))
    return Step(end="follow_not" if tried[-1].failed else "follow_done")


def moves_made(situation: Situation, acts: Sequence[Act]) -> list[Act]:
    """The walks of this turn that led somewhere."""
    return [
        act
        for act in done(acts, "move")
        if not act.failed or (act is done(acts, "move")[-1] and situation.place and act.result.startswith(situation.place))
    ]  # fmt: skip


def way_back(wish: Wish, situation: Situation, acts: Sequence[Act]) -> str:
    """The exit that leads to where the turn began."""
    start = next(
        (act.result.partition(":")[0] for act in acts if act.name == "look" and ":" in act.result),
        "",
    )
    went = exit_parts(wish.place)[0].lower()
    wanted = OPPOSITES.get(went, "")
    for exit_name in situation.exits:
        name, leads = exit_parts(exit_name)
        if (start and leads == start) or (wanted and name.lower() == wanted):
            return name
    return exit_parts(situation.exits[0])[0] if situation.exits else ""


def _departure(wish: Wish, tools: frozenset[str]) -> Step:
    """Leave, with a look round first where the way back would not be known from its name."""
    name = exit_parts(wish.place)[0]
    calls: list[tuple[str, dict[str, str]]] = []
    if "look" in tools and name.lower() not in OPPOSITES:
        calls.append(("look", {"target": ""}))
    calls.append(("move", {"to": name}))
    return Step(tuple(calls))


def _walk(wish: Wish, situation: Situation, acts: Sequence[Act], tools: frozenset[str]) -> Step:
    made, tried = moves_made(situation, acts), done(acts, "move")
    name, leads = exit_parts(wish.place)
    where = {"place": leads or with_article(name), "why": tried[-1].result if tried else ""}
    if "move" not in tools:
        return Step(end="go_not", slots=where)
    if not tried:
        return _departure(wish, tools)
    if not made:
        return Step(end="go_not", slots=where)
    if len(made) == 1 and wish.back:
        if len(tried) > 1:
            return Step(end="go_stuck", slots=where)
        return Step((("move", {"to": way_back(wish, situation, acts)}),))
    seen = made[0].result
    return Step(end="go_back" if len(made) > 1 else "go_done", slots={**where, "seen": seen})


def _hand_over(
    wish: Wish, situation: Situation, acts: Sequence[Act], tools: frozenset[str]
) -> Step:
    carried = match_name(wish.item, situation.carrying)
    lying = match_name(wish.item, situation.things)
    if (
        wish.place
        and lying
        and match_name(wish.item, situation.things, loose=False) == ""
        and not done(acts, "move")
    ):
        lying = ""
    gave, got, made = done(acts, "give"), done(acts, "get"), moves_made(situation, acts)
    away = len(made) % 2 == 1
    slots = {
        "item": with_article(carried or lying or wish.item),
        "to": wish.to,
        "why": (gave or got)[-1].result if gave or got else "",
    }
    slots["place"] = (
        exit_parts(wish.place)[1] or with_article(exit_parts(wish.place)[0]) if wish.place else ""
    )
    if gave:
        handed = {**slots, "item": with_article(str(gave[-1].arguments.get("item", wish.item)))}
        return Step(end="give_not" if gave[-1].failed else "give_done", slots=handed)
    if carried and not away:
        if "give" not in tools:
            return Step(end="give_not", slots=slots)
        return Step((("give", {"item": carried, "to": wish.to}),))
    if away and (carried or got or not lying or "get" not in tools):
        return _return(wish, situation, acts, slots)
    if lying and not got and "get" in tools and (away or not wish.place or not made):
        return Step((("get", {"item": lying}),))
    if wish.place and not made and not done(acts, "move") and "move" in tools and not got:
        return _departure(wish, tools)
    if got:
        return Step(
            end="get_not",
            slots={**slots, "item": with_article(str(got[-1].arguments.get("item", wish.item)))},
        )
    return Step(end="fetch_not" if wish.place and made else "have_not", slots=slots)


def _return(
    wish: Wish, situation: Situation, acts: Sequence[Act], slots: Mapping[str, str]
) -> Step:
    if len(done(acts, "move")) > 1:
        return Step(end="go_stuck", slots=slots)
    return Step((("move", {"to": way_back(wish, situation, acts)}),))
