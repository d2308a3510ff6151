"""Options are declared once; flags, forms and links are made from them."""

import argparse
from dataclasses import dataclass

import pytest

from engine.errors import InputError
from engine.options import add_flags, describe, from_namespace, from_pairs, join_pairs, option, split_pairs, to_pairs


@dataclass(frozen=True)
class Example:
    samples: int = option(100, "How many masked texts.", low=1, high=1000)
    mask: str = option("UNKWORDZ", "What stands in a word's place.")
    explainer: str = option("lime", "Which explainer.", choices=("lime", "shap"))
    layer: int | None = option(None, "Which layer.", low=0)
    exact: bool = option(False, "Say 100% or nothing.")


def test_describe_gives_a_form_what_it_needs() -> None:
    fields = {item.name: item for item in describe(Example)}
    assert list(fields) == ["samples", "mask", "explainer", "layer", "exact"]
    assert fields["samples"].type is int and fields["samples"].high == 1000
    assert fields["layer"].optional and fields["layer"].type is int
    assert fields["explainer"].label == "Explainer"


def test_pairs_go_both_ways() -> None:
    made = from_pairs(Example, {"samples": "7", "layer": "5", "exact": "yes"})
    assert made == Example(samples=7, layer=5, exact=True)
    assert from_pairs(Example, to_pairs(made)) == made
    assert to_pairs(Example()) == {}
    assert from_pairs(Example, {"layer": "none"}).layer is None


def test_pairs_as_one_text_go_both_ways() -> None:
    pairs = {"model": "/a,b/c=d", "mask": "50% of %2C", "layer": "5"}
    assert split_pairs(join_pairs(pairs), "x") == pairs
    assert split_pairs("mask=100%,layer=2", "x") == {"mask": "100%", "layer": "2"}
    with pytest.raises(InputError, match="%2C"):
        split_pairs("mask=a,b", "x")


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ({"samples": "0"}, "smallest"),
        ({"samples": "1001"}, "largest"),
        ({"samples": "many"}, "whole number"),
        ({"samples": "nan"}, "whole number"),
        ({"explainer": "gradient"}, "choose one of lime, shap"),
        ({"speed": "1"}, "no option 'speed'"),
        ({"exact": "maybe"}, "true or false"),
    ],
)
def test_wrong_values_are_refused_in_words(pairs: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_pairs(Example, pairs)


def test_flags_come_from_the_same_declaration() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, Example, skip=("mask",))
    parsed = parser.parse_args(["--samples", "9", "--exact", "true"])
    assert from_namespace(Example, parsed, mask="XX") == Example(samples=9, mask="XX", exact=True)
    assert "--mask" not in parser.format_help()
    parser.format_help()  # a per cent sign in a help text is not a format
