"""Fill a game's database for the staff pages: assistants with days of turns behind them.

`FILL` is a snippet for `GameServer.python`, so it imports nothing of the tests.
"""

ASSISTANTS, TURNS, ENTRIES = 50, 10_000, 2_000

FILL = """
import datetime
from django.db import transaction
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.utils.create import create_object
from evennia_ai import models
from evennia_ai.memory import embedders, vectors
from evennia_ai.store.call_records import add_to

SCRIPT = "<script>document.title = 'taken over'</script>"
LINES = (
    "Did the ferry from Lowbridge come in before the storm?", "I owe the miller five crowns.",
    "What do you know of the old watchtower behind the tannery, and who has the key to it?",
    f"My name is {{SCRIPT}} and I sell rope.",
)
ANSWERS = (
    "The ferry came in an hour before the storm, with three barrels of salt.",
    "Then pay him before the market day; he does not forget.",
    "The watchtower is empty since the flood. Hanno keeps the key, they say.",
    "Rope is five pennies a fathom at the quay.",
)
now = datetime.datetime.now(datetime.UTC)
known = ObjectDB.objects.filter(db_key__in=["Ann", "Ben", "Cid"])
players = list(known.values_list("id", "db_key"))

def live(script, count, share):
    turns, events, messages, calls, acts = [], [], [], [], []
    for number in range(count):
        at = now - datetime.timedelta(seconds=(count - number) * share)
        dbref, name = players[number % len(players)]
        dbref, private = f"#{{dbref}}", number % 17 == 5
        ended = at + datetime.timedelta(seconds=2)
        turns.append(models.Turn(
            assistant_id=script.id, at=at, ended_at=ended, context="tick",
            audience=[dbref], private=private, outcome="answered"))
    models.Turn.objects.bulk_create(turns)
    for number, turn in enumerate(turns):
        player = players[number % len(players)]
        heard = LINES[number % len(LINES)]
        said = ANSWERS[number % len(ANSWERS)]
        common = {{"assistant_id": script.id, "at": turn.at, "private": turn.private,
                  "audience": turn.audience}}
        events.append(models.Event(
            kind="whisper" if turn.private else "say", speaker=turn.audience[0],
            speaker_name=player[1], text=heard, state="answered", turn=turn, **common))
        function = {{"name": "say", "arguments": '{{"text": "' + said + '"}}'}}
        call = {{"id": f"c{{turn.id}}", "type": "function", "function": function}}
        messages += [
            models.Message(role="user", content=f"{{player[1]}} says: {{heard}}", turn=turn,
                speaker=turn.audience[0], speaker_name=player[1], tokens=20, **common),
            models.Message(role="assistant", tool_calls=[call], turn=turn, tokens=30, **common),
            models.Message(role="tool", content="You said it.", tool_call_id=call["id"], turn=turn,
                tokens=5, **common)]
        calls.append(models.ModelCall(
            assistant_id=script.id, at=turn.at, turn=turn, purpose="tick", profile="main",
            model="qwen3-8b", prompt_tokens=2800 + number % 900, completion_tokens=40,
            cached_tokens=2100, duration_ms=900 + number % 700, finish_reason="tool_calls"))
        acts.append(models.ToolCall(
            assistant_id=script.id, at=turn.at, turn=turn, call_id=call["id"], name="say",
            arguments=function["arguments"], world=True, state="done", result="You said it."))
    for table, rows in ((models.Event, events), (models.Message, messages),
                        (models.ModelCall, calls), (models.ToolCall, acts)):
        table.objects.bulk_create(rows)
    return messages

with transaction.atomic():
    for number in range({assistants} - ScriptDB.objects.filter(db_key="assistant").count()):
        if number % 10 == 0:
            key = f"Hall {{number // 10}}"
            room = create_object("evennia.objects.objects.DefaultRoom", key=key)
        create_object(
            "evennia_ai.assistant_character.AssistantCharacter", key=f"Keeper {{number:02}}",
            location=room, home=room, attributes=[("ai_persona", "You keep this hall.")])
    scripts = list(ScriptDB.objects.filter(db_key="assistant").order_by("id"))
    first, share = scripts[0], 20 * 86_400 / ({turns} / 2)
    log = live(first, {turns} // 2, share)
    texts = dict.fromkeys([*LINES, *ANSWERS])
    embedder = embedders.default()
    packed = dict(zip(texts, map(vectors.pack, embedder.embed(list(texts)))))
    name = f"{{embedder.dimensions}}:{{embedder.name}}"[:255]
    models.LineVector.objects.bulk_create(
        models.LineVector(message_id=row.id, embedder=name, packed=value)
        for row in log for words, value in packed.items()
        if row.content.endswith(words) or words in str(row.tool_calls))
    for script in scripts[1:]:
        live(script, {turns} // 2 // ({assistants} - 1), 20_000)
    for script in scripts:
        for ago in range(30):
            day = (now - datetime.timedelta(days=ago)).date()
            use = {{"calls": 9 + ago % 5, "prompt_tokens": 26_000 + 900 * (ago % 7),
                    "completion_tokens": 900}}
            add_to(models.DailyUse, {{"assistant_id": script.id, "day": day}}, use)
    step = len(log) // 30
    for number in range(30):
        piece = log[number * step:(number + 1) * step - 20]
        models.Compaction.objects.create(
            assistant_id=first.id, at=piece[-1].at, reason="sleep", rung="summary",
            from_seq=piece[0].id, upto_seq=piece[-1].id, compacted_count=len(piece),
            original_token_count=9_000, summary_token_count=620, facts_found=12, facts_kept=9,
            facts_rescued=2, cost={{"calls": 1, "prompt_tokens": 9_100, "completion_tokens": 620}},
            summary={{"public": "Aim: keep the hall.\\nProgress: Ann asked for the ferry.",
                      f"#{{players[0][0]}}": "Ann owes the miller five crowns."}})
        models.SleepPass.objects.create(
            assistant_id=first.id, at=piece[-1].at, ended_at=piece[-1].at, reason="nap",
            outcome="done", cost={{"calls": 2, "prompt_tokens": 900, "completion_tokens": 80}},
            results={{"memory_links": {{"success": True, "stored": 4}},
                      "context_compaction": {{"success": True, "compacted_messages": 180}}}})
    for state, ago in (("waiting", 3), ("doubtful", 8))[:{waiting}]:
        models.Event.objects.create(
            assistant_id=first.id, at=now - datetime.timedelta(seconds=ago), kind="say",
            speaker=f"#{{players[0][0]}}", speaker_name="Ann", text=LINES[3], state=state)
    models.Lore.objects.create(title="The old watchtower", text="Hanno built it. " + SCRIPT)
    models.Lore.objects.create(title="The password", text="Swordfish.", scopes=["faction:guard"])
    models.Lore.objects.create(title="The ferry", text="It comes from Lowbridge twice a day.")

who = first.obj
who.journal.add_all(
    {{"id": f"f{{n}}",
      "content": f"{{ANSWERS[n % 4]}} That was day {{n}}. {{SCRIPT * (n % 50 == 49)}}",
      "speakers": [f"#{{players[n % 3][0]}}"], "importance": 1 + n % 10,
      "audience": [f"#{{players[0][0]}}"] if n % 9 == 4 else None}}
    for n in range({entries}))
things = list(ObjectDB.objects.order_by("id").values_list("id", flat=True))[:24]
for place, number in enumerate(things):
    for _ in range(1 + place % 5):
        met = who.ai_profiles.note_contact(f"#{{number}}")
    who.ai_profiles.update(met["id"], sentiment=(place % 7 - 3) / 5)
print("MADE", first.id, models.Turn.objects.count())
"""


def fill(
    assistants: int = ASSISTANTS, turns: int = TURNS, entries: int = ENTRIES, waiting: int = 0
) -> str:
    """Return a snippet that fills a game's database; half of the turns are the first assistant's.

    ``waiting`` of its events, at most two, wait for an answer.

    It prints ``MADE``, the number of that assistant, and the number of turns.
    """
    return FILL.format(assistants=assistants, turns=turns, entries=entries, waiting=waiting)
