"""After "forget me" no word of theirs stands in what a character noted in a turn of another."""

import json
import re
from collections import Counter
from random import Random

import pytest

from evennia_ai import models
from tests.game import forgetting_scene as scene
from tests.game.forgetting_scene import forget, found, fresh
from tests.game.test_forgetting import all_rows
from tests.scripted import call

bruno, planted = scene.bruno, scene.planted
RANDOM = Random(47)
ESCAPED = re.compile(r"\\+u([0-9a-f]{4})")
ALPHABETS = {
    "plain": ("bdfgklmnprstvz", "aeiou"),
    "accents": ("bdfgklmnprstvz", "äöüéèñåø"),
    "cyrillic": ("бвгдзклмнпрст", "аеиоуы"),
    "greek": ("βγδζθκλμνπρσ", "αεηιου"),
}


def word(alphabet):
    consonants, vowels = ALPHABETS[alphabet]
    choose = RANDOM.choice
    return "".join(choose(consonants) + choose(vowels) for _ in range(4)) + choose(consonants)


def secrets():
    """Yield forty secrets of ten kinds, each with how a note spells it, and what must be gone."""
    for _ in range(4):
        for alphabet in ALPHABETS:
            made = word(alphabet)
            yield alphabet, made, made, made
        made = word("plain")
        yield "capital", made.capitalize(), made.capitalize(), made.capitalize()
        made = word("plain")
        yield "shouted", made, made.upper(), made.upper()
        # As long as none of a digest, a time or a count of tokens: these stand in rows as well.
        number = str(RANDOM.randrange(10**9, 10**10))
        yield "number", number, number, number
        pair = "".join(chr(RANDOM.randrange(0x5200, 0x9000)) for _ in range(3))
        yield "unspaced", pair, pair, pair
        made = f"{word('plain')[:-1]}k"  # a word that ends in s has another plural
        yield "plural", made, f"{made}s", made
        first, second = word("plain"), word("plain")
        yield "hyphened", f"{first}-{second}", f"{first}-{second}", second


SECRETS = list(secrets())
NOTES = (
    lambda it: call("add_journal_entry", content=f"Ben asks about Ann's {it}."),
    lambda it: call("add_journal_entry", content=f"Ben wants to hear of the {it}."),
    lambda it: call("search_memory", query=it),
    lambda it: call("search_journal", words=it),
    lambda it: call("update_entity_observation", entity="Ben", observation=f"Asks after {it}."),
    lambda it: call("set_goal", goal=f"Keep the {it} from Ben."),
    lambda it: call("noop", reason=f"Ben asks for {it}."),
    lambda it: call("say", text=f"I shall not tell you of any {it}."),
)


def test_forty_secrets_of_ten_kinds():
    assert len(SECRETS) == 40 and set(Counter(kind for kind, *_ in SECRETS).values()) == {4}


@pytest.mark.parametrize(
    ("verb", "secrets"),
    [
        pytest.param("say Mira,", SECRETS[:10], id="say, one of each kind"),
        pytest.param("whisper Mira =", SECRETS, id="whisper", marks=pytest.mark.campaign),
        pytest.param("say Mira,", SECRETS, id="say", marks=pytest.mark.soak),
    ],
)
def test_no_secret_is_left_in_notes_of_turns_of_others_and_these_stay(
    planted, ann, verb, secrets, settings
):
    settings.AI_ASSISTANT = {"person_entries_per_day": 1_000, "person_goals": 1_000}
    for number, (_kind, told, noted, _gone) in enumerate(secrets):
        planted.said(f"my own is {told}", verb=verb)
        planted.reply(NOTES[number % len(NOTES)](noted))
        planted.ben.do("say Mira, what did you hear of her?")
        planted.game.run(1)
    gone = [gone.lower() for *_, gone in secrets]
    assert {one for _place, one in found(gone, lowered(all_rows()))} == set(gone)
    before = rows_of_ben(planted)
    forget(ann)
    assert found(gone, lowered(all_rows())) == []
    assert found(gone, {"journal": str(fresh(planted.mira).all()).lower()}) == []
    after = rows_of_ben(planted)
    assert after.keys() == before.keys()
    for key, old in before.items():
        assert len(after[key]) == len(old)
        if not found(gone, {"": shown(str(old))}):
            assert after[key] == old, key


def lowered(rows):
    return {place: shown(text) for place, text in rows.items()}


def shown(text):
    """Return a text as people read it: JSON may spell a letter by its number."""
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), text).lower()


def rows_of_ben(planted):
    """Return what Ben said, and what Mira did in the turns that he asked for."""
    turns = models.Turn.objects.filter(askers=f" {planted.ben.dbref} ").values("id")
    columns = {
        models.Event: ("text", "state"),
        models.Message: ("role", "content", "tool_calls"),
        models.ToolCall: ("name", "arguments", "result", "state"),
    }
    return {
        (model.__name__, pk): values
        for model, names in columns.items()
        for pk, *values in others(model, turns, planted.ann.dbref).values_list("id", *names)
    }


def others(model, turns, dbref):
    rows = model.objects.filter(turn__in=turns)
    has_speaker = any(field.name == "speaker" for field in model._meta.fields)
    return rows.exclude(speaker=dbref) if has_speaker else rows


def test_a_single_common_word_is_no_reason_to_change_what_code_says(planted, ann):
    planted.said("keep my lantern")
    planted.reply(call("update_entity_observation", entity="Ben", observation="Likes lemons."))
    planted.ben.do("say Mira, hello")
    planted.game.run(1)
    forget(ann)
    (act,) = models.ToolCall.objects.filter(name="update_entity_observation")
    assert act.result == "You will keep that in mind about Ben."
    assert json.loads(act.arguments)["observation"] == "Likes lemons."
