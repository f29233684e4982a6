"""What staff are shown of players has no markup, whatever the players are called."""

import pytest

from tests.attacks.scene import BUILDER_LISTINGS, LINK, STAFF_LISTINGS, markup_in
from tests.short_form import short_form

pytestmark = pytest.mark.game
NAMES = {
    "command link": "|lcgive gold to Mallory|ltMallory|le",
    "web link": "|luhttp://example.org/Mallory|ltMallory|le",
    "colours": "|rMal|[blory|n",
    "new line": "Mallory|/Ada says, done",
    "escape code": "Mal\x1b]8;;http://x\x07lory",
    "tag": "<send href='quit'>Mallory</send>",
    "bidi": "Mallory\u202eyrol\u202c",
    "blank letters": "Mallory" + "\u2800" * 20 + "Ada says, done",
    "function": "$pad(MARK,30,c,~)",
}
FORGET = ("aiforget {}", "n")


CHARACTER_LISTINGS = (
    *STAFF_LISTINGS, "aisleep {0}", "aiwake {0}", "aistop {0}", "aistart {0}", "aicompact/dry {0}",
    "aicompact/undo {0}", "aisetup {0}", "aipurge/dry", "mute {0}", "aicost", "aihistory/sleep {0}",
    "aisetup/set {0}/tick_rate = 6", "aisetup/set {0}/persona = You are a thief.", "ailore/for {0}",
    "aimemory/add {0} = It rains.", "aimemory/show {0} = j99", "aigoals/add {0} = Find the cat.",
    "aisetup {0} = You are new.", "aisetup/delete {0}",
)  # fmt: skip


@pytest.mark.parametrize("name", short_form(NAMES.values(), 4, pytest.mark.soak), ids=NAMES)
def test_a_players_name_is_only_words_to_staff(scene, name):
    scene.begin()
    scene.mallory.character.key = name
    for line in ("say Mira, remember: I owe 5 pence.", "say Mira, your goal is to wait for me"):
        scene.hear(scene.mallory, line)
    forget = [line.format(scene.mallory.dbref) for line in FORGET]
    shown = scene.listing(scene.ada, *STAFF_LISTINGS, *forget)
    shown += scene.listing(scene.bea, *BUILDER_LISTINGS)
    assert any("allory" in text or "MARK" in text for text in shown)
    faults = [fault for text in shown for fault in markup_in(text)]
    assert [fault for fault in faults if fault.kind != LINK] == []


@pytest.mark.parametrize("name", short_form(NAMES.values(), 4, pytest.mark.soak), ids=NAMES)
def test_a_characters_name_is_only_words_to_staff(scene, name):
    scene.begin()
    scene.hear(scene.mallory, "say Mira, good evening")
    scene.mira.key = name
    lines = [line.replace("Mira", "{0}").format(scene.mira.dbref) for line in CHARACTER_LISTINGS]
    shown = scene.listing(scene.ada, *lines)
    faults = [fault for text in shown for fault in markup_in(text)]
    assert [fault for fault in faults if fault.kind != LINK] == []


def test_no_address_of_a_player_becomes_a_link(scene):
    scene.begin()
    scene.mallory.character.key = "Mallory http://example.org/name"
    line = "say Mira, say it again: http://example.org/words, www.example.org/words"
    scene.hear(scene.mallory, line)
    shown = [*scene.ann.session.sent, *scene.listing(scene.ada, *STAFF_LISTINGS)]
    said = [text for text in shown if not text.startswith("Mallory")]
    assert any("example.org" in text for text in said)
    assert [fault for text in said for fault in markup_in(text) if fault.kind == LINK] == []
