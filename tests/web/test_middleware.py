"""Evennia's pages ask no other host for anything, and the web client gets the typing indicator."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import evennia
import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

import evennia_ai
from evennia_ai.web.middleware import LIBRARIES, client_plugin, local_libraries

EVENNIA = Path(evennia.__file__).parent / "web"
VENDOR = Path(evennia_ai.__file__).parent / "web" / "static" / "evennia_ai" / "vendor"
TEMPLATES = sorted((EVENNIA / "templates").rglob("*.html"))
# The only address that Evennia's versions differ in.
REDOC = sorted(address for address in LIBRARIES if "redoc.standalone.js" in address)
CLIENT = (EVENNIA / "templates" / "webclient" / "base.html").read_bytes()
LIBRARY = "https://code.jquery.com/jquery-3.2.1.min.js"
SUFFIXES = (".js", ".css")
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


class Loads(HTMLParser):
    """What a page would load: (address, integrity) of each."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page.decode())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        address = values.get(LOADING.get(tag)) or ""
        if address and "{" not in address:
            self.found.append((address, values.get("integrity")))

    @property
    def foreign(self):
        return [address for address, _ in self.found if urlsplit(address).netloc]


def answer(response, middleware=local_libraries):
    return middleware(lambda request: response)(RequestFactory().get("/"))


def page(text, **options):
    return HttpResponse(text, **options)


def test_no_page_of_the_installed_evennia_loads_from_elsewhere_and_each_hash_fits():
    assert len(Loads(CLIENT).foreign) == 8  # the check itself can fail
    local = [Loads(answer(page(one.read_bytes())).content) for one in TEMPLATES]
    assert [one.foreign for one in local] == [[]] * len(TEMPLATES)
    ours = {item for one in local for item in one.found if "evennia_ai/vendor" in item[0]}
    assert len(ours) > 10
    for address, integrity in ours:
        file = finders.find(address.removeprefix("/static/"))
        assert file, address
        if integrity:
            digest = hashlib.sha384(Path(file).read_bytes()).digest()
            assert integrity == f"sha384-{base64.b64encode(digest).decode()}"


def test_the_list_beside_the_files_is_true_and_nothing_is_kept_that_no_page_asks_for():
    asked = {path for path in LIBRARIES.values() if path.startswith("vendor/")}
    assert vendored(VENDOR) == asked


def vendored(folder):
    """Return the libraries of a folder, whose list must be true."""
    rows = re.findall(r"\| `(\S+)` \| .* \| `sha384-(\S+)` \|", (folder / "README.md").read_text())
    files = [file for file in folder.rglob("*") if file.suffix in SUFFIXES]
    assert len(rows) == len(files)
    for name, digest in rows:
        found = hashlib.sha384((folder / name).read_bytes()).digest()
        assert base64.b64encode(found).decode() == digest, name
        assert list((folder / name).parent.glob("LICENSE*")), name
    return {str(file.relative_to(folder.parent)) for file in files}


@pytest.mark.parametrize("storage", ["StaticFilesStorage", "ManifestStaticFilesStorage"])
def test_they_are_collected_unchanged_whatever_the_storage(settings, tmp_path, storage):
    backend = {"BACKEND": f"django.contrib.staticfiles.storage.{storage}"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": backend}
    settings.STATIC_ROOT = str(tmp_path)
    settings.STATICFILES_DIRS = [str(VENDOR.parent.parent)]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    call_command("collectstatic", interactive=False, verbosity=0)
    for path in LIBRARIES.values():
        collected = tmp_path / "evennia_ai" / path
        assert collected.read_bytes() == (VENDOR.parent / path).read_bytes()


def test_an_address_is_replaced_wherever_it_stands_and_the_length_is_told_anew():
    for quoted in (f'"{LIBRARY}"', f"'{LIBRARY}'", f"{LIBRARY}>", '"//' + LIBRARY[8:] + '"'):
        text = f"<p>Добро</p><script src={quoted}"
        response = answer(page(text, headers={"Content-Length": str(len(text.encode()))}))
        assert b"jquery.com" not in response.content
        assert "Добро" in response.content.decode()
        assert b"/static/evennia_ai/vendor/jquery-3.2.1/jquery.min.js" in response.content
        assert int(response["Content-Length"]) == len(response.content)
    longer = f'<script src="{LIBRARY}.map"></script>'
    assert answer(page(longer)).content.decode() == longer


@pytest.mark.parametrize("address", REDOC)
def test_the_description_of_the_api_is_kept_from_telling_its_makers(address):
    text = f'<head><title>x</title></head><redoc spec-url="/y"></redoc><script src="https://{address}">'
    content = answer(page(text)).content.decode()
    assert f"https://{address}" not in content
    head = content.partition("<title>")[0]
    assert "connect-src 'self'" in head and "img-src 'self' data:" in head
    assert b"Content-Security-Policy" not in answer(page(CLIENT)).content


@pytest.mark.parametrize("middleware", [local_libraries, client_plugin])
def test_what_is_no_whole_page_is_left_alone(middleware):
    for options in ({"content_type": "text/plain"}, {"headers": {"Content-Encoding": "br"}}):
        assert answer(page(CLIENT, **options), middleware).content == CLIENT
    assert list(answer(StreamingHttpResponse(iter([CLIENT])), middleware)) == [CLIENT]


def test_the_web_client_gets_our_plugin_and_local_fonts_and_no_other_page_does():
    client = answer(answer(page(CLIENT)), client_plugin).content
    assert client.count(b"evennia_ai/webclient.js") == 1
    assert client.count(b"evennia_ai/local_fonts.js") == 1
    assert client.index(b"plugins/font.js") < client.index(b"evennia_ai/local_fonts.js")
    assert answer(answer(page("<head></head>")), client_plugin).content == b"<head></head>"


@pytest.mark.django_db
def test_the_demos_home_page_names_the_game_and_not_the_engine(settings):
    settings.ALLOWED_HOSTS = ["*"]
    page = Client().get("/").content.decode()
    assert re.search(r"<title>\s*The Gilded Gull", page)
    assert re.findall(r"<h1[^>]*>\s*(.*?)\s*</h1>", page) == ["The Gilded Gull"]
    assert "Welcome to Evennia" not in page
    assert "mygame" not in page
