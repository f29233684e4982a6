"""What a character stores: journal entries, profiles, goals, the day plan."""
