"""The audit: learn on one half of the draws, test on the other, and compare the bounds with the claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sitr.audit.empirical.boxes import BlackBox, box_of
from sitr.audit.empirical.claims import ORDERS, check, moments
from sitr.audit.empirical.events import EVENTS, GROUPS, Event, Learned, learn
from sitr.audit.empirical.finding import Finding, Seen, Witness
from sitr.audit.empirical.intervals import Bounds, ClopperPearson, Mixture
from sitr.audit.empirical.sample import Sample, alike, joined
from sitr.errors import InvalidUse
from sitr.flavors.promise import Promise
from sitr.namespace import Later
from sitr.numbers import inside, natural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

Inputs = tuple[Any, Any]
Progress = Callable[[float], None]

BLOCK = 250_000
"""Draws that are made at a time."""

LEAST = 400
"""Draws without which nothing can be learned."""

PILOT = 50_000
"""Draws on each input from which a sequential audit learns, at most."""


def audit(
    subject: object,
    *,
    claim: Promise,
    inputs: Inputs | None = None,
    pairs: Sequence[Inputs] = (),
    draws: int = 200_000,
    confidence: float = 0.99,
    sequential: bool = False,
    progress: Progress | None = None,
) -> Finding:
    """Look for evidence that a mechanism does not keep its claim.

    `subject` is a function, a `Command` or an `Endpoint`. `inputs` are two neighbouring inputs; with several `pairs`, a
    part of the draws decides which of them is audited. Half of the `draws` (on both inputs together) choose events that
    tell the inputs apart, and the other half bounds their probabilities. Draws must be independent.

    The bounds on all events hold together with the `confidence`: half of the failure probability is for the chosen
    events (half of that for the most promising one), a quarter is for the curve, and a quarter for the divergences. No
    event depends on the draws that test it, so the union bound is all that is needed.

    With `sequential`, a quarter of the draws, at most `PILOT` on each input, is for learning. The bounds then hold at
    all numbers of draws at once (`Mixture`), and the audit stops as soon as the claim is refuted; `draws` is where it
    gives up.

    >>> from sitr.flavors.pure import PureDP
    >>> from sitr.noise import TestCoins, discrete_laplace
    >>> coins = TestCoins(1)
    >>> def noisy(count, size):
    ...     return count + discrete_laplace(scale=1, size=size, coins=coins)
    >>> found = audit(noisy, inputs=(10, 11), claim=PureDP(0.5), draws=40_000)
    >>> found.broken, 0.8 < found.epsilon() <= 1.0
    (True, True)
    >>> audit(noisy, inputs=(10, 11), claim=PureDP(1.0), draws=40_000).broken
    False
    """
    check(claim)
    box, each = box_of(subject), natural(draws, name="draws", of="an audit", least=LEAST) // 2
    failure = 1.0 - float(inside(confidence, of="an audit"))
    several = [inputs] if inputs is not None else list(pairs)
    if not several:
        raise InvalidUse(
            given="No inputs were given to the audit.", do="Give two neighbouring inputs as inputs=(…, …)."
        )
    learning = min(each // 4, PILOT) if sequential else each // 2
    told = _Told(progress, each)
    chosen, samples = _choose(box, several, learning, claim, failure, told)
    learned = learn(*samples, claim, tested=each - learning, failure=failure / EVENTS)
    test = _Test(learned, samples, sequential=sequential)
    for size in _blocks(each - learning, growing=sequential):
        test.add(*_drawn(box, several[chosen], size, told))
        if sequential and test.finding(claim, confidence, failure, drawn=told.done, pair=chosen).broken:
            break
    return test.finding(claim, confidence, failure, drawn=told.done, pair=chosen)


class _Told:
    """Counts draws on each input, and reports the share that is done."""

    def __init__(self, progress: Progress | None, each: int) -> None:
        self.done, self._progress, self._each = 0, progress, each

    def add(self, size: int) -> None:
        self.done += size
        if self._progress is not None:
            self._progress(min(1.0, self.done / self._each))


def _drawn(box: BlackBox, inputs: Inputs, size: int, told: _Told) -> tuple[Sample, Sample]:
    found = tuple(box.draw(data, size) for data in inputs)
    told.add(size)
    return found[0], found[1]


def _blocks(total: int, *, growing: bool) -> Iterator[int]:
    """Sizes that add up to this total; growing by a quarter of what is there, so that stopping wastes little."""
    done = 0
    while done < total:
        size = min(BLOCK, total - done, max(256, done // 4) if growing else BLOCK)
        yield size
        done += size


def _choose(
    box: BlackBox, pairs: Sequence[Inputs], learning: int, claim: Promise, failure: float, told: _Told
) -> tuple[int, tuple[Sample, Sample]]:
    """The pair that looks worst for the claim, and draws to learn from; half of them are shared by all pairs."""
    if len(pairs) == 1:
        return 0, _many(box, pairs[0], learning, told)
    part = max(LEAST // 4, learning // (2 * len(pairs)))
    found, best = [], -float("inf")
    chosen = 0
    for place, pair in enumerate(pairs):
        found.append(_many(box, pair, part, told))
        hope = learn(*found[-1], claim, tested=learning, failure=failure / EVENTS).events[0].promising
        if hope > best:
            chosen, best = place, hope
    rest = max(LEAST // 4, learning - part * len(pairs))
    more = _many(box, pairs[chosen], rest, told)
    first, second = (joined([found[chosen][side], more[side]]) for side in (0, 1))
    return chosen, alike(first, second)


def _many(box: BlackBox, inputs: Inputs, size: int, told: _Told) -> tuple[Sample, Sample]:
    parts = [_drawn(box, inputs, block, told) for block in _blocks(size, growing=False)]
    first, second = (joined([part[side] for part in parts]) for side in (0, 1))
    _check_answers(first, second)
    return alike(first, second)


def _check_answers(first: Sample, second: Sample) -> None:
    """Refuse a mechanism that answers nothing but errors."""
    if first.labels is None or second.labels is None:
        return
    labels = {*first.labels.tolist(), *second.labels.tolist()}
    if all(label.startswith("Failed(") for label in labels):
        kinds = [label.removeprefix("Failed(kind='").removesuffix("')") for label in sorted(labels)[:3]]
        raise InvalidUse(
            given=f"The mechanism failed on every draw: {', '.join(kinds)}.",
            do="Call it once with one of the inputs, its only argument, and see what it needs.",
        )


class _Test:
    """Counts of the tested events, and the bounds that follow."""

    def __init__(self, learned: Learned, earlier: tuple[Sample, Sample], *, sequential: bool) -> None:
        self.learned, self.draws, self.form = learned, 0, earlier[0][slice(0, 1)]
        self.events = (*learned.events, *learned.curve)
        self.hits = [[0] * len(self.events) for _ in range(2)]
        self.groups: list[NDArray[np.int64]] = [np.zeros(GROUPS, dtype=np.int64) for _ in range(2)]
        self.prior: tuple[int, list[list[int]], list[NDArray[np.int64]]] | None = None
        if sequential:
            # Only the part of the learning draws that chose no order of cells is a fair prior; any prior is valid.
            half = len(earlier[0]) // 2
            self.add(*(each[slice(half, len(each))] for each in earlier))
            self.prior = (self.draws, self.hits, self.groups)
            self.draws, self.hits = 0, [[0] * len(self.events) for _ in range(2)]
            self.groups = [np.zeros(GROUPS, dtype=np.int64) for _ in range(2)]

    def add(self, first: Sample, second: Sample) -> None:
        """Count more draws."""
        self.draws += len(first)
        for side, sample in enumerate((first.like(self.form), second.like(self.form))):
            ranks: dict[int, NDArray[np.int64]] = {}
            for place, event in enumerate(self.events):
                key = id(event.ranking)
                if key not in ranks:
                    ranks[key] = event.ranking.hits(event.ranking.of(sample))
                self.hits[side][place] += int(ranks[key][event.size - 1])
            counts = np.diff(ranks[id(self.learned.ranking)], prepend=0)
            self.groups[side] += np.bincount(self.learned.groups, counts, GROUPS).astype(np.int64)

    def finding(self, claim: Promise, confidence: float, failure: float, *, drawn: int, pair: int) -> Finding:
        count = len(self.learned.events)
        weights = [0.5, *[0.5 / max(1, count - 1)] * (count - 1)]
        shares = [failure / 2 * weight for weight in weights]
        shares += [failure / 4 / len(self.learned.curve)] * len(self.learned.curve)
        seen = [self._witness(place, event, shares[place]) for place, event in enumerate(self.events)]
        return Finding(
            claim,
            confidence,
            2 * drawn,
            tuple(seen[:count]),
            tuple(seen[count:]),
            tuple(self._divergences(claim, failure / 4)),
            sequential=self.prior is not None,
            pair=pair,
        )

    def _witness(self, place: int, event: Event, failure: float) -> Witness:
        first, second = self.hits[0][place], self.hits[1][place]
        low = self._bounds(0, place).lower(first, self.draws, failure=failure / 2)
        high = self._bounds(1, place).upper(second, self.draws, failure=failure / 2)
        return Witness(_seen(event), first, second, self.draws, low, high)

    def _bounds(self, side: int, place: int) -> Bounds:
        if self.prior is None:
            return ClopperPearson()
        draws, hits, _ = self.prior
        return Mixture(hits[side][place], draws - hits[side][place])

    def _divergences(self, claim: Promise, failure: float) -> Iterator[tuple[float, float]]:
        """ln(Σ pᵅq¹⁻ᵅ)/(α − 1) over a partition of the answers, with bounds in place of p and q: each term grows with p
        and falls with q, and a partition only loses divergence.      [vEH14]"""
        each = failure / (4 * GROUPS)
        low, high = ([self._ends(side, way, each) for side in (0, 1)] for way in (0, 1))
        for order in sorted({*ORDERS, *(a for a, _ in moments(claim))}):
            ways = ((low[0], high[1]), (low[1], high[0]))
            yield order, max(_divergence(p, q, order) for p, q in ways)

    def _ends(self, side: int, way: int, failure: float) -> NDArray[np.float64]:
        found = []
        for group, hits in enumerate(self.groups[side].tolist()):
            bounds: Bounds = ClopperPearson()
            if self.prior is not None:
                earlier = int(self.prior[2][side][group])
                bounds = Mixture(earlier, self.prior[0] - earlier)
            end = bounds.upper if way else bounds.lower
            found.append(end(hits, self.draws, failure=failure))
        return np.array(found)


def _divergence(p: NDArray[np.float64], q: NDArray[np.float64], order: float) -> float:
    with np.errstate(divide="ignore"):
        terms = order * np.log(p) - (order - 1) * np.log(q)
    return max(0.0, float(np.logaddexp.reduce(terms)) / (order - 1)) * (1 - 1e-12)


def _seen(event: Event) -> Seen:
    feature = event.ranking.cells.feature
    members = event.members()
    examples = () if event.edge() is not None else tuple(float(each) for each in members[:5])
    return Seen(feature.name, feature.place, event.ranking.order.value, event.edge(), examples, len(members))
