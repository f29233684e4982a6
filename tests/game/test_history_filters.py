"""``aihistory`` by time, player and words; in the reader's zone; into a file; as it comes."""

import json
import stat
from datetime import UTC, datetime, timedelta

import pytest

from evennia_ai import models
from evennia_ai.messages import make_message
from tests.game.conftest import flat


@pytest.fixture
def talk(game, mira, ann, bob):
    """Lines of some days: the day, who spoke, whether in private."""
    log, now = mira.assistant.conversation, datetime(2026, 11, 20, 12, tzinfo=UTC)
    game.run()  # what is planned by now would wait for a clock that is set back
    game.clock.advance(now.timestamp() - game.clock.seconds())
    both = [ann.dbref, bob.dbref]
    lines = [
        (3, ann, "The ferry leaves at noon.", both),
        (1, bob, "I like beer.", both),
        (1, ann, "The key is under the beer barrel.", [ann.dbref]),
        (0, bob, "More beer!", both),
    ]
    for days, who, words, heard_by in lines:
        private = len(heard_by) == 1
        (stored,) = log.append(
            [
                make_message(
                    "user",
                    f"{who.character.key} {'whispers to you' if private else 'says'}: {words}",
                    speaker=who.dbref,
                    speaker_name=who.character.key,
                    audience=heard_by,
                    private=private,
                    evidence="claimed",
                )
            ]
        )
        rows = models.Message.objects.filter(id=stored["metadata"]["seq"])
        rows.update(at=now - timedelta(days=days))
    log.append([make_message("assistant", "Here you are, Bob.", audience=[bob.dbref])])
    log.forget_view()
    return mira


def test_the_newest_lines_come_first_where_an_admin_asks_for_the_last(admin, talk):
    log = talk.assistant.conversation
    log.append(call_and_result())
    log.forget_view()
    text = flat(admin.told("aihistory/last Mira"))
    order = ["= The cup is on the table.", "Here you are", "More beer", "barrel", "I like", "ferry"]
    places = [text.index(words) for words in order]
    assert text.index("look") < places[0] and places == sorted(places)  # a result below its call
    assert "Page 1 of 1, newest first" in text
    text = flat(admin.told("aihistory/last Mira = 3"))
    assert "Here you are" in text and "More beer" not in text
    assert "is no number" in admin.told("aihistory/last Mira = all")


def call_and_result():
    ask = {"id": "a1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [
        make_message("assistant", "", tool_calls=[ask], audience=[]),
        make_message("tool", "The cup is on the table.", tool_call_id="a1", audience=[]),
    ]


def test_times_players_and_words_are_combined(admin, talk):
    text = flat(admin.told("aihistory Mira = since 2 days ago, until 1 minute ago, search beer"))
    assert "I like beer" in text and "Ann whispers to Mira: The key is under the beer" in text
    assert "A line with an earlier time than the one above waited" not in text
    assert "More beer" not in text and "ferry" not in text
    text = flat(admin.told("aihistory/since/player Mira = yesterday, Bob"))
    assert "I like beer" in text and "More beer" in text and "Here you are, Bob" in text
    assert "barrel" not in text
    models.Message.objects.filter(content="Here you are, Bob.").update(
        at=datetime(2026, 11, 19, tzinfo=UTC)
    )
    assert "A line with an earlier time than the one above waited" in admin.told("aihistory Mira")


def test_a_line_that_nobody_answered_stands_where_it_was_said(game, admin, builder, ann, talk):
    admin.told("aistop Mira")
    ann.do("say Mira, hello?")
    ann.do("whisper Mira = psst")
    game.run(1)
    for typed in ("aihistory Mira", "aihistory Mira = player Ann"):
        text = flat(admin.told(typed))
        assert "(expired, say: the character is stopped (aistop)) Ann: Mira, hello?" in text
        assert "(expired, whisper: the character is stopped (aistop)) Ann: psst" in text
    text = flat(builder.told("aihistory Mira"))
    assert "(expired, say) Ann: Mira, hello?" in text
    assert "(expired, whisper) [whisper, only admins may read it]" in text
    assert "No message holds these words." in builder.told("aihistory/search Mira = psst")
    lines = [make_message("user", f"Line {n}.", audience=[]) for n in range(30)]
    game.clock.advance(60)
    talk.assistant.conversation.append(lines)
    assert "hello?" not in admin.told("aihistory Mira")
    assert "hello?" in admin.told("aihistory Mira = 2")


def test_messages_keep_their_order_if_one_was_said_before_the_last_was_stored(admin, talk):
    rows = models.Message.objects.order_by("-id")
    newest = rows[0]
    rows.filter(id=newest.id).update(at=rows[1].at - timedelta(seconds=1))
    text = flat(admin.told("aihistory Mira"))
    assert text.index("More beer!") < text.index("Here you are, Bob.")
    assert "newest last, times in" in text


def test_times_are_read_and_shown_in_the_zone_of_the_reader(admin, builder, talk, settings):
    admin.do("style timezone = Asia/Tokyo")
    text = flat(admin.told("aihistory Mira = since today 21:00"))
    assert "11-20 21:00:00" in text and "More beer" in text and "times in Asia/Tokyo." in text
    settings.TIME_ZONE = "Europe/Berlin"
    text = flat(builder.told("aihistory Mira = since today 13:00"))
    assert "11-20 13:00:00" in text and "times in Europe/Berlin." in text
    settings.TIME_ZONE = "Atlantis"
    assert "times in UTC." in builder.told("aihistory Mira")


@pytest.fixture
def folder(settings, tmp_path):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXPORT_FOLDER": str(tmp_path / "out")}
    return tmp_path / "out"


def exported(game, player, line, folder):
    """Type an export; return the lines of its file."""
    before = set(folder.glob("*")) if folder.exists() else set()
    player.forget()
    player.do(line)
    game.run(1)
    (path,) = set(folder.glob("*")) - before
    assert str(path) in "".join(player.heard())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    return path.read_text(encoding="utf-8").splitlines()


def test_an_export_is_a_file_of_its_owner_with_all_that_the_reader_may_read(
    game, admin, builder, talk, folder, caplog
):
    rows = [json.loads(line) for line in exported(game, admin, "aihistory/export Mira", folder)]
    assert [row["words"].partition(": ")[2] for row in rows[:4]] == [
        "The ferry leaves at noon.", "I like beer.", "The key is under the beer barrel.",
        "More beer!",
    ]  # fmt: skip
    assert rows[0]["at"] == "2026-11-17T12:00:00+00:00" and rows[2]["private"]
    lines = exported(game, builder, "aihistory/export Mira = text, since yesterday", folder)
    title, *lines = lines
    assert title == "# Mira, times in UTC"
    assert len(lines) == 4 and "barrel" not in "\n".join(lines)
    assert lines[0].startswith("2026-11-19 12:00:00") and "Bob > Mira, Ann: Bob says" in lines[0]
    rows = [json.loads(line) for line in exported(game, builder, "aihistory/export Mira", folder)]
    assert rows[2]["withheld"] and "words" not in rows[2] and "name" not in rows[2]


def test_a_call_in_an_export_as_text_has_no_json(admin, service):
    from datetime import UTC

    from evennia_ai.commands.history import as_text
    from evennia_ai.policy.read_permissions import Reader

    call = {"name": "whisper", "arguments": '{"target": "Ann", "text": "Psst."}'}
    found = {"at": "2026-11-17T12:00:00+00:00", "number": 7, "private": False, "name": "Mira"}
    reader = Reader(service.who_may_read, lambda _: True, UTC)
    line = as_text({**found, "words": "", "calls": [call]}, "Ann", reader)
    assert line == "2026-11-17 12:00:00 7 Mira > Ann: [whisper: target Ann] Psst."


def test_one_players_lines_of_all_characters_are_one_file(game, admin, tavern, talk, folder):
    game.assistant("Odo", tavern)
    rows = [
        json.loads(line)
        for line in exported(game, admin, "aihistory/export all = player Bob", folder)
    ]
    assert rows and {row["character"] for row in rows} == {"Mira"}
    assert any(row["name"] == "Bob" for row in rows)
    assert not any(row["name"] == "Ann" for row in rows)
    assert "it exports one player" in admin.told("aihistory/export all")
    assert "one character at a time" in admin.told("aihistory all")


def test_a_long_export_never_holds_the_reactor(game, admin, ann, mira, folder):
    lines = [make_message("user", f"Line {n}.", audience=[ann.dbref]) for n in range(450)]
    mira.assistant.conversation.append(lines)
    admin.do("aihistory/export Mira")
    (path,) = folder.glob("*")
    assert len(path.read_text().splitlines()) < 450
    game.run(1)
    assert len(path.read_text().splitlines()) == 450
