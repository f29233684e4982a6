"""The web: Evennia's pages without foreign addresses, and a helper of ours in its web client."""
