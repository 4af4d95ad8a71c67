"""`sitr compare --noise`: Laplace against Gaussian noise, for one count and for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.console import Group, RenderableType
from rich.text import Text

from sitr.cli.progress import working
from sitr.cli.terminal import say
from sitr.errors import BadUsage
from sitr.report.figures import at_most, error, number
from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.text import terminal
from sitr.report.words.messages import said
from sitr.report.words.words import in_words

if TYPE_CHECKING:
    from sitr.accounting.noises import NoiseLevel
    from sitr.flavors.arrows import Kept


def show_noises(epsilon: float, delta: float, questions: str, *, as_json: bool) -> None:
    """A line for each number of questions and each way to choose the noise."""
    from sitr.accounting.noises import noise_levels
    from sitr.flavors.approximate import ApproximateDP

    price, numbers = ApproximateDP(epsilon, delta), _numbers(questions)
    with working("Calibrating", quiet=as_json):
        levels = [level for k in numbers for level in noise_levels(price, questions=k)]
    say(_shown(levels), {"epsilon": epsilon, "delta": delta, "noises": [*map(_dict, levels)]}, as_json=as_json)


def _numbers(text: str) -> list[int]:
    try:
        found = [int(each) for each in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 < each <= 10**6 for each in found):
        raise BadUsage(
            wanted="--questions as whole numbers from 1 to 1,000,000, such as 1,10,100",
            given=repr(text),
            do="Separate them by commas.",
        )
    return found


def _shown(levels: list[NoiseLevel]) -> RenderableType:
    words = in_words(None)
    headings = ("counts", "noise", "standard deviation", "95% error", "promise of all counts")
    roles = (Role.NUMBER, Role.TEXT, Role.NUMBER, Role.NUMBER, Role.TEXT)
    rows = [
        (
            words.numerals(number(level.questions)),
            said(level.calibration.value),
            words.numerals(at_most(level.deviation)),
            words.numerals(f"± {error(level.error)}"),
            words.notation(cast("Kept", level.promise)),  # concentrated ones are written too
        )
        for level in levels
    ]
    columns = tuple(PaperColumn(said(heading), role) for heading, role in zip(headings, roles, strict=True))
    after = said(
        "One person moves each count by at most 1. Laplace noise is better for a few counts, Gaussian noise for many, "
        "because it follows the square root of their number. The concentrated promise bounds the mean and the spread "
        "of the loss; its noise does not grow with 1/δ."
    )
    return Group(terminal.grid(PaperTable(columns, lambda: rows, len(rows))), Text(), Text(after))


def _dict(level: NoiseLevel) -> dict[str, object]:
    from sitr.flavors.notation import write

    return {
        "questions": level.questions,
        "noise": level.calibration.value,
        "standard_deviation": level.deviation,
        "error": level.error,
        "promise": write(level.promise),
    }
