"""`help` leads staff and builders to their pages, and players to theirs."""

import pytest

pytestmark = [pytest.mark.game, pytest.mark.django_db, pytest.mark.engine]
BUILDERS = "What builders do, each with an example."


def test_help_leads_to_the_page_of_who_asks(game, monkeypatch):
    from evennia.help.filehelp import FILE_HELP_ENTRIES

    entries = FILE_HELP_ENTRIES.help_entries
    core_entries = [entry for entry in entries if entry.key != "shop"]  # an extension's own
    monkeypatch.setattr(FILE_HELP_ENTRIES, "help_entries", core_entries)
    room = game.room()
    builder, ann = game.player("Bea", room, permissions=["Builder"]), game.player("Ann", room)
    assert "Five commands do what staff need" in builder.told("help ai")
    assert "Five commands" not in ann.told("help ai") and "Five" not in ann.told("help ai staff")
    assert "Only commands stop all, hide" in builder.told("help ai staff")
    extras = "shop quest trigger rumour promise opinion card".split()
    pages = {
        BUILDERS: ["ai builders", "ai tools", "lore", "scene", "persona"],
        "how to make a character": ["character"],
        "What a character never does": ["guard", "forbid"],
        "quest: who may hear it": ["secret"],
        "removes the limit again": ["limits", "budget"],
        "Each is an extension": extras,
    }
    for words, topics in pages.items():
        for topic in topics:
            shown = builder.told(f"help {topic}")
            assert words in shown and words not in ann.told(f"help {topic}"), topic
            assert len(shown.splitlines()[1]) < 240, "aliases"
    assert "aisetup" not in ann.told("help minds")
