"""Choose the model of the demo. Uses the standard library only and asks no other machine."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from evennia_ai.policy.redaction import shown_address

OLLAMA = "http://127.0.0.1:11434/v1"
NO_MODEL = "offline"
PROBE_TIMEOUT_S = 1.0
OFFLINE = "none: the stand-in answers"
HOW_TO_CONNECT = """\
           For real talk connect one: `make stop`, one of these, `make demo`.
             ollama pull qwen3:8b      a model on your machine, found by itself
             export OPENAI_API_KEY=... a model of OpenAI
             export OPENAI_BASE_URL=... EVENNIA_AI_MODEL=...
                                       any other OpenAI-compatible endpoint
           Then `aitest/provider` in the game says if the model is good enough.
"""


@dataclass(frozen=True)
class Mind:
    """The chosen model: a text for the user, and variables for the server's environment."""

    sentence: str
    environ: Mapping[str, str] = field(default_factory=dict)


def choose_mind(
    environ: Mapping[str, str], list_models: Callable[[], list[str]] | None = None
) -> Mind:
    """Choose the endpoint of the environment, else a local Ollama, else the stand-in.

    If the environment names `NO_MODEL`, Ollama is not asked.
    ``list_models`` returns the names Ollama answers with, none where it does not run.
    """
    if environ.get("OPENAI_API_KEY") or environ.get("OPENAI_BASE_URL"):
        return configured_mind(environ)
    wanted = environ.get("EVENNIA_AI_MODEL", "")
    models = (list_models or ollama_models)() if wanted != NO_MODEL else []
    return ollama_mind(pick_model(models, wanted)) if models else Mind(OFFLINE)


def configured_mind(environ: Mapping[str, str]) -> Mind:
    """Return the endpoint of the ``OPENAI_*`` variables."""
    model = environ.get("EVENNIA_AI_MODEL") or "the default model"
    base_url = environ.get("OPENAI_BASE_URL")
    where = shown_address(base_url) if base_url else "the OpenAI API"
    return Mind(f"{model} at {where}, as your environment says")


def ollama_mind(model: str) -> Mind:
    """Return the local Ollama with a model."""
    return Mind(
        f"{model}, from the Ollama that runs on this machine",
        {"OPENAI_BASE_URL": OLLAMA, "OPENAI_API_KEY": "ollama", "EVENNIA_AI_MODEL": model},
    )


def pick_model(models: list[str], wanted: str) -> str:
    """Return the wanted model if it is listed, else the first one that is not for embeddings."""
    if wanted in models:
        return wanted
    return next((name for name in models if "embed" not in name), models[0])


def ollama_models() -> list[str]:
    """Return the models that a local Ollama lists; empty if none answers at once."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{OLLAMA}/models", timeout=PROBE_TIMEOUT_S) as reply:
            return [model["id"] for model in json.load(reply)["data"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
