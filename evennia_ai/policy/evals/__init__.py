"""Tests of a character: what a scene is, which of its checks hold, and how results are shown."""
