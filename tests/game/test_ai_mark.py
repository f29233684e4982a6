"""What an assistant says is marked for clients, and in words if the game wants that."""

import pytest

from tests.scripted import call

ACTS = {
    "say": ("say Mira, hello.", call("say", text="Hello."), 'Mira says, "Hello."'),
    "whisper": ("whisper Mira = hello", call("whisper", text="Psst."), 'Mira whispers: "Psst."'),
    "pose": ("say Mira, wave!", (call("emote", text="waves."), call("noop")), "Mira waves."),
}


def sent_by(game, ann, act):
    """Let Ann get Mira to act; return all that Ann's client was sent."""
    sent, keep = [], ann.session.data_out
    ann.session.data_out = lambda **kwargs: (sent.append(kwargs), keep(**kwargs))
    line, reply, _ = ACTS[act]
    game.model.add(reply)
    ann.do(line)
    sent.clear()
    game.run()
    return sent


@pytest.mark.parametrize("act", ACTS)
def test_evennias_web_client_gets_a_class_and_no_message_it_does_not_know(game, ann, mira, act):
    ann.session.protocol_key = "websocket"  # as `init_session` names it
    name = "Evennia Webclient (websocket:chrome [v1.evennia.com])"
    ann.session.protocol_flags.update(OOB=True, CLIENTNAME=name)
    sent = sent_by(game, ann, act)
    assert all("ai_line" not in one for one in sent)
    assert any(one.get("text", [0])[-1] == {"type": act, "cls": "out ai-line"} for one in sent)


@pytest.mark.parametrize("act", ACTS)
def test_another_client_gets_a_message_before_the_line(game, ann, mira, act):
    ann.session.protocol_flags["OOB"] = True
    sent = [one for one in sent_by(game, ann, act) if "text" in one or "ai_line" in one]
    mark, text = sent[0], sent[1]
    assert mark["ai_line"] == {"name": "Mira", "type": act}
    assert text["text"][1] == {"type": act, "cls": "out ai-line"}


@pytest.mark.parametrize("act", ACTS)
def test_a_game_may_add_words(game, ann, mira, settings, act):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "LINE_MARK": "({AI}|r)"}
    sent_by(game, ann, act)
    assert ann.last() == f"{ACTS[act][2]} ({{AI}}|r)"


def test_a_client_without_out_of_band_messages_gets_none(game, ann, mira):
    assert all("ai_line" not in one for one in sent_by(game, ann, "say"))


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("*slams a tankard* Who asks?", ["Mira slams a tankard", 'Mira says, "Who asks?"']),
        ("Mira's eyes narrow. “Who asks?”", ["Mira's eyes narrow", 'Mira says, "Who asks?"']),
        ("Well met.\nAnn: And you?", ['Mira says, "Well met."']),
        ("Mira, at your service.", ['Mira says, "Mira, at your service."']),
    ],
)
def test_stage_directions_are_shown_and_lines_of_others_are_not(game, ann, mira, words, lines):
    game.service.profiles["cloud"] = {"client": "openai", "model": "m"}
    mira.assistant.attributes.add("profile", "cloud")
    mira.assistant.mind.settings.resolve()
    game.model.add(call("say", text=words))
    ann.forget()
    ann.do("say Mira, hello.")
    game.run()
    assert [line for line in ann.heard() if line.startswith("Mira")] == lines
