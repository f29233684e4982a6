"""Awake: one turn of thought."""
