"""A request shows the tools that the talk needed so far, in few tokens and at stable places."""

from itertools import pairwise

import pytest
from evennia.contrib.game_systems.containers.containers import ContribContainer
from evennia.utils.create import create_object
from pydantic import BaseModel, ConfigDict, Field

from evennia_ai.messages import LLMReply, make_message
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.sleep_schedule import WISH
from evennia_ai.policy.tokens import count_tools
from evennia_ai.ports import ToolContext
from evennia_ai.tools.base import brief_schema, tool
from evennia_ai.tools.registry import load_registry
from tests.scripted import call

# Estimated tokens. Qwen's tokenizer counts 5 % less, with its template's own words about tools.
MOST_AT_FIRST, MOST_IN_ALL = 850, 1_560
ALWAYS = [
    "say", "whisper", "emote", "look", "add_journal_entry", "update_entity_observation", "noop",
]  # fmt: skip


def shown(game, number=-1, late=False):
    """Return the names of the tools in a request, or of those that came late."""
    request = game.model.requests[number]
    schemas = request.late_tools if late else request.tools
    return [schema["function"]["name"] for schema in schemas]


def ask(game, player, line="say Mira, hello", *replies):
    """Say something to Mira; return the tools of her last request, late ones last."""
    game.model.add(*(replies or [call("noop")]))
    player.do(line)
    game.run(1)
    return [*shown(game), *shown(game, late=True)]


def compact(mira):
    """Evict all messages."""
    log = mira.assistant.conversation
    rows = log.append([make_message("user", "Ann says: Hm.", audience=[])])
    record = CompactionRecord(
        id=0,
        reason="sleep",
        from_seq=1,
        upto_seq=rows[-1]["metadata"]["seq"],
        summary={"public": "They talked."},
        compacted_count=1,
        compacted_at="",
        original_token_count=60,
        summary_token_count=20,
    )
    log.compact(record)


def test_the_first_request_is_small(game, ann, mira, tavern):
    game.thing("mug", tavern)
    game.exit("out", tavern, game.room("Yard"))
    names = ask(game, ann)
    assert names == [*ALWAYS, "move", "get", "drop", "give", "follow"]
    assert count_tools(game.model.requests[0].tools) <= MOST_AT_FIRST


def test_all_shipped_tools_together_stay_small():
    specs = [item.spec for item in load_registry(()).tools.values()]
    assert len(specs) == 21
    in_any_game = [spec for spec in specs if spec.name != "put"]  # that needs a contrib
    assert sum(spec.tokens for spec in in_any_game) <= MOST_IN_ALL
    assert all(spec.tokens == count_tools([spec.schema]) for spec in specs)


def test_in_a_bare_room_it_has_what_talk_takes(game, ann, mira):
    assert ask(game, ann) == ALWAYS


def test_over_a_talk_the_list_stays_and_late_tools_are_told(game, ann, bob, mira, tavern):
    mug = game.thing("mug", ann.character)
    ask(game, ann)
    ask(game, bob, "say Mira, I owe you two crowns and I promise to pay on Friday.")
    ask(game, ann, "drop mug")
    ask(game, ann, "say Mira, look here", call("add_journal_entry", content="A mug."), call("noop"))
    game.exit("out", tavern, game.room("Yard"))
    ask(game, ann, "whisper Mira = it is a secret")
    mug.delete()
    mira.journal.remove(*mira.journal.ids())
    ask(game, bob)
    numbers = range(len(game.model.requests))
    assert all(shown(game, number) == ALWAYS for number in numbers)
    lists = [shown(game, number, late=True) for number in numbers]
    for before, after in pairwise(lists):
        assert after[: len(before)] == before
    assert lists[0] == []
    assert {"get", "move", "search_journal", "set_goal", "pin_fact"} <= set(lists[-1])
    told = game.told()
    assert "- pin_fact: Keep one short fact" in told and "Arguments: content" in told


def test_a_late_tool_is_called_natively_or_in_words(game, service, ann, mira, tavern):
    service.profiles["home"] = {"client": "openai", "model": "m", "form": "tools"}
    mira.assistant.db.profile = "home"
    ask(game, ann)
    ask(game, ann, "say Mira, I promise to pay you on Friday.",
        call("pin_fact", content="Ann pays on Friday."), call("noop"))  # fmt: skip
    assert "pin_fact" in shown(game, late=True)
    assert [pin["content"] for pin in mira.journal.pinned(None)] == ["Ann pays on Friday."]
    asked = game.model.requests[-1].asked
    written = '{"name": "pin_fact", "arguments": {"content": "She has a horse."}}'
    (found,) = reply_reader("tools", asked).finish(LLMReply(written)).tool_calls
    assert found.name == "pin_fact"


def test_every_shipped_tool_is_shown_once_it_is_needed(game, ann, mira, tavern):
    game.thing("mug", tavern)
    game.exit("out", tavern, game.room("Yard"))
    create_object(ContribContainer, key="chest", location=tavern)
    game.thing("ring", mira)
    mira.journal.add("Ann is a smith.")
    mira.ai_goals.add("Sell beer.")
    compact(mira)
    mira.assistant.attributes.add("autonomous_calls_per_hour", 10)
    game.model.add(call("noop"))
    game.service.attend(mira.assistant.mind)
    game.run(60)
    game.run()
    mira.assistant.attributes.add("mask_threshold", 0.05)
    mira.assistant.attributes.add("max_context_tokens", 4_000)
    assert set(ask(game, ann)) == set(game.service.toolbox.tools)


@pytest.mark.parametrize(("permission", "is_shown"), [("Builder", True), (None, False)])
def test_sleep_is_for_those_who_may_ask_for_it(game, mira, tavern, permission, is_shown):
    speaker = game.player("Bea", tavern, permissions=[permission] if permission else [])
    assert ("go_to_sleep" in ask(game, speaker)) is is_shown


def test_goals_come_with_a_promise_or_with_a_goal(game, ann, mira):
    assert "set_goal" not in ask(game, ann)
    mira.ai_goals.add("Sell beer.")
    assert {"set_goal", "update_goal"} <= set(ask(game, ann))


def test_after_sleep_and_after_a_compaction_the_list_begins_anew(game, ann, mira, tavern):
    mug = game.thing("mug", tavern)
    assert "get" in ask(game, ann)
    mug.delete()
    assert "get" in ask(game, ann)
    mira.assistant.mind.rest.fall_asleep(WISH)
    mira.assistant.mind.rest.wake_up("a test")
    assert ask(game, ann) == ALWAYS
    mug = game.thing("mug", tavern)
    assert "get" in ask(game, ann)
    mug.delete()
    compact(mira)
    assert ask(game, ann) == [*ALWAYS, "search_history"]


def test_a_tool_that_is_not_shown_still_runs_in_its_category(game, ann, mira):
    stone = game.thing("stone", None)

    def drops_what_it_just_found(request):
        assert "drop" not in shown(game)
        stone.location = mira
        return call("drop", item="stone")

    game.model.add(drops_what_it_just_found, call("noop"))
    ann.do("say Mira, hello")
    game.run(1)
    assert stone.location is mira.location
    specs = {spec.name: spec for spec in game.service.toolbox.offered(context_of(mira, ann))}
    assert (specs["wait"].shown, specs["wait"].tokens) == (False, 0)
    assert specs["follow"].category == "once"


def context_of(mira, player):
    heard_by = frozenset({player.dbref})
    parts = mira.assistant.mind.acts.tools
    return ToolContext(mira, heard_by, False, heard_by, assistant=parts)


class OwnArguments(BaseModel):
    """Words that no model reads."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(description="Of the book.")
    default: int | None = None
    pages: int = 3
    note: str = ""


@tool("read_book")
def read_book(context, arguments: OwnArguments) -> str:
    """Read a book."""
    return "It is dull."


@tool("get")
def own_get(context, arguments: OwnArguments) -> str:
    """Take a book."""
    return "You take it."


def test_a_games_own_tools_are_always_shown(game, ann, mira):
    game.service.toolbox.add(read_book)
    game.service.toolbox.add(own_get)
    assert {"read_book", "get"} <= set(ask(game, ann))


def test_a_games_test_that_raises_hides_no_tool(game, ann, mira):
    def broken(context):
        raise RuntimeError("no")

    @tool("read_book", needed=broken)
    def read(context, arguments: OwnArguments) -> str:
        """Read a book."""

    game.service.toolbox.add(read)
    assert "read_book" in ask(game, ann)


def test_a_schema_keeps_what_a_model_needs_and_nothing_else():
    assert read_book.spec.schema["function"] == {
        "name": "read_book",
        "description": "Read a book.",
        "parameters": {
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "Of the book."},
                "default": {"type": "integer"},
                "pages": {"type": "integer", "default": 3},
                "note": {"type": "string"},
            },
            "required": ["title"],
        },
    }


def test_schemas_within_schemas_are_brief_too():
    class Page(BaseModel):
        """A page."""

        number: int | str
        words: list[str] = Field(default_factory=list)

    class Book(BaseModel):
        pages: list[Page]
        last: Page | None = None

    assert brief_schema(Book.model_json_schema()) == {
        "$defs": {
            "Page": {
                "description": "A page.",
                "properties": {
                    "number": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                    "words": {"items": {"type": "string"}, "type": "array"},
                },
                "required": ["number"],
                "type": "object",
            }
        },
        "properties": {
            "pages": {"items": {"$ref": "#/$defs/Page"}, "type": "array"},
            "last": {"$ref": "#/$defs/Page"},
        },
        "required": ["pages"],
        "type": "object",
    }
