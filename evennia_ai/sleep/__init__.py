"""Asleep: what an assistant does with what it has been through."""
