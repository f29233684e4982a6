"""Deeds in the game move opinions by the rules, each once."""

import tomllib

import pytest

from evennia_ai import models, signals
from evennia_ai.contrib.opinions import record_deed
from evennia_ai.contrib.opinions.deeds import EVENTS_A_LOOK, LINES
from evennia_ai.contrib.opinions.opinion_records import OpinionDeeds
from evennia_ai.notifications import notify
from tests.contrib.opinions import opinions_scene
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]
asked_for, busy = opinions_scene.asked_for, opinions_scene.busy
tavern_of_opinions = opinions_scene.tavern_of_opinions
DAY_S = 86_400


def test_gifts_count_up_to_the_most_of_a_day_and_fade(tavern_of_opinions, game, ann, bob):
    inn = tavern_of_opinions
    for number in range(5):
        inn.gives(ann, f"rope{number}")
    assert (inn.of(ann), inn.of(bob)) == (4, 0)
    assert inn.mira.ai_opinions.reasons(ann.character) == ["gave you a rope1", "gave you a rope0"]
    game.clock.advance(10 * DAY_S)
    assert inn.of(ann) == 2
    inn.gives(ann, "cheese")
    assert inn.of(ann) == 4
    game.clock.advance(50 * DAY_S)
    assert inn.of(ann) == 0
    inn.gives(ann, "apple")
    assert [record["content"] for record in inn.deeds()] == ["gave you an apple"]


def test_the_same_thing_given_to_and_fro_counts_once(tavern_of_opinions, game, ann, bob):
    inn, rope = tavern_of_opinions, game.thing("rope", ann.character)
    for player in (ann, ann, bob):
        rope.move_to(player.character, quiet=True)
        player.do("give rope to Mira")
        game.run(1)
    assert (inn.of(ann), inn.of(bob)) == (2, 0)


def test_what_the_game_tells_counts_by_its_kind(tavern_of_opinions, game, ann, bob):
    inn, person = tavern_of_opinions, ann.character
    for kind, points in (("attacked", -4), ("hit", -1), ("theft", -4), ("killed", -1)):
        before = inn.of(ann)
        notify(inn.mira, "Ann does it.", importance=3, kind=kind, actor=person)
        game.run(1)
        assert inn.of(ann) - before == points, kind  # -10 is the end of the scale
    assert inn.mira.ai_opinions.reasons(person)[1:] == ["Ann does it.", "hit you", "attacked you"]
    notify(inn.mira, "Bob hits Ann.", importance=3, kind="hit", actor=bob.character, item=person)
    notify(inn.mira, "Bob waves.", importance=3, kind="waved", actor=bob.character)
    bob.do("pose attacks Mira and steals her purse.")
    game.run(1)
    assert inn.of(bob) == 0


def test_a_fight_counts_for_whom_it_hits(tavern_of_opinions, game, ann):
    combat = pytest.importorskip("evennia_ai.contrib.fights")
    inn = tavern_of_opinions
    combat.combat_event(inn.mira, "attacked", ann.character)
    combat.combat_event(inn.mira, "hit", ann.character, damage=3, remaining=0.5)
    combat.combat_event(ann.character, "hit", inn.mira)
    game.run(1)
    assert inn.of(ann) == -5


def test_a_sale_counts_for_both_ways_and_a_refused_one_not(tavern_of_opinions, game, ann):
    pytest.importorskip("evennia_ai.contrib.shop")
    inn = tavern_of_opinions
    ale, lamp = game.thing("ale", inn.mira), game.thing("lamp", ann.character)
    ale.db.price, lamp.db.price = 3, 4
    inn.mira.db.coins = ann.character.db.coins = 10

    def deal(tool, answer, **arguments):
        game.model.add(call(tool, **arguments), call("noop"))
        ann.do("say Mira, let us trade")
        game.run(1)
        game.model.script.clear()
        ann.do(answer)
        game.run(1)
        return inn.of(ann)

    assert deal("sell", "no", item="ale", price=3) == 0
    assert deal("sell", "yes", item="ale", price=3) == 0.5
    assert ale.location is ann.character
    assert deal("buy", "yes", item="lamp", price=2) == 1
    assert inn.mira.ai_opinions.reasons(ann.dbref) == ["sold you a lamp", "bought an ale from you"]


def test_each_row_counts_once_also_after_a_crash(tavern_of_opinions, game, ann, busy, asked_for):
    inn = tavern_of_opinions
    inn.gives(ann)
    assert inn.of(ann) == 2
    failed = busy(OpinionDeeds, "change", times=1)
    inn.gives(ann, "cheese")
    inn.of(ann)  # the database was busy when the row was read
    assert failed and inn.of(ann) == 4
    notify(inn.mira, "Ann takes a cup.", importance=3, kind="theft", actor=ann.character)
    game.run(1)
    inn.game.next_process(inn.mira.assistant).extensions = game.service.extensions
    for _ in range(2):  # what the dead process had not read, and nothing twice
        OpinionDeeds.drop(inn.mira)
        assert inn.of(ann) == 0
        assert len(inn.deeds()) == 3


def test_a_storm_of_events_is_read_in_pieces(tavern_of_opinions, game, ann, bob):
    inn, fields = tavern_of_opinions, {"kind": "hit", "evidence": "perceived", "state": "noted"}
    mira = {"assistant_id": inn.mira.assistant.id, "at": game.service.now()}
    people = [ann] * (2 * EVENTS_A_LOOK) + [bob]
    hits = [models.Event(speaker=who.dbref, text="It hits.", **fields, **mira) for who in people]
    models.Event.objects.bulk_create(hits)
    assert (inn.of(ann), OpinionDeeds.of(inn.mira).last_event) == (-4, EVENTS_A_LOOK)
    for _ in range(3):
        game.run(1)
    assert (inn.of(ann), inn.of(bob), len(inn.deeds())) == (-4, -1, 5)


def test_a_deed_of_games_and_extensions_counts_once_by_its_key(tavern_of_opinions, ann, bob):
    inn, person = tavern_of_opinions, ann.character
    assert record_deed(inn.mira, person, "theft", "took your purse", key="theft 7") == -4
    assert record_deed(inn.mira, person, "theft", "took your purse", key="theft 7") == 0
    assert record_deed(inn.mira, person, "juggling", "juggled") == 0
    for _ in range(2):
        deed = {"kind": "promise kept", "reason": "was at the gate", "key": "promise:p3"}
        only = frozenset({bob.dbref})
        signals.deed_done.send(
            inn.mira.assistant, character=inn.mira, person=bob.character, audience=only, **deed
        )
    assert (inn.of(ann), inn.of(bob)) == (-4, 2)


def test_whether_a_player_comes_to_an_appointment_counts(asked_for, game, tavern, mira, ann, bob):
    scene = pytest.importorskip("tests.contrib.promises.promises_scene")
    asked_for("opinions", "promises")
    town, inn = scene.Town(game, tavern, mira), opinions_scene.Tavern(game, mira)
    for player in (ann, bob):
        town.use("promise", player, what="meet", when="in 30 minutes", where="old gate")
    ann.character.move_to(town.gate, quiet=True)
    town.wait(1_800 + 2_400)
    assert (inn.of(ann), inn.of(bob)) == (2, -3)
    town.go(ann.character, tavern)
    assert (inn.of(ann), inn.of(bob)) == (2, -3)
    assert mira.ai_opinions.reasons(ann.dbref) == ["came where you had agreed to meet"]


class Opposites:
    """Tells which lines are equal, and nothing else."""

    def prepare(self, services, texts):
        from twisted.internet.defer import succeed

        return succeed(None)

    def cosines(self, text, others):
        return [float(other in text) for other in others]

    def kinds(self, text):
        return None


def test_words_alone_move_little_and_nothing_without_an_embedder(
    tavern_of_opinions, game, ann, bob, monkeypatch
):
    inn = tavern_of_opinions
    tones = tomllib.loads(LINES.read_text(encoding="utf-8"))
    kind, unkind = (tones[f"{name} words"][0] for name in ("kind", "unkind"))
    game.model.add(*[call("noop")] * 40)
    ann.do(f"say Mira, {kind}")
    game.run(1)
    assert inn.of(ann) == 0
    monkeypatch.setattr(game.service, "nearness", Opposites())
    for _ in range(4):
        ann.do(f"say Mira, {kind}")
        bob.do(f"whisper Mira = {unkind}")
        game.run(1)
    ann.do("say Mira, where is the harbour")
    game.run(1)
    assert (inn.of(ann), inn.of(bob)) == (1, -1)
    audiences = [record["audience"] for record in inn.deeds()]
    assert audiences.count(None) == 2 and audiences.count([bob.dbref]) == 2
