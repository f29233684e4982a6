"""What the menu says of model profiles, families of tools, and the values of settings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, get_args

from evennia_ai.config import FIELDS, HINTS, ModelProfile, window_known
from evennia_ai.config.fields import describe_kind
from evennia_ai.config.profiles import request_form
from evennia_ai.tools.base import Tool


def profile_words(profile: ModelProfile) -> str:
    """Return what is known of a model profile, in one sentence."""
    if profile.client == "offline":
        return f"{profile.name}: the offline brain, built in; needs no model and costs nothing"
    window = window_known(profile).tokens
    parts = (
        "local" if profile.is_local else "remote",
        profile.model or "no model named yet",
        f"form {request_form(profile).name}, {'tested' if profile.told.form else 'not tested'}",
        f"window {window:,} tokens" if window else "window unknown",
    )
    return f"{profile.name}: {'; '.join(parts)}"


def families(tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return what each family of tools is for by its name: the first sentence of its module."""
    modules = {item.family: item.run.__module__ for item in tools.values()}
    docs = {name: " ".join((sys.modules[m].__doc__ or "").split()) for name, m in modules.items()}
    return {name: doc.partition(". ")[0].rstrip(".") for name, doc in docs.items()}


def value_words(name: str, value: Any) -> str:
    """Return a setting's value with its unit."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    shown = f"{value:,.15g}" if isinstance(value, int | float) else str(value)
    return f"{shown} {FIELDS[name].metadata['unit']}".strip() or "none"


def allowed_words(name: str) -> str:
    """Return which values a setting takes."""
    meta, kinds = FIELDS[name].metadata, get_args(HINTS[name]) or (HINTS[name],)
    words = describe_kind(tuple(kind for kind in kinds if kind is not type(None)))
    if meta["choices"]:
        words = f"one of {', '.join(meta['choices'])}"
    for key, limit in (("low", "at least"), ("high", "at most")):
        words += "" if meta[key] is None else f", {limit} {meta[key]:,.15g}"
    words += f", in {meta['unit']}" if meta["unit"] else ""
    return words + (", or none" if type(None) in kinds else "")
