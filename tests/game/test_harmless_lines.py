"""Harmless lines of many scripts are heard, spoken, shown and stored as they were written."""

import json
from pathlib import Path

import pytest

from evennia_ai.models import Event, Message
from evennia_ai.policy.replies.output_checks import CheckContext, find_artefact
from tests.game.players import GAPS
from tests.game.screens import on_telnet, on_web
from tests.scripted import call

FILE = Path(__file__).parent / "data" / "harmless_lines.txt"
LINES = [
    line
    for line in FILE.read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("# ")
]
OFFSET = 137
EVERY = 20  # line is tried on each line of Evennia; a campaign tries every second, make soak all
ALONE = CheckContext("Mira")
HEARD_SHARE, SPOKEN_SHARE = 0.995, 0.99
UNSEEN = str.maketrans({"\u00ad": None, "\t": " "})  # a soft hyphen; a tab is some space


def as_seen(text):
    """Return a text as a person sees it: without soft hyphens and the sanitizer's gaps."""
    return GAPS.sub("", text.translate(UNSEEN))


def test_there_are_four_hundred_of_them():
    assert len(set(LINES)) == len(LINES) >= 400


@pytest.fixture
def talker(mira, game):
    """Return Mira with a model, whose words are checked, and with short prompts."""
    game.service.profiles["cloud"] = {"client": "openai", "model": "m"}
    for name, value in {
        "profile": "cloud", "max_context_tokens": 4_000, "compact_enabled": False,
    }.items():  # fmt: skip
        mira.assistant.attributes.add(name, value)
    mira.assistant.mind.settings.resolve()
    return mira


def asked(game):
    """Return the new lines of the first request of this turn, then forget the requests."""
    first, game.model.requests[:] = game.model.requests[0], []
    texts = [str(message["content"]) for message in first.messages]
    return next(text for text in reversed(texts) if "says: " in text)


def test_some_lines_are_unaltered_in_prompt_screens_and_log(game, ann, talker):
    assert play(game, ann, talker, LINES[::EVERY]) == ({}, {}, {})


@pytest.mark.campaign
@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.soak)])
def test_heard_and_spoken_lines_are_unaltered_in_prompt_screens_and_log(game, ann, talker, step):
    lines = LINES[::step]
    unheard, altered, refused = play(game, ann, talker, lines)
    report("heard unaltered", unheard)
    report("spoken unaltered", altered)
    report("not refused", refused)
    assert len(unheard) <= len(lines) * (1 - HEARD_SHARE)
    assert len(altered | refused) <= len(lines) * (1 - SPOKEN_SHARE)


def play(game, ann, talker, lines):
    """Let Ann say every line and Mira answer with another one; with code only if Ann asked of it.

    Return the lines that were heard altered, spoken altered, and refused.
    """
    unheard, altered, refused = {}, {}, {}
    for number, line in enumerate(lines):
        answer = LINES[(number + OFFSET) % len(LINES)]
        game.model.add(call("say", text=answer), call("say", text=f"No, {number} is torn."))
        ann.forget()
        talk = f"{line} - and what of {answer}" if find_artefact(answer, ALONE) else line
        ann.do(f"say {talk}")
        game.run(3)
        game.model.script.clear()
        assert "Mira says" in ann.last(), line
        assert Event.objects.order_by("-id")[0].text == talk.strip(), line
        if as_seen(line) not in as_seen(prompt := asked(game)):
            unheard[line] = prompt
        if f"{number} is torn" in ann.last():
            refused[answer] = "not spoken"
            continue
        assert answer in spoken_last(talker), answer
        if wrong := screens_with_another_line(ann.session.sent[-1], answer):
            altered[answer] = wrong
    return unheard, altered, refused


def screens_with_another_line(sent, words):
    """Return what the screens show that do not show Mira say these words and nothing active."""
    wanted = f'Mira says, "{as_seen(words)}"'
    page, tags = on_web(sent)
    shown = [on_telnet(sent), on_telnet(sent, MXP=True), page]
    return [screen for screen in shown if as_seen(screen) != wanted] + tags


def spoken_last(character):
    """Return the words of the character's last call in the log."""
    row = Message.objects.filter(assistant_id=character.assistant.id, role="assistant").last()
    return json.loads(row.tool_calls[0]["function"]["arguments"])["text"]


def report(how, altered):
    """Print the figures and the lines that a person sees altered."""
    share = 1 - len(altered) / len(LINES)
    print(f"{how}: {share:.1%} of {len(LINES)}")
    for line in altered:
        print(" ", repr(line), "->", altered[line])
