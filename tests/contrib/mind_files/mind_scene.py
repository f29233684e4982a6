"""A character with a past, a world that is built again without it, and files of minds."""

import gzip
import io
import json

import pytest
from django.core.management import call_command

from evennia_ai.contrib.mind_files.management.commands import ai_minds
from evennia_ai.contrib.mind_files.mind_lines import LOGS
from tests.scripted import call

SECRET, NAME = "the silver lies in the well", "Marigold"


def set_running(monkeypatch, running):
    """Let the command believe that the game runs, or does not."""
    monkeypatch.setattr(ai_minds, "is_game_running", lambda: running)


def run(*arguments):
    out = io.StringIO()
    call_command("ai_minds", *map(str, arguments), stdout=out)
    return out.getvalue()


def counts():
    return [model.objects.count() for model in LOGS]


def lines_of(file):
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]


def put_lines(file, lines):
    """Write the lines of a file of minds; text stands as it is, anything else as JSON."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    file.write_bytes(gzip.compress("".join(f"{text}\n" for text in texts).encode()))


def place(lines, model):
    """Return the number of the first line with a row of a model."""
    label = f"evennia_ai.{model}"
    return next(n for n, line in enumerate(lines) if line.get("model") == label)


def of_kind(lines, name):
    return next(line for line in lines if name in line)


@pytest.fixture
def file(tmp_path, monkeypatch):
    set_running(monkeypatch, False)
    return tmp_path / "minds.gz"


@pytest.fixture
def lived(game, mira, ann):
    """Mira, who heard Ann aloud and in confidence, and wrote both down."""
    game.model.add(call("say", text="A fine name."))
    ann.do(f"say Mira, my horse is called {NAME}")
    game.run(2)
    game.model.add(call("whisper", target="Ann", text="I keep that."))
    ann.do(f"whisper Mira = {SECRET}")
    game.run(2)
    mira.journal.add(f"Ann's horse is {NAME}.", source_entity=ann.dbref)
    mira.journal.add(f"Ann says that {SECRET}.", audience=[ann.dbref], speakers=[ann.dbref])
    mira.ai_profiles.observe(ann.dbref, "She limps.")
    mira.assistant.db.max_bot_replies = 2
    return mira


@pytest.fixture
def rebuild(game, lived, ann):
    """Return a function that wipes the world, and builds it again with another Mira."""

    def wipe(with_account=True):
        lived.assistant.delete()
        for one in (lived, ann.character):
            one.delete()
        if with_account:  # a deleted one would close its session
            ann.account.username = "gone"
            ann.account.save()
        assert not any(counts())
        new = game.assistant("Mira", game.room())
        assert new.dbref != lived.dbref
        return new

    return wipe
