"""Long work in small pieces."""

from evennia_ai.scheduling import PIECE, map_in_slices


def test_work_is_done_in_pieces_and_its_results_are_in_order():
    put, done = [], []
    running = map_in_slices(lambda work, *args: put.append((work, args)), range(2 * PIECE + 1), str)
    running.addCallback(done.append)
    pieces = 0
    while put:
        work, args = put.pop()
        work(*args)
        pieces += 1
    assert pieces == 3
    assert done == [[str(number) for number in range(2 * PIECE + 1)]]


def test_nothing_to_do_is_done_at_once():
    done = []
    map_in_slices(lambda *args: None, [], str).addCallback(done.append)
    assert done == [[]]
