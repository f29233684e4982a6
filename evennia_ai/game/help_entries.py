"""The help entries ``minds``, for players, and ``ai staff``; the players' lines are in `texts`."""

from typing import Any

from evennia_ai.game.texts import text

# Evennia capitalises each word of a category: "AI" would become "Ai".
HELP_CATEGORY = "Thinking characters"
STAFF = f"{HELP_CATEGORY}, staff"
EXPERTS = f"{HELP_CATEGORY}, experts"
SUBTOPICS = ("privacy", "forget", "mute")
STAFF_TEXT = """
Five commands do what staff need every day:

  |waisetup|n    attach a mind to a character, and change it; alone: a menu
  |waiwhy|n      why a character said a line, and where it had that from
  |waihistory|n  what it heard, said and did; hide or mend a line
  |waistatus|n   all characters at a glance, and what is wrong
  |waistop|n     stop one, or all at once; /start, /sleep, /wake

If something is wrong:

  nobody answers                aistatus, then aihistory Mira
  only excuses                  aihistory/turns Mira
  it said something odd         aiwhy Mira, or aiwhy Mira = <words of it>
  it told what it should not    aiwhy Mira = <words>, ailore/for Mira
  it is slow                    aihistory/turns Mira, aitest/provider <profile>
  it costs too much             aicost 7, aicost/players yesterday
  what was said yesterday       aihistory Mira = since yesterday
  a false memory                aimemory Mira, aimemory/delete Mira = j12
  take back a line              aihistory/hide Mira = <number>
  a player complains            aireport/list
  forget a player               aboutme <player>, forgetme <player>
  stop everything               aistop all; aistart all starts it again

In a browser, all of this is under /ai/ of the game's site.

To connect a model, set OPENAI_BASE_URL and EVENNIA_AI_MODEL, and for a paid
one OPENAI_API_KEY, before the game starts; |waitest/provider default|n tests
it and says what to do.

For experts:

  |waimemory|n  what a character remembers: search, add, edit, delete, restore
  |wailore|n    what characters know about the world
  |waigoals|n   what a character is after
  |wainote|n    a hint for its next turns
  |waitest|n    try a line without effect, or test a model
  |waicost|n    what the models cost, and who spent it
  |waicompact|n put a summary in place of old messages in the prompt
  |waiapprove|n allow or refuse what a character asks the staff for
  |waipurge|n   delete old rows of the logs""".strip()


def minds_entry() -> dict[str, Any]:
    """Return the help entry for players in the form of Evennia's help files."""
    subtopics = [f"## {text(f'topic_{name}')}\n\n{text(f'help_{name}')}" for name in SUBTOPICS]
    return {
        "key": "minds",
        "aliases": ["ai", "assistants", "characters with minds"],
        "category": HELP_CATEGORY,
        "text": "\n\n".join([text("help_minds"), "# subtopics", *subtopics]),
    }


STAFF_ENTRY = {
    "key": "ai staff",
    "aliases": ["minds staff"],
    "category": STAFF,
    "locks": "read:perm(Builder);view:perm(Builder)",
    "text": STAFF_TEXT,
}
# Evennia reads this list once, when the server starts.
HELP_ENTRY_DICTS = [minds_entry(), STAFF_ENTRY]
