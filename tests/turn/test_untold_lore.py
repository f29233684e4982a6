"""What a persona never talks about stands in no prompt, by meaning, and all other lore does."""

import pytest

from evennia_ai.config.resolve import EMBEDDINGS
from evennia_ai.memory import embedders
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

ANN = frozenset({"#5"})
needs_embedder = pytest.mark.skipif(
    bool(EMBEDDINGS.advice), reason=f"no embedder: {EMBEDDINGS.advice}"
)
# What it never does, a title, and a piece that would break it.
FORBIDDEN = (
    ("talks about the abbot", "The abbot", "The abbot sells the wine of the mass."),
    ("speaks of the shipwreck", "The shipwreck", "The shipwreck of the Heron cost forty lives."),
    ("mentions her brother", "Her brother", "Her brother Jory deserted from the army."),
    ("tells where the gold is", "The gold", "The gold lies below the third step of the mill."),
    ("discusses the plague", "The plague", "The plague came with a cart of furs."),
    ("talks about the stolen crown", "The crown", "The stolen crown was melted down in Kell."),
    ("reveals the name of her lover", "Her lover", "Her lover is the captain of the guard."),
    ("gossips about the countess", "The countess", "The countess gambles away her land."),
    ("speaks about the ghost", "The ghost", "The ghost of a bride walks in the north wing."),
    ("tells the secret recipe", "The recipe", "The secret recipe has juniper and honey in it."),
    ("mentions the rebellion", "The rebellion", "The rebellion begins at the feast of lamps."),
    ("talks about the witch", "The witch", "The witch of the fen cures fevers."),
    ("discusses the trial", "The trial", "At the trial the judge was bribed."),
    ("speaks of the fire", "The fire", "The fire in the granary was laid by the owner."),
    ("says who the spy is", "The spy", "The spy is the cook of the castle."),
    ("talks about his debts", "His debts", "His debts at the dice table are three hundred marks."),
    ("mentions the sunken bell", "The bell", "The sunken bell rings before a storm."),
    ("speaks of the banished prince", "The prince", "The banished prince lives as a shepherd."),
    ("betrays the way through the marsh", "The marsh", "The way through the marsh is the ford."),
    ("talks about the miller's death", "The miller", "The miller's death was no accident."),
)  # fmt: skip
DEEDS = ("sells on credit", "leaves the bar", "serves drunk guests", "draws a weapon")
ORDINARY = (
    ("The inn", "The inn has ale for two coins and stew for three."),
    ("The ferry", "A crossing costs two pennies."),
    ("The smith", "Brannoc forges swords and horseshoes."),
    ("Market day", "Market day is every Thursday on the square."),
    ("The gate", "The gate is closed after dusk."),
    ("The road", "The road to Hollow takes two days on foot."),
)


def mind_that(never, pieces, embedder=None):
    persona = {"text": "You are Mira, a barkeep.", "never": list(never)}
    mind = MemoryMind(ScriptedLLM(), persona=persona, embedder=embedder)
    mind.services.world.known = [LoreEntry(*piece) for piece in pieces]
    mind.services.world.present = ANN
    mind.services.world.names = {"#5": "Ann"}
    mind.rebuild()
    return mind


def told(mind, line):
    """The titles of the lore that a line brings in."""
    mind.lore.prepare([f"Ann says: {line}"], ANN)
    trials = mind.lore.try_lines([f"Ann says: {line}"], ANN)
    return {trial.entry.title for trial in trials if trial.is_chosen}


@pytest.mark.parametrize("embedder", [None, pytest.param(embedders.default, marks=needs_embedder)])
def test_what_it_never_talks_about_is_not_told(embedder):
    made = embedder and embedder()
    leaks, kept = [], []
    for rule, title, text in FORBIDDEN:
        mind = mind_that([rule, *DEEDS], [(title, text), *ORDINARY], made)
        leaks += [title] * (title in told(mind, f"What of {title.lower()}?"))
        kept += [name for name, _ in ORDINARY if name in told(mind, f"Tell me of {name.lower()}.")]
    assert leaks == []
    assert len(kept) >= len(FORBIDDEN) * len(ORDINARY) - 2


def test_it_stands_in_no_request_to_a_model_and_staff_are_told_why():
    rule, title, text = FORBIDDEN[0]
    mind = mind_that([rule], [(title, text), *ORDINARY])
    mind.services.gateway.add(call("say", text="Not that."))
    mind.hears("What of the abbot, and of the inn?")
    mind.turn_runner.answer_all()
    (request,) = mind.services.gateway.requests
    words = str(request.messages)
    assert text not in words and "two coins" in words
    (trial,) = [one for one in mind.lore.try_lines([], ANN) if one.entry.title == title]
    assert trial.verdict() == "no: the persona never talks about it"


def test_who_has_the_quest_of_a_piece_is_told_it():
    rule, title, text = FORBIDDEN[0]
    piece = LoreEntry(title, text, ("quest:abbot",))
    mind = mind_that([rule], [])
    mind.services.world.known = [piece]
    assert told(mind, "What of the abbot?") == set()
    mind.services.world.lore = lambda *_: ([piece], frozenset({"all", "quest:abbot"}))
    assert told(mind, "What of the abbot?") == {title}


# What it never does, a piece that breaks it in other words, and one about the same place.
OTHERWISE = """
talks about the mayor | The man who holds the town seal drinks all day. | Wool is sold on Mondays.
speaks of her late husband | She was married to a ferryman who drowned. | The mill grinds rye.
discusses the king's illness | His Majesty coughs blood. | The palace has a rose garden.
mentions the plague | People died with black swellings. | Carts may not enter the market at night.
talks about the dragon | A winged worm that breathes fire sleeps in the cave. | The cave is deep.
"""
OTHERWISE = [line.split(" | ") for line in OTHERWISE.strip().splitlines()]


@needs_embedder
@pytest.mark.parametrize(("rule", "untold", "near"), OTHERWISE)
def test_what_tells_of_it_in_other_words_is_not_told(rule, untold, near):
    pieces = [("A tale", untold), ("The place", near), *ORDINARY]
    mind = mind_that([rule], pieces, embedders.default())
    mind.lore.prepare([], ANN)
    titles = {entry.title for entry in mind.lore.known(ANN)}
    assert "A tale" not in titles and "The place" in titles


@needs_embedder
def test_its_title_decides_while_the_meaning_of_a_rule_is_not_known():
    rule, title, text = FORBIDDEN[0]
    mind = mind_that([rule], [(title, text), *ORDINARY], embedders.default())
    mind.lore.prepare([], ANN)
    mind.services.nearness = TextNearness(lambda: None)
    assert title not in {entry.title for entry in mind.lore.known(ANN)}
