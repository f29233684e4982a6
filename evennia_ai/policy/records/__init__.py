"""What a character keeps: journal entries, profiles, goals, the day plan."""
