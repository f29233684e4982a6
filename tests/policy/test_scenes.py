"""Scenes: a talk is told what is new or has changed, to those who may know it, and once."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import Situation, make_message
from evennia_ai.policy.audience import KnownLine, select_visible
from evennia_ai.policy.context.projection import CompactionRecord, LogInView
from evennia_ai.policy.context.situation_updates import (
    GROWING,
    LORE,
    NOTHING,
    PEOPLE,
    in_order,
    lines_by_label,
    make_scenes,
    news,
    scene_text,
    situation_rows,
)
from evennia_ai.policy.tokens import count_message, estimate_tokens

ANN, BOB, BOTH = frozenset({"#5"}), frozenset({"#6"}), frozenset({"#5", "#6"})
TAVERN = Situation("Tavern", "A warm room.", ("Ann",), ("out",), ("mug",), authors=ANN)
LABELS = ("People here", "Also", LORE, PEOPLE)
LINES = st.tuples(st.sampled_from("abcd"), st.booleans(), st.just(ANN)).map(
    lambda fields: KnownLine(*fields)
)
ROWS = st.lists(st.tuples(st.sampled_from(LABELS), LINES), max_size=6, unique=True).map(
    lambda rows: sorted(rows, key=lambda row: LABELS.index(row[0]))
)


def scenes(rows, after=0, audience=ANN):
    return list(make_scenes(rows, after, audience, estimate_tokens))


def line(text, **fields):
    return KnownLine(text, authors=ANN, **fields)


def test_the_first_scene_tells_all_and_the_next_only_what_changed():
    first = scenes(situation_rows(TAVERN, "Friday, 01:00"))
    (scene,) = first
    assert scene["content"] == (
        "<situation>\nPlace: Tavern\nYou see: A warm room.\nPeople here: Ann\nThings here: mug\n"
        "Exits: out\nTime: Friday, 01:00\n</situation>"
    )
    later = situation_rows(Situation("Tavern", "A warm room.", (), ("out",)), "Friday, 01:15")
    assert scene_text(news(later, first)) == (
        "<situation>\nPeople here: nobody\nTime: Friday, 01:15\nThings here: nothing\n</situation>"
    )
    assert news(situation_rows(TAVERN, "Friday, 01:00"), first) == []


def test_what_is_gone_is_told_once_and_lore_never():
    first = scenes([("Things here", line("mug")), (LORE, line("The mug is cursed."))])
    gone = news([], first)
    assert [(label, one.text) for label, one in gone] == [("Things here", NOTHING)]
    assert news([], [*first, *scenes(gone, 1)]) == []


def test_rows_of_one_label_are_a_list():
    rows = [(LORE, line("One.")), (LORE, line("Two."))]
    assert scene_text(rows) == "<situation>\nYou know:\n- One.\n- Two.\n</situation>"


def test_no_row_can_end_the_scene():
    assert scene_text([("Also", line("x</situation>y"))]).count("</situation>") == 1


@given(st.lists(st.tuples(ROWS, st.sampled_from([ANN, BOB, BOTH])), max_size=6))
def test_what_an_audience_sees_tells_the_moment_and_nothing_private_of_others(moments):
    told = []
    for number, (rows, audience) in enumerate(moments):
        before = select_visible(told, audience)
        new = scenes(news(rows, before), number, audience)
        told += new
        seen = [row for one in select_visible(told, audience) for row in one["metadata"]["rows"]]
        assert {(label, one.text) for label, one in rows} <= {
            (name, one.text) for name, one in seen
        }
        # The newest lines of a label are those of now; what is gone is told to be.
        latest = {}
        for one in select_visible(told, audience):
            latest |= lines_by_label(one["metadata"]["rows"])
        now = lines_by_label(rows)
        for (label, private), texts in latest.items():
            if label not in GROWING and not private:
                assert texts == now.get((label, private), [NOTHING])
        growing = [(label, one.text) for label, one in seen if label in GROWING]
        assert len(growing) <= 2 * len(set(growing))  # in public, and in private
        for one in new:
            assert one["metadata"]["private"] == any(
                known.private for _label, known in one["metadata"]["rows"]
            )
    for one in told:
        if one["metadata"]["private"]:
            assert one not in select_visible(told, BOTH - frozenset(one["metadata"]["audience"]))


def test_a_scene_stands_behind_its_message_and_before_the_next():
    log = [make_message("user", f"line {seq}", seq=seq) for seq in (4, 7)]
    marker = make_message("user", "Before.", type="compaction")
    dry = make_message("user", "Ann says: hm")
    (scene,) = scenes([("Place", line("Yard"))], after=4)
    found = in_order([marker, *log, dry, scene])
    assert [one["content"] for one in found] == [
        "Before.", "line 4", scene["content"], "line 7", "Ann says: hm",
    ]  # fmt: skip


def test_a_compaction_takes_the_scenes_before_its_end():
    first, last = (scenes([("Place", line("Yard"))], after=seq)[0] for seq in (3, 9))
    record = CompactionRecord(1, "sleep", 1, 9, {"public": "They talked."}, 9, "", 60, 20)
    view = LogInView(record, [], 0, count_message, [first, last])
    assert view.scenes == [last]
    assert view.copy().scenes == [last]
    assert view.sizes.public > last["metadata"]["tokens"]
