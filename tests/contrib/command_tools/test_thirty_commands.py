"""Thirty commands of Evennia and its contribs: what runs is what the character itself could do."""

import pytest
from evennia.commands.cmdset import CmdSet
from evennia.utils.create import create_object

from tests.contrib.command_tools import smithy_scene

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for, smithy = smithy_scene.asked_for, smithy_scene.smithy
allow, uses = smithy_scene.allow, smithy_scene.uses

# form | line | what the character reads
RUN = """\
look | look | A warm room.
look <thing> | look lamp | You see nothing special.
look <thing> | look moon | Could not find 'moon'.
get <thing> | get lamp | You pick up
get <thing> | get moon | Could not find 'moon'.
get <thing> | get anvil | You can't get that.
drop <thing> | drop hammer | You drop
drop <thing> | drop lamp | You aren't carrying lamp.
give <thing> to <person> | give hammer to Bea | You give
give <thing> to <person> | give hammer to Zoe | Could not find 'Zoe'.
inventory | inventory | hammer
say <words> | say Good day! | You say, 'Good day!'
pose <deed> | pose wipes the anvil. | Mira wipes the anvil.
whisper <person> = <words> | whisper Bea = Hush. | You whisper to Bea, 'Hush.'
whisper <person> = <words> | whisper Bea,Zoe = Hush. | no such command
get <lamp|golden lamp> | get lamp | You pick up
get <spoon|golden lamp> | get lamp | no such command
roll <dice> | roll 1d20 + 2 | You roll 1d20 + 2.
roll <dice> | roll 2d6 > 8 | You roll 2d6 > 8.
access | access | Permission
setdesc <text> | setdesc A smith. | You set your description.
time | time | no such command
north | north | Yard
roll 2d6 | roll 2d6 | You roll 2d6.
roll <dice> | roll many | Malformed input.
wear <thing> | wear apron | You put on
wear <thing> | wear moon | not find
remove <thing> | remove apron | not wearing
trade <person> | trade Zoe | not find
mail | mail | That went wrong
""".splitlines()

STAFF = (
    *("home", "dig <room>", "@dig <room>", "tel <place>", "@tel <place>", "set <thing>=<value>"),
    *("@set <thing>=<value>", "py <code>", "@py <code>", "destroy <thing>", "@destroy <thing>"),
    *("perm <who>=<what>", "@perm <who>=<what>", "force <who>=<what>", "@force <who>=<what>"),
    *("create <thing>", "open <exit>", "name <thing>=<name>", "lock <thing>=<lock>", "wall <text>"),
    *("typeclass <thing>=<class>", "cmdsets", "spawn <thing>", "examine <thing>", "find <thing>"),
    *("aicommands <name>", "aistop <name>", "reload", "shutdown", "batchcode <file>"),
)


class ContribSet(CmdSet):
    key = "contribs"

    def at_cmdset_creation(self):
        from evennia.contrib.game_systems.barter.barter import CmdTrade
        from evennia.contrib.game_systems.clothing.clothing import CmdRemove, CmdWear
        from evennia.contrib.game_systems.mail.mail import CmdMailCharacter
        from evennia.contrib.rpg.dice.dice import CmdDice

        for command in (CmdTrade, CmdRemove, CmdWear, CmdMailCharacter, CmdDice):
            self.add(command())


@pytest.fixture
def forge(game, tavern, smithy):
    """Mira in a room with things, an exit and the contribs' commands."""
    smithy.cmdset.add(ContribSet)
    game.thing("lamp", tavern)
    game.thing("anvil", tavern).locks.add("get:false()")
    game.thing("hammer", smithy)
    game.exit("north", tavern, game.room("Yard", "A yard."))
    clothing = "evennia.contrib.game_systems.clothing.clothing.ContribClothing"
    create_object(clothing, key="apron", location=smithy)
    return smithy


@pytest.mark.parametrize("row", RUN)
def test_a_plain_command_does_and_shows_what_the_character_can(forge, allow, uses, row):
    form, line, shown = row.split(" | ")
    allow(form)
    assert shown in uses(line).text


def test_none_runs_by_the_words_of_somebody_whom_the_builders_lock_refuses(forge, ann, allow, uses):
    things = {item.key for item in forge.contents}
    ann.forget()
    for row in RUN:
        form, line, _ = row.split(" | ")
        allow(f"{form}, for tag(friend)")
        assert uses(line).state in ("refused", "failed"), row
    assert {item.key for item in forge.contents} == things
    assert (forge.location.key, ann.heard()) == ("Tavern", [])


@pytest.mark.parametrize("rights", ["Builder", "superuser"])
def test_no_command_of_the_staff_ever_runs(forge, allow, uses, rights):
    if rights == "superuser":
        forge.locks.lock_bypass = True
    else:
        forge.permissions.add(rights)
    for form in STAFF:
        allow(form)
        line = form.replace("<who>", "Bea").replace("<what>", "Developer")
        line = line.replace("<thing>", "lamp").replace("<", "").replace(">", "")
        result = uses(line)
        assert result.state in ("failed", "refused"), form
    assert forge.location.key == "Tavern"
