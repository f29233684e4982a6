"""Evennia's pages ask no other host for anything."""

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
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.middleware.gzip import GZipMiddleware
from django.test import RequestFactory

import evennia_ai
from evennia_ai.apps import MIDDLEWARE, with_our_middleware
from evennia_ai.web.libraries import LIBRARIES, with_local_libraries
from evennia_ai.web.middleware import ClientPlugin, LocalLibraries

EVENNIA = Path(evennia.__file__).parent / "web"
VENDOR = Path(evennia_ai.__file__).parent / "web" / "static" / "evennia_ai" / "vendor"
TEMPLATES = sorted((EVENNIA / "templates").rglob("*.html"))
# The only address that Evennia's versions differ in.
REDOC = sorted(address for address in LIBRARIES if "redoc.standalone.js" in address)
CLIENT = (EVENNIA / "templates" / "webclient" / "base.html").read_bytes()
LIBRARY = "https://code.jquery.com/jquery-3.2.1.min.js"
OUR_TEMPLATES = sorted((Path(evennia_ai.__file__).parent / "templates").rglob("*.html"))
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


def answer(response, middleware=LocalLibraries):
    return middleware(lambda request: response)(RequestFactory().get("/"))


def page(text, **options):
    return HttpResponse(text, **options)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_page_of_the_installed_evennia_loads_from_elsewhere(template):
    found = Loads(with_local_libraries(template.read_bytes())).found
    assert [address for address, _ in found if urlsplit(address).netloc] == []


def test_the_check_itself_can_fail():
    foreign = [address for address, _ in Loads(CLIENT).found if urlsplit(address).netloc]
    assert len(foreign) == 8


def test_every_file_is_where_collectstatic_finds_it_and_fits_the_hash_of_the_page():
    pages = [path.read_bytes() for path in TEMPLATES]
    loaded = [item for each in pages for item in Loads(with_local_libraries(each)).found]
    ours = {item for item in loaded if "evennia_ai/" in item[0]}
    assert len(ours) == len(LIBRARIES) - len(REDOC) + 1
    for address, integrity in ours:
        file = finders.find(address.removeprefix("/static/"))
        assert file, address
        if integrity:
            digest = hashlib.sha384(Path(file).read_bytes()).digest()
            assert integrity == f"sha384-{base64.b64encode(digest).decode()}"


def test_the_list_beside_the_files_is_true():
    rows = re.findall(r"\| `(\S+)` \| .* \| `sha384-(\S+)` \|", (VENDOR / "README.md").read_text())
    files = [file for file in VENDOR.rglob("*") if file.suffix in SUFFIXES]
    assert len(rows) == len(files)
    for name, digest in rows:
        found = hashlib.sha384((VENDOR / name).read_bytes()).digest()
        assert base64.b64encode(found).decode() == digest, name
        assert list((VENDOR / name).parent.glob("LICENSE*")), name


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


def test_nothing_is_kept_that_no_page_asks_for():
    files = {str(f.relative_to(VENDOR.parent)) for f in VENDOR.rglob("*.*") if f.suffix in SUFFIXES}
    pages = "".join(page.read_text(encoding="utf-8") for page in OUR_TEMPLATES)
    ours = set(re.findall(r'static "evennia_ai/(vendor/[^"]+)"', pages))
    assert files == {p for p in LIBRARIES.values() if p.startswith("vendor/")} | ours


def test_an_address_is_replaced_wherever_it_stands():
    for quoted in (f'"{LIBRARY}"', f"'{LIBRARY}'", f"{LIBRARY}>", '"//' + LIBRARY[8:] + '"'):
        response = answer(page(f"<script src={quoted}"))
        assert b"jquery.com" not in response.content
        assert b"/static/evennia_ai/vendor/jquery-3.2.1/jquery.min.js" in response.content


def test_the_length_is_told_anew():
    text = f'<script src="{LIBRARY}"></script>'
    response = answer(page(text, headers={"Content-Length": str(len(text))}))
    assert int(response["Content-Length"]) == len(response.content) != len(text)


@pytest.mark.parametrize("address", REDOC)
def test_the_description_of_the_api_is_kept_from_telling_its_makers(address):
    text = f'<head><title>x</title></head><redoc spec-url="/y"></redoc><script src="https://{address}">'
    content = answer(page(text)).content.decode()
    assert f"https://{address}" not in content
    head = content.partition("<title>")[0]
    assert "connect-src 'self'" in head and "img-src 'self' data:" in head
    assert b"Content-Security-Policy" not in answer(page(CLIENT)).content


def test_a_longer_address_is_another():
    text = f'<script src="{LIBRARY}.map"></script>'
    assert answer(page(text)).content.decode() == text


@pytest.mark.parametrize(
    "response",
    [
        page(LIBRARY + '"', content_type="text/plain"),
        page(LIBRARY + '"', headers={"Content-Encoding": "br"}),
        JsonResponse({"address": LIBRARY}),
        HttpResponse(b"\x00\xff", content_type="image/png"),
    ],
)
def test_what_is_no_whole_page_is_left_alone(response):
    before = response.content
    assert answer(response).content == before
    assert answer(response, ClientPlugin).content == before


def test_a_stream_is_not_read():
    response = answer(StreamingHttpResponse(iter([LIBRARY.encode()])))
    assert list(response) == [LIBRARY.encode()]


def test_a_page_in_another_alphabet_stays_whole():
    text = f'<p>Добро пожаловать</p><script src="{LIBRARY}"></script>'
    content = answer(page(text)).content.decode()
    assert "Добро пожаловать" in content and "jquery.com" not in content


def test_the_web_client_gets_our_plugin_and_local_fonts_and_no_other_page_does():
    client = answer(answer(page(CLIENT)), ClientPlugin).content
    assert client.count(b"evennia_ai/webclient.js") == 1
    assert client.count(b"evennia_ai/local_fonts.js") == 1
    assert client.index(b"plugins/font.js") < client.index(b"evennia_ai/local_fonts.js")
    other = answer(answer(page("<head></head>")), ClientPlugin).content
    assert other == b"<head></head>"


def test_a_page_is_compressed_after_it_was_changed():
    pack = GZipMiddleware(LocalLibraries(lambda request: page(CLIENT)))
    response = pack(RequestFactory().get("/", headers={"Accept-Encoding": "gzip"}))
    assert response["Content-Encoding"] == "gzip"
    order = with_our_middleware(["django.middleware.gzip.GZipMiddleware", "a.B"], {})
    assert order == ["django.middleware.gzip.GZipMiddleware", *MIDDLEWARE.values(), "a.B"]


def test_registering_twice_changes_nothing_and_each_can_be_left_out():
    once = with_our_middleware(("a.B", "c.D"), {})
    assert once == [*MIDDLEWARE.values(), "a.B", "c.D"]
    assert with_our_middleware(once, {}) == once
    for name, path in MIDDLEWARE.items():
        assert path not in with_our_middleware(once, {name: False})


def test_a_game_needs_to_edit_nothing(settings):
    assert settings.MIDDLEWARE[: len(MIDDLEWARE)] == list(MIDDLEWARE.values())
    assert finders.find("evennia_ai/webclient.js")
