"""What the web client and browsers get, and the pages for staff below ``/ai/``."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import select_template
from django.urls import NoReverseMatch, reverse

from evennia_ai.ports.extension import Extension

Tab = tuple[str, str, str]  # the name of a page, its title, its address


def staff_tabs(extensions: Iterable[Extension]) -> Iterator[Tab]:
    """Yield the pages that extensions declare in `Extension.pages`, as far as the site has them."""
    for extension in extensions:
        for name, title in extension.pages.items():
            with suppress(NoReverseMatch):  # the game's addresses are without it
                yield name, title, reverse(name)


def staff_page(
    request: Any, services: Any, tab: str, template: str, values: Mapping[str, Any]
) -> HttpResponse:
    """Return an extension's page with the look of the staff pages, which no browser keeps.

    The template extends ``frame`` and fills its block ``page``. Without the staff pages, the frame
    is the template's own, ``<name>_alone.html``.
    """
    frame = select_template(["evennia_ai/staff.html", template.replace(".html", "_alone.html")])
    tabs = [*staff_tabs(services.extensions)]
    title = next((title for name, title, _address in tabs if name == tab), "")
    shown = {**values, "frame": frame.template, "tab": tab, "tabs": tabs, "title": title}
    page = render(request, template, shown)
    page["Cache-Control"] = "no-store"
    return page
