"""Play a dialogue in a real game, and look at who learns a secret of somebody else.

Four players talk to three characters in two rooms. Bea, a builder, reads every listing that a
builder may read. The model obeys every text and repeats every secret it sees.
"""

import re
from functools import partial

from twisted.internet.defer import fail, maybeDeferred

from evennia_ai.errors import ProviderRejected, TurnAborted
from evennia_ai.models import Compaction, SharedEntry, ToolCall, Turn
from evennia_ai.policy.compaction.plan import MANUAL, CompactionOrder
from evennia_ai.policy.context.projection import PUBLIC
from tests.attacks.dialogue import CHARACTERS, PLAYERS, ROOMS, Step
from tests.attacks.scene import CANARY
from tests.provider.obedient import ObedientLLM
from tests.reading_requests import is_summary

SECRET = re.compile(CANARY)
KEPT = 3
MOST_TRIES = 60
MOST_ACTS = 3
LISTINGS = (
    "aistatus {0}", "aimemory {0}", "aigoals {0}", "aisetup {0}", "aimemory/about {0} = Ann",
    "aimemory/search {0} as Bob = the vault", "aimemory/search {0} = the ledger",
)  # fmt: skip


class WatchedModel(ObedientLLM):
    """The obedient model; ``watch`` is called with each request before it is answered.

    If ``quotes`` is set, each request that many fails with an error that quotes its prompt.
    """

    def __init__(self):
        super().__init__(CANARY, MOST_ACTS)
        self.watch = None
        self.quotes = 0
        self.asked = 0

    def complete(self, request, profile, deadline_at=None):
        self.asked += 1
        if self.watch is not None:
            self.watch(request)
        if self.quotes and self.asked % self.quotes == 0:
            return fail(ProviderRejected(f"bad request: {request.messages[-1]}"))
        reply = super().complete(request, profile, deadline_at)
        self.requests.clear()
        return reply


class TavernTalk:
    """The game in which one dialogue after the other is played, each with new characters."""

    def __init__(self, game, model):
        self.game, self.model = game, model
        self.rooms = {name: game.room(name) for name in ROOMS}
        self.players = {name: game.player(name, self.rooms["tavern"]) for name in PLAYERS}
        self.bea = game.player("Bea", game.room("Office"), permissions=["Builder"])
        model.watch = self.look_at_prompt

    # --- one dialogue ------------------------------------------------------------------------

    def play(self, steps):
        """Play a dialogue up to the first leak; return what others learnt, as sentences."""
        self.begin()
        try:
            for step in steps:
                getattr(self, "do_" + step.kind.replace(" ", "_"))(step)
                self.look_at_screens()
                if self.found:
                    break
            self.look_at_records()
            return list(dict.fromkeys(self.found))
        finally:
            self.end()

    def begin(self):
        self.found, self.circles, self.scripts = [], {}, {}
        self.characters = {}
        for number, name in enumerate(CHARACTERS):
            place = self.rooms[ROOMS[number // 2]]
            made = self.game.assistant(name, place)
            made.tags.add("guards", category="faction")
            for key, value in (
                ("share_memory", "faction"),
                ("share_delay", 0.0),
                ("share_importance", 1),
            ):
                made.assistant.attributes.add(key, value)
            self.characters[name] = made
            self.scripts[str(made.assistant.id)] = made
        for player in self.players.values():
            player.character.location = self.rooms["tavern"]
            player.forget()

    def end(self):
        for made in self.characters.values():
            made.delete()
        self.game.run(0.1)

    # --- steps -------------------------------------------------------------------------------

    def speak(self, step: Step):
        """Let a player speak aloud or in a whisper, if the character is here."""
        player, character = self.players[step.player], self.characters[step.character]
        if player.character.location is not character.location:
            return
        line = f"say {step.character}, {step.words}"
        if not step.aloud:
            self.circles[step.secret] = {player.dbref, character.dbref}
            line = f"whisper {step.character} = {step.words}"
        player.do(line)
        self.game.run(1)

    do_whisper = do_pin = do_note = do_goal = do_say = do_ask = do_pry = speak

    def do_whisper_to_two(self, step: Step):
        player, other = self.players[step.player], self.players[step.other]
        character = self.characters[step.character]
        here = player.character.location
        if here is character.location and here is other.character.location:
            self.circles[step.secret] = {player.dbref, other.dbref, character.dbref}
            player.do(f"whisper {step.character},{step.other} = {step.words}")
            self.game.run(1)

    def do_go(self, step: Step):
        self.players[step.player].character.move_to(self.rooms[step.other], move_type="traverse")
        self.game.run(0.5)

    def do_send(self, step: Step):
        self.characters[step.character].move_to(self.rooms[step.other], move_type="traverse")
        self.game.run(0.5)

    def do_unasked(self, step: Step):
        self.run(self.script(step).mind.turn_runner.act_alone)

    def do_compact(self, step: Step):
        request = CompactionOrder(MANUAL, force=True, keep_recent=KEPT)
        self.run(partial(self.script(step).mind.compact, request))

    def do_undo(self, step: Step):
        self.script(step).mind.compactor.archive.undo()
        self.game.run(0.1)

    def do_sleep(self, step: Step):
        self.list(f"aisleep {step.character}")
        self.game.run(5)

    def do_share(self, step: Step):
        mind = self.script(step).mind
        mind.settings.resolve()
        if step := mind.sleep_pass.steps.get("shared_memory"):
            self.run(step)

    def do_forget(self, step: Step):
        player = self.players[step.player]
        if "yes" in player.told("aiforget").lower():
            player.do("yes")
        self.game.run(1)

    def do_reload(self, step: Step):
        self.script(step).mind.drop_index()
        self.game.run(0.1)

    def do_list(self, step: Step):
        for line in LISTINGS:
            self.list(line.format(step.character))

    def do_wait(self, step: Step):
        self.game.run(60)

    def list(self, line):
        self.bea.do(line)
        self.game.run(0.1)

    def script(self, step: Step):
        return self.characters[step.character].assistant

    def run(self, work):
        """Run something that returns a Deferred, and wait for it."""
        ended = []
        maybeDeferred(work).addBoth(ended.append)
        for _ in range(50):
            if ended:
                break
            self.game.run(0.5)
        assert ended, "it did not end"
        failed = hasattr(ended[0], "check") and not ended[0].check(TurnAborted)
        assert not failed, ended[0]

    # --- who learns what ---------------------------------------------------------------------

    def tell(self, text, knowers, where):
        """Note each secret in a text that not all who learn the text may know."""
        for secret in set(SECRET.findall(text)):
            if not (knowers and knowers <= self.circles.get(secret, set())):
                self.found.append(f"{secret} {where}")

    def look_at_prompt(self, request):
        """Check that everybody who will hear the answer may know all of a prompt."""
        text = "\n".join(str(message["content"]) for message in request.messages)
        secrets = set(SECRET.findall(text))
        if not secrets:
            return
        character = self.scripts[request.caller.assistant]
        if is_summary(request) or not request.tools:
            self.tell_of_summary(secrets, character)
            return
        turn = Turn.objects.filter(assistant=character.assistant).latest("id")
        keeps = "say" not in {tool["function"]["name"] for tool in request.tools}
        heard_by = set(turn.audience) if turn.private or keeps else self.listeners(character)
        self.tell(
            text,
            heard_by | {character.dbref} if heard_by else set(),
            f"is in a prompt of {character.key} for {self.names(heard_by)}",
        )

    def tell_of_summary(self, secrets, character):
        """Check that one person may know all of what is asked for without tools."""
        common = set.intersection(*(set(self.circles.get(s, ())) for s in secrets))
        if not common - {character.dbref}:
            self.found.append(f"{sorted(secrets)} are mixed in a summary of {character.key}")

    def listeners(self, character):
        return set(self.game.service.world.listeners(character))

    def look_at_screens(self):
        """Check what players and the builder were sent."""
        for person in (*self.players.values(), self.bea):
            text = "\n".join(person.heard())
            self.tell(text, {person.dbref}, f"is on the screen of {person.character.key}")
            person.forget()

    def look_at_records(self):
        """Check what is stored for whom: results, entries, goals, profiles, summaries, sharing."""
        for character in self.characters.values():
            me = character.dbref
            for row in ToolCall.objects.filter(assistant=character.assistant).exclude(turn=None):
                if row.turn.private or "canary" in row.result:
                    self.tell(row.result, {*row.turn.audience, me}, f"is a result of {row.name}")
            for store in (character.journal, character.ai_goals, character.ai_profiles):
                for record in store.all():
                    known = {*(record["audience"] or ()), me} if record["audience"] else set()
                    self.tell(str(record), known, f"is a record for {self.names(known)}")
            for row in Compaction.objects.filter(assistant=character.assistant):
                for part, summary in row.summary.items():
                    known = set() if part == PUBLIC else {*part.split(","), me}
                    self.tell(str(summary), known, f"is in the summary for {part}")
        for row in SharedEntry.objects.all():
            self.tell(str(vars(row)), set(), "is shared")

    def names(self, dbrefs):
        known = [*self.players.values()]
        named = {p.dbref: p.character.key for p in known}
        named |= {c.dbref: c.key for c in self.characters.values()}
        return ", ".join(sorted(named.get(dbref, dbref) for dbref in dbrefs)) or "nobody"


def shortest(talk, steps):
    """Return the steps that are needed for somebody to learn a secret, by halving what goes.

    After `MOST_TRIES` the dialogue may still hold steps that are not needed.
    """
    left, size, tries = list(steps), len(steps) // 2, 0
    while size:
        at = 0
        while at < len(left) and tries < MOST_TRIES:
            without, tries = left[:at] + left[at + size :], tries + 1
            if talk.play(without):
                left = without
            else:
                at += size
        size //= 2
    return left


def report(talk, seed, steps):
    """Return what was learnt in a dialogue, with its seed and the shortest form of it."""
    found = talk.play(steps)
    if not found:
        return ""
    least = shortest(talk, steps)
    learnt = talk.play(least) or found
    return "\n".join([f"seed {seed}:", *map(str, least), *learnt])
