"""The screen for new connections: at most 80 columns, readable without colours."""

# The drawing must not hold a pipe, which starts a colour in Evennia's markup.
SIGN = r"""
|y          o=====8============================8=====o
|y                8                            8
|y          .-----8----------------------------8-----.
|y          :        |w___                  ___|y        :
|y          :    |w_.-'   `-._          _.-'   `-._|y    :
|y          :              |w`-.,____,.-'|y              :
|y          :                 |w`-..-'|y                 :
|y          :     |YT h e   G i l d e d   G u l l|y      :
|y          '----------------------------------------'|n
"""

WORDS = """
 A small quarter by the harbour, where some people have minds of their own.
 Talk to them as you would to anybody: |wsay|n, |wwhisper|n, |wemote|n.

   |wconnect <name> <password>|n    if you have an account
   |wcreate <name> <password>|n     if you have none yet
   |whelp|n for more, |wlook|n to see this again, |wquit|n to leave

 |xThis is the demo of evennia_ai. The people are played by a language model, or
 by a small stand-in. What you say near them is kept in their logs.|n
"""


def connection_screen() -> str:
    """Return the whole screen, in Evennia's colour markup."""
    return SIGN + WORDS
