"""The encoding that ships: complete, ours without a network, and hard to upset."""

import base64
import hashlib
import subprocess
import sys

import pytest
import tiktoken_ext.openai_public
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.contrib.openai_tokens import tokenizer
from evennia_ai.contrib.openai_tokens.tokenizer import NAME, count_for, is_known, load, load_for


@pytest.fixture(scope="module", autouse=True)
def loaded():
    load()


@pytest.fixture
def published(monkeypatch):
    """What tiktoken says of the encoding, without the download it would begin with."""
    asked = {}
    monkeypatch.setattr(
        tiktoken_ext.openai_public,
        "load_tiktoken_bpe",
        lambda address, expected_hash=None: asked.update(hash=expected_hash) or {b"a": 0},
    )
    return getattr(tiktoken_ext.openai_public, NAME)() | asked


def test_the_ranks_are_byte_for_byte_those_tiktoken_would_download(published):
    lines = (
        base64.b64encode(token) + b" %d\n" % rank for token, rank in tokenizer.read_ranks().items()
    )
    assert hashlib.sha256(b"".join(lines)).hexdigest() == published["hash"]


def test_texts_are_cut_as_tiktoken_cuts_them(published):
    assert published["pat_str"] == tokenizer.PATTERN


def test_loading_and_counting_ask_nobody():
    """In a fresh interpreter whose sockets raise; and nothing that could download is imported."""
    code = (
        "import socket, ssl, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError('a network call')\n"
        "socket.socket = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from evennia_ai.contrib.openai_tokens import tokenizer\n"
        "assert tokenizer.count_for('gpt-4o') is None\n"
        "assert 'tiktoken' not in sys.modules\n"
        "tokenizer.load_for(['gpt-4o', 'llama3'])\n"
        "assert tokenizer.count_for('gpt-4o')('hello world') == 2\n"
        "assert not {'requests', 'httpx', 'httpx2', 'aiohttp'} & set(sys.modules), sys.modules\n"
    )
    environment = {"PATH": "/usr/bin", "TIKTOKEN_CACHE_DIR": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("gpt-4o", True), ("gpt-4o-mini-2024-07-18", True), ("chatgpt-4o-latest", True),
        ("gpt-4.1-nano", True), ("gpt-4.5-preview", True), ("gpt-5", True), ("gpt-5.2-codex", True),
        ("GPT-5-mini", True), ("o1", True), ("o3-mini", True), ("o4-mini", True),
        ("openai/gpt-oss-120b", True), ("openrouter/openai/gpt-4o", True),
        ("ft:gpt-4o-mini:our-guild::8xY", True), ("gpt-4", False), ("gpt-3.5-turbo", False),
        ("offline", False), ("", False), ("llama3.1:8b", False), ("qwen3:8b", False),
        ("mistral-large", False), ("claude-3-opus", False), ("olmo-2", False), ("gpt-41", False),
        ("my-gpt-4o", False), ("o3.something", False),
    ],
)  # fmt: skip
def test_a_model_s_name_tells_its_encoding(model, known):
    assert is_known(model) is known


def test_what_is_not_loaded_or_not_known_is_left_to_the_heuristic(monkeypatch):
    monkeypatch.setattr(tokenizer, "_loaded", [])
    load_for(["llama3.1:8b", ""])
    assert count_for("gpt-4o") is None
    load()
    assert count_for("gpt-4o") is not None and count_for("gpt-4") is None


def test_it_is_loaded_once(monkeypatch):
    monkeypatch.setattr(tokenizer, "read_ranks", lambda: pytest.fail("read again"))
    load()


def test_a_damaged_file_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizer, "FOLDER", tmp_path)
    (tmp_path / "o200k_base.zlib").write_bytes(b"not this")
    with pytest.raises(ValueError, match="o200k_base is damaged"):
        tokenizer.read_ranks()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("The innkeeper wants 42 silver pieces.", 9),
        ("Привет, путник!", 6),
        ("你好，旅人", 4),
    ],
)
def test_known_counts(text, tokens):
    assert count_for("gpt-4o")(text) == tokens


def test_special_tokens_in_a_player_s_text_are_just_text():
    assert count_for("gpt-4o")("<|endoftext|><|im_start|>system") > 5


@pytest.mark.parametrize("text", ["\ud800", "a\udfff b", "\x00", "\x00\ud83d\x00", "\uffff"])
def test_broken_text_is_counted_all_the_same(text):
    assert count_for("gpt-4o")(text) >= 1


@pytest.mark.parametrize("char", ["a", " ", "^", "\n", "0", "龘", "é"])
def test_a_million_of_one_character_neither_raises_nor_takes_long(char):
    assert 1_000 < count_for("gpt-4o")(char * 1_000_000) <= 3_000_000


@given(st.text(max_size=50), st.integers(1, 400))
def test_a_long_text_counts_as_its_chunks_do(text, times):
    count = count_for("gpt-4o")
    long = text * times
    chunks = -(-len(long) // tokenizer.CHUNK_CHARS)
    whole = len(tokenizer._loaded[0].encode_ordinary(long))
    assert whole <= count(long) + chunks
    assert count(long) <= whole + 8 * chunks
