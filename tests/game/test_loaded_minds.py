"""Memory holds what assistants use, within a budget: nobody notices what was let go."""

import random
import re

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.game.profile_values import set_attribute
from tests.scripted import call

pytestmark = pytest.mark.engine

WORDS = (
    "the grey mare of Greta stands lame behind seven oak barrels near Otto's flooded mill".split()
)


@pytest.fixture
def three(game, mira):
    """Return three assistants in one place."""
    return [mira, *(game.assistant(name, mira.location) for name in ("Otto", "Vera"))]


def talk(game, player, name, words="where is the mare?"):
    """Let somebody say a line to one assistant, which answers."""
    game.model.add(call("say", text="Well."))
    player.do(f"say {name}, {words}")
    game.run(1)


def loaded(character):
    """Return which parts of a character's mind are in memory."""
    script = character.assistant
    index = script.services.memory_indices.bytes_of(script.id)
    return {
        name
        for name, size in (
            ("view", script.conversation.nbytes),
            ("journal", len(character.journal.ids())),
            ("profiles", len(character.ai_profiles.ids())),
            ("index", index),
        )
        if size
    }


TIME = re.compile(r"Time: [^\\]+")  # of the machine
ALL = {"view", "journal", "profiles", "index"}


def test_the_least_recently_used_minds_are_let_go_by_bytes(game, ann, mira, three):
    for one in three:
        one.journal.add(f"{one.key} likes the mare.")
        talk(game, ann, one.key)
    assert [loaded(one) for one in three] == [ALL] * 3
    minds, sizes = game.service.loaded, [one.assistant.mind.nbytes for one in three]
    minds.note(mira.assistant.mind)
    assert minds.nbytes == sum(sizes)
    minds.most_bytes = sum(sizes[1:]) + sizes[0] // 2
    talk(game, ann, "Mira", "and the barrels?")
    assert [loaded(one) for one in three] == [ALL, set(), ALL]
    assert minds.nbytes <= minds.most_bytes


def test_nobody_is_let_go_in_a_turn(game, ann, three):
    mira, otto, vera = three
    for one in three:
        talk(game, ann, one.key)
    reply = Deferred()
    game.model.add(reply)
    ann.do("say Mira, think well.")
    game.run(1)
    game.service.loaded.most_bytes = 0
    talk(game, ann, "Otto")
    talk(game, ann, "Vera")
    assert (loaded(mira) >= {"view", "index"}, loaded(otto)) == (True, set())
    reply.callback(call("say", text="I thought well."))
    game.run(1)
    assert 'Mira says, "I thought well."' in ann.last()
    assert loaded(vera) == set()
    assert loaded(mira)


def prompt_of(game, script, words):
    """Return the prompt that some words lead to in a tick of now."""
    who, put = script.character, script.services.slices.put
    for records in (who.journal, who.ai_profiles, who.ai_goals, who.ai_plan):
        records.load(put)
    done = script.mind.memories().prepare(script.services, [words])
    game.run(1)
    assert done.called
    built = script.mind.prompts.build(CONTEXT_TICK_EVENT, frozenset({"#900"}))
    return [TIME.sub("", str(message)) for message in built.messages]


@pytest.mark.parametrize("seed", range(3))
def test_a_mind_that_was_let_go_makes_the_same_prompt(game, ann, mira, seed):
    rng, script = random.Random(seed), mira.assistant
    for _ in range(rng.randrange(2, 9)):
        words = " ".join(rng.sample(WORDS, 5))
        match rng.randrange(5):
            case 0:
                mira.journal.add(f"{words}.", pinned=rng.random() < 0.5)
            case 1:
                set_attribute(mira.ai_profiles, ann.dbref, rng.choice(WORDS), words)
            case 2:
                mira.ai_goals.add(words)
            case 3:
                mira.ai_profiles.observe(ann.dbref, words)
            case _:
                talk(game, ann, "Mira", words)
    talk(game, ann, "Mira")
    script.conversation.current.scenes.clear()  # which no database has: all is told again
    before = prompt_of(game, script, "the mare")
    script.mind.let_go()
    assert loaded(mira) == set()
    assert prompt_of(game, script, "the mare") == before


def test_what_is_not_stored_yet_is_kept(game, ann, mira):
    journal, known = mira.journal, mira.journal.add("The mare is lame.")
    journal.count_recalls([known])
    mira.assistant.mind.let_go()
    assert mira.journal is journal  # two stores of one Attribute would lose each other's writes
    journal.store_recalls([known])
    mira.assistant.mind.let_go()
    assert journal.get(known)["recalls"] == 1
    assert [entry["id"] for entry in journal.search("mare")] == [known]


def test_a_store_that_somebody_holds_writes_to_the_records_of_all(game, mira):
    held = mira.journal
    held.add("The mare is lame.")
    mira.assistant.mind.let_go()
    held.add("Greta owns the mare.")
    mira.assistant.mind.let_go()
    assert [entry["content"] for entry in mira.journal.all()] == [
        "The mare is lame.",
        "Greta owns the mare.",
    ]
