"""What minds know survives a rebuild of the world, and tells nobody another's secrets."""

import gzip
import json
import re
import stat

import pytest
from django.core.management import CommandError
from evennia.typeclasses.attributes import Attribute
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.contrib.mind_files.mind_lines import LOGS
from evennia_ai.contrib.mind_files.mind_people import NOBODY, WORDS, Matching, renamed
from evennia_ai.errors import ConfigError
from evennia_ai.models import Message, ToolCall, Turn
from evennia_ai.policy.call_record import LockAsked, stored_locks
from evennia_ai.policy.context.projection import part_key
from evennia_ai.policy.records.forgetting import FORGOTTEN
from evennia_ai.policy.records.stored_values import stored, unpacked
from evennia_ai.store.attributes import attributes_of
from tests.contrib.mind_files import mind_scene
from tests.contrib.mind_files.mind_scene import NAME, SECRET, counts, lines_of, put_lines, run
from tests.game.forgetting_scene import forget
from tests.scripted import call

pytestmark = pytest.mark.game
file, lived, rebuild = mind_scene.file, mind_scene.lived, mind_scene.rebuild


def loaded(game, mira, file, *options):
    """Load a file, and start the game again."""
    told = run("load", file, *options)
    game.next_process(mira.assistant)
    return told


def prompt(game, who):
    """What Mira's model reads when somebody asks."""
    game.model.add(call("say", text="Let me think."))
    who.do("say Mira, what is my horse called, and where does the silver lie?")
    game.run(2)
    return json.dumps(game.model.requests[-1].messages)


def test_a_mind_moves_and_a_stranger_of_the_same_name_is_told_no_secret(game, rebuild, file):
    assert "Mira: saved" in run("save", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = counts()
    mira = rebuild()
    told = loaded(game, mira, file)
    assert "Mira: loaded" in told and f"Ann (#{NOBODY // 1000}" in told
    assert counts() == before and mira.assistant.config.max_bot_replies == 2
    stranger = game.player("Ann", mira.location)
    read = prompt(game, stranger)
    assert NAME in read and SECRET not in read


def test_what_is_set_in_the_new_world_stands(game, rebuild, file):
    run("save", file)
    mira = rebuild()
    mira.assistant.db.max_bot_replies = 5
    loaded(game, mira, file)
    assert mira.assistant.config.max_bot_replies == 5


def test_who_is_matched_later_has_all_back_and_can_be_forgotten(game, rebuild, file):
    run("save", file)
    mira = rebuild()
    number = loaded(game, mira, file).partition("Ann (")[2].partition(")")[0]
    ann = game.player("Ann", mira.location)
    assert f"{number} is {ann.dbref} now" in run("match", number, ann.dbref)
    game.next_process(mira.assistant)
    assert SECRET in prompt(game, ann)
    ann.do("aboutme")
    assert SECRET in " ".join(ann.heard())
    forget(ann)
    assert not Message.objects.filter(content__contains=SECRET).exists()
    assert SECRET not in str(mira.journal.all())


def test_an_account_that_was_kept_finds_its_words(game, ann, rebuild, file):
    run("save", file)
    mira = rebuild(with_account=False)
    again = game.player("Ben", mira.location)
    again.character.key = "Ann"
    again.character.locks.add(f"puppet:pid({ann.account.id})")
    assert "Found here: 2 of 2" in loaded(game, mira, file)
    assert SECRET in prompt(game, again)


@pytest.mark.parametrize("option", ["--players-by-name", "--map=ann={}"])
def test_an_admin_may_say_who_is_who(game, rebuild, file, option):
    run("save", file)
    mira = rebuild()
    ann = game.player("Ann", mira.location)
    loaded(game, mira, file, option.format(ann.dbref))
    assert SECRET in prompt(game, ann)


def test_nothing_is_loaded_twice_or_over_a_history(game, ann, rebuild, file):
    run("save", file)
    assert "its mind is here already" in run("load", file)
    mira = rebuild()
    assert "Nothing was changed." in run("load", file, "--dry-run") and not any(counts())
    game.model.add(call("say", text="Good day."))
    game.player("Ben", mira.location).do("say Mira, good day")
    game.run(2)
    before = counts()
    assert "it has lived here already" in run("load", file)
    assert counts() == before


def test_a_file_that_is_not_whole_or_exists_is_refused(lived, file, tmp_path):
    run("save", file)
    with pytest.raises(CommandError, match="exists"):
        run("save", file)
    with pytest.raises(CommandError, match="No NPC is called 'odo'"):
        run("save", tmp_path / "other.gz", "Odo")
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    file.write_bytes(gzip.compress(b"".join(lines[:-1])))
    with pytest.raises(CommandError, match="ends too early"):
        run("load", file)
    file.write_bytes(b"words")
    with pytest.raises(CommandError, match="is no whole file of minds"):
        run("load", file)
    with pytest.raises(CommandError, match="'Ann' is no number"):
        run("load", file, "--map", "Ann=Ann")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("#5", "#1", "no number that `load` told"),
        (f"#{NOBODY + 5}", "#999999", "no object #999999"),
    ],
)
def test_nobodys_words_are_given_to_somebody_who_is_here_alone(lived, file, old, new, why):
    with pytest.raises(CommandError, match=why):
        run("match", old, new)


@pytest.mark.parametrize("part", ["save", "load"])
def test_the_game_must_not_run(lived, file, monkeypatch, part):
    mind_scene.set_running(monkeypatch, True)
    with pytest.raises(CommandError, match="evennia stop"):
        run(part, file)


def test_no_number_of_the_old_world_is_left(game, lived, ann, rebuild, file):
    game.model.add(call("look"), call("say", text="It is a room."))
    ann.do("say Mira, look around you")
    game.run(3)
    old = ann.dbref
    assert Message.objects.filter(authors=f" {old} builder game ").exists()
    run("save", file)
    loaded(game, rebuild(), file)
    for model in LOGS:
        names = {field.name for field in model._meta.fields} - WORDS
        rows = str(list(model.objects.values(*names)))
        assert not re.search(rf"{old}\b", rows), model


def test_what_was_read_of_somebody_and_their_locks_are_theirs_in_the_new_world(
    game, lived, ann, rebuild, file
):
    game.model.add(call("look", target="Ann"), call("say", text="I see you."))
    ann.do("say Mira, look at me")
    game.run(3)
    old = ann.dbref
    assert Message.objects.filter(consulted__read=[f"entity:{old}"]).exists()
    ToolCall.objects.update(locks=stored_locks([LockAsked("use", old, {old: True})]))
    run("save", file)
    number = re.search(r"Ann \((#\d+)\)", loaded(game, rebuild(), file))[1]
    assert Message.objects.filter(consulted__read=[f"entity:{number}"]).exists()
    locks = stored_locks([LockAsked("use", number, {number: True})])
    assert {*ToolCall.objects.values_list("locks", flat=True)} == {locks}


def test_a_file_of_the_former_format_is_loaded(game, rebuild, file):
    run("save", file)
    head, mind, *others = lines_of(file)
    records = [one for one in others if "used" in one]
    rest = [one for one in others if "used" not in one]
    askers = [one["fields"].pop("askers") for one in rest if one.get("model") == "evennia_ai.turn"]
    for line in rest:
        if "evidence" in line.get("fields", {}):
            line["fields"]["nature"] = line["fields"].pop("evidence")
    put_lines(file, [{**head, "format": 1}, {**mind, "records": records}, *rest])
    mira = rebuild()
    loaded(game, mira, file)
    assert NAME in str(mira.journal.all()) and SECRET in str(mira.journal.all())
    assert {"claimed", "perceived"} <= {*Message.objects.values_list("evidence", flat=True)}
    assert (
        sum(map(bool, Turn.objects.values_list("askers", flat=True))) == sum(map(bool, askers)) > 0
    )


def test_a_record_that_cannot_be_read_is_left_out_and_named(lived, file):
    (row,) = attributes_of(lived, "ai_journal")
    content = unpacked(None, row.db_strvalue)
    content["records"]["1"] = {"id": "j1"}
    Attribute.objects.filter(id=row.id).update(**stored(content, "3 ", "x"))
    assert "Mira: left out 1 of its records" in run("save", file)
    assert sum(len(line["records"]) for line in lines_of(file) if "used" in line) > 1


def changed(file, old, new):
    """Replace a pattern in all lines of a file."""
    text = gzip.decompress(file.read_bytes()).decode()
    file.write_bytes(gzip.compress(re.sub(old, new, text).encode()))


def test_who_has_anns_old_number_is_told_nothing_of_hers(game, ann, rebuild, file):
    run("save", file)
    mira = rebuild()
    stranger = game.player("Zed", mira.location)
    changed(file, rf"{ann.dbref}\b", stranger.dbref)
    loaded(game, mira, file)
    assert SECRET not in prompt(game, stranger)
    stranger.do("aboutme")
    heard = " ".join(stranger.heard())
    assert SECRET not in heard and NAME not in heard


def without_log(file, new_name):
    """Make another world's file of it, in which a mind of another name has no rows."""
    changed(file, r'"mind": "', '"mind": "other-')
    changed(file, '"Mira"', f'"{new_name}"')
    changed(file, r'\{"model".*\n', "")


def test_files_of_two_worlds_share_no_number_that_stands_for_nobody(game, rebuild, file):
    run("save", file)
    mira = rebuild()
    odo = game.assistant("Odo", mira.location)
    first = loaded(game, mira, file)
    without_log(file, "Odo")
    second = loaded(game, odo, file)
    numbers = [re.search(r"Ann \((#\d+)\)", told)[1] for told in (first, second)]
    assert len({*numbers}) == 2
    ann = game.player("Ann", mira.location)
    run("match", numbers[1], ann.dbref)
    for one in (mira, odo):
        game.next_process(one.assistant)
    assert ann.dbref in str(odo.journal.all()) and ann.dbref not in str(mira.journal.all())


def test_who_was_nobody_in_the_old_world_is_told_of_in_the_next(game, rebuild, file, tmp_path):
    run("save", file)
    mira = rebuild()
    told = loaded(game, mira, file)
    number = re.search(r"Ann \((#\d+)\)", told)[1]
    run("save", later := tmp_path / "later.gz")
    without_log(later, "Odo")
    assert re.search(rf"{number} \(#\d+\)", run("load", later))


def test_a_save_that_fails_leaves_no_file(lived, file, monkeypatch):
    monkeypatch.setattr("evennia_ai.contrib.mind_files.transfer.described", lambda seen: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("save", file)
    assert not [*file.parent.iterdir()]


def test_two_assistants_of_one_name_are_both_saved(game, lived, file):
    game.assistant("mira", lived.location)
    assert run("save", file).count("saved") == 2


PAIR = {f"#{number}": {"name": "Ann", "account": f"a{number}", "joined": ""} for number in (12, 13)}


@pytest.mark.parametrize(("named", "why"), [("ann", "2 in the file"), ("anne", "0 in the file")])
def test_an_admin_must_name_exactly_one(game, named, why):
    with pytest.raises(ConfigError, match=why):
        Matching(PAIR, {named: "#1"})


def test_of_two_of_one_name_none_is_found_where_one_is(game, mira):
    then = {"#9001": {"name": "Mira"}, "#9002": {"name": "Mira"}}
    assert not Matching(then).found
    assert Matching(then, {"#9002": mira.dbref}).found == {"#9002": mira.dbref}


def test_the_mark_of_the_forgotten_stays(game):
    assert Matching({}).rename(FORGOTTEN) == FORGOTTEN


@settings(deadline=None)
@given(st.dictionaries(st.integers(1, 99), st.integers(100, 999), min_size=1))
def test_a_summarys_key_is_still_its_audiences(numbers):
    new = {f"#{old}": f"#{one}" for old, one in numbers.items()}
    (key,) = renamed({part_key(frozenset(new)): "text"}, new.__getitem__)
    assert key.split(",") == sorted(new.values())


NUMBER = st.integers(1, 99).map("#{}".format)


@settings(deadline=None)
@given(
    st.lists(NUMBER, min_size=1).map(lambda found: sorted(found, reverse=True)),
    st.sampled_from([" ", ",", ", "]),
    st.text("ab #.!"),
)
def test_numbers_are_renamed_and_words_are_not(numbers, between, words):
    def rename(dbref):
        return f"#{int(dbref[1:]) + 100}"

    new = [rename(one) for one in numbers]
    value = {
        "who": numbers,
        between.join(numbers): f" {between.join(numbers)} ",
        "says": f"x{words}",
    }
    assert renamed(value, rename) == {
        "who": new, between.join(new): f" {between.join(new)} ", "says": f"x{words}",
    }  # fmt: skip
