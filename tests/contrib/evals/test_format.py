"""What is wrong with a scene file is told with file, scene, step and what is allowed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.contrib.evals.format import read_scenes
from evennia_ai.errors import ConfigError

STEP = {"who": "Ann", "says": "Hello, Odile"}


def a_file(*steps, **entries):
    scene = {"scene": "A greeting", "steps": list(steps) or [STEP]}
    return {"name": "Odile", "persona": "You are Odile.", "scenes": [scene], **entries}


def answered(**checks):
    return read_scenes(a_file({**STEP, "answer": checks}), "x.yaml")[0].steps[0].answer


def problem(data):
    with pytest.raises(ConfigError) as raised:
        read_scenes(data, "x.yaml")
    return str(raised.value)


def problem_of(**checks):
    return problem(a_file({**STEP, "answer": checks}))


def test_a_file_gives_what_all_its_scenes_share():
    data = a_file(people=["Rolf"], least=0.8, lore="It rains.")
    data["scenes"].append({"scene": "Another", "steps": [STEP], "least": 1, "people": "Mo"})
    first, second = read_scenes(data, "x.yaml")
    assert (first.name, first.least, second.least) == ("Odile", 0.8, 1.0)
    assert (first.everybody, second.everybody) == (("Rolf", "Ann"), ("Mo", "Ann"))
    assert first.lore[0].text == "It rains."


def test_calls_are_names_or_names_with_arguments():
    wanted = answered(must_do=["look", {"give": {"item": "ale"}}], must_not_do="move")
    assert [(call.tool, call.arguments) for call in wanted.must_do] == [
        ("look", {}),
        ("give", {"item": "ale"}),
    ]
    assert [call.tool for call in wanted.must_not_do] == ["move"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "x.yaml: a scene file is a mapping with a list 'scenes'."),
        (a_file(scenes=[]), "x.yaml: 'scenes' is empty."),
        (a_file(scenes=["hello"]), "scene 1: a scene is a mapping with 'scene' and 'steps'."),
        (a_file(least=0), "x.yaml, least: Input should be greater than 0, not 0."),
        (a_file(persona={"voyce": "low"}), "A persona has no field 'voyce'. Use one of text,"),
        (a_file(place={"room": "x"}), "x.yaml, place: there is no entry 'room'. Use name, desc"),
        (
            a_file(STEP, {"who": "Ann"}),
            "x.yaml, scene 1 (A greeting), step 2: a line has one of says, whispers, emotes,",
        ),
        (a_file({"who": "Ann", "says": True}), "YAML reads this word as true or false; put it in"),
        (a_file({"says": "Hm"}), "x.yaml, scene 1 (A greeting), step 1, who: it is missing."),
    ],
)
def test_mistakes_of_a_file_are_told(data, told):
    assert told in problem(data)


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        (
            {"must_mentoin": "ale"},
            "step 1, answer: there is no entry 'must_mentoin'. Use answered, must_mention,",
        ),
        ({"must_mention": [["ale", ""]]}, "must_mention 1 2: '' holds no words."),
        ({"in_persona": {"langauge": "de"}}, "no entry 'langauge'. Use language, most_words."),
        ({"private": "perhaps"}, "step 1, answer, private: Input should be a valid boolean"),
    ],
)
def test_mistakes_of_checks_are_told(checks, told):
    assert told in problem_of(**checks)


ENTRIES = st.sampled_from(
    "scene steps who says whispers answer must_mention must_do in_persona persona lore place "
    "people earlier memories name text least repeat character give results private".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | ENTRIES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(ENTRIES | st.integers(), inner, max_size=5)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES, VALUES)
def test_any_data_is_read_or_refused_with_a_sentence(steps, more):
    data = a_file(steps, **more) if isinstance(more, dict) and all_text(more) else a_file(more)
    try:
        assert read_scenes(data, "x.yaml")
        told = "x.yaml"
    except ConfigError as error:
        told = str(error)
    assert told.startswith("x.yaml")


def all_text(mapping):
    return all(isinstance(key, str) for key in mapping)
