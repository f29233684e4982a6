"""What servers really send: from the bytes of a socket to what players in the room read.

`tests/llm/endpoint_cases.py` holds the rows. Each has a server, a room and a character of its own.
"""

import json
import time
from itertools import count
from queue import Empty, Queue

import pytest
from twisted.internet import reactor

from evennia_ai.errors import (
    ContextOverflow,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.messages import make_message
from evennia_ai.models import ToolCall, Turn
from tests.llm import endpoint_cases as rows
from tests.short_form import short_form

pytestmark = pytest.mark.engine

NUMBERS = count()
PARTS = 3  # tests/llm tries all rows at once, below the game
LONGEST_WAIT_S = 120.0
GOOD = (200, rows.native("say"), ())
EVENING = "Good evening."
# What a refusal as too long can leave out.
EARLIER = [
    make_message("user", f"Ann says: {n} nails, {'and as many in Holm, ' * 30}sold.")
    for n in range(40)
]
ASKED_AGAIN = (ContextOverflow, ProviderUnavailable)
EXCUSED = (ProviderMisconfigured, ProviderRejected, QuotaExhausted)


@pytest.fixture
def handed_over(monkeypatch):
    """What other threads hand to the reactor, which does not run here."""
    jobs = Queue()
    monkeypatch.setattr(reactor, "callFromThread", lambda *job: jobs.put(job))
    return jobs


@pytest.fixture
def service(handed_over, service):
    return service


class Scene:
    """What became of one line of a player."""

    def __init__(self, game, jobs, ann, answers, earlier=(), **profile):
        self.game, self.jobs, self.ann, self.turns = game, jobs, ann, 0
        self.name = "Mira" + "".join(chr(97 + n) for n in divmod(next(NUMBERS), 26))
        self.server = rows.Server(*answers)
        game.service.profiles[self.name] = {
            "client": "openai", "model": "m", "base_url": self.server.base_url,
            "form": "tools", "context_window": 16_000, **profile,
        }  # fmt: skip
        room = game.room(self.name)
        ann.character.location = room
        game.thing("fire", room)
        self.character = game.assistant(self.name, room)
        self.character.assistant.db.profile = self.name
        self.character.db.ai_fillers = []
        self.character.assistant.conversation.append(earlier)

    def play(self, lines=1):
        """Say some lines; return what the player reads until the last turn has ended."""
        heard = [text for line in rows.LINES[:lines] for text in self.play_line(line)]
        self.server.close()
        return heard

    def play_line(self, line):
        self.ann.forget()
        self.ann.do(f"say {line}")
        self.game.run()
        end = time.monotonic() + LONGEST_WAIT_S
        turns = Turn.objects.filter(assistant_id=self.character.assistant.id)
        self.turns += 1
        while turns.exclude(ended_at=None).count() < self.turns:
            assert time.monotonic() < end, self.ann.heard()
            try:
                function, *arguments = self.jobs.get(timeout=0.05)
                function(*arguments)
                self.game.run()
            except Empty:  # it waits for the clock
                self.game.run(0.25)
        return self.ann.heard()[1:]

    def acts(self):
        """Return the tool calls that were run, with their arguments."""
        done = ToolCall.objects.filter(assistant_id=self.character.assistant.id)
        found = done.exclude(state="refused").order_by("id")
        return [(row.name, json.loads(row.arguments)) for row in found]


@pytest.fixture
def play(service, offline_game, handed_over):
    """Return what players read of an answer, and the scene that shows the rest."""
    ann = offline_game.player("Ann", offline_game.room())

    def play(*answers, lines=1, **profile):
        scene = Scene(offline_game, handed_over, ann, answers, **profile)
        read, says = scene.play(lines), f'{scene.name} says, "'
        assert not any(set("{}[]<>|") & set(line) for line in read), read
        words = [line.removeprefix(says)[:-1] for line in read if line.startswith(says)]
        return words, scene

    return play


@pytest.fixture(params=short_form(range(PARTS), PARTS))
def part(request):
    """Return a function that returns each so-manieth of some rows."""
    return lambda cases: list(cases)[request.param :: PARTS]


def test_of_every_stream_each_call_is_done_once(play, part):
    for kind, parts in part((rows.STREAMS | rows.UNSTEADY).items()):
        words, scene = play((200, rows.events(*parts), ()), GOOD)
        assert words == [EVENING], kind
        assert scene.acts() == (rows.BOTH if kind in rows.STREAMS else rows.SAID), kind
        assert scene.server.asked == 1, kind


def test_a_call_is_done_wherever_it_stands(play, part):
    for kind, body in part(rows.BODIES.items()):
        words, scene = play((200, body, ()), GOOD, stream=False)
        assert (words, scene.acts(), scene.server.asked) == ([EVENING], rows.SAID, 1), kind


def test_reasoning_line_ends_usages_and_missing_arguments_reach_nobody(play, part):
    for mark in part(rows.MARKS):
        words, _scene = play((200, rows.reasoned(mark), ()), form="plain")
        assert words == [EVENING], mark
    for line_end in ("\r", "\r\n"):
        body = rows.events(rows.SPOKEN, rows.END).replace("\n", line_end)
        words, _scene = play((200, body, ()))
        assert words == [EVENING]
    for where, _usage in part(rows.USAGES):
        words, _scene = play((200, rows.usage_body(where), ()))
        assert words == ["Aye."], where
    for arguments in part(rows.ARGUMENTS):
        words, scene = play((200, rows.native("look", arguments), ()), GOOD)
        assert (words, scene.acts()) == ([EVENING], [("look", {}), *rows.SAID]), arguments


def test_of_a_reply_that_was_cut_off_only_whole_sentences_are_said(play, part):
    for number, reason in enumerate(part(rows.CUT)):
        streamed = bool(number % 2)
        words, scene = play((200, rows.cut_call(reason), ()), GOOD, stream=streamed)
        assert (words, scene.acts()) == ([EVENING], rows.SAID), reason
    cut = rows.message("max_tokens", content="Good evening, Ann. Come in and")
    words, _scene = play((200, cut, ()))
    assert words == ["Good evening, Ann."]


def test_after_a_failure_it_is_asked_again_or_excused_and_no_error_is_said(play, part):
    for kind, (status, told, error) in part(rows.FAILURES.items()):
        earlier = EARLIER if error is ContextOverflow else ()
        words, scene = play((status, json.dumps(told), ()), GOOD, earlier=earlier)
        if error in ASKED_AGAIN:  # with room made, or after a pause
            assert words == [EVENING] and scene.server.asked > 1, kind
            continue
        assert (error in EXCUSED, len(words), scene.server.asked) == (True, 1, 1), kind
        assert words != [EVENING] and not set(words[0]) & set("_:0123456789"), kind


def test_a_failure_in_a_stream_and_a_limit_that_passes_soon_end_well(play):
    told = json.dumps({"error": {"code": 400, "message": rows.OVERFLOW}})
    for kind in ("event: error\ndata: ", "data: "):
        words, _scene = play((200, rows.events(f"{kind}{told}\n\n"), ()), GOOD)
        assert words == [EVENING], kind
    for body, headers in rows.LIMITS:
        words, scene = play((429, json.dumps(body), headers), GOOD)
        assert (words, scene.server.asked) == ([EVENING], 2), body
