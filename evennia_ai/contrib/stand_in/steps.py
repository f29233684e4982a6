"""The tool calls of a requested action, one step at a time, and the words at its end."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evennia_ai.contrib.stand_in.languages import ENGLISH, read
from evennia_ai.contrib.stand_in.passages import Passage
from evennia_ai.contrib.stand_in.requests import kind_of, number_in
from evennia_ai.contrib.stand_in.transcript import TranscriptToolCall
from evennia_ai.contrib.stand_in.view import StandInView
from evennia_ai.contrib.stand_in.words import ended, with_article
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.requested_acts import RequestedAct, exit_parts, match_name

# The argument of the acts that take one call.
ONE_CALL = {"get": "item", "drop": "item", "look": "target", "follow": "target", "emote": "text"}
# How a deal ended, by words of the tool's result.
DEAL_ENDS = (
    (" is asked ", "asked"), (" does not have ", "poor"), ("Only one person", "alone"),
    (" not answered yet ", "waits"),
)  # fmt: skip
NO_FAILURE = frozenset({"look", "unfollow"})
SEEN_LABELS = re.compile(r"(People|Things|Exits): ([^.]*+)(?:\.|\Z)")
Calls = tuple[tuple[str, Mapping[str, object]], ...]


@dataclass(frozen=True)
class ActionStep:
    """The next calls of an action; at its end, a key of the phrases and what fills it."""

    calls: Calls = ()
    end: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)


def done(acts: Sequence[TranscriptToolCall], name: str) -> list[TranscriptToolCall]:
    """Return the turn's calls of a tool."""
    return [act for act in acts if act.name == name]


@dataclass(frozen=True)
class Errand:
    """A requested action, what there is now, what this turn did, and what it may do."""

    requested: RequestedAct
    now: Situation
    acts: Sequence[TranscriptToolCall]
    tools: frozenset[str]

    def next_step(self) -> ActionStep:
        """Return the next step, given what this turn has done."""
        if self.requested.act in ONE_CALL:
            return self._one_call()
        if self.requested.act == "move":
            return self._fetch() if self.requested.item else self._walk()
        if self.requested.act == "buy":
            return self._purchase()
        if self.requested.act == "sell":
            names = self.requested.item.split(", ")
            many = ((name, names.count(name)) for name in dict.fromkeys(names))
            listed = (with_article(name) if n == 1 else f"{n} x {name}" for name, n in many)
            slots = {"item": ", ".join(listed)}
            return self._deal("sell", self.requested.item, self.requested.target, slots)
        return self._hand_over()

    def _one_call(self) -> ActionStep:
        tool, kind = self.requested.act, kind_of(self.requested)
        tried = done(self.acts, tool)
        if tool in self.tools and not tried:
            calls = ((tool, {ONE_CALL[tool]: self.requested.target}),)
            return ActionStep(calls, end="gesture_done" if kind == "gesture" else "")
        failed = kind not in NO_FAILURE and (not tried or tried[-1].failed)
        why = tried[-1].result if tried else ""
        slots = {"item": with_article(self.requested.item), "why": why}
        return ActionStep(end=f"{kind}_{'not' if failed else 'done'}", slots=slots)

    def _walk(self) -> ActionStep:
        tried = done(self.acts, "move")
        name, leads = exit_parts(self.requested.target)
        slots = {"place": leads or with_article(name)}
        if "move" in self.tools and not tried:
            return ActionStep((("move", {"to": name}),))
        made = [act for act in tried if not act.failed]
        if not made:
            return ActionStep(end="go_not", slots=slots)
        if not self.requested.back or len(made) > 1:
            return ActionStep(end="go_back" if self.requested.back else "go_done", slots=slots)
        opposite = read(ENGLISH).data["opposites"].get(name.lower(), "")
        exits = [exit_parts(way)[0] for way in self.now.exits]
        back = next((way for way in exits if way.lower() == opposite), exits[0] if exits else "")
        return ActionStep((("move", {"to": back}),))

    def _fetch(self) -> ActionStep:
        """Return the way there, the taking, the way back, or the handing over."""
        handled = done(self.acts, "get") or done(self.acts, "give")
        here = match_name(self.requested.item, [*self.now.carrying, *self.now.things])
        if not done(self.acts, "move") and (handled or here):
            return self._hand_over()
        away = len([act for act in done(self.acts, "move") if not act.failed]) == 1
        lying = match_name(self.requested.item, self.now.things)
        if away and lying and "get" in self.tools and not done(self.acts, "get"):
            return ActionStep((("get", {"item": lying}),))
        step = self._walk()
        return self._hand_over() if step.end == "go_back" else step

    def _hand_over(self) -> ActionStep:
        gave, got = done(self.acts, "give"), done(self.acts, "get")
        carried = match_name(self.requested.item, self.now.carrying)
        lying = match_name(self.requested.item, self.now.things)
        item = (gave or got)[-1].item if gave or got else carried or lying
        slots = {"item": with_article(item or self.requested.item), "to": self.requested.to}
        if gave or (carried and "give" not in self.tools):
            given = bool(gave) and not gave[-1].failed
            return ActionStep(end="give_done" if given else "give_not", slots=slots)
        if carried:
            return ActionStep((("give", {"item": carried, "to": self.requested.to}),))
        if lying and "get" in self.tools and not got:
            return ActionStep((("get", {"item": lying}),))
        return ActionStep(end="get_not" if got else "have_not", slots=slots)

    def _purchase(self) -> ActionStep:
        """Return the asking what a customer's thing is worth, or its purchase."""
        item = self.requested.item
        priced = [act for act in done(self.acts, "prices") if act.arguments.get("offered")]
        if not priced:
            return ActionStep((("prices", {"offered": item}),))
        return self._deal("buy", item, priced[-1].result, {"item": with_article(item)})

    def _deal(self, tool: str, item: str, price: str, slots: Mapping[str, str]) -> ActionStep:
        """Return a deal for a price in words, or how it ended."""
        coins, tried = re.search(r"\d+.*?(?=\.?$)", price), done(self.acts, tool)
        if not coins:
            return ActionStep(end=f"{tool}_none", slots=slots)
        if not tried:
            return ActionStep(((tool, {"item": item, "price": number_in(price)}),))
        end = next((end for words, end in DEAL_ENDS if words in tried[-1].result), "not")
        return ActionStep(end=f"{tool}_{end}", slots={**slots, "price": coins[0]})


def words_for_act(view: StandInView, acts: Sequence[TranscriptToolCall]) -> str:
    """Return what to say of the last of a turn's acts, "" for one that needs no words."""
    act = acts[-1]
    if act.name not in {*ONE_CALL, "give", "move"}:
        return ""
    target = str(act.arguments.get(ONE_CALL.get(act.name, "to"), ""))
    item = act.item or target * (act.name == "look")
    requested = RequestedAct(act.name, target, item=item, to=target)
    step = Errand(requested, view.situation, acts, frozenset()).next_step()
    return words_for_step(view, requested, step) if view.language.full and step.end else ""


def words_for_step(view: StandInView, requested: RequestedAct, step: ActionStep) -> str:
    bare = view.language.pattern("patterns", "article").sub("", requested.item.strip())
    slots = {**step.slots, "thing": bare, "to": view.called(requested.to)}
    if view.language.code != ENGLISH:
        slots = {key: value.removeprefix("the ") for key, value in slots.items()}
    if step.end == "look_done":
        return _words_for_look(view, slots)
    if step.end == "give_done" and requested.to not in {view.speaker, view.who}:
        return view.phrase("give_other", **slots)
    if step.end == "have_not":
        other = view.listing("instead", "", map(view.thing, view.situation.carrying[:3]))
        sold = view.known(bare, ("self", "lore"), view.language.intent("buy"))
        return sold or f"{view.phrase(step.end, **slots)} {other}".strip()
    return view.phrase(step.end, **slots)


def _words_for_look(view: StandInView, slots: Mapping[str, str]) -> str:
    """Return what a look that was asked for showed; builders may write in another language."""
    seen = SEEN_LABELS.sub("", slots["why"].partition(": ")[2] or slots["why"]).strip()
    if not seen or read(ENGLISH).pattern("results", "nothing").search(seen):  # tools speak English
        return view.known(slots["item"], ("lore", "self")) or view.phrase("look_not", **slots)
    fact = view.spoken(Passage(ended(seen), "seen"))
    words = view.phrase("look_done", **{**slots, "fact": fact})
    return view.phrase("again", fact=fact) if view.repeats(words) else words
