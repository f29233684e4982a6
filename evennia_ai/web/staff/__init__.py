"""The staff pages at ``/ai/``: what assistants heard, did, know and cost.

Django runs views in threads. Such a thread reads the tables, as plain rows and nothing else;
whatever needs a typeclass or an Attribute is done on the reactor's thread (`access.GameThread`).
"""
