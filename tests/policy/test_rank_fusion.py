"""One ranking out of several."""

from evennia_ai.policy.retrieval.rerank import fuse_ranks


def ranked(*ids):
    return [{"id": name} for name in ids]


def ids(records):
    return [record["id"] for record in records]


def test_what_both_found_comes_before_what_one_found():
    assert ids(fuse_ranks(ranked("a", "b", "c"), ranked("d", "b"))) == ["b", "a", "c", "d"]


def test_the_best_of_one_comes_before_what_both_found_far_down():
    first, other = ranked("a", *"bcdefghij"), ranked(*"qrstuvw", *"jihgfedcb")
    fused = ids(fuse_ranks(first, other))
    assert fused[0] == "a" and "q" in fused[:8]


def test_one_ranking_stays_as_it_is_and_none_is_none():
    assert ids(fuse_ranks(ranked("a", "b"), ())) == ["a", "b"]
    assert fuse_ranks((), ()) == []
