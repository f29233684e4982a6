"""What the character does unasked: little, in persona, and never twice in a row."""

from __future__ import annotations

from dataclasses import replace

from evennia_ai.messages import NOOP, SPEECH
from evennia_ai.offline.languages import ENGLISH, language_of
from evennia_ai.offline.steps import Calls
from evennia_ai.offline.view import View
from evennia_ai.offline.words import rotated

RECENT = 3  # emotes that are not made again


def act_autonomously(view: View) -> Calls:
    """Return the calls of one small act, or a ``noop``."""
    said = [s.text for s in view.transcript.heard if s.kind in SPEECH]
    own = view.character.language
    spoken = language_of(said[-1], view.languages) if said and own.code == ENGLISH else None
    view = replace(view, language=spoken or own)
    act = _welcome(view)
    idle = view.transcript.deeds[-1:] == ["emote"] and not view.transcript.since
    if view.others and not act and not idle:
        act = _shown(view, "emote", _pastime(view))
    return act or ((NOOP, {"reason": "there is nothing to do"}),)


def _shown(view: View, tool: str, text: str) -> Calls:
    return ((tool, {"text": text}),) if text and tool in view.tools else ()


def _welcome(view: View) -> Calls:
    """Return a greeting for those who have arrived and not spoken since."""
    since = view.transcript.since
    spoke = {said.speaker for said in since if said.kind in SPEECH}
    came = dict.fromkeys(said.speaker for said in since if said.kind == "arrives")
    new = [name for name in came if name in view.others and name not in spoke]
    if not new:
        return ()
    names = view.listed(map(view.called, new))
    if view.character.tone == "terse" or len(new) > 2:
        return _shown(view, "emote", view.emote("nods", who=names))
    known = all(map(view.transcript.met, new))
    return _shown(view, "say", view.phrase("greet_again" if known else "arrive", who=names))


def _pastime(view: View) -> str:
    """Return the next idle emote, of the character's habits or of anybody's; "" if none."""
    number, habits = len(view.transcript.emotes), list[str]()
    if view.language is view.character.language:
        meanwhile = view.language.pattern("patterns", "meanwhile")
        bare = (meanwhile.sub("", habit) for habit in view.character.habits)
        habits = [habit.rstrip(" .,") + "." for habit in bare]
    done = [text.strip().lower() for text in view.transcript.emotes]
    choices = rotated([*habits, *view.language.phrases["idle"]], number)
    tries = (text for before in (done, done[-RECENT:]) for text in choices
             if text.lower() not in before)  # fmt: skip
    return next(tries, "")
