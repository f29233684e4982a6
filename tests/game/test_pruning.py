"""What fades in sleep, what never does, and how it comes back."""

from datetime import timedelta
from functools import partial

import pytest
from evennia.typeclasses.attributes import Attribute

from evennia_ai.memory.working_memory import clear_stale_conversations
from evennia_ai.ports.journal import Journal, JournalArchive
from evennia_ai.sleep.pruning import prune_low_importance_entries
from evennia_ai.store.personal_data import count_traces
from tests.forgetting import forget_chunk
from tests.game.profile_values import set_attribute
from tests.scripted import call
from tests.semantic import StandInSemantic

pytestmark = pytest.mark.engine


@pytest.fixture
def journal(service, mira):
    service.semantic = StandInSemantic(off="there is none here")
    mira.assistant.attributes.add("prune_keep_at_least", 2)
    return mira.journal


@pytest.fixture
def prune(game, mira):
    """A function that runs one pass; returns its result."""
    step = partial(prune_low_importance_entries, mira.assistant, mira)
    return lambda profile=None: game.asleep(mira.assistant.mind, step, profile)


@pytest.fixture
def old(game, journal):
    """A function that writes an entry of long ago; returns its id."""

    def old(content, days=60, **fields):
        at = game.service.now() - timedelta(days=days)
        return journal.add(content, timestamp=at, **fields)

    return old


def cold(character):
    Journal.drop(character)
    JournalArchive.drop(character)
    return character.journal


def test_what_faded_goes_into_the_archive_and_the_rest_stays(mira, journal, old, prune):
    gone = [old(f"The weather was dull, {word}.") for word in ("grey", "brown", "white")]
    kept = [old("Ann promised me a horse."), old("It is dull.", days=1)]
    result = prune()
    assert result == {"success": True, "pruned": 3, "recalled": 0, "expired": 0, "kept": 2}
    again = cold(mira)
    assert [entry["id"] for entry in again.all()] == kept
    assert [entry["id"] for entry in again.archive.all()] == gone
    assert again.search("weather grey") == []
    assert prune() == {"skipped": True, "reason": "no more than 2 entries"}


def test_the_source_of_what_holds_stays_until_it_holds_no_more(
    game, mira, ann, journal, old, prune
):
    source, cited = old("Ann is here daily."), old("She hums.")
    for word in ("grey", "brown", "white"):
        old(f"Dull {word} weather.", days=50)
    journal.add("Ann likes it here.", source_type="reflection", links=[cited])
    set_attribute(mira.ai_profiles, ann.dbref, "comes", "daily", sources=[source])
    assert prune()["pruned"] == 3
    assert journal.get(source) and journal.get(cited)
    game.clock.advance(60)
    set_attribute(mira.ai_profiles, ann.dbref, "comes", "weekly")
    assert prune()["pruned"] == 1
    assert journal.get(source) is None and journal.get(cited)


def test_what_was_looked_up_lasts_and_looking_up_writes_nothing(
    game, mira, ann, journal, old, prune, django_assert_num_queries
):
    wanted = old("The mill is old.", days=20)
    for word in ("grey", "brown", "white"):
        old(f"Dull {word} weather.", days=20)
    with django_assert_num_queries(0):
        for _ in range(20):
            journal.count_recalls([wanted])
    result = prune()
    assert (result["recalled"], result["pruned"]) == (1, 2)
    assert cold(mira).get(wanted)["recalls"] == 20
    assert prune()["skipped"]


def test_what_was_put_away_can_be_brought_back_and_stays(mira, journal, old, prune):
    gone = old("Dull weather.", links=["mem0:x", "j99"], consolidated=True)
    for word in ("grey", "brown"):
        old(f"Dull {word} weather.", days=50)
    prune()
    back = journal.archive.bring_back(journal, gone)
    assert (back["links"], back["consolidated"]) == (["j99"], False)
    again = cold(mira)
    assert again.get(gone)["content"] == "Dull weather."
    assert again.archive.get(gone) is None
    assert [entry["id"] for entry in again.search("dull weather")].count(gone) == 1
    assert again.add("Something new.") not in (gone, "j1")
    prune()
    assert again.get(gone)
    with pytest.raises(KeyError):
        again.archive.bring_back(again, gone)


def test_the_archive_is_emptied_in_time(game, mira, journal, old, prune):
    old("Dull weather.")
    for word in ("grey", "brown"):
        old(f"Dull {word} weather.", days=50)
    prune()
    game.clock.advance(89 * 86_400)
    assert prune()["skipped"]
    game.clock.advance(86_400)
    assert prune()["expired"] == 1
    assert cold(mira).archive.all() == []


def test_a_kill_between_the_two_writes_loses_and_doubles_nothing(mira, journal, old, prune):
    gone = old("Dull weather.")
    for word in ("grey", "brown"):
        old(f"Dull {word} weather.", days=50)
    remove, journal.remove = journal.remove, lambda *ids: (_ for _ in ()).throw(SystemExit)
    with pytest.raises(SystemExit):
        journal.archive.put_away(journal, gone)
    journal.remove = remove
    again = cold(mira)
    assert again.get(gone) and again.archive.get(gone)
    assert prune()["pruned"] == 1
    assert again.get(gone) is None
    assert len(cold(mira).archive.all()) == 1


def test_what_is_pinned_at_the_last_moment_stays(mira, journal, old, prune, monkeypatch):
    gone = old("Dull weather.")
    for word in ("grey", "brown"):
        old(f"Dull {word} weather.", days=50)
    from evennia_ai.sleep import pruning

    select = pruning.select_to_forget

    def and_pin(*args):
        journal.update(gone, pinned=True)
        return select(*args)

    monkeypatch.setattr(pruning, "select_to_forget", and_pin)
    prune()
    assert journal.get(gone)


def test_forget_me_reaches_the_archive(mira, ann, bob, journal, old, prune):
    old("Dull weather.", speakers=[ann.dbref])
    other = old("Dull grey weather.", speakers=[bob.dbref], days=90)
    for word in ("white", "brown"):
        old(f"Dull {word} weather.", days=50)
    prune()
    while forget_chunk(ann.dbref):
        pass
    assert count_traces(ann.dbref) == 0
    assert [entry["id"] for entry in cold(mira).archive.all()] == [other]
    mira.delete()
    assert not Attribute.objects.filter(db_attrtype="ai_archive").exists()


def test_what_long_term_memory_does_not_have_yet_stays_until_it_has(service, journal, old, prune):
    service.semantic = StandInSemantic()
    stored = old("Dull weather.", consolidated=True)
    for word in ("grey", "brown", "white"):
        old(f"Dull {word} weather.")
    assert prune()["pruned"] == 1
    assert journal.get(stored) is None


def test_it_can_be_switched_off(mira, journal, old, prune):
    for word in ("grey", "brown", "white"):
        old(f"Dull {word} weather.")
    mira.assistant.attributes.add("prune_enabled", False)
    assert prune() == {"skipped": True, "reason": "pruning disabled"}


# --- conversations -----------------------------------------------------------------------------


def cleared(mira):
    fired = []
    clear_stale_conversations(mira.assistant, mira).addCallback(fired.append)
    return fired[0]


def test_conversations_nobody_continued_are_ended_and_told_of(game, mira, ann, bob):
    assert cleared(mira) == {"skipped": True, "reason": "no conversations"}
    for player in (ann, bob):
        game.model.add(call("say", text="Good day."))
        player.do("say Mira, hello")
        began = game.service.now()
        game.run(30)
    assert list(mira.assistant.mind.presence.partners) == [ann.dbref, bob.dbref]
    game.run(20)
    result = cleared(mira)
    assert ([talk["with"] for talk in result["ended"]], result["running"]) == ([ann.dbref], 1)
    assert result["ended"][0]["since"] == result["ended"][0]["last_at"]
    assert mira.assistant.mind.presence.is_in_conversation(bob.dbref)
    game.run(40)
    (ended,) = cleared(mira)["ended"]
    assert (ended["with"], ended["last_at"]) == (bob.dbref, began.isoformat())
    assert mira.assistant.mind.presence.partners == {}


def test_conversations_are_the_same_after_a_restart(game, mira, ann):
    for _ in range(2):
        game.model.add(call("say", text="Good day."))
        ann.do("say Mira, hello")
        game.run(20)
    before = dict(mira.assistant.mind.presence.partners)
    mira.assistant.mind.presence._partners = None
    mira.assistant.conversation.forget_view()
    assert mira.assistant.mind.presence.partners == before
    assert list(before) == [ann.dbref]
