"""What a promise means, as a picture: of a hundred such guesses, how many are right before and after."""

from __future__ import annotations

from sulq.pictures import svg

STEP, DOT, SIDE, BETWEEN = 12.0, 4.2, 10, 60.0
HUE = svg.PALETTE[0]


def picture(before: float, after: float) -> str:
    """Two squares of a hundred dots: as many are filled as guesses are right.

    Args:
        before: the chance that was given to a guess before.
        after: the largest chance that can be given to it afterwards.

    >>> drawn = picture(0.1, 0.24)
    >>> drawn.count("<circle"), drawn.count(HUE), "at most 24 in 100" in drawn
    (200, 34, True)
    """
    drawn = [
        *_square(0, "before", f"{_of_hundred(before)} in 100", _of_hundred(before)),
        *_square(1, "after", f"at most {_of_hundred(after)} in 100", _of_hundred(after)),
    ]
    title = "Chances of a guess about one person"
    return svg.document(title, drawn, 2 * _width() + BETWEEN, SIDE * STEP + 44, "")


def _square(place: int, when: str, many: str, filled: int) -> list[str]:
    left = place * (_width() + BETWEEN)
    dots = [
        svg.tag(
            "circle",
            cx=left + STEP * (number % SIDE + 0.5),
            cy=20 + STEP * (number // SIDE + 0.5),
            r=DOT,
            fill=HUE if number < filled else svg.FAINT,
        )
        for number in range(SIDE * SIDE)
    ]
    return [svg.text(left, 6, when, weight="bold"), *dots, svg.text(left, SIDE * STEP + 34, many)]


def _of_hundred(chance: float) -> int:
    return round(100 * chance)


def _width() -> float:
    return SIDE * STEP
