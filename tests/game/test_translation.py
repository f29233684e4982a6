"""The German translation is whole, compiled, and what players read when the game is German.

After a change of ``django.po``:

    DJANGO_SETTINGS_MODULE=server.conf.settings python -m tests.game.test_translation --write

compiles it; no other program is needed.
"""

import ast
import re
import struct
import sys
from pathlib import Path

import pytest
from django.utils import translation

import evennia_ai
from evennia_ai.game.texts import TEXTS, fields_of
from tests.scripted import call

FOLDER = Path(evennia_ai.__file__).parent / "locale" / "de" / "LC_MESSAGES"
ENTRY = re.compile(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', re.M)
MARKUP = re.compile(r"\|\w")
MAGIC, HEADER_BYTES = 0x950412DE, 28


def read_catalogue(po):
    """Original → translation; the empty original has the catalogue's own header."""
    return {unquote(m[1]): unquote(m[2]) for m in ENTRY.finditer(po)}


def unquote(lines):
    return "".join(ast.literal_eval(line) for line in lines.splitlines())


def compile_catalogue(catalogue):
    """The bytes of a .mo file: header, two tables of (length, offset), then the strings."""
    pairs = sorted((a.encode(), b.encode()) for a, b in catalogue.items() if b)
    count = len(pairs)
    originals, translations = HEADER_BYTES, HEADER_BYTES + 8 * count
    start = HEADER_BYTES + 16 * count
    tables, data = [], b""
    for column in (0, 1):
        for pair in pairs:
            tables.append((len(pair[column]), start + len(data)))
            data += pair[column] + b"\0"
    header = struct.pack("<7I", MAGIC, 0, count, originals, translations, 0, start)
    return header + b"".join(struct.pack("<2I", *entry) for entry in tables) + data


@pytest.fixture(scope="module")
def catalogue():
    return read_catalogue((FOLDER / "django.po").read_text(encoding="utf-8"))


def test_the_compiled_catalogue_is_that_of_the_readable_one(catalogue):
    assert (FOLDER / "django.mo").read_bytes() == compile_catalogue(catalogue)


def test_every_line_for_players_is_translated_and_nothing_else(catalogue):
    assert set(catalogue) - {""} == set(TEXTS.values())
    assert all(catalogue.values())


@pytest.mark.parametrize("key", TEXTS)
def test_a_translation_has_the_fields_and_the_markup_of_its_original(catalogue, key):
    line = TEXTS[key]
    assert fields_of(catalogue[line]) == fields_of(line)
    assert MARKUP.findall(catalogue[line]) == MARKUP.findall(line)


@pytest.fixture
def translated(settings):
    """Evennia leaves translation off, and Django remembers that from its first use."""

    def forget():
        vars(translation._trans).pop("gettext", None)

    forget()
    settings.USE_I18N = True
    yield
    forget()


@pytest.fixture
def german(game, settings, translated):
    """A German game with Mira, Ann and a mug in one room."""
    settings.LANGUAGE_CODE = "de"
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 0}
    tavern = game.room()
    game.assistant("Mira", tavern)
    game.thing("Krug", tavern)
    return game.player("Ann", tavern)


def test_what_the_room_sees_and_players_are_told_comes_in_german(game, german):
    game.model.add(call("get", item="Krug"), call("noop"))
    german.do("say Mira?")
    game.run()
    heard = "\n".join(german.heard())
    assert "Mira wird von einem Computerprogramm gespielt." in heard
    assert "Mira nimmt Krug an sich." in heard
    german.do("mute Mira")
    assert "Du hörst Mira nicht mehr" in german.last()


def test_why_a_deed_was_not_done_is_told_in_german_and_stays_english_for_models(game, german):
    from evennia_ai.assistant_script import AssistantScript  # needs Django's apps

    mira = AssistantScript.objects.get().mind
    lines = {
        "cannot_find_own": ({"item": "'Krug'"}, "Nichts namens 'Krug' ist zur Hand."),
        "cannot_offer_more": (
            {"name": "Mira", "item": "'Krug'"},
            "Mira hat davon nicht mehr: 'Krug'.",
        ),
        "cannot_pay": ({"name": "Ann", "price": "8 coins"}, "Ann hat den Preis nicht: 8 coins."),
        "cannot_now": ({}, "Das geht gerade nicht."),
    }
    for key, (values, line) in lines.items():
        mira.status.tell("confirm_failed", [german.character.dbref], TEXTS[key].format(**values))
        assert german.last() == f"(Mira konnte das nicht tun: {line})", key
    mira.status.tell("confirm_failed", [german.character.dbref], "Own words {of} a game.")
    assert "Own words {of} a game." in german.last()
    game.model.add(call("get", item="Amboss"), call("noop"))
    german.do("say Mira?")
    game.run()
    assert "There is no 'Amboss' here." in str(game.model.requests[-1].messages)
    admin = game.player("Ada", german.character.location, permissions=["Admin"])
    assert "Hier gibt es nichts namens 'Amboss'." in admin.told("aihistory/turns Mira")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    source = (FOLDER / "django.po").read_text(encoding="utf-8")
    (FOLDER / "django.mo").write_bytes(compile_catalogue(read_catalogue(source)))
