"""Forty scripted dialogues, played on the real test database and scored."""
