"""What players read with ``help minds``."""

HELP_ENTRY_DICTS = [
    {
        "key": "minds",
        "aliases": ["ai", "assistants", "characters with minds"],
        "category": "AI",
        "text": """
            Some characters here have a mind of their own: a computer program, often a language
            model, thinks for them. Talk to them as to anybody:

              say Good evening, Mira.
              whisper Mira = May I ask you something?
              emote nods at Mira.
              give coin to Mira

            Use the name where several people are present. Once you are talking you need not
            repeat it.

            # subtopics

            ## privacy

            What you say near such a character is stored, so that it can remember it; the game's
            staff can read it. A whisper stays between you and the character: it is never shown to
            other players, nor used in what the character says to them.

            Never tell a character anything you would not tell the staff of a game.

            ## forget

              aiforget

            makes all of them forget what you said to them and what they answered, for ever.

            ## mute

              mute <name>

            You no longer hear that character, and it no longer hears you. The same again ends it.
        """,
    }
]
