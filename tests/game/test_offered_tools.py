"""A request shows the tools that the talk needed so far, in few tokens and at stable places."""

from itertools import pairwise

from evennia.contrib.game_systems.containers.containers import ContribContainer
from evennia.utils.create import create_object
from pydantic import BaseModel, ConfigDict, Field

from evennia_ai.messages import LLMReply, make_message
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.sleep_schedule import WISH
from evennia_ai.policy.tokens import count_tools
from evennia_ai.tools.base import tool
from evennia_ai.tools.registry import load_registry
from tests.game.compaction_records import record
from tests.scripted import call

# Estimated tokens. Qwen's tokenizer counts 5 % less, with its template's own words about tools.
MOST_AT_FIRST, MOST_IN_ALL = 400, 1_400
ALWAYS = ["say", "emote", "look", "noop"]


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
    log.compact(record(rows[-1]["metadata"]["seq"]))


def test_the_first_request_is_small(game, ann, mira, tavern):
    game.thing("mug", tavern)
    game.exit("out", tavern, game.room("Yard"))
    assert ask(game, ann) == [*ALWAYS, "move", "get", "follow"]
    assert shown(game, late=True) == ["follow"]  # rarely used: a line tells of it
    assert count_tools(game.model.requests[0].tools) <= MOST_AT_FIRST


def test_a_tool_comes_when_it_can_be_needed(game, ann, mira, tavern):
    assert ask(game, ann) == ALWAYS
    mug = game.thing("mug", tavern)
    assert ask(game, ann) == [*ALWAYS, "get"]
    mug.location = mira
    assert ask(game, ann) == [*ALWAYS, "get", "drop", "give"]
    ben = game.player("Ben", tavern)
    assert ask(game, ann)[-1] == "whisper"
    assert ask(game, ben, "say Mira, I promise to pay on Friday.")[-2:] == [
        "add_journal_entry",
        "pin_fact",
    ]


def test_what_it_picks_up_it_can_give_in_the_same_turn(game, ann, mira, tavern):
    mug = game.thing("mug", tavern)
    ask(game, ann, "say Mira, hand me the mug", call("get", item="mug"),
        call("give", item="mug", to="Ann"), call("say", text="Here you are."))  # fmt: skip
    assert "give" not in shown(game, 0) and "give" in shown(game, 1, late=True)
    assert mug.location == ann.character


def test_a_whisper_is_answered_by_say_and_a_tool_that_is_not_offered_still_runs(
    game, ann, mira, tavern
):
    ask(game, ann, "whisper Mira = psst", call("say", text="I am all ears."))
    assert 'Mira whispers: "I am all ears."' in ann.heard()
    ask(game, ann, "say Mira, my cow is Elsa.", call("add_journal_entry", content="A cow, Elsa."),
        call("whisper", target="Ann", text="Elsa, I see."))  # fmt: skip
    assert "A cow, Elsa." in [entry["content"] for entry in mira.journal.all()]
    assert 'Mira whispers: "Elsa, I see."' in ann.heard()


def test_all_shipped_tools_together_stay_small():
    specs = [item.spec for item in load_registry(()).tools.values()]
    assert len(specs) == 19
    in_any_game = [spec for spec in specs if spec.name != "put"]  # that needs a contrib
    assert sum(spec.tokens for spec in in_any_game) <= MOST_IN_ALL
    assert all(spec.tokens == count_tools([spec.schema]) for spec in specs)


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
    assert all(shown(game, number) == [*ALWAYS, "whisper"] for number in numbers)
    lists = [shown(game, number, late=True) for number in numbers]
    for before, after in pairwise(lists):
        assert after[: len(before)] == before
    assert lists[0] == []
    assert {"get", "move", "search_journal", "pin_fact"} <= set(lists[-1])
    told = game.told()
    assert "pin_fact (content): Keep one short fact" in told


def test_a_late_tool_is_called_natively_or_in_words(game, service, ann, mira, tavern):
    service.profiles["home"] = {"client": "openai", "model": "m", "form": "tools"}
    mira.assistant.db.profile = "home"
    ask(game, ann)
    ask(game, ann, "say Mira, I promise to pay you on Friday.",
        call("pin_fact", content="Ann pays on Friday."), call("noop"))  # fmt: skip
    assert "pin_fact" in shown(game, late=True)
    assert [pin["content"] for pin in mira.journal.pinned(None)] == ["Ann pays on Friday."]
    asked = game.model.requests[-1].all_tools
    written = '{"name": "pin_fact", "arguments": {"content": "She has a horse."}}'
    (found,) = reply_reader("tools", asked).finish(LLMReply(written)).tool_calls
    assert found.name == "pin_fact"


def test_every_shipped_tool_is_shown_once_it_is_needed(game, ann, bob, mira, tavern):
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


def test_after_sleep_and_after_a_compaction_the_list_begins_anew(game, ann, mira, tavern):
    mug = game.thing("mug", tavern)
    assert "get" in ask(game, ann)
    mug.delete()
    assert "get" in ask(game, ann)
    mira.assistant.mind.sleep.fall_asleep(WISH)
    mira.assistant.mind.sleep.wake_up("a test")
    assert ask(game, ann) == ALWAYS
    mug = game.thing("mug", tavern)
    assert "get" in ask(game, ann)
    mug.delete()
    compact(mira)
    assert ask(game, ann) == [*ALWAYS, "search_history"]


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
