"""After some calls the estimate is near the endpoint's own count, whatever the language."""

from __future__ import annotations

import random

import pytest

from teahouse.core.messages import Blob, Message, Text
from teahouse.llm.calibration import Calibration
from teahouse.llm.tokens import estimate_messages, wide_and_other

ENGLISH = "Tea leaves were pressed into bricks and carried over the mountains by horse. "
CHINESE = "茶叶压成砖，由马帮翻山越岭运往远方，换回皮毛和药材。"


def talk(chance: random.Random, kind: str) -> list[Message]:
    texts = {"en": (ENGLISH,), "zh": (CHINESE,), "mixed": (ENGLISH, CHINESE)}[kind]
    return [
        Message(role="user", parts=(Text(text=chance.choice(texts) * chance.randint(1, 12)),))
        for _ in range(chance.randint(1, 8))
    ]


def tokens(
    messages: list[Message], zh: float, en: float, each: float, chance: random.Random
) -> int:
    """As a tokenizer of this kind would count, give or take what words make of it."""
    wide, other = wide_and_other("".join(message.text for message in messages))
    exact = wide * zh + other * en + len(messages) * each + 15
    return round(exact * chance.uniform(0.97, 1.03))


@pytest.mark.parametrize("tokenizer", [(0.62, 0.22, 5), (1.3, 0.24, 4), (0.75, 0.4, 9)])
@pytest.mark.parametrize("seed", range(5))
def test_after_twenty_calls_it_is_within_a_tenth(
    tokenizer: tuple[float, float, float], seed: int
) -> None:
    chance, calibration = random.Random(seed), Calibration()
    for number in range(20):
        said = talk(chance, ("en", "zh", "mixed")[number % 3])
        calibration.learn("a/m", said, (), tokens(said, *tokenizer, chance))

    for kind in ("en", "zh", "mixed") * 10:
        said = talk(chance, kind)
        real = tokens(said, *tokenizer, random.Random(1))
        if real > 100:
            assert calibration.messages("a/m", said) == pytest.approx(real, rel=0.1), kind


def test_one_language_teaches_nothing_wrong_of_the_other() -> None:
    chance, calibration = random.Random(1), Calibration()
    for _ in range(200):
        said = talk(chance, "en")
        calibration.learn("a/m", said, (), tokens(said, 1.0, 0.22, 5, chance))

    assert calibration.text("a/m", CHINESE) == pytest.approx(len(CHINESE), rel=0.25)


def test_a_model_that_nothing_is_known_of_is_estimated_as_ever() -> None:
    said = talk(random.Random(1), "mixed")
    other = Calibration()
    other.learn("a/other", said, (), 10_000)

    assert other.messages("a/m", said) == pytest.approx(estimate_messages(said), rel=0.02)


def test_pictures_and_nonsense_teach_nothing() -> None:
    calibration, said = Calibration(), talk(random.Random(1), "en")
    picture = Blob(file="f_1", name="tea.png", media_type="image/png", size=1)
    calibration.learn("a/m", [Message(role="user", parts=(picture,))], (), 1)
    calibration.learn("a/m", said, (), 0)

    assert calibration.messages("a/m", said) == Calibration().messages("a/m", said)


def test_weights_stay_sane_whatever_is_reported() -> None:
    calibration, chance = Calibration(), random.Random(1)
    for _ in range(500):
        calibration.learn("a/m", talk(chance, "mixed"), (), chance.choice([1, 10**7]))

    assert 0 < calibration.text("a/m", ENGLISH * 10) < 10**9


def test_a_model_that_is_well_known_still_learns_now_and_then() -> None:
    chance, calibration = random.Random(1), Calibration()
    for factor in (1, 1.3):
        for _ in range(600):
            said = talk(chance, "mixed")
            real = tokens(said, factor, factor * 0.25, 5, chance)
            calibration.learn("a/m", said, (), real)

    said = talk(chance, "mixed")
    assert calibration.messages("a/m", said) == pytest.approx(
        tokens(said, 1.3, 1.3 * 0.25, 5, chance), rel=0.1
    )


def test_the_doubt_of_what_is_never_seen_does_not_grow_for_ever() -> None:
    chance, calibration = random.Random(1), Calibration()
    for _ in range(60_000):
        calibration.learn("a/m", [Message(role="user", parts=(Text(text="tea " * 50),))], (), 60)
    for _ in range(10):
        said = talk(chance, "zh")
        calibration.learn("a/m", said, (), tokens(said, 0.7, 0.25, 5, chance))

    assert calibration.text("a/m", CHINESE) == pytest.approx(0.7 * len(CHINESE), rel=0.3)
