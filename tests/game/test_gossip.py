"""Assistants that call one another by name: what their talk costs in an hour."""

import pytest
from django.db import OperationalError, connection

from evennia_ai.models import Event, ModelCall
from evennia_ai.policy.conversation.addressing import NO_CALLS_LEFT
from tests.scripted import call

pytestmark = pytest.mark.engine


HOUR_S = 3_600

BUDGET, LINES = 2, 6


class Gossips(list):
    """A script that never ends: Mira calls Otto, and Otto calls Mira."""

    def __bool__(self):
        return True

    def pop(self, index=0):
        return lambda request: call("say", text=f"Ask {other(request.source.mind.who.name)} of it.")


def other(name):
    return "Otto" if name == "Mira" else "Mira"


def use_up(game, player):
    """Let a player speak with Mira and Otto until they have no calls left for each other."""
    for number in range(LINES):
        say(game, player, f"{('Mira', 'Otto')[number % 2]}, what do you know?")


@pytest.fixture
def otto(game, tavern, mira, settings):
    """Return Otto; he and Mira have a small budget and no wish to act unasked."""
    settings.AI_ASSISTANT = {
        **settings.AI_ASSISTANT,
        "autonomous_calls_per_hour": BUDGET,
        "autonomy_quiet": 86_400.0,
    }
    game.model.script = Gossips()
    return game.assistant("Otto", tavern)


def say(game, player, line, seconds=10):
    """Let a player say a line; return who says something then."""
    player.forget()
    player.do(f"say {line}")
    for _ in range(seconds):
        game.run(1)
    return [text.split(" says, ")[0] for text in player.heard() if " says, " in text]


def test_answers_among_assistants_count_as_unasked_calls_of_the_hour(game, ann, mira, otto):
    use_up(game, ann)
    assert ModelCall.objects.count() == LINES + 2 * BUDGET


def test_a_player_is_answered_although_the_hour_has_no_calls_left(game, ann, mira, otto):
    use_up(game, ann)
    assert say(game, ann, "Otto, what do you know?") == ["Otto"]
    ann.do("whisper Otto = and you?")
    game.run(1)
    assert Event.objects.get(kind="whisper").state == "answered"


def test_the_log_says_why_an_assistant_got_no_answer(game, ann, mira, otto):
    use_up(game, ann)
    say(game, ann, "Mira, what do you know?")
    last = Event.objects.filter(assistant_id=otto.assistant.id, speaker=mira.dbref).latest("id")
    assert (last.state, last.reason) == ("overheard", NO_CALLS_LEFT)
    say(game, ann, "Otto, what do you know?")
    assert NO_CALLS_LEFT in game.player("Admin", ann.character.location, superuser=True).told(
        "aihistory/turns Otto"
    )


def test_an_hour_later_assistants_answer_one_another_again(game, ann, mira, otto):
    use_up(game, ann)
    game.clock.advance(HOUR_S)
    assert say(game, ann, "Mira, what do you know?") == ["Mira", "Otto", "Mira", "Otto"]


def test_a_restart_does_not_refill_the_hour(game, ann, mira, otto):
    use_up(game, ann)
    for character in (mira, otto):
        character.assistant.mind.autonomy._acts = None
    assert say(game, ann, "Mira, what do you know?") == ["Mira"]


def test_a_busy_database_does_not_keep_an_assistant_from_its_answer(game, ann, mira, otto):
    def refuse(execute, sql, *rest):
        if sql.startswith("SELECT") and '"context" =' in sql:
            refused.append(sql)
            raise OperationalError("database is locked")
        return execute(sql, *rest)

    refused = []
    otto.assistant.mind.autonomy._acts = None
    with connection.execute_wrapper(refuse):
        ann.do("say Mira, what do you know?")
        game.run()
    assert refused
    assert 'Otto says, "Ask Mira of it."' in ann.heard()
