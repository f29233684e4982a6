"""Who knows what: the exact holders of planted facts, nothing private for who may not read it."""

import re
from importlib import import_module
from types import ModuleType

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.urls import include, path

from evennia_ai.commands.common import all_assistants
from evennia_ai.contrib.who_knows import EXTENSION, page
from evennia_ai.contrib.who_knows.holders import find_holders, matches
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry
from evennia_ai.policy.read_permissions import DEFAULTS, Reader
from tests.contrib.who_knows import town_scene as scene
from tests.contrib.who_knows.town_scene import seed
from tests.game.compaction_records import record
from tests.same_thread import HAS_PAGES, SameThread
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for, who_knows, meet = scene.asked_for, scene.who_knows, scene.meet
admin, bea, ask = scene.admin, scene.bea, scene.ask


@pytest.fixture
def town(game, tavern, mira, who_knows):
    """Mira and Bruno in the tavern, Vera and Tim at the gate, Otto alone."""
    gate = game.room("Gate")
    made = {"Bruno": tavern, "Vera": gate, "Tim": gate, "Otto": game.room("Cell")}
    people = {name: game.assistant(name, room) for name, room in made.items()}
    people["Vera"].tags.add("guards", category="faction")
    return {"Mira": mira, **people}


@pytest.fixture
def holders(game, who_knows):
    """Return a function that returns the names of those who hold a query, and their rows."""

    def holders(query, permission="Admin"):
        ranks = ["Builder", "Admin"]
        reader = Reader(DEFAULTS, lambda asked: ranks.index(asked) <= ranks.index(permission))
        minds = all_assistants()
        found = game.result(find_holders(game.service, query, reader, bool, minds), 0.01)
        return {script.character.key: rows for script, rows in found}

    return holders


def plant(game, town, ann, bob, meet, who_knows, settings):
    """Plant twenty facts; return who must hold each, by its query."""
    mira, bruno, vera, tim, otto = town.values()
    game.model.script[:] = [call("noop")] * 9
    ann.do("say Mira, my lantern is violet")
    bob.do("say The ferry sank on Tuesday")
    ann.do("whisper Mira = the dagger lies below the altar")
    bob.do("whisper Bruno = I stole nine geese")
    game.run(2)
    game.model.script[:] = [call("say", text="The cellar floods each spring."), *[call("noop")] * 9]
    ann.do("say Bruno, tell me of this house")
    game.run(2)
    mira.journal.add("The baker owes twelve crowns.", speakers=[ann.dbref], source_entity=ann.dbref)
    bruno.journal.add("Ann fears spiders.", audience=[ann.dbref], source_entity=ann.dbref)
    tim.journal.add("The west tower leans.", source_type="observation")
    vera.journal.archive.put_away(vera.journal, vera.journal.add("The moat is shallow."))
    otto.ai_profiles.observe(ann.dbref, "She limps on the left foot.")
    otto.ai_goals.add("Dig a tunnel below the chapel.")
    tim.ai_goals.add("Poison the steward.", audience=[bob.dbref])
    vera.db.ai_lore = [{"title": "Horn", "text": "The horn calls the dragon.", "scopes": "all"}]
    otto.db.ai_persona = "You are Otto. You forged the royal seal. You never lie."
    game.service.lore.write(
        LoreEntry("Password", "The password is marmalade.", ("faction:guards",))
    )
    game.service.lore.write(LoreEntry("Vault", "The vault opens at eclipse.", ("quest:thief",)))
    last = mira.assistant.conversation.view()[-1]["metadata"]["seq"]
    text = {"public": "Ann sells amber rings.", ann.dbref: "Ann is heir to Karst."}
    speakers = {"public": [ann.dbref], ann.dbref: [ann.dbref]}
    mira.assistant.conversation.compactions.commit(record(last, summary=text, speakers=speakers))
    seed(who_knows, tim, "A comet comes at harvest.")
    meet()
    everybody = {*town}
    return {
        "violet lantern": {"Mira", "Bruno"},
        "ferry sank": {"Mira", "Bruno"},
        "dagger altar": {"Mira"},
        "stole geese": {"Bruno"},
        "cellar floods": {"Mira"},  # what the stand-in says, nobody recalls as its own
        "baker owes": {"Mira"},
        "fears spiders": {"Bruno"},
        "tower leaning": {"Tim"},
        "moat": set(),
        "limps foot": {"Otto"},
        "tunnel chapel": {"Otto"},
        "poison steward": {"Tim"},
        "dragon horn": {"Vera"},
        "forged seal": {"Otto"},
        "marmalade": {"Vera"},
        "vault eclipse": everybody,
        "amber rings": {"Mira"},
        "heir Karst": {"Mira"},
        "comet harvest": {"Tim", "Vera"},
        "unicorn": set(),
    }


PRIVATE = {"dagger altar", "stole geese", "fears spiders", "poison steward", "heir Karst"}


def test_twenty_facts_have_exactly_their_holders(
    game, town, ann, bob, meet, who_knows, settings, holders
):
    facts = plant(game, town, ann, bob, meet, who_knows, settings)
    assert len(facts) == 20
    for query, who in facts.items():
        assert holders(query).keys() == who, query
        assert holders(query, "Builder").keys() == (set() if query in PRIVATE else who), query
    (row,) = holders("dagger altar")["Mira"]
    assert (row["way"], row["from"], row["to"]) == ("heard", "Ann", "only Ann: told in private")
    (row,) = holders("forged seal")["Otto"]
    assert (row["way"], row["text"]) == ("persona", "You forged the royal seal.")
    (row,) = holders("vault eclipse")["Otto"]
    assert (row["way"], row["to"]) == ("lore", "who has quest:thief")
    (row,) = holders("comet harvest")["Vera"]
    assert (row["way"], row["from"], row["to"]) == ("told", "Tim", "anybody")
    (row,) = holders("baker owes")["Mira"]
    assert (row["way"], row["from"]) == ("noted", "Ann")


def test_a_hidden_line_is_held_by_nobody(game, town, ann, holders, admin):
    ann.do("say Mira, my lantern is violet")
    game.run(2)
    mira = town["Mira"]
    seq = next(
        m["metadata"]["seq"] for m in mira.assistant.conversation.view() if "violet" in m["content"]
    )
    mira.journal.add("Ann's lantern is violet.", source_seqs=[seq])
    mira.assistant.conversation.amendments.add("hidden", [seq], admin.dbref)
    mira.assistant.mind.renew([seq])
    (row,) = holders("violet")["Mira"]
    assert (row["way"], row["to"]) == ("noted", "nobody: a line behind it is hidden or edited")


def test_staff_type_it_and_a_builder_learns_nothing_of_secrets(game, town, ann, admin, bea, ask):
    ann.do("whisper Mira = the dagger lies below the altar")
    ann.do("say Mira, the weather is fine")
    game.run(2)
    town["Mira"].journal.add("Weather bores Ann.")
    told = ask(admin, "aiknows dagger")
    assert '1 knows of "dagger"' in told and "only Ann: told in private" in told
    told = ask(bea, "aiknows dagger")
    assert "Nobody knows" in told and "only admins may search it" in told
    assert told.replace("dagger", "unicorn") == ask(bea, "aiknows unicorn")
    assert "Weather bores" not in ask(bea, "aiknows weather")  # she may not edit Mira
    assert "Which words" in ask(bea, "aiknows")
    assert "No character" in ask(bea, "aiknows Nobody = dagger")
    assert "There is no rumour" in ask(bea, "airumour/retract 9")


def test_what_others_told_comes_first_and_no_question_is_knowledge(
    game, town, ann, admin, meet, who_knows, ask
):
    seed(who_knows, town["Bruno"], "The mill is haunted.")
    for number in range(7):
        ann.do(f"say Mira, the mill was haunted {number} days ago")
    ann.do("say Mira, is the mill haunted?")
    game.run(2)
    meet()
    told = ask(admin, "aiknows mill haunted")
    of_mira = told[told.index("|wMira|n") if "|wMira|n" in told else told.index("Mira\n") :]
    assert of_mira.splitlines()[1].strip().startswith("told, from Bruno"), told
    assert "is the mill" not in told and "new" not in told
    assert f"2 more: aiknows {town['Mira'].dbref} = mill haunted" in of_mira
    told = ask(admin, "aiknows Mira = mill haunted")
    assert "Bruno\n" not in told and "6 days ago" in told and " more: " not in told


@pytest.mark.parametrize(
    ("query", "text", "is_match"),
    [
        ("silver key", "Two silver keys lie here.", True),
        ("silver key", "A silver lock.", False),
        ("Schlüssel", "Der SCHLÜSSEL liegt im Brunnen.", True),
        ("is the", "This is the end.", True),
        ("is the", "No.", False),
        ("", "anything", False),
        ("銀の鍵", "銀の鍵はここ", True),
    ],
)
def test_all_words_of_a_query_must_stand_in_a_text(query, text, is_match):
    assert matches(query, text) is is_match


@pytest.fixture
def addresses(settings):
    """Add our addresses to those of the site, which may have been read while we were off."""
    urls = ModuleType("urls")
    ours = [path("ai/", include(name)) for name in EXTENSION.urls(by_game=False)]
    urls.urlpatterns = [*import_module(settings.ROOT_URLCONF).urlpatterns, *ours]
    settings.ROOT_URLCONF = urls


def test_the_page_shows_staff_the_same(game, town, ann, admin, bea, monkeypatch, rf, addresses):
    monkeypatch.setattr(page, "game", SameThread(game.clock))
    ann.do("whisper Mira = the dagger lies below the altar")
    ann.do("say Mira, the weather is <b>fine</b>")
    game.run(2)

    def get(player, words):
        request = rf.get("/ai/knows/", {"words": words})
        request.user = player.account if player else AnonymousUser()
        request.session = {}
        return page.knows(request)

    assert get(None, "dagger").status_code == 302
    with pytest.raises(PermissionDenied):
        get(ann, "dagger")
    assert "only Ann: told in private" in get(admin, "dagger").content.decode()
    assert "Nobody knows of" in get(bea, "dagger").content.decode()
    assert "has no journal entries yet. What others told it" in admin.told("aimemory Otto")
    for number in range(7):
        ann.do(f"say Mira, the weather is fine on day {number}")
    game.run(2)
    dbref = town["Mira"].dbref
    more = f'<a href="?words=%23{dbref[1:]}%20%3D%20weather">  2 more</a>'
    assert more in get(admin, "weather").content.decode()
    assert "on day 6" in get(admin, f"{dbref} = weather").content.decode()
    assert "No character with a mind" in get(admin, "Nobody = weather").content.decode()
    shown = get(bea, "weather").content.decode()
    links = re.findall(r'<a href="(/ai/[^"]*)"( aria-current="page")?>', shown)
    both = [("/ai/", ""), ("/ai/knows/", ' aria-current="page"')]
    assert [links[0], links[-1]] == both if HAS_PAGES else not links
    assert "the weather is &lt;" in shown and "<b>fine" not in shown
