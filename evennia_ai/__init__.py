"""A mind for the characters of an Evennia game.

Add ``"evennia_ai"`` to ``INSTALLED_APPS``, run ``evennia migrate``, and attach an assistant to a
character in the game with ``aisetup <character> = <persona>``.
"""

__version__ = "0.1.0"
