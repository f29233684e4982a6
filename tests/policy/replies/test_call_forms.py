"""Each call is read in each form, alone or among words; what is cut is neither run nor said."""

import json
import re
from operator import itemgetter

import pytest

from evennia_ai.messages import LLMReply
from evennia_ai.policy.replies.output_checks import CheckContext, find_artefact
from evennia_ai.policy.replies.plain_reply import plain_reply
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.replies.text_tool_calls import read_text_calls
from evennia_ai.policy.sanitize import spoken_words
from tests.policy.replies.call_forms import FORMS, written
from tests.policy.replies.test_reply_reader import tool
from tests.policy.replies.test_text_calls import TOOLS

GIVEN = {"text": "Aye, well met (at last).", "content": "Ann's rope: 3 ells"}
ALL_CALLS = [
    (name, {key: GIVEN.get(key, "the oak door") for key, kind in schema["properties"].items()
            if kind == {"type": "string"}})
    for name, schema in TOOLS.items()
]  # fmt: skip
AROUND = [("", ""), ("Well met.", ""), ("", "Farewell."), ("I will greet her.\n", "\nDone.")]
MIRA = CheckContext(name="Mira", tools=frozenset(TOOLS), people=frozenset({"Ann"}))
SOME = [call for call in ALL_CALLS if call[0] in ("say", "give", "noop")]


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def form(request):
    return request.param


def test_a_call_of_any_tool_is_read_and_the_words_around_it_stay(form):
    for name, given in ALL_CALLS:
        text = written(form, name, given)
        for before, after in AROUND:
            reply = read_text_calls("\n".join(filter(None, (before, text, after))), TOOLS)
            calls = [(called, json.loads(arguments)) for called, arguments in reply.calls]
            assert (calls, reply.words.split()) == (
                [(name, given)],
                [*before.split(), *after.split()],
            )


def test_wherever_a_call_is_cut_it_is_whole_or_none_and_no_mark_of_it_is_said(form):
    for name, given in SOME:
        text = written(form, name, given)
        for before in ("", "Well met.\n"):
            for cut in range(1, len(text)):
                reply = read_text_calls(before + text[:cut], TOOLS)
                calls = [(called, json.loads(arguments)) for called, arguments in reply.calls]
                assert calls in ([], [(name, given)])
                if not reply.is_cut:
                    words = spoken_words(reply.words.removeprefix(before.strip()), "Mira", 2_000)
                    is_plain = re.fullmatch(r"[\w* ]*", words)
                    assert is_plain or find_artefact(reply.words, MIRA), text[:cut]


# Spellings that are no longer read, and so are refused.
UNREAD = [
    "<$name>\n«<KEY>VALUE</KEY>\n»</$name>",
    "<$name>«VALUE»</$name>",
    '<$name« KEY="VALUE"» />',
    "<tool_use>\n<name>$name</name>\n<arguments>$args</arguments>\n</tool_use>",
    "<tool_call><tool_name>$name</tool_name><parameters>«<KEY>VALUE</KEY>»</parameters></tool_call>",
    '$name: «"VALUE" »',
    '$name «"VALUE" »',
    "$name: «“VALUE” »",
    '- $name: «"VALUE" »',
    "$name: «VALUE »",
]


@pytest.mark.parametrize("form", UNREAD)
def test_a_spelling_that_is_not_read_is_never_spoken(form):
    for name, given in filter(itemgetter(1), ALL_CALLS):
        for before in ("", "Well met.\n"):
            text = before + written(form, name, given)
            assert find_artefact(read_text_calls(text, TOOLS).words, MIRA), text
            made = plain_reply(LLMReply(text), "Mira", {"Ann"}, (), ())
            is_bare = {"Well met.", GIVEN["text"], ""}.issuperset(made.words.splitlines())
            assert is_bare or made.problem or find_artefact(made.words, MIRA), text


def test_of_a_reply_that_ends_within_a_call_nothing_is_said():
    for kind in ("tools", "plain"):
        reader = reply_reader(kind, [tool("say", "text")])
        assert reader.finish(LLMReply("I greet her.\n<tool_call>{")).content == ""
        reader = reply_reader(kind, ())
        assert reader.finish(LLMReply("A summary (of <tags")).content == "A summary (of <tags"


@pytest.mark.parametrize(
    "words", ["I <3 you", "Aye (I think", "**Aye**", "*nods*", "Two < three", "He said: no.", "…",
              "Ask at the mill, the old one", "Well: that is that"]
)  # fmt: skip
def test_words_that_look_a_little_like_it_are_said(words):
    assert read_text_calls(words, TOOLS) == read_text_calls(words, {})
