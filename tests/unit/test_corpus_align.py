"""Where two files that should be parallel part."""

import random

import pytest

from engine.corpus.align import find_parting

NOUNS = [
    "house",
    "dog",
    "river",
    "lamp",
    "Berlin",
    "1989",
    "Anna",
    "train",
    "glass",
    "cloud",
    "bridge",
    "42",
    "winter",
    "paper",
    "stone",
]


def parallel(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """A text and a freer rendering of it: some words shared, some not, lengths alike."""
    rng = random.Random(seed)
    first, second = [], []
    for number in range(count):
        shared = rng.sample(NOUNS, rng.randint(3, 8)) + [f"x{number % 97}"]
        own = [f"w{rng.randint(0, 500)}" for _ in range(rng.randint(2, 5))]
        first.append(" ".join([*shared, *own]))
        second.append(" ".join([*rng.sample(shared, len(shared)), *[f"v{rng.randint(0, 500)}" for _ in own]]))
    return first, second


@pytest.mark.parametrize("place", [0, 3, 50, 119, 198])
@pytest.mark.parametrize("extra", ["", "   ", "something else entirely, of no concern here"])
def test_a_line_too_many(place, extra):
    first, second = parallel(200)
    second.insert(place, extra)
    found = find_parting(first, second)
    assert abs(found.line - (place + 1)) <= 1
    assert found.extra_in_second


@pytest.mark.parametrize("place", [0, 60, 150])
def test_a_line_too_few(place):
    first, second = parallel(200)
    del second[place]
    found = find_parting(first, second)
    assert abs(found.line - (place + 1)) <= 1
    assert not found.extra_in_second


def test_a_file_that_ends_early():
    first, second = parallel(300)
    found = find_parting(first, second[:280])
    assert (found.line, found.at_end) == (281, True)
    assert find_parting(first, second[:100]).line == pytest.approx(101, abs=2)  # more than 60 lines are missing


def test_two_shifts_name_the_first():
    first, second = parallel(400)
    second.insert(300, "another line")
    del second[100]
    del second[50]
    assert find_parting(first, second).line == pytest.approx(51, abs=1)


def test_large_files_are_searched_by_halves():
    first, second = parallel(30_000)
    del second[21_345]
    assert find_parting(first, second).line == pytest.approx(21_346, abs=1)


def test_one_odd_pair_is_no_shift():
    first, second = parallel(200)
    second[20] = ""
    del second[150]
    assert find_parting(first, second).line == pytest.approx(151, abs=1)


@pytest.mark.parametrize(("first", "second"), [([], ["a"]), (["a"], []), ([""] * 5, [""] * 7), (["a"], ["b"] * 5)])
def test_degenerate_files(first, second):
    assert find_parting(first, second).line >= 1
