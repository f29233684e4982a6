"""The help entries ``minds``, for players, whose lines are in `texts`, and those for staff."""

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

|whelp ai builders|n says how to build: lore, goals, a shop, scenes, limits.
|whelp minds|n is the page of the players.

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

BUILDERS_TEXT = """
What builders do, each with an example. docs/builders-guide.md explains it.

  make a mind       aisetup/new Mira = You are Mira, who keeps the Gull.
  change it         aisetup/set Mira/persona.never = gives credit
  share a persona   aisetup/persona guard = You are a guard of the castle.
  settings          aisetup/list Mira
  write lore        ailore/set The postern : faction:watch = It is hidden.
  who knows it      ailore/for Mira = Where is the postern?
  goals             aigoals/add Mira = Find out who waters the ale.
  what it remembers aimemory Mira
  try a line        aitest Mira = Mira, an ale, please!
  why it said that  aiwhy Mira
  a shop            set ale/price = 3, set Ann/coins = 20; first the setting
                    TOOLS = ["evennia_ai.tools.trade"]
  test with scenes  evennia ai_check world/scenes.yaml, in a shell
  hours of sleep    aisetup/set Mira/sleep_schedule = 23:00-06:30
                    She wakes when somebody speaks to her.
  silence           aistop Mira, aistart Mira
  limits            aisetup/set Mira/tokens_per_day = 200000, then aicost
  rebuild the world evennia ai_minds save minds.jsonl.gz, in a shell, and load
                    it into the new one (docs/operations.md)""".strip()


def minds_entry() -> dict[str, Any]:
    """Return the help entry for players in the form of Evennia's help files."""
    subtopics = [f"## {text(f'topic_{name}')}\n\n{text(f'help_{name}')}" for name in SUBTOPICS]
    return {
        "key": "minds",
        "aliases": ["ai", "assistants", "characters with minds"],
        "category": HELP_CATEGORY,
        "text": "\n\n".join([text("help_minds"), "# subtopics", *subtopics]),
    }


FOR_STAFF = {"category": STAFF, "locks": "read:perm(Builder);view:perm(Builder)"}
STAFF_ENTRY = {"key": "ai staff", "aliases": ["ai", "minds staff"], "text": STAFF_TEXT, **FOR_STAFF}
BUILDERS_ENTRY = {
    "key": "ai builders",
    "aliases": ["lore", "shop", "scene", "scenes", "persona", "personas"],
    "text": BUILDERS_TEXT,
    **FOR_STAFF,
}
# As an alias, the word would be found less than this category. It is not listed.
CHARACTER = BUILDERS_ENTRY | {
    "key": "character",
    "aliases": [],
    "locks": "read:perm(Builder);view:false()",
}
# Evennia reads this list once, when the server starts.
HELP_ENTRY_DICTS = [minds_entry(), STAFF_ENTRY, BUILDERS_ENTRY, CHARACTER]
