"""What of the lore is ranked for a turn: the words of its lines, what its listeners may hear."""

from evennia_ai.policy.conversation.persona_and_lore import Fit, LoreEntry
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM

MENU = LoreEntry("The menu", "Stew is four pennies.")
TREASURE = LoreEntry("The treasure", "It lies below the stew.", ("quest:key",))


class Recorder:
    """A ranking that finds everything, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def prepare(self, services, entries, lines):
        self.asked.append((list(entries), list(lines)))

    def fits(self, entries, line):
        self.asked.append((list(entries), [line]))
        return dict.fromkeys(entries, Fit(2.0, 0.0, 3.0))


def make_mind():
    mind = MemoryMind(ScriptedLLM([]))
    mind.services.lore_ranking = Recorder()
    mind.services.world.known = [TREASURE, MENU]
    mind.rebuild()
    return mind


def test_neither_the_speaker_nor_the_characters_name_is_asked_for():
    mind = make_mind()
    lines = ["Ann says: Mira, what can I eat?"]
    mind.lore.prepare(lines, frozenset({"#5"}))
    trials = mind.lore.try_lines(lines, frozenset({"#5"}))
    assert [words for _known, words in mind.services.lore_ranking.asked] == [
        ["what can I eat?"]
    ] * 2
    assert [one.entry for one in trials if one.is_chosen] == [MENU]


def test_what_the_listeners_may_not_hear_is_never_ranked():
    mind = make_mind()
    mind.lore.try_lines(["Ann says: What lies there?"], frozenset({"#5"}))
    assert [known for known, _words in mind.services.lore_ranking.asked] == [[MENU]]


def test_nothing_is_prepared_for_a_character_without_lore():
    mind = make_mind()
    mind.services.world.known = []
    mind.lore.prepare(["Ann says: Hello"], frozenset({"#5"}))
    assert mind.services.lore_ranking.asked == []
