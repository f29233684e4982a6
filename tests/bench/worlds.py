"""Snippets that fill a game directory's database, for `GameServer.python`."""

from collections.abc import Sequence

ASSISTANTS = 1_000
A_ROOM = 10
GATHERED = 100

EMPTY = """
from evennia.scripts.models import ScriptDB
for script in ScriptDB.objects.filter(db_key="assistant"):
    script.delete()
"""

CROWD = """
import time
from django.db import transaction
from evennia.utils.create import create_object
began = time.monotonic()
persona = {persona!r}
with transaction.atomic():
    for number in range({count}):
        if number % {a_room} == 0:
            room = create_object(
                "evennia.objects.objects.DefaultRoom", key=f"Chamber {{number}}", nohome=True
            )
        create_object(
            "evennia_ai.assistant_character.AssistantCharacter",
            key=f"Npc{{number:04}}",
            location=room,
            home=room,
            attributes=[("ai_persona", persona)] if persona else [],
        )
from evennia.scripts.models import ScriptDB
made = ScriptDB.objects.filter(db_key="assistant").count()
print(f"MADE {{made}} {{time.monotonic() - began:.2f}}")
"""

MOVE_IN = """
from evennia.objects.models import ObjectDB
room = ObjectDB.objects.get(db_key={room!r})
out = "evennia.objects.objects.DefaultExit"
create_object(out, key="out", location=room, destination=ObjectDB.objects.get(id=2))
ObjectDB.objects.get(db_key={player!r}).db.prelogout_location = room
"""

# The same log for each assistant, its vectors, and a compaction that left the last lines.
LOGS = """
import datetime
from django.db import connection, transaction
from django.db.models import Max, Min
from evennia.scripts.models import ScriptDB
from evennia_ai import models
from evennia_ai.memory import embedders, vectors
texts = {texts!r}
at = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
embedder = embedders.default()
name = f"{{embedder.dimensions}}:{{embedder.name}}"[:255]
ids = list(ScriptDB.objects.filter(db_key="assistant").values_list("id", flat=True))
names = [field.column for field in models.Message._meta.concrete_fields]
columns = ", ".join(f"m.{{one}}" for one in names if one not in ("id", "assistant_id"))
with transaction.atomic():
    rows = models.Message.objects.bulk_create(
        models.Message(
            assistant_id=ids[0], at=at + datetime.timedelta(seconds=20 * number), role="user",
            content=f"Guest{{number % 7}} says: {{text}}", speaker=f"#{{900 + number % 7}}",
            speaker_name=f"Guest{{number % 7}}", audience=["#2"], tokens=20,
        )
        for number, text in enumerate(texts)
    )
    models.LineVector.objects.bulk_create(
        models.LineVector(message_id=row.id, embedder=name, packed=vectors.pack(vector))
        for row, vector in zip(rows, embedder.embed(texts))
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO evennia_ai_message (assistant_id, {{columns.replace('m.', '')}}) "
            f"SELECT s.id, {{columns}} FROM scripts_scriptdb s, evennia_ai_message m "
            "WHERE s.db_key = 'assistant' AND s.id <> m.assistant_id AND m.id <= %s "
            "ORDER BY s.id, m.id",
            [rows[-1].id],
        )
        cursor.execute(
            "INSERT INTO evennia_ai_linevector (message_id, embedder, packed) "
            "SELECT n.id, v.embedder, v.packed FROM evennia_ai_message n "
            "JOIN evennia_ai_linevector v ON v.message_id = %s + (n.id - %s) %% %s "
            "WHERE n.id > %s",
            [rows[0].id, rows[0].id, len(rows), rows[-1].id],
        )
    logs = models.Message.objects.values("assistant_id").annotate(first=Min("id"), last=Max("id"))
    for log in logs:
        models.Compaction.objects.create(
            assistant_id=log["assistant_id"], at=at, reason="manual", from_seq=log["first"],
            upto_seq=log["last"] - 10, compacted_count=len(texts) - 10, original_token_count=1,
            summary_token_count=1, summary={{"public": "Nothing worth a word was said."}},
        )
print("MADE", models.Message.objects.count(), models.LineVector.objects.count())
"""


# The same talk, all of it in view, for each assistant that has none yet.
TALKS = """
import datetime
from django.db import connection
from evennia.scripts.models import ScriptDB
from evennia_ai import models
from evennia_ai.messages import make_message
from evennia_ai.store.rows import message_to_row
at = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
had = models.Message.objects.values("assistant_id")
new = ScriptDB.objects.filter(db_key="assistant").exclude(id__in=had)
ids = sorted(new.values_list("id", flat=True))
line = "Ann says: I came in by the north road, and the toll is up to {{number}} pennies again."
whose = dict(speaker="#900", speaker_name="Ann", audience=["#900"], private=False)
first = models.Message.objects.bulk_create(
    message_to_row(ids[0], make_message("user", line.format(number=number), **whose), at)
    for number in range({messages})
)
names = [field.column for field in models.Message._meta.concrete_fields]
columns = ", ".join(one for one in names if one not in ("id", "assistant_id"))
with connection.cursor() as cursor:
    cursor.execute(
        f"INSERT INTO evennia_ai_message (assistant_id, {{columns}}) "
        f"SELECT s.id, {{columns}} "
        "FROM scripts_scriptdb s, evennia_ai_message m "
        "WHERE s.db_key = 'assistant' AND s.id > %s AND m.assistant_id = %s ORDER BY s.id, m.id",
        [ids[0], ids[0]],
    )
print("MADE", models.Message.objects.count())
"""


def crowd(assistants: bool, count: int = ASSISTANTS, a_room: int = A_ROOM) -> str:
    """Return a snippet that makes many characters, ten to a room, with or without assistants."""
    persona = "You are one of the crowd." if assistants else ""
    return CROWD.format(count=count, a_room=a_room, persona=persona)


def gathering(player: str, count: int = GATHERED) -> str:
    """Return a snippet that puts many assistants and a player of the demo into one room."""
    move_in = MOVE_IN.format(player=player, room="Chamber 0")
    return crowd(assistants=True, count=count, a_room=count) + move_in


def talks(messages: int) -> str:
    """Return a snippet that gives each assistant without a log this many messages in view."""
    return TALKS.format(messages=messages)


def logs(texts: Sequence[str]) -> str:
    """Return a snippet that gives every assistant these lines as its log, with their vectors."""
    return LOGS.format(texts=list(texts))
