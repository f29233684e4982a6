"""A letter is told once, to the one it is for, whatever happens meanwhile."""

import pytest
from evennia.typeclasses.attributes import Attribute

from evennia_ai.contrib.letters import LettersExtension, letter_records
from evennia_ai.contrib.letters.letter_records import Letters
from evennia_ai.messages import PUPPETED
from evennia_ai.models import Event, Message
from evennia_ai.store import segments
from evennia_ai.store.forget import Forgetting
from evennia_ai.store.personal_data import known_of
from tests.contrib.letters import letters_scene
from tests.contrib.letters.letters_scene import lines_of
from tests.scripted import call

asked_for, post = letters_scene.asked_for, letters_scene.post
TEXT = "The boat is ready."


class Killed(BaseException):
    pass


def test_a_letter_reaches_one_alone_and_once(post, game, ann, bob):
    post.go(bob, post.square)
    said = post.leave(ann, "bob", TEXT)
    assert said.state == "done", said
    for _ in range(2):
        post.go(bob, post.tavern)
        post.go(bob, post.square)
    assert len(lines_of(bob, TEXT)) == 1 and "Ann left word" in lines_of(bob, TEXT)[0]
    assert not lines_of(ann, TEXT) and not game.model.requests


def test_a_name_that_is_not_sure_is_refused(post, game, ann, bob):
    game.assistant("Otto", post.square)
    game.assistant("Otto", post.square)
    assert "Several" in post.leave(ann, "Otto", TEXT).text
    assert "Nobody" in post.leave(ann, "Zoe", TEXT).text
    assert "They are here" in post.leave(ann, "Bob", TEXT).text


def test_a_letter_goes_by_mail_where_the_game_wants_that(post, mira, ann, bob):
    from evennia.comms.models import Msg

    post.go(bob, post.square)
    bob.character.aliases.add("bobby")
    mira.assistant.mind.settings.write({"letters_by_mail": True})
    said = post.leave(ann, "Bobby", "The |rboat|n is ready.")
    assert said.text == "It was sent.", said
    (mail,) = Msg.objects.get_by_tag("new", category="mail")
    assert mail.receivers == [bob.character] and mail.header == "From Ann"
    assert mail.message == "The ||rboat||n is ready."
    post.go(bob, post.tavern)
    assert not lines_of(bob, "boat")


def test_a_new_process_tells_what_the_old_one_left(post, game, mira, ann, bob):
    post.go(bob, post.square)
    post.leave(ann, "Bob", TEXT)
    game.service.quiesce()
    Letters.of(mira).unload()
    game.service = game.next_process(mira.assistant)
    for place in (post.tavern, post.square, post.tavern):
        post.go(bob, place)
    assert len(lines_of(bob, TEXT)) == 1


@pytest.mark.parametrize("place", ["write", "speak"])
def test_a_letter_is_told_once_whenever_the_process_dies(post, ann, bob, monkeypatch, place):
    def dies(*args, **kwargs):
        raise Killed

    post.go(bob, post.square)
    post.leave(ann, "Bob", TEXT)
    owner = (segments.AttributeSegments, "write") if place == "write" else (letter_records, "tell")
    with monkeypatch.context() as broken:
        broken.setattr(*owner, dies)
        with pytest.raises(Killed):
            post.go(bob, post.tavern)
    assert [item["state"] for item in post.letters()] == ["open"]
    post.go(bob, post.square)
    post.go(bob, post.tavern)
    assert len(lines_of(bob, TEXT)) == 1


def test_only_the_two_know_a_letter_and_a_forgotten_one_leaves_nothing(
    post, game, mira, ann, bob, builder, admin
):
    game.model.add(*[call("noop")] * 9)
    post.go(bob, post.square)
    ann.do("say Mira, The marigold is ready.")
    game.run(1)
    post.leave(ann, "Bob", "The marigold is ready.")
    (extension,) = [e for e in game.service.extensions if isinstance(e, LettersExtension)]

    def rows_for(*people):
        audience = frozenset(person.dbref for person in people)
        rows = extension.prompt_rows(mira.assistant.mind.around, audience)
        return "\n".join(line.text for _label, line in rows)

    assert "marigold" in rows_for(ann) and "marigold" in rows_for(bob)
    assert "marigold" not in rows_for(ann, builder) + rows_for(builder)
    assert "marigold" not in builder.told("ailetters Mira")
    assert "for Bob, from Ann, not told yet" in admin.told("ailetters Mira")
    assert "marigold" in str([item.texts for item in known_of(frozenset({ann.dbref}))])
    post.go(bob, post.tavern)
    assert "told" in admin.told("ailetters Mira")
    assert "by code" in admin.told("aihistory Mira")
    for _ in Forgetting([ann.dbref]).steps():
        pass
    Letters.of(mira).unload()
    assert post.letters() == []
    told = Event.objects.filter(evidence=PUPPETED)
    assert "marigold" not in str([*told.values("text"), *Message.objects.values("tool_calls")])
    assert not Attribute.objects.filter(db_strvalue__contains="marigold").exists()


def test_letters_that_the_extension_promises_kept_are_told(post, game, mira, ann, bob):
    pytest.importorskip("evennia_ai.contrib.promises")
    from evennia_ai.contrib.promises.promise_records import Promises

    both = {"entity": bob.dbref, "source_entity": ann.dbref}
    Promises.of(mira).add(TEXT, kind="letter", audience=[*both.values()], **both)
    Promises.of(mira).add("bring the rope", entity=ann.dbref)
    post.go(bob, post.square)
    game.service = game.next_process(mira.assistant)
    for _round in range(6):
        game.run(5)
    post.go(bob, post.tavern)
    assert len(lines_of(bob, TEXT)) == 1
    assert [item["content"] for item in Promises.of(mira).all()] == ["bring the rope"]


@pytest.mark.soak
def test_forty_letters_reach_their_own(post, game, mira, ann):
    npcs = [mira, *(game.assistant(name, post.tavern) for name in ("Otto", "Lena", "Finn"))]
    players = [ann, *(game.player(f"Guest{number}", post.tavern) for number in range(4))]
    for number in range(40):
        receiver = players[(number + 1) % 5]
        receiver.character.location = None
        said = post.leave(
            players[number % 5], receiver.character.key, f"word {number}", npcs[number % 4]
        )
        assert said.state == "done", said
        if number % 7 == 0:
            game.service.accepting = False
            for npc in npcs:
                Letters.drop(npc)
                npc.assistant.ndb.mind = None
            game.service = game.next_process(mira.assistant)
        receiver.character.move_to(post.tavern, move_type="traverse")
        game.run(40)
    for number in range(40):
        hearers = [p for p in players for line in p.heard() if f'"word {number}"' in line]
        assert hearers == [players[(number + 1) % 5]], number
    assert not game.model.requests
