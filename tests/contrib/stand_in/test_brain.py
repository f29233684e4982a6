"""The stand-in as its caller sees it: a request in, a reply out."""

import json
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.errors import ConfigError
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import Persona

PROFILE = ModelProfile("offline")
ALL_TOOLS = "say whisper emote look move get drop give noop".split()
MARKUP = "|{}$<>\\"


def offered(names):
    return [{"type": "function", "function": {"name": name}} for name in names]


def request(*lines, persona=None, tools=ALL_TOOLS, messages=(), step=1, situation=None, lore=()):
    """A request for new lines ``(kind, speaker, text)``; a whisper is private."""
    heard = tuple(HeardLine(k, s, t, k == "whisper") for k, s, t in lines)
    return StandInRequest(
        "Mira",
        persona or Persona("You are Mira."),
        heard,
        situation or Situation(),
        lore,
        step,
        messages=list(messages),
        tools=frozenset(tools),
    )


def ask(req):
    return StandIn().think(req)


def calls(reply):
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


def spoken(reply):
    """All words of a reply, as content or through tools."""
    return " ".join([reply.content, *(a.get("text", "") for _, a in calls(reply))])


def said(speaker, text):
    return {"role": "user", "content": f"{speaker} says: {text}"}


def test_words_are_said_and_a_whisper_is_whispered_back():
    assert calls(ask(request(("say", "Ann", "hello"))))[-1][0] == "say"
    name, arguments = calls(ask(request(("whisper", "Ann", "hello"))))[-1]
    assert (name, arguments["target"]) == ("whisper", "Ann")


def test_without_speech_among_the_tools_the_answer_is_plain_text():
    reply = ask(request(("say", "Ann", "hello"), tools=()))
    assert reply.tool_calls == () and "Ann" in reply.content


def test_it_says_plainly_what_it_is():
    for question in ("Are you an AI?", "are you a bot, Mira?", "Is this a language model?"):
        words = spoken(ask(request(("say", "Ann", question))))
        assert "stand-in" in words and "no language model" in words


def test_several_speakers_are_each_answered_by_name():
    words = spoken(ask(request(("say", "Ann", "who are you?"), ("say", "Ben", "hello"))))
    assert "Ann" in words and "Ben" in words


def test_no_answer_to_several_speakers_reads_like_a_transcript():
    lines = [("say", name, "where is the wizard?") for name in ("Ann", "Ben", "Cid")]
    words = spoken(ask(request(*lines)))
    assert not re.search(r"(Ann|Ben|Cid)\W*:", words), words


def test_it_speaks_once_and_does_not_try_for_ever():
    failed = [
        said("Ann", "hello"),
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "function": {"name": "say", "arguments": '{"text": "x"}'}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "Nobody may hear this."},
    ]
    reply = ask(request(("say", "Ann", "hello"), messages=failed, step=2))
    assert [name for name, _ in calls(reply)] == ["noop"]


LATIN = """
name = "Latin"
common = "salve ave quid est nomen tibi mihi ubi gratias vale"

[[intents]]
key = "greet"
match = '\\b(?:salve|ave)\\b'
say = ["Salve, {who}. Ego sum {name}."]

[phrases]
other = ["Latine parum loquor, {who}."]
idle = ["tacet."]
"""


def test_a_german_line_is_answered_in_german():
    words = spoken(ask(request(("say", "Ann", "Guten Abend, wie heißt du?"))))
    assert re.search(r"Ich bin Mira|Mira heiße ich|nennt mich Mira", words), words


def test_a_game_adds_a_language_of_its_own(tmp_path):
    (tmp_path / "la.toml").write_text(LATIN, encoding="utf-8")
    brain = StandIn([str(tmp_path / "la.toml")])
    heard = [request(("say", "Ann", text)) for text in ("Salve!", "Ubi est Roma?", "Hello!")]
    said = [spoken(brain.think(one)).strip() for one in heard]
    assert said[:2] == ["Salve, Ann. Ego sum Mira.", "Latine parum loquor, Ann."]
    assert "Salve" not in said[2]


@pytest.mark.parametrize("text", [None, "name = ", 'name = "Latin"', LATIN.replace("?:", "")[:-9]])
def test_a_language_file_that_is_missing_or_wrong_is_told(tmp_path, text):
    file = tmp_path / "la.toml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"la\.toml is no language of the stand-in"):
        StandIn([str(file)])


TEXTS = st.one_of(
    st.text(max_size=120),
    st.sampled_from(
        "give me the mug|go to the cellar and come back|what is my name?|I am Tove from Ulm.|"
        "no, I meant four|where are we?|what did Ben say?|take the mug|asdfgh|you fool|"
        "fetch me the lamp from the cellar|wave|tell me a story|I never said that, not Ben but Ann"
        .split("|")
    ),
)  # fmt: skip
LINES = st.lists(
    st.tuples(
        st.sampled_from(["say", "whisper", "emote", "give", "arrive", "leave", "notice", "odd"]),
        st.sampled_from(["Ann", "Ben", "Sister Oda", "", "x|y{z}"]),
        TEXTS,
    ),
    max_size=3,
)
WORDS = st.text(alphabet=string.ascii_letters + " .,;:?!'", max_size=60)
PERSONAS = st.builds(
    Persona,
    text=st.one_of(WORDS, st.text(max_size=80)),
    manner=WORDS,
    knows=st.tuples(WORDS),
    wants=st.tuples(WORDS),
    never=st.tuples(WORDS),
    examples=st.tuples(WORDS),
)
SITUATIONS = st.builds(
    Situation,
    place=WORDS,
    description=WORDS,
    people=st.tuples(WORDS),
    exits=st.sampled_from([(), ("cellar (to The Cellar)", "up"), ("(",)]),
    things=st.sampled_from([(), ("pewter mug",), ("", "lamp")]),
    carrying=st.sampled_from([(), ("pewter mug",), ("x",)]),
)
CALLS = st.one_of(
    st.just(()),
    st.tuples(
        st.fixed_dictionaries(
            {
                "id": st.just("c"),
                "function": st.fixed_dictionaries(
                    {
                        "name": st.sampled_from(ALL_TOOLS),
                        "arguments": st.sampled_from(
                            ['{"item": "mug"}', "[]", "not json", '{"to": "cellar"}', "", "null"]
                        ),
                    }
                ),
            }
        )
    ),
)
MESSAGES = st.lists(
    st.one_of(
        st.builds(said, st.sampled_from(["Ann", "Ben"]), TEXTS),
        st.builds(lambda text: {"role": "user", "content": text}, TEXTS),
        st.builds(
            lambda text, made: {"role": "assistant", "content": text, "tool_calls": list(made)},
            TEXTS,
            CALLS,
        ),
        st.builds(
            lambda text: {"role": "tool", "tool_call_id": "c", "content": text},
            st.sampled_from(["You hold mug.", "No way leads there.", "The Cellar: Cold.", ""]),
        ),
    ),
    max_size=6,
)


@st.composite
def requests(draw):
    return request(
        *draw(LINES),
        persona=draw(PERSONAS),
        tools=draw(st.lists(st.sampled_from(ALL_TOOLS), unique=True)),
        messages=draw(MESSAGES),
        step=draw(st.integers(1, 4)),
        situation=draw(SITUATIONS),
        lore=draw(st.tuples(WORDS)),
    )


@given(requests())
def test_it_answers_any_request_the_same_way_twice_and_adds_no_markup(req):
    reply = ask(req)
    assert reply == ask(req)
    given_text = repr(req)
    for char in MARKUP:
        assert char not in spoken(reply) or char in given_text


@given(MESSAGES, st.sampled_from(["what did I tell you?", "what did Ben say?", "hello", "who?"]))
def test_what_stands_in_no_message_of_the_request_is_never_uttered(messages, question):
    secret = "xyzzyplugh"
    told = request(("say", "Ann", question), messages=[*messages, said("Ben", f"It is {secret}.")])
    untold = request(("say", "Ann", question), messages=messages)
    ask(told)
    assert secret not in spoken(ask(untold))
