"""A new game with Evennia's ``rpsystem``, extended rooms, containers, and several sessions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.running import wait_until
from tests.e2e.fresh_game import ADMIN, Block, FreshGame
from tests.e2e.harness import PASSWORD
from tests.e2e.telnet import TelnetPlayer
from tests.provider import FaultyProvider

SETTINGS = "server/conf/settings.py"
CHARACTERS = """
from evennia.contrib.rpg.rpsystem.rpsystem import ContribRPCharacter
from evennia_ai.assistant_character import SpeakerMixin


class Character(SpeakerMixin, ContribRPCharacter):
    pass
"""
ROOMS = """
from evennia.contrib.grid.extended_room.extended_room import ExtendedRoom


class Room(ExtendedRoom):
    pass
"""
CHEST = "evennia.contrib.game_systems.containers.containers.ContribContainer"


def answer(stub: FaultyProvider, *calls: tuple[str, dict[str, str]]) -> None:
    """Let the stub answer the next requests with these tool calls, one for each request.

    A turn may go on after what a player saw of it: the last ones must be used up first.
    """
    assert wait_until(lambda: stub.control() == 0, 20)
    queue = [{"tool_calls": [{"name": name, "arguments": given}]} for name, given in calls]
    stub.control(queue=queue)


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyProvider]:
    """A provider that answers as `answer` says."""
    with FaultyProvider(tmp_path_factory.mktemp("stub") / "requests.jsonl") as stub:
        yield stub


@pytest.fixture(scope="module")
def game(
    game_template: Path, tmp_path_factory: pytest.TempPathFactory, stub: FaultyProvider
) -> Iterator[FreshGame]:
    """The game of the quick start, with other classes of characters and rooms."""
    game = FreshGame(tmp_path_factory.mktemp("other"), template=game_template)
    game.env.update(OPENAI_BASE_URL=stub.base_url, EVENNIA_AI_MODEL="stub-1")

    def write(block: Block) -> None:
        game.do(block)
        game.write(SETTINGS, "MAX_NR_CHARACTERS = 2\n")
        (game.folder / "typeclasses" / "characters.py").write_text(CHARACTERS)
        (game.folder / "typeclasses" / "rooms.py").write_text(ROOMS)

    try:
        game.follow("quick-start.md", "Install", instead={f"python {SETTINGS}": write})
        admin = game.enter(ADMIN)
        told(admin, "aisetup/new Tobin = You are Tobin, an innkeeper.", "Tobin has an assistant")
        told(admin, 'py self.search("Tobin").sdesc.add("a stout innkeeper")', "a stout innkeeper")
        yield game
    finally:
        game.discard()


def told(player: TelnetPlayer, line: str, answer: str) -> None:
    """Type a line and wait for what must come."""
    player.send(line)
    player.expect(answer, 20.0)


def test_short_descriptions_recognition_and_masks_over_telnet(
    game: FreshGame, stub: FaultyProvider
) -> None:
    admin, ann = game.enter(ADMIN), game.enter("Ann")
    told(ann, "sdesc a small girl", "sdesc was set")
    answer(stub, ("say", {"text": "Welcome: either/or."}))
    told(ann, "say Good evening, innkeeper!", 'A stout innkeeper says, "Welcome: either/or."')
    admin.expect('A small girl says, "Good evening, innkeeper!"', 20.0)
    admin.expect('A stout innkeeper says, "Welcome: either/or."', 20.0)
    told(ann, "recog stout innkeeper as Grumble", "You will now remember")
    answer(stub, ("say", {"text": "Right here."}))
    told(ann, "say Grumble, are you there?", 'Grumble says, "Right here."')
    answer(stub, ("emote", {"text": "nods at a small girl."}), ("noop", {}))
    told(ann, "emote /me bows to /grumble", "Grumble nods at Ann.")
    answer(stub, ("whisper", {"text": "I tell nobody."}))
    told(ann, "whisper grumble = A secret.", 'Grumble whispers: "I tell nobody."')
    told(ann, "mask a hooded figure", "You wear a mask")
    answer(stub, ("say", {"text": "I cannot tell."}))
    told(ann, "say Grumble, who am I?", 'Grumble says, "I cannot tell."')
    asked = str([request["body"]["messages"] for request in stub.requests()])
    assert "a small girl acts out: bows to Tobin." in asked
    assert "a small girl whispers to you: A secret." in asked
    assert "a hooded figure [masked] says: Grumble, who am I?" in asked
    told(ann, "unmask", "You remove your mask")
    assert "/Me" not in admin.clean + ann.clean
    assert "Traceback" not in game.log()


def test_rooms_with_details_and_things_in_containers(game: FreshGame, stub: FaultyProvider) -> None:
    admin = game.enter(ADMIN)
    admin.send('py here.add_detail("tapestry", "A stag hunt.")')
    told(admin, f"create/drop chest:{CHEST}", "You create a new ContribContainer: chest")
    told(admin, "create/drop ring", "You create a new Object: ring")
    answer(stub, ("look", {"target": "tapestry"}), ("say", {"text": "A hunt, in wool."}))
    told(admin, "say Innkeeper, what shows the tapestry?", 'says, "A hunt, in wool."')
    assert "tapestry: A stag hunt." in str(stub.requests()[-1]["body"]["messages"])
    answer(
        stub,
        ("get", {"item": "ring"}),
        ("put", {"item": "ring", "into": "chest"}),
        ("say", {"text": "There it lies."}),
    )
    told(admin, "say Innkeeper, put the ring away.", "puts a ring in a chest.")
    admin.expect('says, "There it lies."', 20.0)
    assert "Traceback" not in game.log()


@pytest.mark.parametrize("mode", [2, 3])
def test_several_sessions_of_one_account(game: FreshGame, stub: FaultyProvider, mode: int) -> None:
    game.shell("evennia stop")
    game.write(SETTINGS, f"MULTISESSION_MODE = {mode}\nMAX_NR_SIMULTANEOUS_PUPPETS = 2\n")
    game.shell("evennia start")
    first = game.enter("Ann")
    with game.connect("Ann again") as second:
        second.expect("connect <", 20.0)
        told(second, f"connect Ann {PASSWORD}", "You become Ann")
        if mode == 2:  # each session plays another character
            told(second, "charcreate Berta", "Created new character Berta")
            told(second, "ic Berta", "You become Berta")
            told(first, "ic Ann", "You become Ann")
        answer(stub, ("say", {"text": f"One of {mode}."}))
        told(second, "say Good evening, innkeeper!", f'says, "One of {mode}."')
        first.expect(f'says, "One of {mode}."', 20.0)
        answer(stub, ("say", {"text": f"Two of {mode}."}))
        told(first, "say Innkeeper, good evening!", f'says, "Two of {mode}."')
        second.expect(f'says, "Two of {mode}."', 20.0)
        assert second.clean.count(f"of {mode}.") == first.clean.count(f"of {mode}.") == 2
    assert "Traceback" not in game.log()
