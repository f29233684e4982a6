"""The encodings that ship: complete, ours without a network, and hard to upset."""

import base64
import hashlib
import subprocess
import sys

import pytest
import tiktoken_ext.openai_public
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.llm import tokenizers
from evennia_ai.llm.tokenizers import CL100K, O200K, count_for, encoding_for, load, load_for

ENCODINGS = (O200K, CL100K)


@pytest.fixture(scope="module", autouse=True)
def loaded():
    for name in ENCODINGS:
        load(name)


@pytest.fixture
def published(monkeypatch):
    """What tiktoken says of an encoding, without the download it would begin with."""

    def describe(name):
        asked = {}
        monkeypatch.setattr(
            tiktoken_ext.openai_public,
            "load_tiktoken_bpe",
            lambda address, expected_hash=None: asked.update(hash=expected_hash) or {b"a": 0},
        )
        return getattr(tiktoken_ext.openai_public, name)() | asked

    return describe


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_ranks_are_byte_for_byte_those_tiktoken_would_download(name, published):
    lines = (
        base64.b64encode(token) + b" %d\n" % rank
        for token, rank in tokenizers.read_ranks(name).items()
    )
    assert hashlib.sha256(b"".join(lines)).hexdigest() == published(name)["hash"]


@pytest.mark.parametrize("name", ENCODINGS)
def test_texts_are_cut_as_tiktoken_cuts_them(name, published):
    assert tokenizers.PATTERNS[name] == published(name)["pat_str"]


def test_loading_and_counting_ask_nobody():
    """In a fresh interpreter whose sockets raise; and nothing that could download is imported."""
    code = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError('a network call')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from evennia_ai.llm import tokenizers\n"
        "assert tokenizers.count_for('gpt-4o') is None\n"
        "assert 'tiktoken' not in sys.modules\n"
        "loaded = tokenizers.load_for(['gpt-4o', 'gpt-4', 'llama3'])\n"
        "assert loaded == ('cl100k_base', 'o200k_base')\n"
        "assert tokenizers.count_for('gpt-4o')('hello world') == 2\n"
        "assert not {'requests', 'httpx', 'httpx2', 'aiohttp'} & set(sys.modules), sys.modules\n"
    )
    environment = {"PATH": "/usr/bin", "TIKTOKEN_CACHE_DIR": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", O200K),
        ("gpt-4o-mini-2024-07-18", O200K),
        ("chatgpt-4o-latest", O200K),
        ("gpt-4.1-nano", O200K),
        ("gpt-4.5-preview", O200K),
        ("gpt-5", O200K),
        ("gpt-5.2-codex", O200K),
        ("GPT-5-mini", O200K),
        ("o1", O200K),
        ("o3-mini", O200K),
        ("o4-mini", O200K),
        ("openai/gpt-oss-120b", O200K),
        ("openrouter/openai/gpt-4o", O200K),
        ("ft:gpt-4o-mini:our-guild::8xY", O200K),
        ("gpt-4", CL100K),
        ("gpt-4-turbo", CL100K),
        ("gpt-4-32k-0613", CL100K),
        ("gpt-3.5-turbo", CL100K),
        ("gpt-35-turbo", CL100K),
        ("ft:gpt-3.5-turbo:our-guild", CL100K),
        ("offline", None),
        ("", None),
        ("llama3.1:8b", None),
        ("qwen3:8b", None),
        ("mistral-large", None),
        ("claude-3-opus", None),
        ("olmo-2", None),
        ("gpt-41", None),
        ("my-gpt-4o", None),
        ("o3.something", None),
    ],
)
def test_a_model_s_name_tells_its_encoding(model, encoding):
    assert encoding_for(model) == encoding


def test_an_unknown_model_is_left_to_the_heuristic():
    assert count_for("llama3.1:8b") is None
    assert load_for(["llama3.1:8b", ""]) == ()


def test_an_encoding_that_is_not_loaded_is_left_to_the_heuristic(monkeypatch):
    monkeypatch.setattr(tokenizers, "_encodings", {})
    assert count_for("gpt-4o") is None
    load(O200K)
    assert count_for("gpt-4o") is not None and count_for("gpt-4") is None


def test_an_encoding_is_loaded_once(monkeypatch):
    monkeypatch.setattr(tokenizers, "read_ranks", lambda name: pytest.fail("read again"))
    load(O200K)


def test_what_is_no_encoding_is_refused():
    with pytest.raises(KeyError):
        load("p50k_base")


def test_a_damaged_file_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizers, "FOLDER", tmp_path)
    (tmp_path / "o200k_base.zlib").write_bytes(b"not this")
    with pytest.raises(ValueError, match="o200k_base is damaged"):
        tokenizers.read_ranks(O200K)


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("The innkeeper wants 42 silver pieces.", 9, 9),
        ("Привет, путник!", 6, 8),
        ("你好，旅人", 4, 6),
    ],
)
def test_known_counts(text, o200k, cl100k):
    assert (count_for("gpt-4o")(text), count_for("gpt-4")(text)) == (o200k, cl100k)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_special_tokens_in_a_player_s_text_are_just_text(model):
    assert count_for(model)("<|endoftext|><|im_start|>system") > 5


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
@pytest.mark.parametrize("text", ["\ud800", "a\udfff b", "\x00", "\x00\ud83d\x00", "\uffff"])
def test_broken_text_is_counted_all_the_same(model, text):
    assert count_for(model)(text) >= 1


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
@pytest.mark.parametrize("char", ["a", " ", "^", "\n", "0", "龘", "é"])
def test_a_million_of_one_character_neither_raises_nor_takes_long(model, char):
    assert 1_000 < count_for(model)(char * 1_000_000) <= 3_000_000


@given(st.text(max_size=50), st.integers(1, 400))
def test_a_long_text_counts_as_its_chunks_do(text, times):
    count = count_for("gpt-4o")
    long = text * times
    chunks = -(-len(long) // tokenizers.CHUNK_CHARS)
    whole = len(tokenizers._encodings[O200K].encode_ordinary(long))
    assert whole <= count(long) + chunks
    assert count(long) <= whole + 8 * chunks
