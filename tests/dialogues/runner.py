"""Plays the dialogues on the test database through commands and client text."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.dialogues.scoring import (
    EMOTE,
    SAY,
    WHISPER,
    Call,
    Played,
    Scored,
    Utterance,
    World,
    score_dialogue,
)

DATA = Path(__file__).parent / "data"
LATER = Path(__file__).parent / "later"
WAIT_S = 5
TYPES = {"say": SAY, "whisper": WHISPER, "pose": EMOTE}
COMMANDS = {
    "say": "say {text}",
    "whisper": "whisper {assistant} = {text}",
    "emote": "emote {text}",
    "give": "give {text} to {assistant}",
    "go": "{text}",
}
FIXED_LOCK = "get:false()"
FALLBACK = "I have lost my thread."


def load_dialogues(prefix: str = "", folder: Path = DATA) -> list[dict[str, Any]]:
    """Return the dialogues whose id has this prefix, by file name."""
    read = (json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json")))
    return [dialogue for dialogue in read if dialogue["id"].startswith(prefix)]


def load_cast(name: str) -> dict[str, Any]:
    """Return a persona with its rooms, things and lore."""
    files = [folder / "cast" / f"{name}.json" for folder in (DATA, LATER)]
    found = next(file for file in files if file.exists())
    cast: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return cast


def play_all(game: Any, dialogues: Iterable[Mapping[str, Any]]) -> list[Scored]:
    """Play and score dialogues, each on a stage of its own."""
    scored: list[Scored] = []
    for dialogue in dialogues:
        stage = Stage(game, dialogue, load_cast(dialogue["cast"]))
        try:
            scored += score_dialogue(dialogue, [stage.play(line) for line in dialogue["lines"]])
        finally:
            stage.strike()
    return scored


def give_lore(character: Any, entries: Sequence[Mapping[str, str]]) -> None:
    """Attach pieces of static knowledge, each with ``title`` and ``text``, to a character."""
    character.db.ai_lore = [dict(entry) for entry in entries]


class Stage:
    """The scene of one dialogue, and what happens on it."""

    def __init__(self, game: Any, dialogue: Mapping[str, Any], cast: Mapping[str, Any]) -> None:
        self.game = game
        self.name = cast["name"]
        self.things: dict[str, Any] = {}
        self.rooms = {room["name"]: game.room(room["name"], room["desc"]) for room in cast["rooms"]}
        for room in cast["rooms"]:
            self._furnish(room)
        self.start = self.rooms[cast["start"]]
        self.players = {player["name"]: self._enter(player) for player in dialogue["players"]}
        self.assistant = self._make_assistant(cast)
        self._put(cast["carries"], self.assistant)
        self.last_call = last_call_id()
        self.game.run()
        for player in self.players.values():
            player.forget()

    # --- building -----------------------------------------------------------------------------

    def _furnish(self, room: Mapping[str, Any]) -> None:
        here = self.rooms[room["name"]]
        for way in room["exits"]:
            self.game.exit(way["name"], here, self.rooms[way["to"]])
        self._put(room["things"], here)

    def _put(self, things: Iterable[Mapping[str, Any]], where: Any) -> None:
        for thing in things:
            made = self.game.thing(thing["name"], where)
            made.db.desc = thing["desc"]
            if thing.get("fixed"):
                made.locks.add(FIXED_LOCK)
            self.things[thing["name"]] = made

    def _enter(self, player: Mapping[str, Any]) -> Any:
        where = self.rooms[player["starts"]] if "starts" in player else self.start
        entered = self.game.player(player["name"], where)
        listen(entered.session)
        self._put(player.get("carries", ()), entered.character)
        return entered

    def _make_assistant(self, cast: Mapping[str, Any]) -> Any:
        from evennia.utils.create import create_object

        from evennia_ai.assistant_character import AssistantCharacter

        character = create_object(
            AssistantCharacter,
            key=cast["name"],
            location=self.start,
            home=self.start,
            attributes=[("ai_persona", cast["persona"])],
        )
        character.assistant.db.fallback_line = FALLBACK
        give_lore(character, cast["lore"])
        return character

    # --- playing ------------------------------------------------------------------------------

    def play(self, line: Mapping[str, Any]) -> Played:
        """Type one line and return what followed."""
        for player in self.players.values():
            player.forget()
        speaker = self.players[line["speaker"]]
        if line["kind"] == "give":
            self._hand_over(line["text"], speaker.character)
        speaker.do(COMMANDS[line["kind"]].format(text=line["text"], assistant=self.name))
        self.game.run()
        for _ in range(line.get("wait", WAIT_S)):
            self.game.run(1)
        played = Played(
            utterances=self._utterances(),
            calls=self._calls(),
            world=self._world(),
            fallback=FALLBACK,
        )
        if line.get("home") and self.assistant.location is not self.start:
            self.assistant.move_to(self.start, quiet=True, move_hooks=False)
        return played

    def _hand_over(self, thing: str, character: Any) -> None:
        """Put the thing into the hands of the character who will give it."""
        if self.things[thing].location is not character:
            self.things[thing].move_to(character, quiet=True, move_hooks=False)

    def _utterances(self) -> tuple[Utterance, ...]:
        """Return what the assistant said and did, once each, with all who saw it."""
        seen = {name: self._seen(player) for name, player in self.players.items()}
        found: list[tuple[str, str]] = []
        for own in seen.values():
            found += [item for item in own if own.count(item) > found.count(item)]
        return tuple(
            Utterance(*item, tuple(name for name, own in seen.items() if item in own))
            for item in found
        )

    def _seen(self, player: Any) -> list[tuple[str, str]]:
        """Return kind and words of all that a player's client showed of the assistant."""
        lines = [(TYPES.get(kind), text) for kind, text in player.session.sent]
        return [
            (kind, words_in(kind, text, self.name))
            for kind, text in lines
            if kind and text.startswith(self.name)
        ]

    def _calls(self) -> tuple[Call, ...]:
        from evennia_ai.models import ToolCall

        made = ToolCall.objects.filter(id__gt=self.last_call).order_by("id")
        self.last_call = last_call_id()
        return tuple(Call(row.name, row.arguments, row.state, row.world) for row in made)

    def _world(self) -> World:
        where = {name: thing.location for name, thing in self.things.items() if thing.location}
        rooms = set(self.rooms.values())
        return World(
            held_by={name: place.key for name, place in where.items() if place not in rooms},
            lies_in={name: place.key for name, place in where.items() if place in rooms},
            assistant_in=self.assistant.location.key,
        )

    # --- clearing up --------------------------------------------------------------------------

    def strike(self) -> None:
        """Remove the assistant, the sessions and the account names; rooms may stay."""
        import evennia

        self.assistant.delete()
        for player in self.players.values():
            evennia.SESSION_HANDLER.disconnect(player.session, sync_portal=False)
            player.account.username = f"gone-{player.account.id}"
            player.account.save()


def listen(session: Any) -> None:
    """Record what a session is sent as (type, text), without markup."""
    from evennia.utils.ansi import strip_ansi

    def keep(**kwargs: Any) -> None:
        text = kwargs.get("text")
        parts = list(text) if isinstance(text, (tuple, list)) else [text]
        options = parts[1] if len(parts) > 1 and isinstance(parts[1], dict) else {}
        if parts[0]:
            session.sent.append((options.get("type", ""), strip_ansi(str(parts[0]))))

    session.data_out = keep


def words_in(kind: str, text: str, name: str) -> str:
    """Return the quoted words of speech, or the part of an emote after the name."""
    if kind == EMOTE:
        return text.removeprefix(name).strip()
    quoted = re.search(r'"(.*)"', text, re.DOTALL)
    return quoted.group(1) if quoted else text.removeprefix(name).strip()


def last_call_id() -> int:
    """Return the id of the newest tool call, 0 if there is none."""
    from evennia_ai.models import ToolCall

    newest = ToolCall.objects.order_by("-id").values_list("id", flat=True).first()
    return int(newest or 0)
