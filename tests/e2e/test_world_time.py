"""Players of a real server are told the world's time, at whatever pace it goes."""

from collections.abc import Callable
from datetime import UTC, datetime

from tests.e2e.harness import GameServer
from tests.e2e.telnet import TelnetPlayer

EPOCH = datetime(1340, 6, 3, 20, tzinfo=UTC)  # a Friday
TOLD = r"\b(\w+day), (\d+) June 1340, (\d\d):(\d\d)"
NEWEST = "SELECT at FROM evennia_ai_message ORDER BY id DESC LIMIT 1"


def of_pace(factor: int) -> list[str]:
    """Return the settings of a world of this pace that began in `EPOCH`."""
    return [
        "TIME_ZONE = 'UTC'",
        f"TIME_FACTOR = {factor}",
        f"TIME_GAME_EPOCH = {EPOCH.timestamp()}",
    ]


def told_time(ann: TelnetPlayer) -> datetime:
    """Ask Mira for the time; return it."""
    ann.mark()
    ann.send("say Mira, what time is it?")
    weekday, day, hour, minute = ann.expect("Mira says, .*?" + TOLD).groups()
    told = datetime(1340, 6, int(day), int(hour), int(minute), tzinfo=UTC)
    assert f"{told:%A}" == weekday
    return told


def test_the_stand_in_tells_the_worlds_time_over_a_reload_at_another_pace(
    make_server: Callable[..., GameServer],
) -> None:
    game = make_server(settings=of_pace(60))
    with game.player("Ann") as ann:
        first = told_time(ann)
        assert first >= EPOCH
        game.settings = of_pace(4)
        game.write_settings()
        game.reload()
        slower = told_time(ann)  # less of the world's time has passed since its beginning
        assert EPOCH <= slower <= first
    stored = datetime.fromisoformat(game.sql(NEWEST)[0]["at"]).replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - stored).total_seconds()) < 3_600  # rows keep the machine's
