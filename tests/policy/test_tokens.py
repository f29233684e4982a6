"""Every part of a message counts."""

from evennia_ai.messages import make_message, wire_call
from evennia_ai.policy.tokens import count_conversation_tokens, count_message, estimate_tokens


def test_calls_and_ids_count_as_words_do():
    bare = make_message("assistant", "")
    calling = make_message("assistant", "", tool_calls=[wire_call("1", "say", '{"text": "hello"}')])
    assert count_message(calling) > count_message(bare)
    assert count_message(make_message("tool", "x", tool_call_id="abc")) > count_message(
        make_message("tool", "x")
    )


def test_a_tokenizer_is_used_where_one_is_passed():
    history = [make_message("user", "one two three")]
    assert count_conversation_tokens(history, None, lambda text: 100) == 104


def test_other_scripts_cost_more_than_english():
    assert (
        estimate_tokens("hello there")
        < estimate_tokens("привет всем")
        < estimate_tokens("你好" * 6)
    )
    assert estimate_tokens("🙂") == 2
    assert estimate_tokens("") == 0
