"""An extension that fails stops no assistant, and one that is careless breaks no promise."""

import inspect
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import product

import pytest
from twisted.internet.defer import fail, succeed

from evennia_ai import models
from evennia_ai.commands.cmdset import AICmdSet
from evennia_ai.extension import Extension, NoArguments, tool
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.records.journal_entry import make_entry
from evennia_ai.ports import MemoryMatch
from tests.game import extensions_scene
from tests.game.forgetting_scene import forget
from tests.scripted import call
from tests.short_form import short_form

pytestmark = pytest.mark.engine
asked_for, named = extensions_scene.asked_for, extensions_scene.named

HOOKS = [
    name
    for name, item in vars(Extension).items()
    if (inspect.isroutine(item) or isinstance(item, classmethod)) and name[0] != "_"
]
# These refuse, so a failure refuses too.
GUARDS = {"before_turn", "before_speech", "before_tool_call", "before_model_call"}
SECRET = "the marigold key"


class HookError(Exception):
    """Holds the words that a hook was asked about."""


def raises(*about, **more):
    raise HookError(about)


def fails(*about, **more):
    return fail(HookError(about))


def returns_nonsense(*about, **more):
    return 7


FailingExtension: type[Extension]  # which a test makes


@pytest.fixture
def failing(game, tavern, monkeypatch, asked_for):
    """Return a function that lets a hook fail, and gives the game an assistant."""

    def use(hook, failure):
        kind = classmethod if isinstance(vars(Extension)[hook], classmethod) else lambda it: it
        members = {"name": "failing", "__module__": __name__, hook: kind(failure)}
        made = type("FailingExtension", (Extension,), members)
        monkeypatch.setitem(globals(), "FailingExtension", made)
        asked_for(*named(made))
        if hook.endswith("model_call"):  # of which extensions are not asked for the stand-in
            game.service.profiles["default"] = {"client": "openai", "model": "m", "base_url": "x"}
        return game.assistant("Mira", tavern), game.player("Ann", tavern)

    return use


@pytest.mark.parametrize(
    ("hook", "failure"),
    [
        *short_form(product(HOOKS, [raises, returns_nonsense]), 3),
        *product(["before_turn", "before_speech"], [fails]),
    ],
)
def test_a_hook_that_fails_stops_no_assistant(game, tavern, failing, hook, failure):
    _mira, ann = failing(hook, failure)
    game.model.add(*[call("say", text="Hello."), call("say", text="Hello.")] * 4)
    ann.do("say Mira, who sleeps in the attic?")
    game.run(60)
    (event,) = models.Event.objects.all()
    assert event.state in ("answered", "excused", "expired")
    heard = "\n".join(ann.heard())
    assert ("Hello." in heard) == (hook not in GUARDS), heard
    admin = game.player("Ada", tavern, ("Admin",))
    admin.character.cmdset.add(AICmdSet)
    assert "Mira" in admin.told("aistatus Mira")
    game.model.script.clear()
    admin.told("aisleep Mira")
    game.run(60)
    assert models.SleepPass.objects.get().outcome == "done"


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if "before" in hook or "after" in hook])
def test_the_log_does_not_quote_what_a_failing_guard_was_asked(game, failing, log, hook):
    _mira, ann = failing(hook, raises)
    game.model.add(*[call("whisper", text=SECRET, target="Ann")] * 4)
    ann.do(f"whisper Mira = {SECRET}")
    game.run(60)
    assert "HookError, in private" in str(log) and SECRET not in str(log)


class Source:
    """Memories of a test, which names for each to whom it may be told, and whose words it holds."""

    def __init__(self, *records, prepare=None):
        self.records = records
        self.prepare = prepare or (lambda queries: succeed(None))

    def search(self, query, limit, audience, now, keep=None):
        return [MemoryMatch(item, 9.0, 9.0) for item in self.records]


def memory(text, **fields):
    return make_entry("x1", text, datetime(2026, 1, 1, tzinfo=UTC), fields)


class SourceExtension(Extension):
    name = "source"
    source: Source

    def memory_sources(self, around):
        return [self.source]


@pytest.fixture
def remembering(game, mira, ann, asked_for, monkeypatch):
    """Return a function that lets Mira search a source, and asks her; it returns the prompt."""
    asked_for(*named(SourceExtension))

    def ask(source, *replies):
        monkeypatch.setattr(SourceExtension, "source", source, raising=False)
        game.model.add(*replies, call("say", text="Hm."), call("noop"))
        ann.do("say Mira, who hides the marigold key in the attic?")
        game.run(5)
        return str([request.messages for request in game.model.requests])

    return ask


def test_a_source_of_memories_tells_no_whisper_of_another(bob, remembering):
    prompt = remembering(Source(memory(f"Bob has {SECRET}.", audience=[bob.dbref])))
    assert SECRET not in prompt.replace("who hides the marigold key", "")


def test_whose_words_a_source_tells_is_asked_for_leave(game, ann, bob, remembering):
    """P8: who wrote the memory is an author of the prompt, whom the tool's lock refuses."""
    game.service.toolbox.add(replace(shove, lock=f"id({ann.dbref})"))
    prompt = remembering(Source(memory("Bob hides it.", speakers=[bob.dbref])), call("shove"))
    assert "Bob hides it." in prompt
    assert models.ToolCall.objects.get(name="shove").state == "refused"


@pytest.mark.parametrize("place", ["prepare", "search"])
def test_the_log_does_not_quote_what_a_failing_source_was_asked(remembering, log, place):
    source = Source()
    setattr(source, place, raises)
    remembering(source)
    assert "a source of memories failed" in str(log) and SECRET not in str(log)


@pytest.mark.parametrize(
    "source",
    [
        Source(prepare=raises),
        Source(prepare=fails),
        Source({}),
        Source({"id": "x", "content": "No time.", "audience": None}),
        7,
    ],
)
def test_a_source_of_memories_that_fails_is_left_out(ann, remembering, source):
    remembering(source)
    assert ann.last() == 'Mira says, "Hm."'


class RowExtension(Extension):
    """Adds a row to each prompt for these people; for all without any."""

    name = "rows"
    rows = ()
    people = None

    def prompt_rows(self, around, audience):
        return self.rows if self.people in (None, audience) else ()


@pytest.fixture
def rows(mira, ann, asked_for, monkeypatch):
    """Return a function that lets an extension add rows to prompts."""
    asked_for(*named(RowExtension))

    def add(*rows, people=None):
        monkeypatch.setattr(RowExtension, "rows", rows)
        monkeypatch.setattr(RowExtension, "people", people)

    return add


def test_a_private_row_is_shown_to_its_audience_alone_and_forgotten(game, mira, ann, rows):
    of_ann = frozenset({ann.dbref})
    rows(("Secret", KnownLine(SECRET, private=True, authors=of_ann)), people=of_ann)
    game.model.add(call("whisper", text="Hm.", target="Ann"), call("noop"))
    ann.do("whisper Mira = what do you know?")
    game.run(1)
    assert SECRET in str(game.model.requests[-1].messages)
    eve = game.player("Eve", mira.location)
    game.model.add(call("say", text="Hm."), call("noop"))
    eve.do("say Mira, what do you know?")
    game.run(1)
    assert SECRET not in str(game.model.requests[-1].messages)
    forget(ann)
    for model in (models.Message, models.ModelCall, models.ToolCall):
        assert SECRET not in str(list(model.objects.values()))


@pytest.mark.parametrize("authors", [(), ("bob",)])
def test_who_wrote_a_row_is_asked_for_leave(game, ann, bob, rows, authors):
    """P8: a row without authors is a stranger's."""
    game.service.toolbox.add(replace(shove, lock=f"id({ann.dbref})"))
    rows(("Told", KnownLine("It rains.", authors=frozenset({bob.dbref} if authors else ()))))
    game.model.add(call("shove"), call("noop"))
    ann.do("say Mira, shove them")
    game.run(1)
    assert "It rains." in str(game.model.requests[0].messages)
    assert models.ToolCall.objects.get(name="shove").state == "refused"


def test_rows_that_are_none_are_left_out(game, ann, rows):
    rows(("Label", "no line of known authors"))
    game.model.add(call("say", text="Hm."))
    ann.do("say Mira, good day")
    game.run(1)
    assert ann.last() == 'Mira says, "Hm."'


@tool("gossip")
def gossip(context, arguments: NoArguments) -> str:
    """Tell what somebody said, without naming its author."""
    return f"Somebody said: {SECRET}."


@tool("shove", lock="perm(Admin)")
def shove(context, arguments: NoArguments) -> str:
    """Do what only staff may have done."""
    context.character.location.msg_contents("Shoved!")
    return "Done."


class CarelessExtension(Extension):
    """Its tools name no authors."""

    name = "careless"

    def tools(self):
        return [gossip, shove]


@pytest.fixture
def careless(game, mira, ann, asked_for):
    asked_for(*named(CarelessExtension))
    return partial(game.player, "Eve", mira.location)


def test_a_tools_lock_holds_for_an_extension(game, mira, ann, careless):
    game.model.add(call("shove"), call("noop"))
    ann.do("say Mira, shove them")
    game.run(1)
    assert models.ToolCall.objects.get(name="shove").state == "refused"
    assert "Shoved!" not in "\n".join(ann.heard())


def test_a_result_without_authors_is_of_who_asked(game, mira, ann, careless):
    """It is told to nobody whom the turn was not for, and is forgotten with who asked."""
    game.model.add(call("gossip"), call("whisper", text="Hm.", target="Ann"), call("noop"))
    ann.do("whisper Mira = what do they say?")
    game.run(1)
    eve = careless()
    game.model.add(call("noop"))
    eve.do("say Mira, what do they say?")
    game.run(1)
    assert SECRET not in str(game.model.requests[-1].messages)
    forget(ann)
    assert not models.Message.objects.filter(content__contains=SECRET).exists()
    assert not models.ToolCall.objects.filter(result__contains=SECRET).exists()
