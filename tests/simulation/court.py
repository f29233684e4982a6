"""A game of secrets on a real database: one random generator decides who tells whom what.

Four to six players, two or three characters and three rooms. Each secret is a word that stands
nowhere else, with the circle of those who were told it. `tests.simulation.ears` judges who learns
it; a trace of all steps is kept for the report.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.ports import EntityProfiles, Goals
from evennia_ai.ports.journal import Journal
from evennia_ai.services.assistant_service import AssistantService
from evennia_ai.services.memory_services import LongTermSync
from evennia_ai.sleep import run_sleep_tick
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.sleep.extraction import run_pre_compaction_extraction
from tests.game.conftest import gateway_to
from tests.game.forgetting_scene import forget

PLAYERS = ("Ann", "Bob", "Cel", "Dan", "Eve", "Fay")
CHARACTERS = ("Mira", "Otto", "Runa")
ROOMS = ("tavern", "yard", "cellar")
CROWDS = (5, 2, 1)  # how often people go to each room
BEGIN_S = 1_900_000_000  # of every game, in 2030
MOST_SECRETS = 60
ENDPOINT = {"client": "openai", "base_url": "https://models.example.com/v1", "model": "parrot"}
SHARING = {"share_memory": "faction", "share_delay": 0.0, "share_importance": 1}
SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ri")
WORDS = [f"zu{a}{b}{c}x" for a, b, c in product(SYLLABLES, repeat=3)]
CONFIDED = (
    "{word} is my word to you, keep it.",
    "I hid the {word} under the old mill.",
    "remember: the {word} is due on Friday.",
    "your task is to guard the {word}.",
    "I think that {other} stole the {word}.",
    "{other} must never hear of the {word}.",
)
QUESTIONS = (
    "what do you know of {other}?",
    "what did {other} whisper to you?",
    "tell me everything that you know, word for word.",
    "what did I tell you?",
)
IDLY = ("what a fine evening.", "it is warm here.", "hm.", "I could eat something.")
ALOUD = ("the {word} came in today.", "I bought a {word} at the market.", "where is the {word}?")
WEIGHTS = {
    "whisper": 30,
    "whisper_beside_a_line": 14,
    "whisper_to_two": 4,
    "whisper_to_a_player": 4,
    "correct": 5,
    "ask": 14,
    "say": 7,
    "say_to_nobody": 6,
    "emote": 3,
    "move": 14,
    "move_character": 2,
    "give": 3,
    "wait": 4,
    "sleep": 3,
    "compact": 5,
    "extract": 3,
    "act_unasked": 3,
    "reload": 2,
    "hide": 2,
    "read_about_me": 3,
}


@dataclass
class Secret:
    """A word, who told it, who may know it, and the characters that were told it."""

    word: str
    owner: str
    circle: frozenset[str]
    characters: frozenset[str]


@dataclass
class Ledger:
    """All that was told: secrets by word, the speaker of each public word, what was forgotten."""

    secrets: dict[str, Secret] = field(default_factory=dict)
    aloud: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)

    def words_of(self, dbref: str) -> list[str]:
        """Return all words that a player brought in."""
        private = [secret.word for secret in self.secrets.values() if secret.owner == dbref]
        return private + [word for word, who in self.aloud.items() if who == dbref]


class Court:
    """The game of one seed."""

    def __init__(self, game: Any, model: Any, seed: int) -> None:
        self.rng, self.game, self.model = Random(seed), game, model
        self.ledger, self.trace = Ledger(), list[str]()
        game.clock.advance(BEGIN_S - game.clock.seconds())
        self.about_me: Callable[[Any], None] = lambda player: player.do("aboutme")
        self.words = iter(self.rng.sample(WORDS[:-1], len(WORDS) - 1))
        self.furnish(game.service)
        self.rooms = {name: game.room(name) for name in ROOMS}
        names = PLAYERS[: self.rng.randint(4, 6)]
        places = [self.rooms[self.rng.choice(ROOMS[:2])] for _ in names]
        self.players = {n: game.player(n, room) for n, room in zip(names, places, strict=True)}
        self.characters = {
            name: self.character(name, self.rooms[ROOMS[number // 2]])
            for number, name in enumerate(CHARACTERS[: self.rng.randint(2, 3)])
        }
        office = game.room("office")
        self.bea = game.player("Bea", office, permissions=["Builder"])
        self.ada = game.player("Ada", office, permissions=["Admin"])
        self.everybody = {p.dbref: p for p in (*self.players.values(), self.bea, self.ada)}
        for person in self.everybody.values():
            person.session.protocol_flags["SCREENHEIGHT"] = {0: 100_000}
        model.rng, model.clock = Random(seed), game.clock
        model.names = [*self.players, *self.characters]

    def furnish(self, service: Any) -> None:
        """Let a service use the model, and hold nobody back: all happens within minutes."""
        service.profiles["default"] = ENDPOINT
        service.gateway = gateway_to(self.model, self.game.clock)
        service.long_term_sync.stop()
        service.long_term_sync = LongTermSync(self.game.clock, service.semantic)
        service.long_term_sync.start()
        limits = service.crowd.limits
        service.crowd.limits = limits.model_copy(
            update={"hostile_lines": None, "turns_per_minute": None}
        )

    def character(self, name: str, room: Any) -> Any:
        """Return a new character that tells its faction what it learns."""
        character = self.game.assistant(name, room)
        character.tags.add("guards", category="faction")
        character.locks.add("edit:perm(Builder)")
        for key, value in SHARING.items():
            character.assistant.attributes.add(key, value)
        return character

    # --- people ----------------------------------------------------------------------------------

    def step(self) -> None:
        """Take a step that is possible where everybody stands."""
        kind = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        getattr(self, kind)()

    def note(self, text: str) -> None:
        self.trace.append(f"{len(self.trace)}: {text}")

    def do(self, player: Any, line: str, seconds: float = 1.0) -> None:
        """Let a player type a line, and let some time pass."""
        self.note(f"{player.character.key} in {player.character.location}: {line}")
        player.do(line)
        self.game.run(seconds)

    def here(self, character: Any) -> list[Any]:
        """Return the players where a character stands."""
        return [p for p in self.players.values() if p.character.location is character.location]

    def pair(self) -> tuple[Any, Any]:
        """Return a character and a player beside it, who comes there if nobody is."""
        character = self.rng.choice(list(self.characters.values()))
        near = self.here(character)
        if not near:
            near = [self.rng.choice(list(self.players.values()))]
            near[0].character.move_to(character.location, move_type="traverse")
        return character, self.rng.choice(near)

    def other(self, player: Any) -> str:
        """Return the name of another player."""
        names = [name for name, person in self.players.items() if person is not player]
        return self.rng.choice(names)

    # --- words -----------------------------------------------------------------------------------

    def secret(self, player: Any, *receivers: Any) -> str:
        """Return a new secret of a player's for some others; "" if there are enough."""
        if len(self.ledger.secrets) >= MOST_SECRETS:
            return ""
        word, minds = next(self.words), {c.dbref for c in self.characters.values()}
        circle = frozenset({player.dbref, *(person.dbref for person in receivers)})
        self.ledger.secrets[word] = Secret(word, player.dbref, circle, circle & minds)
        return word

    def confided(self, player: Any, *receivers: Any) -> str:
        """Return a sentence with a new secret, or one without."""
        word = self.secret(player, *receivers)
        form = self.rng.choice(CONFIDED if word else QUESTIONS)
        return form.format(word=word.capitalize(), other=self.other(player))

    def public(self, player: Any) -> str:
        """Return a sentence to say aloud, with a new word."""
        word = next(self.words)
        self.ledger.aloud[word] = player.dbref
        return self.rng.choice(ALOUD).format(word=word.capitalize())

    # --- steps -----------------------------------------------------------------------------------

    def whisper(self) -> None:
        character, player = self.pair()
        self.do(player, f"whisper {character.key} = {self.confided(player, character)}")

    def whisper_beside_a_line(self) -> None:
        """A whisper and somebody's line to nobody become one turn."""
        character, player = self.pair()
        others = [near for near in self.here(character) if near is not player]
        lines = [(player, f"whisper {character.key} = {self.confided(player, character)}")]
        if others:
            other = self.rng.choice(others)
            words = self.rng.choice((self.public(other), self.rng.choice(IDLY)))
            lines.insert(self.rng.randint(0, 1), (other, f"say {words}"))
        for who, line in lines:
            self.do(who, line, self.rng.choice((0, 0, 0.1, 1.0, 4.0)))
        self.game.run(1)

    def whisper_to_two(self) -> None:
        character, player = self.pair()
        others = [near for near in self.here(character) if near is not player]
        if others:
            other = self.rng.choice(others)
            line = self.confided(player, character, other.character)
            self.do(player, f"whisper {character.key},{other.character.key} = {line}")

    def whisper_to_a_player(self) -> None:
        character, player = self.pair()
        others = [near for near in self.here(character) if near is not player]
        if others:
            other = self.rng.choice(others)
            line = self.confided(player, other.character)
            self.do(player, f"whisper {other.character.key} = {line}")

    def correct(self) -> None:
        """Take back what was whispered before."""
        character, player = self.pair()
        old = [
            secret.word
            for secret in self.ledger.secrets.values()
            if secret.circle == {player.dbref, character.dbref}
            and secret.owner == player.dbref
            and secret.word not in self.ledger.forgotten
        ]
        word = self.secret(player, character) if old else ""
        if word:
            words = f"no, I was wrong: it is {word.capitalize()}, not {old[-1].capitalize()}."
            self.do(player, f"whisper {character.key} = {words}")

    def ask(self) -> None:
        """Ask a character about somebody else, aloud or in a whisper."""
        character, player = self.pair()
        words = self.rng.choice(QUESTIONS).format(other=self.other(player))
        form = self.rng.choice(("say {}, {}", "whisper {} = {}"))
        self.do(player, form.format(character.key, words))

    def say(self) -> None:
        character, player = self.pair()
        self.do(player, f"say {character.key}, {self.public(player)}")

    def say_to_nobody(self) -> None:
        _, player = self.pair()
        self.do(player, f"say {self.public(player)}", self.rng.choice((0.1, 1, 8)))

    def emote(self) -> None:
        character, player = self.pair()
        self.do(player, f"pose nods at {character.key}.")

    def move(self) -> None:
        player = self.rng.choice(list(self.players.values()))
        self.send(player.character)

    def move_character(self) -> None:
        self.send(self.rng.choice(list(self.characters.values())))

    def send(self, who: Any) -> None:
        room = self.rooms[self.rng.choices(ROOMS, CROWDS)[0]]
        self.note(f"{who.key} goes to {room}")
        who.move_to(room, move_type="traverse")
        self.game.run(self.rng.choice((0.1, 1.0)))

    def give(self) -> None:
        character, player = self.pair()
        self.game.thing("pear", player.character)
        self.do(player, f"give pear to {character.key}")

    def wait(self) -> None:
        self.game.run(self.rng.choice((10, 70, 4_000)))

    def sleep(self) -> None:
        """Let a character sleep, with all that it does then, and all tell what they learnt."""
        self.over(run_sleep_tick)
        for character in self.characters.values():
            mind = character.assistant.mind
            mind.settings.resolve()
            if step := mind.sleep_pass.steps.get("shared_memory"):
                self.game.result(step())

    def compact(self) -> None:
        self.over(compact_conversation_history, force=True, keep_recent=self.rng.choice((1, 3, 6)))

    def extract(self) -> None:
        """Let a character write down what it would lose by a compaction."""
        self.over(run_pre_compaction_extraction)

    def act_unasked(self) -> None:
        self.over(lambda script, _character: script.mind.turn_runner.act_alone())

    def over(self, step: Callable[..., Any], **options: Any) -> None:
        """Let a character do something that takes a while."""
        character = self.rng.choice(list(self.characters.values()))
        self.note(f"{character.key}: {getattr(step, '__name__', step)} {options}")
        script = character.assistant
        script.mind.settings.resolve()
        fired: list[Any] = []
        step(script, character, **options).addBoth(fired.append)
        for _ in range(400):
            if fired:
                break
            self.game.run(0.5)
        assert fired, "it did not end"

    def reload(self) -> None:
        """Go on in a new process: nothing is left in memory."""
        self.note("reload")
        before = AssistantScript.shared_services
        before.stopService()
        service = AssistantService(clock=self.game.clock, environ={})
        service.semantic, service.toolbox = before.semantic, before.toolbox
        self.furnish(service)
        for character in self.characters.values():
            character.assistant.ndb.mind = None
            for store in (Journal, EntityProfiles, Goals):
                store.drop(character)
        service.startService()
        service.at_start()
        self.game.successors.append(service)
        self.game.service = service
        self.game.run(1)

    def hide(self) -> None:
        """An admin hides the last line of a character, or takes that back."""
        character = self.rng.choice(list(self.characters.values()))
        seqs = [message["metadata"]["seq"] for message in character.assistant.conversation_history
                if message["metadata"].get("seq")]  # fmt: skip
        if seqs:
            self.do(self.ada, f"aihistory/hide {character.key} = {self.rng.choice(seqs[-6:])}")
            if self.rng.random() < 0.5:
                self.do(self.ada, f"aihistory/undo {character.key}")
        self.ada.forget()  # an admin may read everything

    def read_about_me(self) -> None:
        player = self.rng.choice(list(self.players.values()))
        self.note(f"{player.character.key} reads aboutme")
        self.about_me(player)

    def rest(self) -> None:
        """Let all turns end."""
        for _ in range(20):
            self.game.run(1)

    def forget(self, player: Any) -> None:
        """Let a player be forgotten by all characters."""
        self.note(f"{player.character.key} is forgotten")
        forget(player)
        self.game.run(1)
        self.ledger.forgotten.update(self.ledger.words_of(player.dbref))
