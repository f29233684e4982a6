"""The tools of the server: each is a command of the staff, run as the account that logged in.

So whatever a command may show or change for somebody, and no more, an agent may. A command runs on
the reactor's thread, and its words come back without colours.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from evennia.utils.ansi import strip_ansi
from pydantic import BaseModel, Field, create_model
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.cmdset import all_commands
from evennia_ai.commands.common import AICommand
from evennia_ai.errors import AssistantError
from evennia_ai.game.perception import listed_by
from evennia_ai.game.settings import game_setting
from evennia_ai.scheduling import Coroutine

ONE_SIDE = r"^[^=/\n]+$"  # what stands before the = of a command


class StaffToolError(AssistantError):
    """A tool cannot be used; the text says why."""


CHARACTER = (str, Field(pattern=ONE_SIDE, description="its name, or a number such as #12"))
PAGES = "a page, 1 is the newest"
FILTERS = "since <time>, until <time>, player <name>, search <words>, page <number>"


class StaffTool(NamedTuple):
    """A tool, and the command that it is: ``line`` has the command's switch, then what follows."""

    description: str
    command: str
    line: str
    arguments: Mapping[str, Any]  # type and `Field` by name
    writes: bool = False

    def model(self) -> type[BaseModel]:
        """Return the pydantic model of the arguments."""
        model: type[BaseModel] = create_model(self.command, **self.arguments)
        return model


TOOLS: Mapping[str, StaffTool] = {
    "list_characters": StaffTool(
        "All characters that have a mind: what they do, what they cost, and what is wrong.",
        "aistatus", "", {},
    ),
    "read_character": StaffTool(
        "Who a character is: its persona, and its settings.",
        "aisetup", " {character}", {"character": CHARACTER},
    ),
    "read_history": StaffTool(
        "What a character heard and said, with who heard it.",
        "aihistory", " {character} = {wanted}",
        {"character": CHARACTER,
         "wanted": (str, Field("1", description=f"{PAGES}; or with commas between: {FILTERS}"))},
    ),
    "why": StaffTool(
        "Why a character said a line: what it was shown, and where each sentence comes from.",
        "aiwhy", " {character} = {line}",
        {"character": CHARACTER,
         "line": (str, Field("1", description="1 for its last line, or words of the line"))},
    ),
    "read_memory": StaffTool(
        "The journal of a character, newest first.",
        "aimemory", " {character} = {page}",
        {"character": CHARACTER, "page": (int, Field(1, ge=1, description=PAGES))},
    ),
    "search_memory": StaffTool(
        "What a character remembers about something, best first.",
        "aimemory", "/search {character} = {words}",
        {"character": CHARACTER, "words": (str, Field(min_length=1))},
    ),
    "read_lore": StaffTool(
        "What is written about the world: all entries, or one in full.",
        "ailore", " {title}",
        {"title": (str, Field("", pattern=r"^[^=\n]*$", description="none for all"))},
    ),
    "write_lore": StaffTool(
        "Write an entry about the world; it replaces the one with the same title.",
        "ailore", "/set {title} : {scopes} = {text}",
        {"title": (str, Field(pattern=r"^[^=:\n]+$", max_length=80)),
         "text": (str, Field(min_length=1)),
         "scopes": (str, Field("all", pattern=r"^[^=\n]+$", description="who knows it: all, "
                    "tag:<tag>, faction:<name>, room:<tag>, quest:<flag>; commas between"))},
        writes=True,
    ),
    "set_persona": StaffTool(
        "Write who a character is; what it remembers stays.",
        "aisetup", "/set {character}/persona.text = {text}",
        {"character": CHARACTER,
         "text": (str, Field(min_length=1, description="said to it: You are ..."))},
        writes=True,
    ),
}  # fmt: skip


def tools_of(account: Any) -> dict[str, StaffTool]:
    """Return the tools whose commands an account may use, without writing if the game is not set.

    A tool is missing with the extension whose command it is.
    """
    usable = {
        command.key for command in all_commands() if command().access(account, "cmd", default=False)
    }
    writes = game_setting("MCP_WRITES", False)
    return {
        name: tool
        for name, tool in TOOLS.items()
        if tool.command in usable and (writes or not tool.writes)
    }


@inlineCallbacks
def run_tool(account: Any, tool: StaffTool, given: Mapping[str, Any]) -> Coroutine[str]:
    """Run a command as an account, on the reactor's thread.

    Fires with what it told its caller; fails with `StaffToolError`.
    """
    caller = next(iter((*account.get_all_puppets(), *listed_by(account))), None)
    if caller is None:
        raise StaffToolError("Your account has no character in this game. Make one, and try again.")
    command = captured(next(item for item in all_commands() if item.key == tool.command), account)
    values = tool.model()(**given).model_dump()
    command.caller, command.cmdstring, command.session = caller, command.key, None
    command.args = tool.line.format(**values)
    command.parse()
    if command.func() is not None:
        raise StaffToolError("The command asks something first. Use it in the game.")
    if isinstance(command.outcome, Deferred):
        yield command.outcome
    words: str = strip_ansi("\n".join(command.said))
    return words.strip()


def captured(command: type[AICommand], account: Any) -> Any:
    """Return a command that keeps what it says, and asks the account's permissions.

    A character that nobody plays has the permissions of its own alone.
    """

    class CapturedCommand(command):  # type: ignore[misc, valid-type]
        auto_help = False

        def __init__(self) -> None:
            super().__init__()
            self.said: list[str] = []
            self.outcome: Any = None

        def run(self) -> Any:
            self.outcome = super().run()
            return self.outcome

        def msg(self, text: Any = "", **kwargs: Any) -> None:
            self.said.append(str(text[0] if isinstance(text, tuple) else text))

        def tell(self, lines: Any) -> None:
            self.said.append(lines if isinstance(lines, str) else "\n".join(lines))

        def has_permission(self, permission: str) -> bool:
            return bool(account.locks.check_lockstring(account, f"may:perm({permission})"))

        def may_edit(self, character: Any) -> bool:
            return any(character.access(account, right) for right in ("edit", "control"))

    return CapturedCommand()
