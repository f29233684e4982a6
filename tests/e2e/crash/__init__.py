"""Crash campaigns on a real server: kill -9, start again, judge what is left."""
