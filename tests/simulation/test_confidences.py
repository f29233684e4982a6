"""Random games with sixty secrets each: nobody learns one, and forgetting takes nobody else's.

A failure prints the seed, what was learnt, and the steps in which those words were told.
"""

import zlib
from base64 import b64encode

import pytest

from tests.attacks.leaks import LEAKS
from tests.game import conftest as shared
from tests.same_thread import HAS_PAGES, answer_pages
from tests.simulation import apart
from tests.simulation.court import MOST_SECRETS, Court
from tests.simulation.ears import Ears, file_of, may_save_minds, words_of, words_saved
from tests.simulation.parrot import Parrot, words_in

pytestmark = [pytest.mark.game, pytest.mark.engine]
service, game = shared.service, shared.game

STEPS, FEW_STEPS, CAMPAIGN_STEPS = 150, 30, 90
LOOKS = 100  # steps between two looks at everything
CAMPAIGN = range(1, 2)
SOAK = range(100, 140)  # 6,000 steps
PLANTED_STEPS, PLANTED_SEEDS = 60, range(100, 108)
SHOWN = 40  # of what was found, in a report


@pytest.fixture
def model():
    return Parrot()


@pytest.fixture
def begin(game, model, settings, monkeypatch, tmp_path, caplog):
    """Return a function that makes the game of a seed, and those who judge it."""
    caplog.set_level("ERROR", logger="django.request")  # of pages that players may not open
    settings.ROOT_URLCONF = "tests.api_addresses"
    settings.ALLOWED_HOSTS, settings.REST_API_ENABLED = ["*"], True
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXPORT_FOLDER": str(tmp_path)}
    settings.AMP_PORT = 1  # nobody listens there, whatever other tests run
    answer_pages(monkeypatch, game.clock)

    def begin(seed):
        court = Court(game, model, seed)
        return court, Ears(court, tmp_path)

    return begin


def play(court, ears, steps=STEPS, looks=LOOKS):
    """Play a game, with a player who is forgotten in it, and one at its end; fail with faults."""
    for number in range(1, steps + 1):
        court.step()
        ears.screens()
        if number % looks == 0:
            ears.everything()
        if number == steps * 2 // 3:
            forget(court, ears)
    ears.everything()
    forget(court, ears)
    if faults := report(court, ears):
        pytest.fail(faults, pytrace=False)


def forget(court, ears):
    """Let somebody be forgotten who said something since."""
    ledger = court.ledger
    people = [p for p in court.players.values() if {*ledger.words_of(p.dbref)} - ledger.forgotten]
    ears.faults += apart.forget(court, court.rng.choice(people))


def report(court, ears):
    """Return what was found, and the steps that told it; "" for nothing."""
    faults = sorted(dict.fromkeys(ears.faults), key=lambda fault: "aboutme" in fault)
    words = {word for fault in faults[:SHOWN] for word in words_in(fault)}
    steps = [line for line in court.trace if words.intersection(words_in(line))]
    people = {person.dbref: person.character.key for person in court.everybody.values()}
    lines = [f"{len(faults)} faults, {people}", *faults[:SHOWN], "--", *steps[:SHOWN]]
    return "\n".join(lines) if faults else ""


def test_in_a_game_nobody_learns_a_secret_and_forgetting_takes_nothing_of_others(begin):
    play(*begin(0), FEW_STEPS, looks=STEPS)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", CAMPAIGN)
def test_in_more_games_nobody_learns_a_secret(begin, seed):
    play(*begin(seed), CAMPAIGN_STEPS, looks=CAMPAIGN_STEPS // 2)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SOAK)
def test_in_many_games_nobody_learns_a_secret(begin, seed):
    court, ears = begin(seed)
    play(court, ears)
    assert len(court.ledger.secrets) > MOST_SECRETS * 2 // 3


@pytest.mark.campaign
@pytest.mark.skipif(not HAS_PAGES, reason="without the staff pages")
def test_the_secrets_are_where_staff_and_models_may_see_them(begin, tmp_path):
    """Otherwise the games would show nothing."""
    court, ears = begin(5)
    for _ in range(PLANTED_STEPS):
        court.step()
    confided = {secret.word for secret in court.ledger.secrets.values() if secret.characters}
    assert len(confided) > PLANTED_STEPS // 4 and ears.prompts > PLANTED_STEPS // 4
    visible = words_of(ears.answers(court.ada))
    assert len(confided & visible) > len(confided) * 3 // 4
    columns = {place.partition(" of ")[0] for place in apart.places_of(confided)}
    logs = {f"evennia_ai_{name}" for name in ("event.text", "message.content")}
    assert columns >= {*logs, "a record", "typeclasses_attribute.db_strvalue"}
    assert not may_save_minds() or words_saved(file_of(tmp_path)) >= confided


@pytest.mark.soak
@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_found(begin, name):
    with LEAKS[name].planted():
        assert any(is_told(*begin(seed)) for seed in PLANTED_SEEDS)


def is_told(court, ears):
    """Play a short game; return True if somebody learns a secret by another way than aboutme."""
    for _ in range(PLANTED_STEPS):
        court.step()
        ears.screens()
    ears.everything()
    return [fault for fault in ears.faults if "aboutme" not in fault]


def test_what_is_coded_or_compressed_is_read():
    word = b"zubadefix"
    inner = zlib.compress(b"of the " + word)
    assert any(word in text for text in apart.readings(b"x: " + b64encode(inner)))
    assert any(word in text for text in apart.readings("Of the ZUBADEFIX."))
    assert not any(word in text for text in apart.readings(inner[:4]))
