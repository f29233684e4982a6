"""Random games: nobody reads what was not theirs to hear, nobody forgets what is another's.

A model that obeys nobody and talks much: it notes and repeats, in answers that stay among those who
may hear them, whatever its prompt holds.
"""

import json
import re
from random import Random

import pytest
from django.apps import apps
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.policy.records.record import read_segment
from evennia_ai.store.attributes import stored_columns
from evennia_ai.store.personal_data import DBREF, KNOWLEDGE, STORES
from tests.game.forgetting_scene import forget
from tests.game.test_askers import pages
from tests.scripted import call
from tests.short_form import short_form

CANARY = re.compile(r"xq[a-z]{6}zz")
STEPS, PEOPLE = 14, ("Ann", "Bob", "Eve")
# Where a number of somebody who is forgotten may be replaced by that of nobody.
NUMBERED = {"Turn": {"audience", "askers"}, "Message": {"authors"}, "Event": {"authors"},
            "PendingAct": {"authors"}, "SharedEntry": {"people", "speakers"}}  # fmt: skip
# Rows that are nobody's: prompts of calls, which hold the talk of all, and sums.
NOBODYS = {"CallRecord", "LineVector", "DailyUse", "SpeakerUse", "SleepPass"}


class Talkative:
    """A model that quotes the canaries of its prompt: it notes one, and answers with another."""

    def __init__(self, random, scripted):
        self.random, self.scripted = random, scripted

    def reply(self, request):
        shown = CANARY.findall(json.dumps(request.messages))
        words = " ".join(self.random.sample(shown, min(2, len(shown)))) or "nothing"
        calls = [
            call("add_journal_entry", content=f"Somebody spoke of {words}."),
            call("search_journal", words=words),
            call("update_entity_observation", entity=self.random.choice(PEOPLE), observation=words),
            call("say", text=f"I hear of {words}."),
            call("whisper", text=f"Between us: {words}.", target=self.random.choice(PEOPLE)),
            call("noop"),
        ]
        return self.random.choice(calls)


class RandomGame:
    """A tavern and a yard, three people, and lines that each hold a canary of their own."""

    def __init__(self, seed, game, mira, tavern):
        self.random, self.game, self.mira = Random(seed), game, mira
        self.rooms = [tavern, game.room("Yard")]
        self.people = [game.player(name, tavern) for name in PEOPLE]
        self.heard_by = {}  # who may know each canary
        self.owner = {}
        model = Talkative(self.random, game.model)
        game.model.script[:] = [model.reply] * 400

    def canary(self, owner, audience):
        word = f"xq{''.join(self.random.choices('bcdfgklmnprstv', k=6))}zz"
        self.heard_by[word], self.owner[word] = audience, owner.dbref
        return word

    def step(self):
        who = self.random.choice(self.people)
        others = [one for one in self.people if one is not who]
        there = who.character.location is self.mira.location
        act = self.random.choice(["say", "say", "ask", "ask", "whisper", "whisper", "walk", "wait"])
        if act == "walk":
            place = self.random.choice(self.rooms)
            if place is not who.character.location:
                who.character.move_to(place)
        elif act == "wait":
            self.game.run(self.random.choice([1, 7]))
        elif act == "whisper" and there:
            who.do(f"whisper Mira = my word is {self.canary(who, {who.dbref})}")
        elif act in ("say", "ask"):  # what is said in a room is known to all (P9)
            everybody = {one.dbref for one in (who, *others)}
            to = "Mira, " if act == "ask" else ""
            who.do(f"say {to}they speak of {self.canary(who, everybody)}")
        if self.random.random() < 0.5:
            self.game.run(1)

    def rows(self):
        """Return all rows and records of the minds as plain data, by table and id."""
        found = {}
        for model in apps.get_app_config("evennia_ai").get_models():
            if model.__name__ not in NOBODYS:
                for row in model.objects.values():
                    found[model.__name__, row[model._meta.pk.attname]] = row
        kept = Attribute.objects.filter(db_attrtype__in=STORES, db_key__regex=r"^\d+$")
        columns = stored_columns(kept).values_list("db_attrtype", "db_key", "column", "db_strvalue")
        for kind, key, value, text in columns:
            segment, is_whole = read_segment(value, int(key), STORES[kind].of(self.mira).read, text)
            assert is_whole
            for record in segment.records.values():
                found[KNOWLEDGE[STORES[kind]], record["id"]] = dict(record)
        return found

    def anothers(self, rows, dbref):
        """Return the rows that belong to others: of their lines, turns or words alone."""
        askers = {id_: set() for kind, id_ in rows if kind == "Turn"}
        for (kind, _id), row in rows.items():
            if kind == "Event" and row["attempts"]:  # a turn has tried to answer it
                askers[row["turn_id"]].add(row["speaker"])
        lines = [row for (kind, _id), row in rows.items() if kind == "Message"]
        own = {row["id"] for row in lines if row["speaker"] == dbref}
        confided = {
            (row["turn_id"], row["tool_call_id"])
            for row in lines
            if row["private"] and row["audience"] == [dbref] and row["role"] == "tool"
        }  # what the character whispered to them alone

        def is_anothers(kind, row):
            if any(self.owner[word] == dbref for word in CANARY.findall(str(row))):
                return False
            if kind in ("Event", "Message") and row.get("speaker"):
                return row["speaker"] != dbref
            if kind in ("Message", "ToolCall", "ModelCall"):
                calls = [one["id"] for one in row.get("tool_calls", ())]
                calls += [row.get("tool_call_id") or row.get("call_id")]
                if any((row["turn_id"], one) in confided for one in calls):
                    return False
                asked = askers.get(row["turn_id"], ())
                return bool(asked) and dbref not in asked
            if kind == "Turn":
                return bool(askers[row["id"]]) and dbref not in askers[row["id"]]
            named = {row.get(name) for name in ("entity", "subject", "source_entity")}
            if dbref in named or own.intersection(row.get("source_seqs", ())):
                return False
            return set(row.get("speakers", ())) - {dbref} != set()

        return {key: row for key, row in rows.items() if is_anothers(key[0], row)}


def without(row, kind, dbref):
    """Return a row without the number of somebody where the number may go."""
    numbered = NUMBERED.get(kind, {"speakers", "audience", "source_seqs"})
    kept = {name: value for name, value in row.items() if name not in numbered}
    gone = {dbref, "#0"}
    return kept, {n: sorted(set(DBREF.findall(str(row.get(n)))) - gone) for n in numbered}


@pytest.mark.parametrize("seed", short_form(range(8), 3, pytest.mark.soak))
def test_nobody_reads_or_forgets_what_is_anothers(seed, game, mira, tavern, settings):
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 0}
    played = RandomGame(seed, game, mira, tavern)
    for _ in range(STEPS):
        played.step()
    game.run(3)
    assert len(played.owner) > 4 and models.ToolCall.objects.exists()
    for person in played.people:
        shown = set(CANARY.findall(pages(person, "aboutme")))
        assert {one for one in shown if person.dbref not in played.heard_by[one]} == set()
        assert {one for one, owner in played.owner.items() if owner == person.dbref} <= {
            *shown,
            *unheard(played, person),
        }
    for person in played.random.sample(played.people, 2):
        before = played.rows()
        kept = played.anothers(before, person.dbref)
        forget(person)
        after = played.rows()
        for key, row in kept.items():
            assert key in after, f"{person.character.key} {key} {row}"
            (left, people), (was, people_before) = (
                without(one, key[0], person.dbref) for one in (after[key], row)
            )
            assert {n: (was[n], left[n]) for n in was if was[n] != left[n]} == {}, (key, row)
            assert people == people_before, (key, row)
        own = {one for one, owner in played.owner.items() if owner == person.dbref}
        left = {word: places_of(word, after) for word in own}
        assert {word: places for word, places in left.items() if places} == {}


def places_of(word, rows):
    return [(*key, row) for key, row in rows.items() if word in str(row)]


def unheard(played, person):
    """Return the canaries of somebody that no character heard."""
    heard = CANARY.findall(str(list(models.Event.objects.values_list("text"))))
    return {one for one in played.owner if one not in heard}
