"""Colour scales: readable text, order, symmetry, and what colour-blind readers can tell apart."""

import itertools
import math

import numpy as np
import pytest

from engine.report import colours

SCALES = (colours.diverging, colours.difference, colours.sequential)
BLINDNESS = {  # Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def seen(colour, matrix):
    linear = np.array(matrix) @ colours._linear(colour)
    return np.array(colours.oklab("#" + "".join(f"{colours._encoded(part):02x}" for part in linear)))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_on_every_colour(scale, dark):
    for value in [*np.linspace(-2, 2, 401), math.nan, math.inf, -math.inf]:
        background, text = scale(value, 1.0, dark)
        assert colours.contrast(background, text) >= colours.LEAST_CONTRAST


def test_contrast_of_any_grey():
    for level in range(256):
        grey = f"#{level:02x}{level:02x}{level:02x}"
        assert colours.contrast(grey, colours.contrast_text(grey)) >= 4.5


def test_known_contrasts():
    assert colours.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert colours.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("dark", [False, True])
def test_zero_is_neutral_and_signs_differ(dark):
    assert colours.diverging(0.0, 1.0, dark)[0] == colours.diverging(-0.0, 1.0, dark)[0] == colours.NEUTRAL[dark]
    blue, red = colours.diverging(1.0, 1.0, dark)[0], colours.diverging(-1.0, 1.0, dark)[0]
    assert colours._linear(blue)[2] > colours._linear(blue)[0]
    assert colours._linear(red)[0] > colours._linear(red)[2]
    assert colours.diverging(math.nan, 1.0, dark)[0] == colours.UNDEFINED[dark] != colours.NEUTRAL[dark]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dark", [False, True])
def test_stronger_values_look_stronger(scale, dark):
    neutral = np.array(colours.oklab(colours.NEUTRAL[dark]))
    for sign in (1, -1) if scale is not colours.sequential else (1,):
        distances = [np.linalg.norm(colours.oklab(scale(sign * v, 2.0, dark)[0]) - neutral) for v in np.linspace(0, 2, 21)]
        assert all(b > a for a, b in itertools.pairwise(distances))
        assert scale(sign * 5.0, 2.0, dark) == scale(sign * 2.0, 2.0, dark)


@pytest.mark.parametrize("scale", SCALES[:2])
@pytest.mark.parametrize("dark", [False, True])
def test_both_sides_are_equally_strong(scale, dark):
    neutral = np.array(colours.oklab(colours.NEUTRAL[dark]))
    sizes = [np.linalg.norm(np.array(colours.oklab(scale(value, 1.0, dark)[0])) - neutral) for value in (1.0, -1.0)]
    assert max(sizes) / min(sizes) < 1.35


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("scale", SCALES[:2])
def test_colour_blind_readers_see_the_sign(kind, dark, scale):
    for strength, least in ((1.0, 0.12), (0.5, 0.05)):
        above, below = (seen(scale(value, 1.0, dark)[0], BLINDNESS[kind]) for value in (strength, -strength))
        assert np.linalg.norm(above - below) > least


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("dark", [False, True])
def test_colour_blind_readers_tell_a_from_b(kind, dark):
    a, b = (seen(pair[dark], BLINDNESS[kind]) for pair in (colours.SYSTEM_A, colours.SYSTEM_B))
    assert np.linalg.norm(a - b) > 0.12


def test_systems_stand_out_from_the_page():
    for pair in (colours.SYSTEM_A, colours.SYSTEM_B):
        assert colours.contrast(pair[0], "#ffffff") >= 4.5
        assert colours.contrast(pair[1], "#0e1117") >= 4.5


@pytest.mark.parametrize("limit", [0.0, -1.0, math.nan, math.inf])
def test_a_useless_limit_gives_neutral(limit):
    assert colours.diverging(0.5, limit)[0] == colours.NEUTRAL[0]
