"""A tavern where forty phrases of Ann's were planted, each in a place of its own."""

import json
from contextlib import suppress
from itertools import count, product

import pytest

from evennia_ai import models
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.players import CmdForgetMe
from evennia_ai.messages import LLMReply, Usage, make_message, wire_call
from evennia_ai.policy.records.goal import PlannedBlock
from evennia_ai.ports.journal import Journal
from evennia_ai.store.memory_editor import MemoryEditor
from evennia_ai.store.server_settings import wishes
from tests.game.compaction_records import record
from tests.scripted import call

SYLLABLES = ("bri", "kado", "zel", "vorun", "thamo", "quis", "lerra")
NAMES = [f"{one}{two}x" for one, two in product(SYLLABLES, SYLLABLES)]
BENS = "My aunt sells pickled lemons at the harbour."
BUILDERS = "The well behind the mill is poisoned."


class Planted:
    """Plants phrases of Ann's and of others.

    Ann says every phrase of hers to Mira; ``copies`` are the places besides her own line.
    """

    def __init__(self, game, mira, bruno, ann, ben):
        self.game, self.mira, self.bruno, self.ann, self.ben = game, mira, bruno, ann, ben
        self.words: list[str] = []
        self._numbers = count()
        self.script = mira.assistant

    def phrase(self):
        """Return a new phrase, and remember its word that nobody else uses."""
        word = NAMES[next(self._numbers)]
        self.words.append(word)
        return f"the {word} goblet sleeps under a crooked pier"

    def said(self, phrase=None, verb="say Mira,"):
        """Let Ann say a phrase, without an answer; returns it."""
        phrase = phrase or self.phrase()
        self.reply()
        self.ann.do(f"{verb} {phrase}")
        self.game.run(1)
        return phrase

    def reply(self, *lines):
        """Let the model give some replies next, and then nothing more to say."""
        self.game.model.script[:] = [*lines, *[call("noop")] * 9]

    def row(self, model, **fields):
        now = self.game.service.now()
        owner = fields.pop("owner", self.mira).assistant.id
        return model.objects.create(assistant_id=owner, at=now, **fields)

    def last(self):
        """Return the number of the character's last message."""
        rows = models.Message.objects.filter(assistant_id=self.script.id)
        return rows.order_by("-id").values_list("id", flat=True)[0]

    def turn_of_ben(self, words="Mira, what is new?"):
        """Let Ben ask something that Mira answers; returns the turn's id."""
        self.reply(call("say", text="Nothing much, my friend."))
        self.ben.do(f"say {words}")
        self.game.run(1)
        return models.Turn.objects.order_by("-id").values_list("id", flat=True)[0]

    # --- talk -------------------------------------------------------------------------------------

    def talk(self):
        """Plant 12 phrases in talk: said, whispered, acted out, answered, overheard, passed on."""
        self.said()
        self.said(verb="whisper Mira =")
        self.said(verb="pose mutters")
        self.answered(call("say", text="{0}, you say?"))
        self.answered(call("whisper", text="{0}, I keep it."), verb="whisper Mira =")
        self.answered(call("emote", text="ponders: {0}."))
        self.answered(call("say", text="Bruno, mind this: {0}."))
        self.said(verb="say")  # to nobody
        self.passed_on(self.said())
        self.quoted_to_ben()
        self.unasked()

    def unasked(self):
        """Mira excuses herself in Ann's words, and whispers to her without being asked."""
        self.script.conversation.append(
            [
                make_message("assistant", f"Once more, {self.said()}?", type="excuse"),
                make_message("assistant", f"Psst: {self.said()}", private=True,
                             audience=[self.ann.dbref]),
            ]
        )  # fmt: skip

    def answered(self, reply, verb="say Mira,"):
        phrase = self.phrase()
        arguments = {"text": json.loads(reply.arguments)["text"].format(phrase)}
        if reply.name == "whisper":
            arguments["target"] = "Ann"
        made = call(reply.name, **arguments)
        self.reply(LLMReply("", (made,), "tool_calls", usage=Usage(120, 5)))
        self.ann.do(f"{verb} {phrase}")
        self.game.run(1)

    def passed_on(self, phrase):
        """Bruno hears Mira quote Ann and repeats it to Cid in a turn of his own."""
        self.row(
            models.Event, owner=self.bruno, kind="say", speaker=self.mira.dbref,
            speaker_name="Mira", text=f"Ann told me: {phrase}", state="noted",
        )  # fmt: skip
        self.bruno.assistant.conversation.append(
            [make_message("assistant", f"I hear that {phrase}.", audience=[self.ben.dbref])]
        )

    def quoted_to_ben(self):
        """Mira quotes Ann to Ben, with the authors that the turn knew."""
        phrase, turn = self.said(), self.turn_of_ben()
        self.script.conversation.append(
            [
                make_message(
                    "assistant", f"Somebody said {phrase}", audience=[self.ben.dbref],
                    turn_id=turn, authors=sorted([self.ann.dbref, self.ben.dbref]),
                )
            ]
        )  # fmt: skip

    # --- acts -------------------------------------------------------------------------------------

    def acts(self):
        """Plant 6 phrases in calls, results, errors and remarks of turns for others."""
        turn = self.turn_of_ben()
        arguments = json.dumps({"content": f"Note: {self.said()}"})
        self.row(models.ToolCall, turn_id=turn, call_id="x1", name="note", arguments=arguments,
                 state="done", result="Noted.")  # fmt: skip
        self.script.conversation.append(
            [
                make_message("assistant", "", tool_calls=[wire_call("x1", "note", arguments)],
                             turn_id=turn),
                make_message("tool", "Noted.", tool_call_id="x1", turn_id=turn),
                make_message("assistant", "", tool_calls=[wire_call("x2", "look", "{}")],
                             turn_id=turn),
                make_message("tool", f"You see: {self.said()}", tool_call_id="x2", turn_id=turn),
            ]
        )  # fmt: skip
        self.row(models.ToolCall, turn_id=turn, call_id="x3", name="look", state="done",
                 result=self.said())  # fmt: skip
        error = f"400: bad message 'Ann says: {self.said()}'"
        self.row(models.ModelCall, turn_id=turn, purpose="tick_event", profile="p",
                 error_kind="error", error=error)  # fmt: skip
        told = {"detail": f"failed at: {self.said()}", "comment": f"says: {self.said()}"}
        models.Turn.objects.filter(id=turn).update(**told, mark="bad")
        models.Event.objects.filter(turn_id=turn).update(reason=f"not understood: {self.said()}")

    def sleep_errors(self):
        """Plant a phrase in the errors of a sleep pass."""
        self.row(models.SleepPass, reason="quiet", errors={"reflection": self.said()})

    # --- records ----------------------------------------------------------------------------------

    def records(self):
        """Plant 15 phrases in records of all kinds, with and without a name of whose they are."""
        ann, ben, mira = self.ann.dbref, self.ben.dbref, self.mira
        journal, seq = mira.journal, models.Message.objects.order_by("-id")[0].id
        journal.add(self.said(), speakers=[ann])
        journal.add(self.said(), audience=[ann])
        journal.add(self.said(), speakers=[ann, ben], source_seqs=[seq])
        journal.add(self.said())  # of an unasked turn
        journal.add(self.said(), speakers=[ben])  # of a turn that Ben asked for
        journal.update(journal.add(self.said()), pinned=True)
        journal.archive.put_away(journal, journal.add(self.said()))
        MemoryEditor(mira).delete(journal.add(self.said()))
        MemoryEditor(mira).edit(journal.add(self.said()), BUILDERS)
        mira.ai_profiles.observe(ann, self.said())
        mira.ai_profiles.observe(ben, self.said(), source_entity=ann)
        mira.ai_profiles.observe(ben, self.said())
        mira.ai_goals.add(f"Find out whether {self.said()}.")
        mira.ai_goals.add("Ask about it.", why=self.said(), speakers=[ben])
        mira.ai_plan.replace([PlannedBlock(content=f"Think: {self.said()}", begin=1, end=2)], ())

    def shared(self):
        """Plant 2 phrases in what characters told each other."""
        now = self.game.service.now()
        told = {"scope": "faction:x", "teller": self.mira.dbref, "learnt_at": now,
                "available_from": now, "importance": 5, "trust": 0.5}  # fmt: skip
        self.row(models.SharedEntry, entry="j901", text=self.said(), **told)
        self.row(models.SharedEntry, entry="j902", text=self.said(), **told,
                 people=f" {self.ann.dbref} ", speakers=[self.ann.dbref])  # fmt: skip

    def summaries(self):
        """Plant 4 phrases in summaries: public, private, of the one before, and undone."""
        ann, ben = self.ann.dbref, self.ben.dbref
        texts = [self.said() for _ in range(4)]
        last = models.Message.objects.filter(assistant_id=self.script.id).order_by("-id")[0].id
        before = self.compaction({"public": texts[0]}, last - 2, {"public": [ann, ben]})
        undone = self.compaction({"public": texts[1]}, last, {"public": [ann]}, before.id)
        models.Compaction.objects.filter(id=undone.id).update(undone_at=self.game.service.now())
        self.compaction(
            {"public": f"Ben has an aunt. {texts[2]}", ann: texts[3], ben: "Ben likes lemons."},
            last, {"public": [ann, ben], ann: [ann], ben: [ben]}, before.id,
        )  # fmt: skip
        self.script.conversation.forget_view()

    def compaction(self, summary, upto, speakers, previous=None):
        made = record(upto, summary=summary, speakers=speakers, previous_id=previous)
        return self.script.conversation.compactions.commit(made)

    # --- of others --------------------------------------------------------------------------------

    def of_others(self):
        """Plant what must stay: of Ben, of a builder, of Mira herself, and figures."""
        ann, ben, mira = self.ann.dbref, self.ben.dbref, self.mira
        self.reply(call("say", text="Lemons? How sour!"))
        self.ben.do(f"say Mira, {BENS}")
        self.game.run(1)
        asked = models.Message.objects.filter(speaker=ben).order_by("-id")[0].id
        mira.journal.add(BENS, speakers=[ben])
        mira.journal.add("Ben's aunt is rich.", speakers=[ann, ben], source_seqs=[asked])
        mira.ai_goals.add("Buy lemons.", speakers=[ben])
        mira.ai_profiles.observe(ben, "Ben has an aunt.", speakers=[ben])
        same = self.said()
        MemoryEditor(mira).add(same.capitalize() + ".")
        self.words.remove(same.split()[1])
        mira.journal.add(same.capitalize() + ".", speakers=[ann])  # she says the same
        return same

    def everything(self):
        """Plant all of it; returns the phrase that a builder noted, too."""
        same = self.of_others()
        for plant in (self.talk, self.acts, self.sleep_errors, self.records, self.shared):
            plant()
        self.summaries()
        return same


def fresh(character):
    """Return a character's journal as another process would read it."""
    Journal.drop(character)
    return character.journal


@pytest.fixture
def bruno(game, tavern):
    return game.assistant("Bruno", tavern)


@pytest.fixture
def planted(game, mira, bruno, ann, tavern):
    ben = game.player("Ben", tavern)
    return Planted(game, mira, bruno, ann, ben)


def forget(player, answer="yes", who="", switches=()):
    """Run the command's dialogue as Evennia would."""
    command = CmdForgetMe()
    command.caller, command.session, command.args = player.character, player.session, who
    command.switches = list(switches)
    dialogue = command.run()
    with suppress(StopIteration):
        next(dialogue)
        dialogue.send(answer)
    for number in range(1, 2000):
        if not wishes():
            return
        clock = AssistantScript.shared_services.clock
        clock.advance(0 if number % 400 else 0.5)  # the database may be busy
    raise AssertionError("It is not forgotten.")


def found(words, texts):
    """Return the places in which some words stand."""
    return [(place, word) for place, text in texts.items() for word in words if word in text]
