"""Minds in files: what characters know survives a rebuild of the world."""

from evennia_ai.extension import Extension


class MindFilesExtension(Extension):
    """Gives ``evennia ai_minds``, which Django finds in the folder ``management/commands``."""

    name = "mind_files"


EXTENSION = MindFilesExtension
