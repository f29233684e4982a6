"""What characters think while a player is forgotten: nothing; afterwards others are answered."""

from twisted.internet.defer import Deferred

from evennia_ai import models
from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.messages import LLMReply, make_message
from evennia_ai.policy.compaction.plan import CompactionOrder
from evennia_ai.services.forgetting import BUSY_PAUSE_S, MOST_TRIES, PROGRESS_S
from evennia_ai.sleep import SleepPassTimer
from evennia_ai.sleep.compaction import compact
from evennia_ai.store.forget import Forgetting
from evennia_ai.store.forget_traces import OWN, PersonalTraces
from evennia_ai.store.server_settings import wishes
from tests.game import forgetting_scene as scene
from tests.game.forgetting_scene import forget
from tests.scripted import call

bruno, planted = scene.bruno, scene.planted
ANSWER = "Nothing much, my friend."


def asked(planted):
    return len(planted.game.model.requests)


def test_who_waits_for_an_answer_gets_one_afterwards_and_not_from_the_prompt_before(planted, ann):
    planted.said()
    (word,) = planted.words
    late = Deferred()
    planted.reply(late)
    planted.ben.do("say Mira, what is new?")
    planted.game.run(1)
    planted.ben.forget()
    forget(ann)
    planted.reply(call("say", text=ANSWER))
    late.callback(call("say", text=f"Ann told me of the {word} goblet."))
    planted.game.run(2)
    assert f'Mira says, "{ANSWER}"' in planted.ben.heard()
    assert word not in " ".join(planted.ben.heard())
    assert word not in planted.game.tail()
    assert (
        models.Event.objects.get(assistant=planted.script.id, text__contains="what is new").state
        == "answered"
    )
    assert not models.Message.objects.filter(content__contains=word).exists()


def test_nobody_who_knows_them_thinks_until_all_is_forgotten(planted, ann, service):
    planted.said()
    planted.reply(call("say", text=ANSWER))
    forgetting = service.forgetting.begin([ann.dbref])
    before, steps = asked(planted), forgetting.steps()
    next(steps)
    planted.ben.do("say Mira, what is new?")
    planted.game.run(1)
    assert asked(planted) == before
    assert sum(steps) > 0
    service.forgetting.finish(forgetting)
    service.forgetting.release()
    planted.game.run(1)
    assert f'Mira says, "{ANSWER}"' in planted.ben.heard()
    assert planted.words[0] not in planted.game.tail()


def test_a_sleep_pass_under_way_is_broken_off(planted, ann, mira, service):
    planted.said()
    time = mira.assistant.mind.sleep.pass_time = SleepPassTimer(service.clock)
    service.forgetting.begin([ann.dbref])
    planted.game.run()
    assert time.is_over


def test_nothing_is_summed_up_for_staff_while_it_forgets(planted, ann, service):
    planted.said()
    service.forgetting.begin([ann.dbref])
    failures = []
    compacting = planted.script.mind.compact(CompactionOrder("manual", force=True))
    compacting.addErrback(failures.append)
    assert failures[0].check(TurnAborted)


def test_a_summary_that_was_ready_when_it_began_is_not_stored(planted, ann, service, monkeypatch):
    planted.said()
    line = f"Ann says: {'The toll at the bridge is up again. ' * 20}"
    heard = make_message("user", line, speaker=ann.dbref, speaker_name="Ann")
    planted.script.conversation.append([heard] * 20)
    make_record = compact.make_record

    def begin_meanwhile(*args):
        service.forgetting.begin([ann.dbref])
        return make_record(*args)

    monkeypatch.setattr(compact, "make_record", begin_meanwhile)
    planted.reply(LLMReply(f"Ann spoke of the {planted.words[0]} goblet."))
    order = CompactionOrder("manual", force=True, keep_recent=0)
    results = []
    planted.script.mind.compact(order).addCallback(results.append)
    planted.game.run(2)
    assert results and not results[0]["success"]
    assert not models.Compaction.objects.exists()


def test_if_the_database_stays_busy_they_think_again_and_the_wish_stays(
    planted, ann, service, monkeypatch
):
    def busy(_forgetting):
        assert not planted.script.mind.status.may_think()
        raise StoreUnavailable("database is locked")

    planted.said()
    monkeypatch.setattr(Forgetting, "steps", busy)
    failures = []
    service.forgetting.forget([ann.dbref]).addErrback(failures.append)
    for _ in range(MOST_TRIES - 1):
        assert not failures
        service.clock.advance(BUSY_PAUSE_S)
    assert failures[0].check(StoreUnavailable)
    assert planted.script.mind.status.may_think()
    assert wishes() == {None: [ann.dbref]}


def test_its_count_goes_on_after_the_database_was_busy(planted, ann, service, monkeypatch):
    told, tries, steps = [], [], Forgetting.steps

    def busy_once(forgetting):
        tries.append(forgetting)
        for gone in steps(forgetting):
            yield gone
            service.clock.advance(PROGRESS_S)
            if forgetting.gone and len(tries) == 1:
                raise StoreUnavailable("database is locked")

    for _ in range(3):
        planted.said()
    monkeypatch.setattr(Forgetting, "steps", busy_once)
    service.forgetting.forget([ann.dbref], tell=told.append)
    planted.game.run(BUSY_PAUSE_S + 1)
    assert len(tries) == 2 and told == sorted(told) and told[-1] >= tries[0].gone > 0


def test_who_has_only_overheard_an_answer_does_not_think_either(
    planted, ann, mira, bruno, service, monkeypatch
):
    planted.answered(call("say", text="{0}, you say?"))
    knows = "evennia_ai.services.forgetting.assistants_who_know"
    monkeypatch.setattr(knows, lambda dbref: [mira.assistant.id])
    forgetting = service.forgetting.begin([ann.dbref])
    assert service.forgetting.holds(mira.assistant.id)
    assert not service.forgetting.holds(bruno.assistant.id)
    for gone in forgetting.steps():
        if gone:
            break
    assert service.forgetting.holds(bruno.assistant.id)


def test_an_act_that_is_deleted_with_their_words_is_not_done_again(planted, ann):
    late = Deferred()
    planted.reply(call("emote", text="waves at Ben."), late)
    ann.do(f"say Mira, {planted.phrase()}")
    planted.ben.do("say Mira, wave at me!")
    planted.game.run(1)
    forget(ann)
    assert not models.ToolCall.objects.exists()
    planted.reply(call("emote", text="waves at Ben."), call("say", text=ANSWER))
    late.callback(call("noop"))
    planted.game.run(2)
    assert len([line for line in planted.ben.heard() if "waves at Ben" in line]) == 1
    asked = models.Event.objects.get(assistant=planted.script.id, text__contains="wave at me")
    assert asked.state == "excused"


def test_an_assistants_own_words_go_last_when_it_is_forgotten(planted, mira, bruno):
    planted.answered(call("say", text="{0}, you say?"))
    traces = PersonalTraces(frozenset({mira.dbref}))
    assert list(traces.find())
    own = models.Event.objects.filter(speaker=mira.dbref).values_list("id", flat=True)
    assert own and {traces.levels[models.Event][id_] for id_ in own} == {OWN}
