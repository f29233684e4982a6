"""What the staff pages show, and what their forms change."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evennia_ai.models import Compaction, DailyUse, Event, Message, ToolCall, Turn
from evennia_ai.policy.limits.retry import Breaker
from tests.contrib.staff_pages.conftest import CANARY, SCRIPT, Browser
from tests.scripted import call

pytestmark = pytest.mark.game


def turns_on(text):
    """Return the numbers of the turns that a timeline lists."""
    return [int(number) for number in re.findall(r"/turn/(\d+)/", text)]


def days_of(assistant_id, count):
    """Store turns, one each day back from today, each with a heard line."""
    newest = Turn.objects.order_by("-id").first()
    for ago in range(count, 0, -1):
        at = newest.at - timedelta(days=ago)
        turn = Turn.objects.create(
            assistant_id=assistant_id, at=at, ended_at=at, context="tick", outcome="done"
        )
        Event.objects.create(
            assistant_id=assistant_id, at=at, kind="say", speaker="#77", speaker_name="Zoe",
            text=f"line {ago}", state="answered", turn=turn,
        )  # fmt: skip


# --- the overview -------------------------------------------------------------------------------


def test_the_overview_shows_state_use_money_and_why_all_are_stopped(lived, service, admin):
    text = Browser(admin).text()
    assert "Mira" in text and "awake" in text and "<meter" in text
    assert "data-chart" not in text and "all on 20" in text  # one day needs no chart
    days_of(lived.assistant.id, 3)
    assert Browser(admin).text().count("<tr><td>20") == 30  # a row for each day of the chart
    assert "Money today" not in text and "All are stopped" not in text
    use = {"calls": 1, "prompt_tokens": 900, "priced_tokens": 900, "money": 1_230_000}
    day = datetime.now(UTC).date()
    DailyUse.objects.create(assistant_id=lived.assistant.id, day=day, profile="hosted", **use)
    service.problems.append(lambda reader: [("Players", "1 <i>report</i>")] * reader.has("Admin"))
    service.problems.append(lambda reader: 1 / 0)
    service.switch_off("for the <b>night</b>")
    text = Browser(admin).text()
    assert "Players: 1 &lt;i&gt;report&lt;/i&gt;" in text
    assert "<dt>Money today</dt><dd>1.23 USD</dd>" in text
    assert "All are stopped: for the &lt;b&gt;night&lt;/b&gt;" in text
    (lane,) = service.gateway.lanes
    assert "in use" in text and "last call failed" not in text
    lane.breaker = Breaker(failures=1, error="Nobody listens there.")
    text = Browser(admin).text()
    assert "in use" not in text and "the last call failed" in text and "Nobody listens" in text


def test_the_overview_has_pages_and_counts_all(game, lived, tavern, admin, monkeypatch):
    monkeypatch.setattr("evennia_ai.contrib.staff_pages.overview.Overview.paginate_by", 1)
    game.assistant("Odo", tavern)
    first, second = Browser(admin).text(), Browser(admin).text(page="2")
    assert "<dt>Characters</dt><dd>2</dd>" in first and "<dt>Characters</dt><dd>2</dd>" in second
    assert ">Mira</a>" in first and ">Odo</a>" not in first and 'href="?page=2"' in first
    assert ">Odo</a>" in second and ">Mira</a>" not in second and "Page 2 of 2." in second
    assert 'class="pagination' not in first + second, "Evennia's own pager, without our filters"


# --- the log ------------------------------------------------------------------------------------


def test_of_many_heard_lines_the_newest_stand_open(lived, admin):
    at, of = Turn.objects.order_by("-id").first().at, {"assistant_id": lived.assistant.id}
    turn = Turn.objects.create(**of, at=at, ended_at=at, context="tick", outcome="done")
    for number in range(6):
        Event.objects.create(
            **of, at=at, kind="say", speaker="#77", speaker_name="Zoe", text=f"line {number}",
            state="answered", turn=turn,
        )  # fmt: skip
    text = Browser(admin).text(f"{lived.assistant.id}/")
    folded, _, shown = text.partition("Heard before: 3 lines</summary>")[2].partition("</details>")
    for number in range(6):
        assert f"line {number}" in (folded if number < 3 else shown), number


def test_the_timeline_is_paged_without_gaps_and_keeps_its_filter(lived, admin):
    days_of(lived.assistant.id, 60)
    for asked in ("", "player=%2377&"):
        browser, path, seen = Browser(admin), f"{lived.assistant.id}/", []
        query = f"?{asked}"
        while query:
            text = browser.text(path + query)
            seen += turns_on(text)
            older = re.search(r'rel="next" href="([^"]+)"', text)
            query = older and older[1].replace("&amp;", "&")
        wanted = Turn.objects.filter(events__speaker="#77") if asked else Turn.objects
        order = "id" if asked else "-id"
        assert seen == list(wanted.order_by(order).values_list("id", flat=True))


def test_the_timeline_shows_what_nobody_answered(lived, ann, admin):
    Event.objects.create(
        assistant_id=lived.assistant.id, kind="say", speaker=ann.dbref, speaker_name="Ann",
        text="Is nobody there?", state="expired", reason="it had gone", at=datetime.now(UTC),
    )  # fmt: skip
    page = Browser(admin).text(f"{lived.assistant.id}/")
    assert re.search(r"Never answered.*Is nobody there\?.*it had gone.*<h2>Turns", page, re.S)
    assert "Is nobody there?" not in Browser(admin).text(f"{lived.assistant.id}/", player="Ann")


def test_the_overview_names_the_stand_in_and_keeps_a_percentage_on_one_line(lived, admin):
    page = Browser(admin).text("")
    assert "the stand-in" in page and "offline" not in page and "&nbsp;%</td>" in page


def test_filters_are_folded_until_they_are_used(lived, admin):
    browser = Browser(admin)
    assert '<details class="filters"><summary>' in browser.text(f"{lived.assistant.id}/")
    used = browser.text(f"{lived.assistant.id}/", words="ale")
    assert '<details class="filters" open>' in used


def test_the_timeline_shows_each_line_on_its_own_and_marks_what_was_refused(lived, ann, admin):
    turn = Turn.objects.filter(assistant_id=lived.assistant.id, tool_calls__name="say").last()
    turn.tool_calls.filter(name="say").update(state="failed")
    for words in ("First.", "Second.", "Third."):
        Event.objects.create(
            assistant_id=lived.assistant.id, turn=turn, kind="say", speaker=ann.dbref,
            speaker_name="Ann", text=words, state="overheard", at=datetime.now(UTC),
        )  # fmt: skip
    page = Browser(admin).text(f"{lived.assistant.id}/")
    assert re.search(r"First\.\s*<br><strong>Ann</strong>: Second\.\s*<br>", page)
    assert re.search(r'act">says</span> <span class="tag bad">failed</span>', page)


def test_turns_of_all_are_filtered_by_end_tool_and_tokens(game, lived, tavern, ann, admin):
    game.assistant("Odo", tavern)
    game.model.add(call("emote", text="nods."))
    ann.do("say Odo, hello")
    game.run(2)
    browser, newest = Browser(admin), Turn.objects.latest("id")
    assert {"Mira", "Odo"} <= set(re.findall(r">(\w+)</a>", browser.text("turns/")))
    assert turns_on(browser.text("turns/", tool="emote")) == [newest.id]
    assert len(turns_on(browser.text("turns/", tool="whisper"))) == 1
    assert turns_on(browser.text("turns/", outcome="expired")) == []
    used = sum(call.estimated_tokens for call in newest.model_calls.all())
    assert newest.id in turns_on(browser.text("turns/", tokens=used))
    assert turns_on(browser.text("turns/", tokens=10**9)) == []


def test_a_talk_of_two_players_is_read_from_its_beginning(game, lived, ann, bob, admin):
    for player in (bob, ann):
        game.model.add(call("say", text="Good day."))
        player.do("say Mira, good day")
        game.run(2)
    browser, path = Browser(admin), f"{lived.assistant.id}/"
    both, whose = browser.text(path, player="Ann, Bob"), browser.text(path, player="Bob")
    assert turns_on(both) == sorted(turns_on(browser.text(path)))
    assert len(turns_on(whose)) == 1 and "Turns, oldest first" in whose
    newest = browser.text(path, player="Ann, Bob", order="newest")
    assert turns_on(newest) == turns_on(both)[::-1] and "Turns, newest first" in newest
    assert "Nobody is called &#x27;Cid&#x27;" in browser.text(path, player="Ann, Cid")


def test_pages_have_their_own_titles_and_turns_are_read_as_words(game, lived, ann, admin):
    ann.character.move_to(game.room("Far"))
    ann.character.move_to(lived.location)
    game.model.add(call("noop", reason="nothing to say"))
    ann.do("say Mira, well?")
    game.run(2)
    browser, path = Browser(admin), f"{lived.assistant.id}/"
    titles = {
        re.search("<title>.* - (.*)</title>", browser.text(path + page))[1]
        for page in ("", "setup/", "lore/")
    }
    assert titles == {"Mira: Turns", "Mira: Setup", "Mira: Lore"}
    row = browser.text(path).partition('class="turn"')[2].partition("</li>")[0]
    assert "Ann arrives." in row and "does nothing</span>" in row and "0.0 s" not in row
    newest = Turn.objects.latest("id").id
    page = browser.text(f"{path}turn/{newest}/")
    assert "<title>" in page and f"Mira: Turn {newest}" in page and "Turn after" not in page
    before = re.search('rel="prev" href="/ai/([^"]+)"', page)[1]
    assert f"turn/{newest}/" in browser.text(before) and "You said it." not in browser.text(
        path + "live/"
    )


def test_a_filter_does_not_tell_a_builder_who_whispered_what(lived, builder, admin):
    browser, path = Browser(builder), f"{lived.assistant.id}/"
    whispered = Turn.objects.get(private=True).id
    assert whispered in turns_on(browser.text(path))
    assert turns_on(browser.text(path, words=CANARY)) == []
    assert whispered not in turns_on(browser.text(path, player="Ann"))
    assert "Whispers were not searched" in browser.text(path, player="Ann")


def test_a_turn_is_a_scene_of_ai_check_and_a_whisper_only_for_those_who_read_it(
    lived, builder, admin, tmp_path
):
    def scene_on(browser, turn):
        text = browser.text(f"{lived.assistant.id}/turn/{turn.id}/")
        return html.unescape("".join(re.findall(r"<pre>(.*?)</pre>", text, re.S)))

    said, whispered = Turn.objects.filter(private=False).last(), Turn.objects.get(private=True)
    act = said.tool_calls.first()
    given = {"name": "give", "call_id": "c9", "arguments": '{"item": "ale", "to": "Ann"}'}
    ToolCall.objects.create(
        turn=said, assistant=act.assistant, at=act.at, world=True, state="done", **given
    )
    (tmp_path / "x.yaml").write_text(scene_on(Browser(admin), said))
    play = pytest.importorskip("evennia_ai.contrib.evals.play")
    (scene,) = play.load_scenes(str(tmp_path / "x.yaml"))
    (step,) = scene.steps
    assert (scene.character, step.who, step.says) == ("Mira", "Ann", f"Mira, what is {SCRIPT}?")
    (acted,) = step.answer.must_do
    assert (acted.tool, acted.arguments) == ("give", {"item": "ale", "to": "Ann"})
    assert scene_on(Browser(builder), whispered) == ""
    assert f"whispers: 'Keep my word: {CANARY}'" in scene_on(Browser(admin), whispered)


def test_the_live_view_answers_only_if_there_is_something_new(lived, ann, game, admin):
    browser, path = Browser(admin), f"{lived.assistant.id}/live/newest/"
    last = Message.objects.order_by("-id").first().id
    assert f'{path}?after={last}"' in browser.text(f"{lived.assistant.id}/live/")
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(path, after=last).status_code == 204
    ours = [query["sql"] for query in asked if '"evennia_ai_' in query["sql"]]
    assert len(ours) == 1 and "evennia_ai_message" in ours[0] and "LIMIT 1" in ours[0]
    game.model.add(call("say", text="Still here."))
    ann.do("say Mira, are you there?")
    game.run(2)
    assert "are you there?" in browser.text(path, after=last)


def test_a_compaction_shows_what_was_before_and_after(lived, builder, admin):
    path = f"{lived.assistant.id}/compaction/{Compaction.objects.get().id}/"
    text = Browser(admin).text(path)
    assert "For everybody" in text and "For Ann" in text and "900 tokens into 300" in text
    assert "hello Mira" in text
    hidden = Browser(builder).text(path)
    assert "For somebody in private" in hidden and "[summary, only admins may read it]" in hidden


# --- what it knows ------------------------------------------------------------------------------


def test_a_search_answers_as_a_player_would_be_answered(lived, ann, bob, admin):
    browser, path = Browser(admin), f"{lived.assistant.id}/memory/"
    told = browser.text(path, words="Ann's word", **{"as": "Ann"})
    assert "If Ann asked" in told and CANARY in told and "Withheld" not in told
    kept = browser.text(path, words="Ann's word", **{"as": "Bob"})
    assert CANARY not in kept and "Withheld" in kept and "private to Ann" in kept
    assert "Nobody is called" in browser.text(path, words="word", **{"as": "Nobody"})


def test_a_builder_searches_what_is_public_and_is_told_how_much_is_hidden(lived, builder, ann):
    browser, path = Browser(builder), f"{lived.assistant.id}/memory/"
    text = browser.text(path, words="word")
    assert "alert(1)" in text and re.search(r"\d+ more: private, only Admins", text)
    assert "Only Admins may see" in browser.text(path, words="word", **{"as": "Ann"})


def test_the_forms_do_what_the_commands_do(lived, admin, monkeypatch):
    logged = []
    monkeypatch.setattr("evennia.utils.logger.log_sec", logged.append)
    browser, path, journal = Browser(admin), f"{lived.assistant.id}/memory/", lived.journal
    browser.post(path, act="add", text="The well is <b>dry</b>.")
    added = journal.all()[-1]
    assert added["content"] == "The well is <b>dry</b>." and added["source_type"] == "builder"
    entry = added["id"]
    browser.post(path, act="pin", entry=entry)
    assert journal.get(entry)["pinned"]
    browser.post(path, act="edit", entry=entry, text="The well is full.")
    assert "The well is full." in browser.text(path)
    browser.post(path, act="delete", entry=entry)
    assert journal.get(entry) is None
    browser.post(f"{path}?archive=1", act="restore", entry=entry)
    assert journal.get(entry)["content"] == "The well is full."
    changes = [line for line in logged if " of Mira" in line and "private items" not in line]
    assert len(changes) == 5 and all("account Ada" in line for line in changes)
    (old,) = re.findall(r'name="entry" value="(\w+)"', browser.text(f"{path}?archive=1"))
    browser.post(f"{path}?archive=1", act="restore", entry=old)
    assert lived.journal.get(old)["content"] == "An old word."


def test_a_wrong_form_changes_nothing_and_says_why(lived, admin):
    browser, path = Browser(admin), f"{lived.assistant.id}/memory/"
    before = lived.journal.all()
    assert "needs a text" in browser.post(path, act="add", text=" ").content.decode()
    assert browser.post(path, act="pin", entry="j99").status_code == 404
    assert browser.post(path, act="explode", entry=before[0]["id"]).status_code == 404
    assert lived.journal.all() == before


def test_nothing_changes_without_the_setting_the_token_or_the_right(
    lived, admin, builder, settings
):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "WEB_ACTS": False}
    browser, path = Browser(admin), f"{lived.assistant.id}/memory/"
    before = lived.journal.all()
    assert '<button name="act"' not in browser.text(path)
    browser.client.cookies["csrftoken"] = "x" * 32
    token = {"csrfmiddlewaretoken": "x" * 32}
    reply = browser.client.post(f"/ai/{path}", {**token, "act": "add", "text": "no"})
    assert reply.status_code == 403 and "WEB_ACTS" in reply.content.decode()
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "WEB_ACTS": True}
    reply = browser.client.post(f"/ai/{path}", {"act": "add", "text": "no"})
    assert reply.status_code == 403
    private = next(one for one in before if CANARY in one["content"])
    assert Browser(builder).post(path, act="delete", entry=private["id"]).status_code == 404
    assert lived.journal.all() == before


def test_lore_says_what_a_line_triggers_and_why(lived, service, admin):
    from evennia_ai.policy.conversation.persona_and_lore import LoreEntry

    service.lore.write(LoreEntry("The north gate", f"Hanno built it {SCRIPT}."))
    service.lore.write(LoreEntry("The old mill", "It burnt."))
    service.lore.write(LoreEntry("The password", "Swordfish.", ("faction:guard",)))
    text = Browser(admin).text(f"{lived.assistant.id}/lore/", line="Who built the gate?")
    row = r"<strong>(.*?)</strong>.*?<span class=\"tag *(\w*)\">(.*?)</span>"
    told = {title: (kind, why) for title, kind, why in re.findall(row, text, re.S)}
    kind, why = told["The north gate"]
    assert kind == "good" and set(why.partition("words: ")[2].split()) == {"built", "gate"}
    assert "the line does not ask for it" in told["The old mill"][1]
    assert told["The password"][0] == "bad" and SCRIPT not in text
