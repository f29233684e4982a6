"""Every kind of request, rendered by llama.cpp with the chat templates that its sources ship.

Nothing is asked of a model: the server renders a request at ``/apply-template``. It needs a build
of llama.cpp's server, a small model in its format and llama.cpp's sources, all in the folder that
`EVENNIA_AI_REAL_MODEL` names: ``bin/llama-server``, ``*.gguf`` and
``src/llama.cpp/models/templates``. ``EVENNIA_AI_LLAMA_SERVER`` names another server.
"""
