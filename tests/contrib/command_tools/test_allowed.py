"""What a builder writes, and which lines it lets through."""

import pytest

from evennia_ai.contrib.command_tools.allowed import AllowedCommand, read_command, read_commands
from evennia_ai.errors import ConfigError

pytestmark = [pytest.mark.game, pytest.mark.engine]


def test_a_command_is_read_with_its_limit_its_lock_and_its_mark():
    typed = "forge  <thing> , 3 per hour, for attr(skill, 3) or perm(Smith), game text"
    command = read_command(typed)
    lock = "attr(skill, 3) or perm(Smith)"
    assert command == AllowedCommand("forge <thing>", 3, 3_600, lock, True)
    assert read_command(command.written) == command
    assert read_command("open gate, for all") == AllowedCommand("open gate")


def test_what_is_written_is_read_again():
    text = "page <who>=<words>, 2 per day; open gate, 1 per 30 minutes; forge <x>, for tag(a)"
    assert "; ".join(command.written for command in read_commands(text)) == text


WRONG = (
    *("", "<verb> <thing>", "x" * 81, "forge; py", "forge $eval(1)", "forge |lc"),
    *("give <a> to <b> with <c> by <d>", "give <a><b>", "give <a> <b>", "roll <n>, quickly"),
    *("look && shutdown", "forge, 1 per 0 minutes"),
    *("forge, 0 per hour", "forge, 3 per week", "forge, for nobody", "forge, for nosuch(1)"),
)


@pytest.mark.parametrize("written", WRONG)
def test_what_is_no_command_is_refused_with_a_sentence(written):
    with pytest.raises(ConfigError, match=r"command|comma|wrong"):
        read_command(written)


@pytest.mark.parametrize(
    ("form", "line", "slots"),
    [
        ("forge <thing>", "Forge iron sword", ("iron sword",)),
        ("give <thing> to <person>", "give ale to Bob", ("ale", "Bob")),
        ("page <person>=<words>", "page Bob=Well met!", ("Bob", "Well met!")),
        ("page <person>=<words>", "page Bob,Amy=Well met!", None),
        ("page <person>=<words>", "page Bob=Well, well!", ("Bob", "Well, well!")),
        ("get <spoon|golden ring>", "get Golden Ring", ("Golden Ring",)),
        ("get <spoon|golden ring>", "get ring", None),
        ("get <spoon|ring> from <box>", "get spoon from box", ("spoon", "box")),
        ("open gate", "open gate", ()),
        ("open gate", "open gates", None),
        ("forge <thing>", "forge", None),
        ("forge <thing>", "unforge sword", None),
        ("forge <thing>", "say forge sword", None),
        ("forge <thing>", "forge ", None),
        ("give <thing> to <person>", "give to to to", ("to", "to")),
        ("give <thing> to <person> now", "give ale to Bob nowhere", None),
        (
            "give <thing> to <person> now",
            "give ale to Bob now or now now",
            ("ale", "Bob now or now"),
        ),
    ],
)
def test_only_lines_of_its_form_are_let_through(form, line, slots):
    assert read_command(form).slots(line) == slots
