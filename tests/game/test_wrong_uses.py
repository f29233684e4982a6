"""What staff type and cannot be done is told in a sentence, and changes nothing."""

from evennia_ai.models import Lore, Message
from tests.game.conftest import flat

# What is typed, and a part of the answer.
WRONG = """
aistop | Which character? See help aistop.
aistop Ada | Ada has no assistant.
aistart Mira | Mira is not stopped.
aistart all | The assistants are not stopped.
aisleep | Which character?
aiwake Nobody | There is no character called 'Nobody'.
aisleep/deeply Mira | There is no switch /deeply
aisleep Ada | Ada has no assistant.
aiwake Mira | Mira is awake.
aisetup Nobody = x | There is no character called 'Nobody'.
aisetup/frob Mira = x | There is no switch /frob. There are: /new, /set
aisetup rock = You are a rock. | rock is no character.
aisetup Ada = You are Ada. | Ada is being played by somebody now.
aisetup/persona | There are no shared personas yet.
aisetup/persona guard | There is no shared persona '@guard'. There are: none.
aisetup/set Mira/persona.mood = x | A persona has no field 'mood'.
aisetup/set Mira/persona = @guard | There is no shared persona '@guard'.
aisetup/set Mira/persona = | A persona cannot be empty
aisetup/persona guard = | A persona cannot be empty
aisetup/set Mira/sleep_schedule = at night | must be hours such as 23:00-06:30
ainote Mira = | Which text?
ainote Mira = x for 0 turns | A note stands for 1 to 1,000 turns, not for 0.
ainote/clear Mira | Mira has no note.
aicompact Ada | Ada has no assistant.
aicompact/keep Mira/-1 | How many messages?
aicompact/dry Mira | A compaction would change nothing: no history.
aicompact/undo Mira | Mira has no compaction to undo.
aicost soon | 'soon' is no period. Use today, yesterday, a day such as 2
aicost 32 | , or a number of days up to 31.
aicost 2026-13-01 | '2026-13-01' is no period.
aicost today = 2 | Pages need a list, such as aicost/characters 7 = 2.
aicost/players 7 = x | 'x' is no number. Use a whole number from 1.
aihistory Mira = since whenever | 'whenever' is no time. Use 'yesterday 18:00'
aihistory/player Mira = Zeno | No assistant ever heard anybody called 'Zeno'.
aihistory Mira = player Zeno, newest | 'newest' is no filter. Use since, until
aihistory/since/player Mira = today | Give 2 values, with commas between them.
aihistory Mira = search zebra | No message holds these words.
aihistory all = yesterday | It shows one character at a time.
aihistory/search Mira = ... | No message holds these words
aihistory/compaction Mira = 99 | There is no compaction with this number.
aihistory/compactions Mira | Mira has no compaction yet.
ailore | There is no lore yet that several may know.
ailore Nothing | There is no lore called 'Nothing'.
ailore/delete Nothing | There is no lore called 'Nothing'.
ailore/set Gate | Usage: ailore/set
ailore/set Gate : moon = x | 'moon' is not a scope. Use all, tag:<tag>
ailore/set Gate : room:#987654 = x | There is no room #987654.
ailore/for Mira = dragons | Mira knows no lore for this.
ailore/keys Gate = a | There is no lore called 'Gate'.
aimemory Mira = x | 'x' is no number. Use a whole number from 1.
aimemory/show Mira | Which entry? Give its number.
aimemory/show Mira = j9 | Mira has no entry 'j9'. aimemory Mira lists them.
aimemory/about Mira | About whom?
aimemory/search Mira | Which words?
aimemory/add Mira | Which text?
aimemory/edit Mira/j1 | Which text?
aimemory/edit Mira/j1 = It rains. | The entry has these words already.
aimemory/unpin Mira = j1 | j1 is not pinned already.
aimemory/restore Mira | Which entry? Give its number. aimemory/archive Mira lists them.
""".strip().splitlines()


def test_what_cannot_be_done_is_told_in_a_sentence_and_changes_nothing(game, admin, mira, tavern):
    game.thing("rock", tavern)
    mira.journal.add("It rains.")
    for line in WRONG:
        typed, _, answer = line.partition(" | ")
        told = flat(admin.told(typed))
        assert answer in told, (typed, told)
        assert "Traceback" not in told and "because of a bug" not in told
    assert [entry["content"] for entry in mira.journal.all()] == ["It rains."]
    assert mira.ai_goals.all() == [] and mira.assistant.mind.settings.own() == {}
    assert not Lore.objects.exists() and not Message.objects.exists()
    assert game.model.requests == []


def test_too_long_a_text_is_refused_or_cut(game, admin, mira):
    assert "Write one fact at a time" in admin.told("aimemory/add Mira = " + "x " * 600)
    assert "The note has 501 characters; at most 500" in admin.told("ainote Mira = " + "x" * 501)
