"""What a character says without its mind: forced, by a player who controls it, or by game code."""

import pytest

from evennia_ai.messages import PUPPETED
from evennia_ai.models import Event, Message
from evennia_ai.policy.tool_call_modes.wire_order import arrange
from tests.scripted import call


def logged(character):
    rows = Message.objects.filter(assistant_id=character.assistant.id, evidence=PUPPETED)
    calls = [row.tool_calls[0]["function"] for row in rows.order_by("id")]
    return [(one["name"], one["arguments"]) for one in calls]


def asked(game, number=-1):
    return [(m["role"], m["content"]) for m in arrange(game.model.requests[number].messages)]


def answer(game, player, line="say What did you say, Mira?"):
    game.model.add(call("say", text="Aye."))
    player.do(line)
    game.run()


def forced(game, admin, mira, words):
    admin.do(f"force Mira = say {words}")


def puppeted(game, admin, mira, words):
    mira.locks.add("puppet:all()")
    admin.account.puppet_object(admin.session, mira)
    mira.execute_cmd(f"say {words}", session=admin.session)
    admin.account.puppet_object(admin.session, admin.character)


def by_code(game, admin, mira, words):
    mira.at_say(words)


def by_command(game, admin, mira, words):
    mira.execute_cmd(f"say {words}")


def by_quote(game, admin, mira, words):
    """A prefix of Evennia in place of ``say``."""
    admin.do(f'force Mira = "{words}')


def to_somebody(game, admin, mira, words):
    """Game code names who is spoken to; all hear it."""
    mira.at_say(words, receivers=[admin.character])


def in_own_form(game, admin, mira, words):
    """Game code says how the room shows it."""
    mira.at_say(words, msg_location='{object} announces: "{speech}"')


def in_colour(game, admin, mira, words):
    """A builder colours the words."""
    mira.at_say(f"|r{words}|n")


def by_message(game, admin, mira, words):
    """Game code tells the room and marks it as speech."""
    mira.location.msg_contents((f'Mira says, "{words}"', {"type": "say"}), from_obj=mira)


WAYS = [forced, puppeted, by_code, by_command]
WAYS += [by_quote, to_somebody, in_own_form, in_colour, by_message]


@pytest.mark.parametrize("way", WAYS)
def test_they_stand_in_its_next_prompt_as_its_own_words(game, ann, admin, mira, way):
    way(game, admin, mira, "The vault is open.")
    game.run()
    assert "The vault is open." in "".join(ann.heard())
    assert not game.model.requests  # they cost no turn
    answer(game, ann)
    assert logged(mira) == [("say", '{"text": "The vault is open."}')]
    told = asked(game)
    assert ("assistant", "The vault is open.") in told
    assert str(told).count("The vault is open.") == 1


def test_others_hear_them_whole_and_may_answer(game, tavern, ann, admin, mira):
    otto = game.assistant("Otto", tavern)
    game.model.add(call("say", text="Good evening, all."), call("noop"))
    mira.ndb.ai_hops = 9  # of an answer long ago
    admin.do('force Mira = say Otto, a "good" evening to you')
    game.run()
    heard = Event.objects.filter(assistant_id=otto.assistant.id, speaker=mira.dbref).earliest("id")
    assert (heard.text, heard.state) == ('Otto, a "good" evening to you', "answered")
    assert ann.last() == 'Otto says, "Good evening, all."'


def whispered(admin, mira, ann):
    admin.do("force Mira = whisper Ann = The key is under the mat.")


def whispered_by_code(admin, mira, ann):
    mira.at_say("The key is under the mat.", False, None, [ann.character], whisper=True)


@pytest.mark.parametrize("whisper", [whispered, whispered_by_code])
def test_a_whisper_is_only_for_those_who_heard_it(game, ann, bob, admin, mira, whisper):
    whisper(admin, mira, ann)
    answer(game, bob)
    assert "under the mat" not in str(asked(game))
    answer(game, ann, "say Mira, and what did you tell me?")
    assert "under the mat" not in str(asked(game))  # Bob listens
    answer(game, ann, "whisper Mira = what did you tell me?")
    assert ("assistant", "The key is under the mat.") in asked(game)
    kept = Message.objects.get(evidence=PUPPETED)
    assert (kept.audience, kept.private) == ([ann.dbref], True)


def test_the_words_of_its_mind_are_logged_once(game, ann, mira):
    game.model.add((call("emote", text="nods."), call("say", text="Aye, Ann.")))
    ann.do("say Mira, hello")
    game.run()
    game.model.add(call("whisper", text="Hush.", target="Ann"))
    ann.do("whisper Mira = psst")
    game.run()
    assert not Event.objects.filter(evidence=PUPPETED).exists()
    assert not Message.objects.filter(evidence=PUPPETED).exists()


def test_a_restart_loses_none_and_logs_none_twice(game, ann, mira):
    mira.at_say("The vault is open.")
    game.next_process(mira.assistant)
    answer(game, ann)
    answer(game, ann)
    assert logged(mira) == [("say", '{"text": "The vault is open."}')]


def test_staff_can_tell_that_its_mind_did_not_say_them(game, ann, admin, mira):
    admin.do("force Mira = say The vault is open.")
    assert "puppeted" in admin.told("aihistory Mira")
    answer(game, ann)
    history = admin.told("aihistory Mira")
    line = next(one for one in history.split("\n\n") if "The vault is open." in one)
    assert "puppeted" in line


def test_nobody_knows_whose_words_they_are(game, ann, mira):
    mira.at_say("Give Ann the crown.")
    answer(game, ann)
    assert Message.objects.get(evidence=PUPPETED).authors.split() == ["stranger"]
    assert "stranger" in game.model.requests[-1].authors
    assert game.model.requests[-1].caller.speakers == {ann.dbref}
