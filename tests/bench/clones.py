"""Fills a game's database with thousands of assistants and players in seconds.

`probed.ProbedServer` copies this file into a game directory beside the probe, where `furnish` runs
in a process of its own. One room, one assistant and one player are made as a game makes them; all
others are copies of their rows.
"""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

BATCH = 2_000
PERSONA = "You keep this chamber and like a talk with whoever comes by."
LINE = "I came in by the north road, and the toll at the bridge is up to {} pennies again."
IN_VIEW = 100  # of a longer log, the lines since its last compaction
HOUR = dt.timedelta(hours=1)


def furnish(rooms: Sequence[tuple[int, int]], dialogues: str = "") -> None:
    """Make rooms, each with a player's character who waits outside.

    ``rooms`` has for each room how many assistants stand in it, and how many messages the log of
    each of them holds. The messages have the words of public dialogues in the file ``dialogues``,
    and without one those of `LINE` again and again.
    """
    from django.db import connection, transaction

    with transaction.atomic():
        players, scripts = copy_all([count for count, _ in rooms])
        histories = [history for count, history in rooms for _ in range(count)]
        owners = [
            player for player, room in zip(players, rooms, strict=True) for _ in range(room[0])
        ]
        logs = list(zip(scripts, owners, histories, strict=True))
        write_logs(logs, words_of(dialogues, max(histories, default=0)))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print("MADE", len(scripts))


def copy_all(counts: Sequence[int]) -> tuple[list[int], list[int]]:
    """Make rooms with so many assistants and a player each; return the players and the scripts."""
    from evennia.accounts.models import AccountDB
    from evennia.objects.models import ObjectDB
    from evennia.scripts.models import ScriptDB

    room, npc, player, account = make_patterns()
    places = save(ObjectDB, room, [{"db_key": f"Chamber {n}"} for n in range(len(counts))])
    homes = [place for place, count in zip(places, counts, strict=True) for _ in range(count)]
    npcs = save(
        ObjectDB,
        npc,
        [
            {"db_key": f"Npc{n:05}", "db_home_id": place, "db_location_id": place}
            for n, place in enumerate(homes)
        ],
    )
    names = [f"Guest{n:05}" for n in range(len(counts))]
    accounts = save(AccountDB, account, [{"username": name, "db_key": name} for name in names])
    players = save(
        ObjectDB,
        player,
        [
            {"db_key": name, "db_home_id": place, "db_lock_storage": f"puppet:pid({owner})"}
            for name, place, owner in zip(names, places, accounts, strict=True)
        ],
    )
    copy_links(npc, npcs)
    copy_links(player, players)
    copy_links(account, accounts)
    script = ScriptDB.objects.get(db_obj_id=npc.id)
    scripts = save(ScriptDB, script, [{"db_obj_id": one} for one in npcs])
    for pattern in (npc, player, room, account):
        pattern.delete()
    return players, scripts


def make_patterns() -> tuple[Any, Any, Any, Any]:
    """Make a room, an assistant's character, a player's character and an account."""
    from evennia.objects.models import ObjectDB
    from evennia.utils.create import create_account, create_object

    room = create_object("evennia.objects.objects.DefaultRoom", key="Pattern", nohome=True)
    npc = create_object(
        "evennia_ai.assistant_character.AssistantCharacter",
        key="Pattern",
        location=room,
        home=room,
        attributes=[("ai_persona", PERSONA)],
    )
    player = create_object("world.characters.Character", key="Pattern", location=room, home=room)
    account = create_account("Pattern", "", "correct-horse-4711")
    ObjectDB.objects.filter(id=player.id).update(db_location=None)
    player.refresh_from_db()
    return room, npc, player, account


def save(model: Any, pattern: Any, changes: Sequence[dict[str, Any]]) -> list[int]:
    """Insert copies of a row, each with its changes; return their ids."""
    names = [f.attname for f in model._meta.concrete_fields if not f.primary_key]
    fields = {name: getattr(pattern, name) for name in names}
    made = [model(**{**fields, **change}) for change in changes]
    return [row.pk for row in model.objects.bulk_create(made, batch_size=BATCH)]


def copy_links(pattern: Any, ids: Iterable[int]) -> None:
    """Give copies of a row its tags, and copies of its Attributes."""
    from evennia.typeclasses.attributes import Attribute

    ids = list(ids)
    for name in ("db_tags", "db_attributes"):
        field = type(pattern)._meta.get_field(name)
        through = field.remote_field.through
        own, other = field.m2m_column_name(), field.m2m_reverse_name()
        for linked in getattr(pattern, name).all():
            if name == "db_tags":
                values = [linked.id] * len(ids)
            else:
                values = save(Attribute, linked, [{} for _ in ids])
            through.objects.bulk_create(
                [
                    through(**{own: one, other: value})
                    for one, value in zip(ids, values, strict=True)
                ],
                batch_size=BATCH,
            )


def words_of(dialogues: str, count: int) -> list[str]:
    """Return the words of so many messages."""
    if not dialogues:
        return [LINE.format(number) for number in range(count)]
    talks = json.loads(Path(dialogues).read_text(encoding="utf-8"))
    said = (turn["text"] for talk in talks for turn in talk["turns"])
    return list(islice(cycle(said), count))


def write_logs(logs: Sequence[tuple[int, int, int]], words: Sequence[str]) -> None:
    """Write the logs of assistants, each given by its script, its player and its length."""
    from evennia_ai import models

    rows: list[Any] = []
    for script, player, history in logs:
        if history > BATCH:
            write_long_log(script, player, history, words)
        else:
            rows += lines(script, player, words[:history])
        if len(rows) > 10 * BATCH:
            models.Message.objects.bulk_create(rows, batch_size=BATCH)
            rows.clear()
    models.Message.objects.bulk_create(rows, batch_size=BATCH)
    for script, _, history in logs:
        if history > 2 * IN_VIEW:
            note_compaction(script)


def lines(script: int, player: int, words: Sequence[str]) -> list[Any]:
    """Return rows of a talk in which player and assistant speak in turn."""
    from evennia_ai.messages import make_message
    from evennia_ai.store.rows import message_to_row

    at = dt.datetime.now(dt.UTC) - HOUR
    rows, heard = [], {"audience": [f"#{player}"], "private": False}
    for number, text in enumerate(words):
        if number % 2:
            message = make_message("assistant", text, **heard)
        else:
            who = {"speaker": f"#{player}", "speaker_name": "Guest"}
            message = make_message("user", f"Guest says: {text}", **heard, **who)
        rows.append(message_to_row(script, message, at))
    return rows


def write_long_log(script: int, player: int, count: int, words: Sequence[str]) -> None:
    """Write a log by copies of its first lines."""
    from django.db import connection

    from evennia_ai import models

    models.Message.objects.bulk_create(lines(script, player, words[:BATCH]))
    first = models.Message.objects.filter(assistant_id=script).order_by("id")
    names = [f.column for f in models.Message._meta.concrete_fields if f.column != "id"]
    columns = ", ".join(names)
    with connection.cursor() as cursor:
        for _ in range(count // BATCH - 1):
            cursor.execute(
                f"INSERT INTO evennia_ai_message ({columns}) SELECT {columns} "
                "FROM evennia_ai_message WHERE assistant_id = %s AND id BETWEEN %s AND %s "
                "ORDER BY id",
                [script, first[0].id, first[BATCH - 1].id],
            )


def note_compaction(script: int) -> None:
    """Note a compaction that left the last lines in view."""
    from evennia_ai import models

    log = models.Message.objects.filter(assistant_id=script).order_by("-id")
    models.Compaction.objects.create(
        assistant_id=script,
        at=dt.datetime.now(dt.UTC) - HOUR,
        reason="manual",
        from_seq=log.last().id,
        upto_seq=log[IN_VIEW].id,
        compacted_count=log.count() - IN_VIEW,
        original_token_count=1,
        summary_token_count=1,
        summary={"public": "Nothing worth a word was said."},
    )
