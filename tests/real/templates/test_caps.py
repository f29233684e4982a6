"""What a chat template supports is read from its source and from the server's own trials."""

import pytest

from tests.real.templates.caps import TemplateCaps, caps_from_props, caps_from_template


@pytest.mark.parametrize(
    ("template", "caps"),
    [
        ("{% if tools %}{{ tools | tojson }}{% endif %}{{ m['role'] == 'system' }}", (1, 0, 1, 0)),
        ("{% if message['tool_calls'] %}{{ role == \"system\" }}", (0, 1, 1, 0)),
        ("{{ raise_exception('Roles must alternate user/assistant') }}", (0, 0, 0, 1)),
        (
            "{% if role == 'system' %}{{ raise_exception('System role not supported') }}",
            (0, 0, 0, 0),
        ),
        ("{% set xml_tools = 1 %}", (0, 0, 0, 0)),
    ],
)
def test_a_templates_source_tells_what_it_supports(template, caps):
    assert caps_from_template(template) == TemplateCaps(*map(bool, caps))


def test_what_the_server_tried_out_counts_more_than_the_source():
    props = {
        "chat_template": "{{ tools }} 'system' must alternate",
        "chat_template_caps": {"supports_tools": True, "supports_tool_calls": False},
    }
    caps = TemplateCaps(tools=True, calls=False, system=True, alternates=True)
    assert caps_from_props(props) == caps


@pytest.mark.parametrize("props", [{}, {"chat_template": None}])
def test_no_template_tells_nothing(props):
    assert caps_from_props(props) is None


def test_without_trials_the_source_counts():
    props = {"chat_template": "{{ tools }} 'system'"}
    assert caps_from_props(props) == TemplateCaps(True, False, True, False)
