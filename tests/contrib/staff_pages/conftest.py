"""Staff and players with a browser, and an assistant with something on every page."""

import pytest
from django.test import Client

from evennia_ai.models import Compaction, ModelCall, SleepPass
from tests.same_thread import answer_pages
from tests.scripted import call

CANARY = "zanzibar"
SCRIPT = "<script>alert(1)</script>"
PAGES = (
    "", "turns/", "turns/?tokens=1", "{id}/", "{id}/setup/", "{id}/trial/", "{id}/turn/{turn}/",
    "{id}/live/", "{id}/live/newest/", "{id}/memory/",
    "{id}/memory/?archive=1", "{id}/memory/?words=word", "{id}/relations/", "{id}/lore/",
    "{id}/lore/?line=gate", "{id}/compactions/", "{id}/compaction/{compaction}/", "{id}/sleep/",
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread(service, monkeypatch, settings):
    """Let views ask the game in the thread of the test, which owns its database."""
    settings.ALLOWED_HOSTS = ["*"]
    return answer_pages(monkeypatch, service.clock)


class Browser:
    """A web client that is logged in as a player's account."""

    def __init__(self, player=None):
        self.client = Client(enforce_csrf_checks=True)
        if player:
            self.client.force_login(player.account)

    def get(self, path="", **query):
        return self.client.get(f"/ai/{path}", query)

    def text(self, path="", **query):
        """Return the page at a path, which must be there."""
        reply = self.get(path, **query)
        assert reply.status_code in (200, 204), reply.status_code
        return reply.content.decode()

    def post(self, path, **fields):
        """Fill in the form of a page, as a browser does, with the page's token."""
        self.get(path)
        token = self.client.cookies["csrftoken"].value
        data = {"csrfmiddlewaretoken": token, **fields}
        return self.client.post(f"/ai/{path}", data, follow=True)


@pytest.fixture
def builder(game, tavern, mira):
    """Return a builder who may edit Mira and is not an admin."""
    builder = game.player("Bo", tavern, permissions=["Builder"])
    mira.locks.add(f"edit:id({builder.character.id}) or perm(Admin)")
    return builder


@pytest.fixture
def lived(game, mira, ann, builder, admin):
    """Let Ann talk, whisper and say a script, and put something on every page."""
    script = mira.assistant
    game.model.add(call("say", text="Good morning."), call("say", text=f"You said {SCRIPT}."))
    ann.do("say hello Mira")
    game.run(2)
    ann.do(f"say Mira, what is {SCRIPT}?")
    game.run(2)
    game.model.add(call("whisper", target="Ann", text=f"I keep {CANARY}."))
    ann.do(f"whisper Mira = Keep my word: {CANARY}")
    game.run(2)
    audience = [ann.dbref]
    mira.journal.add(f"The word of the day is {SCRIPT}.")
    mira.journal.add(f"Ann's word is {CANARY}.", audience=audience, speakers=audience)
    gone = mira.journal.add("An old word.")
    mira.journal.archive.put_away(mira.journal, gone)
    met = mira.ai_profiles.note_contact(ann.dbref)
    mira.ai_profiles.update(met["id"], sentiment=0.1)
    now = script.services.now()
    Compaction.objects.create(
        assistant_id=script.id, at=now, reason="sleep", from_seq=1, upto_seq=9, compacted_count=9,
        original_token_count=900, summary_token_count=300, undone_at=now, rung="summary",
        summary={"public": f"They met: {SCRIPT}.", ann.dbref: f"Ann's word is {CANARY}."},
    )  # fmt: skip
    SleepPass.objects.create(
        assistant_id=script.id, at=now, ended_at=now, reason="order", outcome="done",
        results={"context_compaction": {"success": False}},
        errors={"context_compaction": f"the endpoint said {CANARY}"},
    )  # fmt: skip
    ModelCall.objects.create(
        assistant_id=script.id, at=now, purpose="tick", profile="default",
        error_kind="rejected", error=f"the endpoint said {CANARY}",
    )  # fmt: skip
    return mira


@pytest.fixture
def pages(lived):
    """Return the paths of all pages about Mira."""
    from evennia_ai.models import Turn

    turn = Turn.objects.filter(private=True).order_by("-id").first()
    known = {"id": lived.assistant.id, "turn": turn.id}
    return [page.format(**known, compaction=Compaction.objects.get().id) for page in PAGES]
