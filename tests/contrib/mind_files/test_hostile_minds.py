"""A file of minds is data of others: it is loaded as it was saved, or refused with a sentence."""

import copy
import gzip
import json
import random
import tracemalloc
from collections import deque

import pytest
from django.core.management import CommandError

from evennia_ai.contrib.mind_files import mind_lines
from evennia_ai.errors import ConfigError
from evennia_ai.models import PendingAct
from tests.contrib.mind_files import mind_scene
from tests.contrib.mind_files.mind_scene import counts, lines_of, of_kind, place, put_lines, run
from tests.scripted import call
from tests.short_form import short_form

pytestmark = pytest.mark.game
file, lived, rebuild = mind_scene.file, mind_scene.lived, mind_scene.rebuild

ACT = {
    "model": "evennia_ai.pendingact",
    "pk": 1,
    "fields": {
        "assistant": 1, "at": "2026-01-01T00:00:00Z", "needs": "agree", "state": "agreed",
        "name": "pay", "arguments": "{}", "speakers": ["#1"], "authors": "", "audience": [],
        "private": False, "expires_at": "2099-01-01T00:00:00Z", "decided_by": "#1", "result": "",
    },
}  # fmt: skip


def with_field(model, name, value):
    def change(lines):
        lines[place(lines, model)]["fields"][name] = value

    return change


def without_field(model, name):
    return lambda lines: lines[place(lines, model)]["fields"].pop(name)


def with_line(text):
    return lambda lines: lines.insert(-1, text)


def with_setting(name, value):
    return lambda lines: of_kind(lines, "mind")["settings"].update({name: value})


def with_record(**fields):
    def change(lines):
        next(iter(of_kind(lines, "used")["records"].values())).update(fields)

    return change


def with_part(kind, name, value):
    return lambda lines: of_kind(lines, kind).update({name: value})


def twice(model):
    def change(lines):
        number = place(lines, model)
        lines.insert(number, copy.deepcopy(lines[number]))

    return change


def row_of(model, **more):
    def change(lines):
        lines[place(lines, model)].update(more)

    return change


def last_first(lines):
    lines.insert(1, lines.pop())


def records_twice(lines):
    lines.insert(2, copy.deepcopy(of_kind(lines, "used")))


def as_one_number_with_others(lines):
    of_kind(lines, "used")["records"].update({"40": {}})


HOSTILE = {
    "an agreed act": with_line(ACT),
    "a table of the game": with_line({"model": "accounts.accountdb", "pk": 1, "fields": {}}),
    "a label that is no text": with_line({"model": ["x"], "pk": 1, "fields": {}}),
    "a row that is text": with_line({"model": "evennia_ai.turn", "pk": 1, "fields": "x"}),
    "no object": with_line([1]),
    "no JSON": with_line("words"),
    "nothing": with_line(""),
    "deep": with_line("[" * 100_000),
    "deep in a column": with_field("message", "tool_calls", json.loads("[" * 50 + "]" * 50)),
    "an unknown line": with_line({"more": 1}),
    "not a number": with_line('{"more": NaN}'),
    "infinite": with_line('{"more": 1e999}'),
    "thousands of digits": with_line('{"more": ' + "9" * 5_000 + "}"),
    "hundreds of digits": with_field("message", "tokens", 10**400),
    "hundreds of digits below zero": with_record(importance=-(10**400)),
    "a lone surrogate": with_field("event", "text", "\ud800"),
    "a NUL": with_field("event", "text", "a\0b"),
    "a number beyond 64 bit": with_field("message", "tokens", 2**64),
    "a number too large": with_field("message", "tokens", 2**40),
    "a number below zero": with_field("message", "tokens", -1),
    "true as a number": with_field("message", "tokens", True),
    "a number as text": with_field("event", "text", 5),
    "nothing in a column": with_field("event", "text", None),
    "text for a truth": with_field("message", "private", "no"),
    "text that is too long": with_field("event", "kind", "x" * 17),
    "no time": with_field("event", "at", "yesterday"),
    "a time without a zone": with_field("event", "at", "2026-01-01T00:00:00"),
    "a time before all": with_field("event", "at", "0001-01-01T00:00:00+14:00"),
    "a time that is a number": with_field("turn", "ended_at", 5),
    "a role of the rules": with_field("message", "role", "system"),
    "a call without a function": with_field("message", "tool_calls", [{"id": "1"}]),
    "a call that is text": with_field("message", "tool_calls", ["x"]),
    "listeners that are words": with_field("message", "audience", ["everybody"]),
    "listeners in a mapping": with_field("message", "audience", {"#1": 1}),
    "authors among words": with_field("message", "authors", " and #7 "),
    "a speaker that is words": with_field("event", "speaker", "Ann"),
    "nothing but a column": with_field("event", "turn", "1"),
    "another's turn": with_field("event", "turn", 987_654),
    "another's event": with_field("message", "event", 987_654),
    "an unknown column": with_field("event", "is_staff", True),
    "a missing column": without_field("message", "private"),
    "a missing time": without_field("event", "at"),
    "a row without a number": lambda lines: lines[place(lines, "turn")].pop("pk"),
    "a row with more": row_of("turn", more=1),
    "a number that is text": row_of("turn", pk="1"),
    "the last number of all": row_of("turn", pk=2**63 - 1),
    "no number": row_of("turn", pk=0),
    "a row twice": twice("message"),
    "a turn twice": twice("turn"),
    "an unknown setting": with_setting("is_superuser", True),
    "an address of a model": with_setting("base_url", "http://example.com"),
    "a setting of a wrong kind": with_setting("max_bot_replies", "many"),
    "a setting below its range": with_setting("max_bot_replies", -1),
    "a setting that is not a choice": with_setting("whisper_policy", "none"),
    "settings in a list": with_part("mind", "settings", ["x"]),
    "a mind without an id": with_part("mind", "mind", None),
    "a mind of nobody": with_part("mind", "who", "Mira"),
    "a mind with more": with_part("mind", "more", 1),
    "records of an unknown kind": with_part("used", "kind", "nick"),
    "records of an odd kind": with_part("used", "kind", ["nick"]),
    "records at no number": with_part("used", "number", "x"),
    "records that use too much": with_part("used", "used", 99),
    "records that use text": with_part("used", "used", "1"),
    "records in a list": with_part("used", "records", []),
    "a version in words": with_part("used", "version", "new"),
    "records twice": records_twice,
    "a record of another segment": as_one_number_with_others,
    "a record without words": with_record(content=""),
    "a record with an unknown field": with_record(is_staff=True),
    "a record of a wrong source": with_record(source_type="god"),
    "a record of no trust": with_record(trust="much"),
    "a record for everybody by name": with_record(audience=["Ann"]),
    "a record of no time": with_record(timestamp="0001-01-01T00:00:00+14:00"),
    "a record from negative lines": with_record(source_seqs=["x"]),
    "the end first": last_first,
    "no end": lambda lines: lines.pop(),
    "two ends": lambda lines: lines.append(lines[-1]),
    "a missing mind": lambda lines: lines[-1].update(minds=2),
    "people in a list": with_part("people", "people", ["#1"]),
    "people without names": with_part("people", "people", {"#1": {}}),
    "people with numbers for names": with_part("people", "people", {"#1": {"name": 5}}),
    "people without numbers": with_part("people", "people", {"Ann": {"name": "Ann"}}),
    "a player without a time": with_part("people", "people", {"#1": {"name": "A", "account": "a"}}),
    "another format": lambda lines: lines[0].update(format=99),
    "a format in a list": lambda lines: lines.__setitem__(0, [1]),
    "rows before a mind": lambda lines: lines.insert(1, lines[place(lines, "turn")]),
    "no lines": lambda lines: lines.clear(),
}  # fmt: skip


def attributes(mira):
    return [*mira.db_attributes.values_list("db_key", "db_attrtype")], [
        *mira.assistant.db_attributes.values_list("db_key")
    ]


@pytest.fixture
def refused(rebuild, file):
    """Return a function that sees that the file is refused, and that nothing was loaded."""
    mira = rebuild()
    before = attributes(mira)

    def see():
        with pytest.raises(CommandError) as error:
            run("load", file)
        told = str(error.value)
        assert told.endswith((".", "again.")) and "\n" not in told and len(told) < 400, told
        assert "Error" not in told and "Traceback" not in told
        assert not any(counts()) and not PendingAct.objects.exists()
        assert attributes(mira) == before

    return see


def test_a_file_that_says_too_much_is_refused_as_a_whole(lived, file, request):
    run("save", file)
    lines = lines_of(file)
    see, failures = request.getfixturevalue("refused"), {}
    for name, change in HOSTILE.items():
        new = copy.deepcopy(lines)
        change(new)
        put_lines(file, new)
        try:
            see()
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # all of them
            failures[name] = f"{error!r:.300}"
    assert not failures, "\n".join(map(str, failures.items()))


def test_bytes_that_are_no_file_are_refused(lived, file, request):
    run("save", file)
    whole = file.read_bytes()
    text = gzip.decompress(whole)
    see = request.getfixturevalue("refused")
    for raw in {
        "cut": whole[: len(whole) // 2],
        "cut in its head": whole[:5],
        "damaged": whole[:40] + bytes(20) + whole[60:],
        "nothing": b"",
        "more behind it": whole + b"words",
        "not text": gzip.compress(text.replace(b"Ann", b"\xff\xfe\xfd")),
        "in another encoding": gzip.compress(text.decode().encode("utf-16")),
        "a long line": gzip.compress(b'{"a": "' + b"x" * 40_000_000),
        "many lines": gzip.compress(text.split(b"\n")[0] + b"\n" + b"{}\n" * 100),
    }.values():
        file.write_bytes(raw)
        see()


def test_a_bomb_of_lines_is_refused(lived, file, request, monkeypatch):
    monkeypatch.setattr(mind_lines, "SPARE_BYTES", 100_000)
    run("save", file)
    lines = lines_of(file)
    at = place(lines, "turn")
    bomb = [{**lines[at], "pk": number} for number in range(1_000, 9_000)]
    put_lines(file, [*lines[:at], *bomb, *lines[at:]])
    request.getfixturevalue("refused")()


def of_another(model, column):
    """Return what lets a row of the last mind refer to one of the mind before it."""

    def change(lines):
        minds = [n for n, line in enumerate(lines) if "mind" in line]
        first, last = lines[: minds[1]], lines[minds[1] :]
        other = {"turn": "turn", "event": "event"}.get(column, "message")
        number = first[place(first, other)]["pk"]
        last[place(last, model)]["fields"][column] = number

    return change


def source_of_another(lines):
    minds = [n for n, line in enumerate(lines) if "mind" in line]
    record = next(iter(of_kind(lines, "used")["records"].values()))
    record["source_seqs"] = [lines[minds[1] :][place(lines[minds[1] :], "message")]["pk"]]


ACROSS = [
    of_another("event", "turn"), of_another("message", "turn"), of_another("message", "event"),
    of_another("toolcall", "turn"), source_of_another,
]  # fmt: skip


def test_no_row_or_record_refers_to_another_mind(game, lived, ann, rebuild, file):
    odo = game.assistant("Odo", lived.location)
    game.model.add(call("say", text="Good day to you."))
    ann.do("say Odo, good day")
    game.run(3)
    run("save", file)
    lines = lines_of(file)
    odo.assistant.delete()
    odo.delete()
    mira = rebuild()
    game.assistant("Odo", mira.location)
    for change in ACROSS:
        new = copy.deepcopy(lines)
        change(new)
        put_lines(file, new)
        with pytest.raises(CommandError, match=r"of another mind|not of its mind"):
            run("load", file)
        assert not any(counts())
    put_lines(file, lines)
    run("load", file)
    assert all(counts()[:4])


VALUES = [None, True, -1, 0, 2**63, 1.5, "", "x", "#1", "\ud800", [], {}, [[]], {"a": 1}, "9" * 30]


def spots(value):
    """Yield each container in plain data with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from spots(value[key])


def fielded(line):
    """Return True for a row that a change has left as a row of words."""
    found = line.get("fields") if isinstance(line, dict) else None
    return isinstance(found, dict) and not found.keys().isdisjoint({"content", "detail"})


def mutated(lines, dice):
    """Return lines with one to three changes at random places."""
    new = copy.deepcopy(lines)
    for _ in range(dice.randint(1, 3)):
        holder, key = dice.choice(list(spots(new)))
        match dice.randrange(5):
            case 0:
                holder[key] = dice.choice(VALUES)
            case 1:
                del holder[key]
            case 2 if isinstance(holder, list):
                holder.insert(dice.randrange(len(holder)), copy.deepcopy(holder[key]))
            case 2:
                holder[dice.choice(["x", "pk", "mind", "used"])] = copy.deepcopy(holder[key])
            case 3:
                _, other = holder[key], dice.choice(list(spots(new)))
                holder[key] = copy.deepcopy(other[0][other[1]])
            case 4:
                of_message = dice.choice([one for one in new if fielded(one)])["fields"]
                of_message["content" if "content" in of_message else "detail"] = "Other words."
    return new


def packed(lines):
    return gzip.compress("\n".join(map(json.dumps, lines)).encode())


def with_all_columns(row):
    """A row as it is read: a column that older files lack gets its default."""
    is_turn = row["model"] == "evennia_ai.turn"
    return {**row, "fields": {**({"askers": ""} if is_turn else {}), **row["fields"]}}


@pytest.mark.parametrize("seed", short_form(range(4), 4, pytest.mark.soak))
def test_a_changed_file_is_read_as_it_stands_or_refused(lived, file, rebuild, seed):
    run("save", file)
    lines, dice = lines_of(file), random.Random(seed)
    mira = rebuild()
    before, taken = attributes(mira), 0
    for _ in range(60):
        new = mutated(lines, dice)
        raw = bytearray(packed(new))
        if dice.random() < 0.1:
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        file.write_bytes(raw)
        try:
            rows = [line for line in mind_lines.read_lines(file) if "pk" in line]
            assert rows == [with_all_columns(line) for line in new if "pk" in line]
            run("load", file, "--dry-run")
            taken += 1
            told = "."
        except (ConfigError, CommandError) as error:
            told = str(error)
        assert told.endswith(".") and "\n" not in told
        assert not any(counts()) and attributes(mira) == before
    assert taken


FILLINGS = {"objects": "{},", "lists": "[],", "words": '"\u0436",', "deep": "[", "letters": "x"}
TIMES = 50  # as much memory as a line has bytes: an empty list has 56, written in 3


@pytest.mark.parametrize("filling", FILLINGS.values(), ids=FILLINGS)
@pytest.mark.parametrize("over", [0, 1])
def test_a_line_takes_a_bounded_part_of_memory(tmp_path, monkeypatch, filling, over):
    monkeypatch.setattr(mind_lines, "LINE_BYTES", most := 500_000)
    start = '{"mind": ["'.removesuffix('"' * (filling != "x"))
    count = (most - len(start)) // len(filling.encode()) if not over else 20 * most
    line = start + filling * count
    file = tmp_path / "minds.gz"
    file.write_bytes(gzip.compress(f'{{"format": 2}}\n{line}'.encode()))
    del line
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError):
            deque(mind_lines.read_lines(file), 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < TIMES * most
