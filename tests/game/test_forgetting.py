"""Forgetting a player: their words go from every place, and nothing of others does."""

from datetime import timedelta
from itertools import count, islice

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.models import F
from evennia.utils.create import create_object

from evennia_ai import models
from evennia_ai.messages import PUPPETED, make_message, wire_call
from evennia_ai.store.forget import Forgetting
from evennia_ai.store.personal_data import answered
from evennia_ai.store.reports import ANSWER
from evennia_ai.store.server_settings import wishes
from tests.game import forgetting_scene as scene
from tests.game import plain_scene
from tests.game.forgetting_scene import BENS, forget, found, fresh
from tests.scripted import call

bruno, planted = scene.bruno, scene.planted


def all_rows():
    """Return every row of every table as text, by table and id."""
    return {
        (model.__name__, row["pk"]): str(row)
        for model in apps.get_models()
        for row in model.objects.values("pk", *(f.attname for f in model._meta.concrete_fields))
    }


def test_forty_phrases_in_all_places_are_forgotten_and_nothing_of_others(planted, ann, ben_rows):
    same = planted.everything()
    assert len(planted.words) >= 40
    before = ben_rows()
    everywhere = found(planted.words, all_rows())
    assert {word for _place, word in everywhere} == set(planted.words)
    forget(ann)
    assert ann.last() == "It is forgotten, all of it."
    assert found(planted.words, all_rows()) == []
    after = ben_rows()
    assert {name: after[name] for name in before} == before
    notes = [entry["content"] for entry in fresh(planted.mira).all()]
    assert same.capitalize() + "." in notes
    assert BENS in notes
    assert "Ben's aunt is rich." in notes


def test_texts_that_were_compared_are_forgotten_too(planted, game, ann):
    planted.everything()
    service = game.service
    service.memory.embedder = plain_scene.Kinds()
    mine = models.Message.objects.filter(speaker=ann.dbref).first().content
    game.result(service.nearness.prepare(service, [mine, BENS, "Never"]))
    assert service.nearness.cosines(mine, [BENS])
    forget(ann)
    game.run(1)
    assert not service.nearness.cosines(mine, [BENS])
    assert service.nearness.cosines("Never", [BENS])


@pytest.fixture
def ben_rows(planted):
    """Return a function that returns what must not change, by name."""

    def rows():
        ben = planted.ben.dbref
        return {
            "lines": sorted(
                models.Message.objects.filter(speaker=ben).values_list("id", "content")
            ),
            "events": sorted(models.Event.objects.filter(speaker=ben).values_list("id", "text")),
            "answers": list(
                models.Message.objects.filter(tool_calls__icontains="Lemons?").values_list("id")
            ),
            "goals": [g["content"] for g in planted.mira.ai_goals.all() if "Buy" in g["content"]],
            "of Ben": [p["content"] for p in planted.mira.ai_profiles.about(ben)
                       if "aunt" in p.get("content", "")],
            "private summary": [
                row.summary[ben] for row in models.Compaction.objects.all() if ben in row.summary
            ],
            "compactions": models.Compaction.objects.count(),
            "budgets": sorted(models.SpeakerUse.objects.values_list("speaker", "tokens")),
            "costs": sorted(models.DailyUse.objects.values_list("day", "calls")),
        }  # fmt: skip

    return rows


def test_no_turn_tells_that_somebody_who_was_forgotten_was_there(game, ann, bob, mira, admin):
    game.model.add(*[call("say", text="Hello.")] * 2, call("whisper", text="Hm.", target="Ann"))
    for player, line in ((ann, "say Mira, hello"), (bob, "say Mira, hello")):
        player.do(line)
        game.run(2)
    ann.do("whisper Mira = psst")
    game.run(2)
    forget(ann)
    answered, of_bob, whispered = models.Turn.objects.order_by("id")
    assert ann.dbref not in of_bob.audience and bob.dbref in of_bob.audience
    assert answered.audience == whispered.audience == []
    told = admin.told("aihistory/turns Mira")
    assert told.count("for a player who was forgotten: answered") == 2
    assert {turn.context for turn in (answered, of_bob)} == {ANSWER}


def test_an_answer_to_others_stays_when_who_only_walked_past_is_forgotten(
    game, ann, bob, mira, tavern
):
    yard = game.room("Yard")
    for reply in ("Hello.", "It costs a penny.", "Ann, you here? It costs a penny."):
        game.model.add(call("say", text=reply))
        ann.character.move_to(yard)
        ann.character.move_to(tavern)
        bob.do("say Mira, what does it cost?")
        game.run(2)
    told = ann.told("aboutme")
    assert "costs a penny" not in told and "what does it cost" not in told
    forget(ann)
    said = models.ToolCall.objects.values_list("arguments", flat=True)
    assert len([text for text in said if "penny" in text]) == 2


def test_what_a_character_did_unasked_at_somebodys_coming_goes_with_them(game, ann, mira, tavern):
    yard = game.room("Yard")
    ann.character.move_to(yard)
    game.model.add(call("say", text="A warm welcome to the inn."))
    ann.character.move_to(tavern)
    game.run()
    game.result(mira.assistant.mind.turn_runner.act_alone())
    (turn,) = models.Turn.objects.all()
    assert (turn.context, turn.askers.split()) == ("tick_autonomous", [])
    forget(ann)
    assert not models.ToolCall.objects.filter(arguments__contains="warm welcome").exists()


def test_a_turn_answers_by_one_assistant_who_spoke_to_it(game, ann, mira, bob):
    game.model.add(call("say", text="Hello."))
    bob.do("say What a day")
    ann.do("say Mira, hello")
    game.run(2)
    of_ann, of_bob = frozenset({ann.dbref}), frozenset({bob.dbref})
    assert (answered(of_ann).count(), answered(of_bob).count()) == (1, 0)
    assert answered(of_ann, mira.assistant.id + 1).count() == 0


def test_what_was_answered_is_forgotten_where_another_character_overheard_it(
    planted, ann, mira, bruno
):
    planted.reply(call("say", text="I see: seven barrels of plums. Well, well!"))
    ann.do("say Mira, I own nothing at all")
    planted.game.run(2)
    heard = models.Event.objects.filter(speaker=mira.dbref, assistant=bruno.assistant.id)
    assert [event.text for event in heard] == ["I see: seven barrels of plums. Well, well!"]
    planted.turn_of_ben()
    others = heard.exclude(text__contains="plums").count()
    assert others == 1
    forget(ann)
    assert not heard.filter(text__contains="plums").exists()
    assert heard.count() == others


def test_what_it_said_without_its_mind_is_forgotten_where_it_repeats_them(planted, ann, mira):
    phrase = planted.said()
    mira.at_say(f"Ann told me: {phrase}")
    planted.said("what did I tell you?")  # the turn that answers her takes it up
    own = models.Message.objects.filter(event__evidence=PUPPETED, turn__askers__contains=ann.dbref)
    assert own.count() == 2
    for _ in Forgetting([ann.dbref]).steps():
        connection.check_constraints()
    assert found(planted.words, all_rows()) == []


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_wherever_a_run_is_broken_off_the_next_one_finds_what_it_left(
    planted, ann, mira, bruno, every
):
    lines = ["Bruno, mind the door!", "Aye, by all means."]
    planted.reply(*(call("say", text=line) for line in lines))
    ann.do("say Mira, I own nothing at all")
    planted.game.run(3)
    heard = models.Event.objects.filter(speaker__in=[mira.dbref, bruno.dbref])
    assert list(heard.order_by("id").values_list("text", flat=True)) == lines
    heard.update(at=F("at") + timedelta(seconds=2))  # they were stored after the turns had ended
    for number in count(0, every):
        with transaction.atomic():
            broken_off = islice(Forgetting([ann.dbref]).steps(), number)
            is_whole = len(list(broken_off)) < number
            list(Forgetting([ann.dbref]).steps())
            left = [heard.count(), models.Message.objects.count(), models.ToolCall.objects.count()]
            assert left == [0, 0, 0], number
            transaction.set_rollback(True)
        if is_whole:
            break


def test_a_line_with_unknown_authors_is_judged_by_its_words_and_one_of_others_stays(planted, ann):
    planted.said("I dream of a velvet hippogriff")
    log, ben = planted.script.conversation, planted.ben.dbref
    log.append(
        [
            make_message("assistant", "She dreams of a velvet hippogriff, they say."),
            make_message("assistant", "A hippogriff in velvet, how odd.", authors=[ben]),
            make_message("assistant", "The soup is three coins.", authors=[ann.dbref, ben]),
        ]
    )
    forget(ann)
    left = models.Message.objects.filter(role="assistant", turn=None).order_by("id")
    assert [(row.content, row.authors) for row in left] == [
        ("A hippogriff in velvet, how odd.", f" {ben} "),
        ("The soup is three coins.", f" #0 {ben} "),
    ]


def test_reasoning_beside_a_call_goes_where_it_may_tell_of_them(planted, ann):
    planted.said("I dream of a velvet hippogriff")
    ben, sent = planted.ben.dbref, {"by": "p m", "id": "a", "call": {}}
    sent |= {"message": {"reasoning": "He is strange."}}
    made = [wire_call("000010100", "look", '{"target": "fire"}', sent)]
    planted.script.conversation.append(
        [
            make_message("assistant", "", tool_calls=made, authors=[ann.dbref, ben]),
            make_message("assistant", "", tool_calls=made, authors=[ben]),
        ]
    )
    forget(ann)
    left = models.Message.objects.filter(role="assistant", turn=None).order_by("id")
    assert [row.tool_calls[0].get("sent") for row in left] == [None, sent]


def test_words_that_others_use_as_well_prove_nothing(planted, ann):
    planted.ben.do("say Mira, the velvet hippogriff is an inn")
    planted.said("I slept in the velvet hippogriff")
    planted.script.conversation.append([make_message("assistant", "Ask at the Hippogriff.")])
    forget(ann)
    assert models.Message.objects.filter(content="Ask at the Hippogriff.").exists()


def test_what_somebody_wrote_about_their_character_is_theirs_and_a_rooms_text_is_not(
    planted, ann, tavern, mira
):
    ann.character.db.desc = "A silver-haired archer with a raven."
    tavern.db.desc = "A picture of a walrus in a bathtub hangs here."
    planted.said("A walrus in a bathtub")
    log = planted.script.conversation
    for seen in (
        "Ann: a silver-haired archer with a raven.",
        "A picture of a walrus in a bathtub.",
    ):
        log.append([make_message("tool", seen, tool_call_id=seen[:1])])
    forget(ann)
    left = list(models.Message.objects.filter(role="tool").values_list("content", flat=True))
    assert "A picture of a walrus in a bathtub." in left
    assert not any("archer" in text for text in left)


def test_a_crash_in_the_middle_of_forgetting_is_made_good_at_the_next_start(planted, ann, service):
    planted.talk()
    forgetting = service.forgetting.begin([ann.dbref])
    for _ in zip(range(40), forgetting.steps(), strict=False):
        pass
    assert wishes() == {None: [ann.dbref]}
    service.resume()
    for _ in range(300):
        planted.game.run(0.1)
    assert wishes() == {}
    assert found(planted.words, all_rows()) == []


def test_a_whole_account_is_forgotten_by_its_player_and_by_an_admin(
    planted, ann, mira, bruno, tavern, admin
):
    game, other = planted.game, create_object("world.characters.Character", key="Zoe")
    ann.account.characters.add(ann.character)
    ann.account.characters.add(other)
    mira.journal.add("Zoe has a wooden leg.", source_entity=other.dbref)
    planted.said()
    assert "For all characters of your account: forgetme/account" in ann.told("forgetme")
    ann.do("no")
    forget(ann)
    assert [entry["content"] for entry in fresh(mira).all()] == ["Zoe has a wooden leg."]
    game.run(1)
    forget(ann, switches=["account"])
    assert fresh(mira).all() == []
    mira.journal.add("Zoe has a wooden leg.", source_entity=other.dbref)
    forget(admin, who="Ann", switches=["account"])
    assert fresh(mira).all() == []


def test_a_player_is_shown_all_that_is_known_of_them_and_nothing_told_in_confidence(
    planted, ann, mira
):
    assert ann.told("aboutme") == "No character knows anything of you."
    ben = planted.ben.dbref
    phrase = planted.said()
    planted.answered(call("whisper", text="I keep it, Ann."), verb="whisper Mira =")
    mira.journal.add("Ann likes soup.", source_entity=ann.dbref)
    mira.journal.add("Ann is a spy, whispers Ben.", source_entity=ann.dbref, audience=[ben])
    mira.journal.add("Ann is the lost heir.", source_type="builder", source_entity=ann.dbref)
    mira.ai_profiles.observe(ann.dbref, "She limps.")
    mira.ai_goals.add("Cook soup for Ann.", speakers=[ann.dbref])
    last = models.Message.objects.order_by("-id")[0].id
    parts = {"public": "Ben sells lemons.\nAnn limps to the inn.", ann.dbref: "Ann trusts Mira."}
    planted.compaction(
        parts, last, {"public": [ann.dbref, ben], ann.dbref: [ann.dbref]}
    )  # fmt: skip
    unheard = models.Event.objects.filter(speaker=ann.dbref).first()
    unheard.pk, unheard.token, unheard.state = None, "t", "expired"
    unheard.text = "Nobody took this up."
    unheard.save()
    shown = ann.told("aboutme")
    for _ in range(3):
        shown += ann.told("n")
    for text in (phrase, "Ann says: Nobody took this up.", "I keep it, Ann.",
                 "Ann likes soup.", "She limps.", "Cook soup for Ann.",
                 "Ann limps to the inn.", "Ann trusts Mira."):  # fmt: skip
        assert text in shown
    for text in ("spy", "heir", "lemons"):
        assert text not in shown
    assert "what others told Mira about you in confidence (1)" in shown
    assert "notes of the staff (1)" in shown
    assert "nothing of you" not in planted.ben.told("aboutme")


def test_lines_of_one_moment_are_shown_as_they_were_said(game, ann, mira):
    for line in ("say Mira, zebras are late", "say Mira, apples are early"):
        ann.do(line)
        game.run(2)
    models.Message.objects.update(at=models.Message.objects.first().at)
    shown = ann.told("aboutme")
    assert shown.index("zebras") < shown.index("apples")


def test_an_admin_reads_of_somebody_named_what_they_would_see(planted, ann, admin):
    phrase = planted.said()
    of_ann = admin.told("aboutme Ann")
    assert phrase in of_ann and "What the NPCs know of Ann" in of_ann
    assert phrase not in admin.told("aboutme")
    assert admin.told("aboutme Nobody").startswith("There is nobody called 'Nobody'")
    refused = planted.ben.told("aboutme Ann")
    assert refused == "You can read only what is known of you: aboutme."


def test_a_character_with_a_mind_is_not_forgotten_with_its_account(planted, ann, mira):
    ann.account.characters.add(ann.character)
    ann.account.characters.add(mira)
    planted.said()
    planted.turn_of_ben()
    forget(ann, switches=["account"])
    assert models.Message.objects.filter(tool_calls__icontains="Nothing much").exists()


def test_reports_and_waiting_calls_go_with_who_made_them(game, mira, ann, bob):
    now, assistant = mira.assistant.services.now(), mira.assistant
    ann.do("say Mira, my quibbleflax is in the granary")
    bob.do("say Mira, I like bread")
    game.run(1)
    for player in (ann, bob):
        models.Report.objects.create(
            assistant=assistant, at=now, reporter=player.dbref, reporter_name="", reason="rude"
        )
        models.PendingAct.objects.create(
            assistant=assistant,
            at=now,
            needs="yes",
            state="waiting",
            name="open_vault",
            arguments="{}",
            speakers=[player.dbref],
            authors=f" {ann.dbref} {bob.dbref} ",
            expires_at=now,
        )
    models.Event.objects.filter(speaker=bob.dbref).update(authors=f" {ann.dbref} {bob.dbref} ")
    number = models.Report.objects.get(reporter=ann.dbref).id
    assert f"Reports on characters that are deleted, too: {number}." in ann.told("forgetme")
    ann.do("no")
    forget(ann)
    assert [report.reporter for report in models.Report.objects.all()] == [bob.dbref]
    (act,) = models.PendingAct.objects.all()
    assert (act.speakers, act.authors) == ([bob.dbref], f" #0 {bob.dbref} ")
    assert {event.authors for event in models.Event.objects.all()} == {f" #0 {bob.dbref} "}


def test_what_a_character_told_another_of_them_later_is_forgotten_before_it_is_answered(
    planted, ann, mira, bruno
):
    planted.said("I dream of a velvet hippogriff")
    planted.game.clock.advance(60)
    planted.reply(call("say", text="Somebody dreams of a velvet hippogriff."))
    planted.ben.do("say Mira, what is new?")
    planted.game.run(1)
    heard = models.Event.objects.filter(assistant=bruno.assistant.id, text__contains="velvet")
    assert heard.filter(speaker=mira.dbref, state="overheard").count() == 1
    forget(ann)
    assert not heard.exists()
