"""The index of memories: what is found, replaced and counted, and what it withstands."""

import numpy as np
import pytest

from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.vectors import pack, to_bytes, unit
from tests.memory.bag_of_words import BagOfWords
from tests.memory.filled_index import DAY, MAY_8, LettersEmbedder, filled, found

# --- what is found -------------------------------------------------------------------------------


def test_words_find_a_memory_in_whatever_form_they_come():
    index = filled("The bridge was closed.", "Mira hiked over the pass.", "Soup again.")
    assert found(index, "Who was hiking?", 1) == ["m1"]


def test_the_best_come_first_and_no_more_than_k():
    index = filled(*(f"The toll is {n} pennies" for n in range(20)), "A toll of silver")
    results = index.find("silver toll", 3)
    assert results[0][0] == "m20" and len(results) == 3
    assert [hit.score for hit in results] == sorted((hit.score for hit in results), reverse=True)


def test_what_waits_for_its_vector_is_found_by_its_words_and_fits():
    bag, index = BagOfWords(), MemoryIndex()
    for number, text in enumerate(
        ["Give me the hammer", "You are old", "Soup again", "I like bread"]
    ):
        index.add(f"m{number}", text, vector=bag.embed([text])[0])
    index.add("late", "My dog is called Pepper")
    question = "What is the name of my dog?"
    best, second, *_ = index.find(question, 3, vector=bag.embed([question])[0])
    assert best.id == "late" and best.fit > second.fit


def test_what_nobody_may_know_is_found_for_nobody():
    index = MemoryIndex()
    index.add("a", "The toll is 3 pennies", audience=())
    assert not any(index.find("toll", 3, audience) for audience in (None, (), ("#5",)))


def test_an_answer_is_found_by_its_question():
    index = filled(
        "Nice weather.", "What is your sister's name?", "Odile, as always.", "I like bread.", "Bye."
    )
    assert found(index, "the name of the sister", 2) == ["m1", "m2"]


def test_who_said_it_counts_where_the_question_names_somebody():
    index = MemoryIndex()
    index.add("a", "I love the sea", speaker="Rowan Ash")
    index.add("b", "I love the sea so much", speaker="Mira")
    assert found(index, "What does Rowan love?", 1) == ["a"]
    assert found(index, "What does Mira love?", 1) == ["b"]


def test_queries_may_have_an_embedding_of_their_own():
    class Asking(LettersEmbedder):
        def embed_query(self, texts):
            return self.embed([text.replace("q", "z") for text in texts])

    index = filled("quux", "zzz", embedder=Asking())
    assert found(index, "q", 1) == ["m1"]


def test_a_question_for_a_name_alone_is_a_question_for_its_words():
    index = MemoryIndex()
    index.add("a", "Soup again", speaker="Mira")
    index.add("b", "I saw Odile and Mira", speaker="Odile")
    assert found(index, "Mira?", 2)[0] in {"a", "b"}
    assert len(found(index, "Mira?")) == 2


def test_a_day_that_is_named_finds_what_was_said_on_it():
    index = MemoryIndex()
    for number in range(6):
        index.add(f"d{number}", f"We ate soup number {number}", at=MAY_8 + number * 40 * DAY)
    assert found(index, "What did you eat on 17 June 2023?", 1) == ["d1"]
    assert found(index, "What did you eat yesterday?", 1, now=MAY_8 + 121 * DAY) == ["d3"]


def test_a_fact_brings_what_it_was_drawn_from_and_stands_behind_it():
    index = filled("It has three heads.", "Bread is dear.", "Rain again.", "I sleep badly.")
    index.add("fact", "A dragon lives badly in the north.", sources=["m2", "elsewhere"])
    ranked = found(index, "Which dragon lives in the north?")
    assert ranked[0] == "m2" and ranked[-1] == "fact"


def test_a_fact_without_its_sources_is_found_by_itself():
    index = filled("Bread is dear.")
    index.add("fact", "A dragon lives in the north.", sources=["elsewhere"])
    assert found(index, "Where is the dragon?", 1) == ["fact"]


def test_what_says_the_same_again_stands_behind_what_says_something_else():
    index = filled(
        "The toll is four pennies",
        "The toll is four pennies",
        "Tolls rise in spring",
        embedder=LettersEmbedder(),
    )
    assert found(index, "What is the toll?", 2) in (["m0", "m2"], ["m1", "m2"])
    assert len(found(index, "What is the toll?", 3)) == 3


def test_meaning_finds_what_shares_no_word():
    index = filled("listen", "quux", "zzz", embedder=LettersEmbedder())
    assert found(index, "silent", 1) == ["m0"]


def test_importance_decides_between_equals_only():
    index = MemoryIndex()
    index.add("old", "the toll is four pennies", importance=1)
    index.add("between", "nothing to do with it " * 3)
    index.add("new", "the toll is five pennies", importance=10)
    assert found(index, "the toll in pennies", 1) == ["new"]
    assert found(index, "is the toll four?", 1) == ["old"]


def test_what_is_said_again_and_again_counts_less_than_what_is_said_once():
    index = filled(*["aa"] * 6, "bb", embedder=LettersEmbedder())
    assert found(index, "ab", 1) == ["m6"]


def test_what_changes_a_fact_comes_up_with_it_where_its_speaker_said_it():
    """The new line shares nothing with the question, but words with the old one."""
    texts = ["my boat lies at the pier", "rain again", "lovely soup", "mud", "my boat sank", "oh"]
    orders = []
    for speaker in ("Ann", "Bo"):
        index = MemoryIndex(BagOfWords(384))
        for number, text in enumerate(texts):
            who = speaker if number == 4 else "Ann"
            index.add(f"m{number}", text, who, place=number)
        orders.append(found(index, "at what pier", 6).index("m4"))
    assert orders == [1, 5]


def test_what_was_said_again_in_the_same_words_is_found_at_its_newest():
    index = MemoryIndex(LettersEmbedder())
    for number, text in enumerate(["the ale is dear", "soup", "the ale is dear"]):
        index.add(f"m{number}", text, at=MAY_8 + number)
    assert found(index, "dear ale", 1) == ["m2"]
    assert set(found(index, "dear ale", 3)) == {"m0", "m1", "m2"}


# --- replacing, forgetting, counting -------------------------------------------------------------


def test_an_id_that_comes_again_replaces_what_it_named():
    index = filled("A dragon", "Bread")
    index.add("m0", "A griffin")
    assert len(index) == 2
    assert found(index, "griffin", 1) == ["m0"]
    scores = index.find("dragon", 2)
    assert scores == filled("A griffin", "Bread").find("dragon", 2)


def test_what_is_removed_is_gone_and_may_come_again():
    index = filled("A dragon", "Bread", "Soup")
    assert index.remove("m0") and not index.remove("m0")
    assert len(index) == 2
    assert set(found(index, "dragon")) == {"m1", "m2"}
    index.add("m0", "A dragon")
    assert found(index, "dragon", 1) == ["m0"]


def test_room_of_what_is_gone_is_given_back():
    index = filled(*(f"word{n} stone" for n in range(700)), embedder=LettersEmbedder())
    for number in range(600):
        index.remove(f"m{number}")
    fresh = MemoryIndex(LettersEmbedder())
    for number in range(600, 700):
        fresh.add(f"m{number}", f"word{number} stone")
    assert index.find("stone word650", 20) == fresh.find("stone word650", 20)
    assert index._columns.size < 400


def test_words_of_many_memories_are_renumbered_with_them():
    texts = [" ".join(f"w{(7 * n + i) % 5_003}" for i in range(6)) for n in range(7_000)]
    index, fresh = filled(*texts), MemoryIndex()
    for number, text in enumerate(texts):
        if number < 5_000:
            index.remove(f"m{number}")
        else:
            fresh.add(f"m{number}", text)
    for query in ("w17 w3000", texts[6_000]):
        assert index.find(query, 20) == fresh.find(query, 20)


def test_an_index_counts_its_memory():
    index = filled(embedder=LettersEmbedder())
    assert index.nbytes < 8_192
    index.add("a", "A dragon")
    before = index.nbytes
    for number in range(2_000):
        index.add(f"m{number}", f"word{number} stone")
    assert before < index.nbytes < 2_000 * 1_024


# --- whatever comes ------------------------------------------------------------------------------

STRANGE = [
    "",
    " ",
    "|r{foo}|lcquit|lt$space(9)|le<b>&amp;</b>\x1b[31m",
    "😀🐉",
    "\ud800 broken",
    "nul\x00 and \u202e turned",
    "x y " * 25_000,
    "龍は北に住んでいる",
    "Дракон живёт на севере",
    "يعيش التنين في الشمال؟",
    "ड्रैगन उत्तर में रहता है",
    "9" * 400,
    "on 31 February 2023, 99 May 0000, 5 months ago, in 9999",
]


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_any_text_can_be_kept_and_asked_for(text):
    index = filled("A dragon lives in the north", *STRANGE, embedder=LettersEmbedder())
    results = index.find(text, 20, now=MAY_8)
    assert {hit.id for hit in results} == {f"m{n}" for n in range(len(STRANGE) + 1)}
    assert np.isfinite([hit.score for hit in results]).all()


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("龍は北に住んでいる", "北の龍"),
        ("Дракон живёт на севере", "дракон"),
        ("يعيش التنين في الشمال", "التنين"),
        ("Der Drache wohnt im Norden", "Drache?"),
        ("มังกรอยู่ทางเหนือ", "มังกร"),
    ],
)
def test_words_of_any_script_are_found(memory, query):
    index = filled("Bread", "Хлеб", "パンと水", "خبز", "ขนมปัง", memory)
    assert found(index, query, 1) == ["m5"]


@pytest.mark.parametrize("k", [0, -1])
def test_nothing_wanted_or_nothing_there_gives_nothing(k):
    assert filled("A dragon").find("dragon", k) == []
    assert MemoryIndex().find("dragon", 5) == []


def test_the_same_search_gives_the_same():
    texts = [f"stone {n % 7} bridge {n % 3}" for n in range(900)]
    one, other = filled(*texts), filled(*texts)
    assert one.find("bridge stone 3", 40) == other.find("bridge stone 3", 40)
    assert one.find("bridge stone 3", 40) == one.find("bridge stone 3", 40)


def test_numbers_no_time_can_be_do_no_harm():
    index = MemoryIndex(LettersEmbedder())
    index.add("a", "dragon", at=float("inf"), importance=1e9)
    index.add("b", "dragon", at=-1e18, importance=-5)
    for now in (None, 0, 1e300, float("inf"), float("nan")):
        assert len(index.find("the dragon yesterday", 5, now=now)) == 2


# --- vectors from elsewhere ----------------------------------------------------------------------


def test_vectors_can_be_handed_in():
    index = MemoryIndex()
    index.add("a", "one", vector=[3.0, 0.0])
    index.add("b", "two", vector=[0.0, 2.0])
    index.add("c", "three")
    assert [name for name, *_ in index.find("?", 1, vector=[0.1, 1.0])] == ["b"]
    assert len(index.find("?", 3)) == 3


def test_a_packed_vector_is_as_good_as_the_vector():
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(40, 256)).astype(np.float32)
    one, other = MemoryIndex(), MemoryIndex()
    for number, vector in enumerate(vectors):
        one.add(f"m{number}", "soup", vector=vector)
        other.add(f"m{number}", "soup", vector=pack(vector))
        exact = vector / np.linalg.norm(vector)
        assert len(pack(vector)) == 256 and abs(unit(to_bytes(pack(vector))) - exact).max() < 0.003
    asked = rng.normal(size=256)
    assert one.find("?", 40, vector=asked) == other.find("?", 40, vector=asked)
    assert not unit(to_bytes(pack(np.zeros(4)))).any()
    with pytest.raises(ValueError, match="finite"):
        pack([float("inf"), 0.0])


def test_a_vector_of_another_length_is_refused_and_changes_nothing():
    index = MemoryIndex()
    index.add("a", "one", vector=[1.0, 0.0])
    for wrong in ([1.0], [float("nan"), 0.0]):
        with pytest.raises(ValueError, match="vector"):
            index.add("a", "two", vector=wrong)
    assert len(index) == 1 and found(index, "one", 1) == ["a"]


def test_the_names_of_speakers_whom_an_audience_may_hear_are_not_embedded():
    index = MemoryIndex()
    index.add("a", "Soup again", speaker="Mira")
    index.add("b", "Hush", speaker="Odile", audience={"#1"})
    asked = "Does Mira trust Odile?"
    assert index.embedded_text(asked) == "Does trust Odile?"
    assert index.embedded_text(asked, {"#1"}) == "Does trust"
    assert index.embedded_text(asked, everything=True) == "Does trust"
