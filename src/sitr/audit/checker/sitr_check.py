"""A second opinion on Sitr: derive the figures of a certificate again from the caps, bounds and noise that it states.

    python sitr_check.py certificate.html

It also reads the JSON of an answer (`sitr ask --json`) and of a ledger (`sitr ledger show --json`). It needs Python 3.11
and python-flint (`pip install python-flint`) and nothing of Sitr: it was written from the papers below, to be read by a
reviewer in an afternoon. Exit codes: 0 every derivable figure agrees, 1 a figure differs, 2 the file cannot be read.

What is checked, in this order, which is also the order of the functions:

1. *Distances*: how far one protected unit moves the measured numbers, from caps, bounds and the neighbouring relation.
2. *Noise*: whether its sensitivity covers that distance, and its error with 95% probability.
3. *Promises*: ε, ρ, μ or (ε, δ) of each measurement from the law of its noise, and their sum.
4. *ε at δ*: the privacy loss of all measurements together, by ball arithmetic, so that every bound is proved.
5. *Budget*: spent + charge = spent afterwards, promise − spent = remaining; in a ledger, the sum of all entries.
6. *Record*: the SHA-256 of the released numbers, and that the record names the same entry.

Figures that follow from fractions must agree to 12 digits. An ε at some δ must be at least this program's own bound, up
to its resolution of 0.1%, and at most 1% above it. Where the law of a mechanism depends on the data or on earlier
answers, the figure is "not derivable", with the reason.

[BS16] Bun and Steinke, Concentrated differential privacy, TCC 2016. [BW18] Balle and Wang, Improving the Gaussian
mechanism, ICML 2018. [CKS20] Canonne, Kamath and Steinke, The discrete Gaussian, NeurIPS 2020. [CR21] Cesar and Rogers,
Bounding, concentrating, and truncating, ALT 2021. [DDR20] Dong, Durfee and Rogers, Optimal differential privacy
composition for exponential mechanisms, ICML 2020. [DGKM22] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the
dots, PoPETs 2022. [DLMF] Digital Library of Mathematical Functions. [DMNS06] Dwork, McSherry, Nissim and Smith,
Calibrating noise to sensitivity, TCC 2006. [DRS22] Dong, Roth and Su, Gaussian differential privacy, JRSS B 2022.
[DVG22] Desfontaines, Voss and Gipson, Differentially private partition selection, PoPETs 2022. [HRW11] Hall, Rinaldo and
Wasserman, Random differential privacy, 2011. [KKMN09] Korolova, Kenthapadi, Mishra and Ntoulas, Releasing search queries
and clicks privately, WWW 2009. [KOV15] Kairouz, Oh and Viswanath, The composition theorem, ICML 2015. [ZDW22] Zhu, Dong
and Wang, Optimal accounting of differential privacy via characteristic function, AISTATS 2022.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from flint import arb, arb_poly, ctx

ctx.prec = 256  # bits of every ball

DIGITS, SOUND, LOOSE = 1e-12, 5e-4, 1e-2
NEARLY = {"below": 1e-5, "above": 1e-5}  # for probabilities that are sums of tails
POINTS = 2**12  # points of the lattice on which losses are added

Json = dict[str, Any]


# Numbers


def exact(number: Any) -> Fraction:
    """A number of the file. A float stands for the decimal that it prints as, as Sitr defines it."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def ball(number: Fraction | int | arb) -> arb:
    return number if isinstance(number, arb) else arb(number.numerator) / arb(number.denominator)


def normal(x: arb) -> arb:
    """Φ(x)."""
    return (-x / arb(2).sqrt()).erfc() / 2


@dataclass
class Findings:
    """The figures that were looked at: what, stated, derived, verdict."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    def judge(self, figure: str, stated: object, derived: object, right: bool) -> None:
        self.rows.append((figure, shown(stated), shown(derived), "agrees" if right else "DIFFERS"))

    def agree(self, figure: str, stated: Any, derived: Any, *, below: float = DIGITS, above: float = DIGITS) -> None:
        """The stated number is neither smaller nor larger than the derived one by more than these parts of it."""
        if stated is None or not math.isfinite(derived if isinstance(derived, float) else 0):
            return self.judge(figure, stated, derived, stated is None and derived == math.inf)
        mine, given = ball(exact(derived) if isinstance(derived, float) else derived), ball(exact(stated))
        right = given >= mine - below * abs(mine) and given <= mine + above * abs(mine)
        return self.judge(figure, stated, float(mine), bool(right))

    def unknown(self, figure: str, stated: object, why: str) -> None:
        self.rows.append((figure, shown(stated), "", f"not derivable: {why}"))


def shown(value: object) -> str:
    if isinstance(value, float | Fraction):
        return f"{float(value):.10g}"
    text = str(value["notation"] if isinstance(value, dict) else value)
    return text if len(text) <= 26 else f"{text[:25]}…"


# 1. Distances


def corners(block: Json) -> Iterator[list[tuple[int, int, int]]]:
    """The worst ways to fill groups: (rows of one unit, rows of the other, number of groups).

    With at most m rows in a group and T in all, a sum over groups of a convex function is largest where ⌊T/m⌋ groups are
    full and one has the rest. A unit that is added or removed is alone. If it replaces another one, x groups may be full
    of both, and the rest of each may be alone, lie over a full group of the other, or over its rest. All sums are linear
    in x, so only the least and the largest x count that the number of cells allows.
    """
    cells, groups, each = block["cells"], block["groups"], block["rows_per_group"]
    most = each * (groups if cells is None else min(groups, cells))
    total = most if block["rows"] is None else min(block["rows"], most)
    each = min(each, total)
    full, rest = divmod(total, each)
    if block["relation"] == "add-remove":
        yield [(each, 0, full), (rest, 0, 1)]
        return
    for alone, over, both in ((2, 0, 0), (1, 1, 0), (0, 2, 0), (0, 0, 1)) if rest else ((0, 0, 0),):
        least = 0 if cells is None else max(0, 2 * full + alone + both - cells)
        for x in {least, full - min(1, over)}:
            if least <= x <= full - min(1, over):
                apart = 2 * full - 2 * x - over
                yield [(each, each, x), (each, 0, apart), (each, rest, over), (rest, 0, alone), (rest, rest, both)]


def block_distance(block: Json) -> dict[str, int]:
    """A row adds `low` to `high`, or nothing. Two units with a and b rows move a sum apart by B·max(a, b) + A·min(a, b).

    B is the larger and A the smaller of −low and high: one unit pulls up, and the other down.
    """
    small, large = sorted((-min(0, block["low"]), max(0, block["high"])))
    ways = [[(large * max(a, b) + small * min(a, b), n) for a, b, n in way] for way in corners(block)]
    l1, l2 = (max(sum(far**power * n for far, n in way) for way in ways) for power in (1, 2))
    if "sums" in block:  # each number is a sum of sizes, which moves by the ℓ1 distance
        return {"l1": block["sums"] * l1, "l2_squared": block["sums"] * l1**2, "largest": l1}
    rows = max(a for way in corners(block) for a, _, _ in way)
    one = large if block["relation"] == "add-remove" else large + small
    return {"l1": block["times"] * l1, "l2_squared": block["times"] * l2, "largest": rows * one}


def check_distance(one: Json, of: str, found: Findings) -> dict[str, int] | None:
    """The distance of a measurement: blocks of numbers that one unit moves together."""
    if one["moves"] is None:
        if one["distance"] is not None:
            found.unknown(f"{of}: distance", one["distance"]["l1"], "the caps behind it are not in the file")
        return None
    for block in one["moves"]:
        for end in ("low", "high") if "bounds" in block else ():
            value = exact(block["bounds"][end]) - exact(block["bounds"]["centre"])
            found.agree(f"{of}: {end} of a row in granules", block[end], value / exact(one["granularity"]))
    parts = [block_distance(block) for block in one["moves"]]
    far = {name: (max if name == "largest" else sum)(part[name] for part in parts) for name in parts[0]}
    for name, value in far.items():
        found.agree(f"{of}: distance, {name}", one["distance"][name], value)
    return far


# 2. Noise


@cache
def bell_tails(variance: Fraction, count: int) -> list[arb]:
    """P(Y ≥ k) for 0 ≤ k < count, P(Y = y) ∝ e^{−y²/(2σ²)} on the integers: sums from far out, where all is negligible."""
    far = count + 40 + math.isqrt(int(600 * variance))
    terms = [(-ball(Fraction(y * y) / (2 * variance))).exp() for y in range(far)]
    total = terms[-1] * arb(0, 1) * (2 + ball(variance))  # a ball that holds the sum of all further terms
    sums = [total := total + term for term in reversed(terms)][::-1]
    return [one / (2 * sums[0] - 1) for one in sums[:count]]


def bell_tail(variance: Fraction, k: int) -> arb:
    count = 40 + math.isqrt(int(400 * variance))
    tails = bell_tails(variance, count)
    tail = tails[abs(k)] if 0 <= k < count else tails[1 - k] if 1 - k < count and k < 0 else tails[-1] * arb(0.5, 0.5)
    return tail if k >= 0 else 1 - tail


def granules(law: Json) -> Fraction:
    """The scale or σ of additive noise, in granules."""
    return exact(law["scale" if "scale" in law else "sigma"]) / exact(law["granularity"])


def upper_tail(law: Json, k: int) -> arb:
    """P(Y ≥ k) for additive noise in granules, k ≥ 1.

    For a discrete Gaussian beyond σ = 1,000 sums are integrals: beyond σ, e^{−y²/2σ²} is convex, so each term is at most
    the integral over half a step to both sides, and all terms at least the trapezoids. All integers have σ√(2π)(1 ± e^{−σ²}).
    """
    size = granules(law)
    if law["law"] == "discrete Laplace":
        return (-k / ball(size)).exp() / (1 + (-1 / ball(size)).exp())
    most = normal(-ball(Fraction(2 * k - 1, 2) / size))
    if law["law"] == "rounded Gaussian":  # ⌊σZ + ½⌋ ≥ k
        return most
    if size <= 1000:
        return bell_tails(size**2, k + 1)[k]
    sigma, at = ball(size), k / ball(size)
    least = normal(-at) + (-(at**2) / 2).exp() / (sigma * (8 * arb.pi()).sqrt())
    return (least.union(most) if k > size + 1 else arb(0.5, 0.5)) * (1 + arb(0, 2) * (-(sigma**2)).exp())


def check_noise(law: Json, far: dict[str, int], sizes: int, of: str, found: Findings) -> None:
    """The sensitivity for which the noise is made is the distance: ℓ1 for Laplace, ℓ2 for Gaussian noise.

    Where deviations within buckets of 2, 4, … cells are measured, each change of a count by 1 moves one deviation for
    each of these `sizes` j = 1, 2, … by at most 2(1 − 2^{−j}).
    """
    steps = [2 - Fraction(2, 2**j) for j in range(1, sizes + 1)]
    moved = (
        (far["l1"] * sum(steps), far["l1"] ** 2 * sum(s * s for s in steps))
        if steps
        else (far["l1"], far["l2_squared"])
    )
    derived = ball(moved[0]) if law["law"] == "discrete Laplace" else ball(moved[1]).sqrt()
    found.agree(f"{of}: sensitivity", exact(law["sensitivity"]), derived)


def check_error(one: Json, of: str, found: Findings) -> None:
    """w granules, where P(|Y| > w) ≤ 5%, and w − 1 would not do."""
    law, width = (
        one["mechanism"],
        exact(one["error"]) / exact(one["granularity"]) / exact(one["mechanism"]["granularity"]),
    )
    wide = round(width)
    enough, least = upper_tail(law, wide + 1) * 40 <= 1, wide == 0 or upper_tail(law, wide) * 40 > 1
    found.judge(
        f"{of}: 95% error", one["error"], "the least w", bool(abs(width - wide) <= DIGITS * width and enough and least)
    )


# 3. Promises


@dataclass(frozen=True)
class Part:
    """A pair of laws that dominates a loss, this many `times`."""

    kind: str  # gauss: μ²; laplace: scale and move; bell: σ² and move; range: η; pair: ε
    numbers: tuple[Any, ...]
    times: int = 1


@dataclass(frozen=True)
class Known:
    """What is derived about a mechanism. Outside an event of probability `delta`, losses are at most ε, or moments ρ."""

    flavor: str
    promise: dict[str, Any]
    epsilon: Fraction | None = None
    rho: Any = None
    delta: arb = arb(0)
    parts: tuple[Part, ...] | None = None  # None if no pair of laws is known
    slack: arb = arb(0)  # the finite part of δ is multiplied by e^slack
    either: bool = False  # whether δ is for finite losses with some data


def additive(law: Json) -> Known:
    """Laplace: ε = Δ/scale [DMNS06]. Discrete Gaussian: ρ = Δ²/(2σ²) [CKS20, Thm 4]. Rounded Gaussian: μ = Δ/σ [DRS22].

    Of Laplace noise on vectors, one number that moves by Δ loses most: a vector moves in steps of one granule, each with
    the same trade-off curve, and one number attains their composition, because its likelihood ratio is monotone.
    """
    moved, size = exact(law["sensitivity"]) / exact(law["granularity"]), granules(law)
    if law["law"] == "discrete Laplace":
        part = Part("laplace", (size, math.floor(moved))) if moved >= 1 else Part("pair", (moved / size,))
        return Known("pure", {"epsilon": moved / size}, moved / size, (moved / size) ** 2 / 2, parts=(part,))
    square = (moved / size) ** 2
    if law["law"] == "rounded Gaussian":
        return Known("gaussian", {"mu": moved / size}, None, square / 2, parts=(Part("gauss", (square,)),))
    part, slack = bell(moved, size, single=law["single"])
    return Known("zcdp", {"rho": square / 2, "xi": Fraction(0)}, None, square / 2, parts=(part,), slack=slack)


def bell(moved: Fraction, sigma: Fraction, *, single: bool) -> tuple[Part, arb]:
    """A pair of laws that dominates Gaussian noise on integers that move by this length in ℓ2, and its slack.

    *One number, σ ≤ 32*: the loss itself. *Vectors, σ ≤ 32*: a real Gaussian, see `least_mu`. *Larger σ*: let
    s² = σ² − τ², w(x) = Σ_j e^{−(j−x)²/2τ²}, and X of density ∝ e^{−x²/2s²}·w(x). A j drawn with weights e^{−(j−X)²/2τ²}
    has the law of Y, by completing the square; and from X + 1 that of Y + 1, as w has period 1. So (Y, Y + v) is made
    from (X, X + v). Both densities have the factor w(x)/E[w] beside those of a normal law: the hockey-stick is at most
    that of N(0, s²), times (1 + η)/(1 − η) for each number that moves, because by Poisson's formula w differs from its
    mean by a factor of at most 1 ± η, η = 2Σ_j e^{−2π²τ²j²}.
    """
    if sigma <= 32:
        if moved >= 1 and (single or moved**2 < 2):
            return Part("bell", (sigma**2, math.floor(moved))), arb(0)
        return Part("gauss", (ball(moved**2) * least_mu(sigma) ** 2,)), arb(0)
    numbers = 1 if single else max(1, math.floor(moved**2))
    tau2 = (arb(40000) * numbers).log() / (2 * arb.pi() ** 2)
    first = (-2 * arb.pi() ** 2 * tau2).exp()
    eta = 2 * first / (1 - first)
    return Part("gauss", (ball(moved**2) / (ball(sigma) ** 2 - tau2),)), numbers * ((1 + eta) / (1 - eta)).log()


@cache
def least_mu(sigma: Fraction) -> arb:
    """μ such that Y and Y + 1 are no easier to tell apart than N(0, 1) and N(μ, 1), for discrete Gaussian Y.

    The likelihood ratio is monotone, so the best tests are thresholds. With P(Y ≥ k) = Φ(−z_k), μ is the largest
    D = z_{k+1} − z_k [DRS22, Def. 2.6]; k and −k have the same D. Vectors compose: ℓ2 length times μ [DRS22, Cor. 3.3].

    The first K differences are computed. For k ≥ K: the derivative of −ln Φ(−z) is at least z, so zD + D²/2 ≤ a, where
    a = ln P(Y ≥ k)/P(Y ≥ k + 1) ≤ (2k + 1)/2σ² + r, and r is the fall of S(k) = P(Y ≥ k)/P(Y = k) from K to K + 1.
    And z_k ≥ y = k/σ − c, if P(Y ≥ k) ≤ φ(y)/(y + 1/y) [DLMF, 7.8.2], which holds for all k ≥ K if it holds at K and
    cy ≥ 1, y ≥ 1 there. The two give D ≤ 1/σ + (c/σ + r)/(y + 1/σ).
    """
    count, size = max(50, math.ceil(200 * sigma)), ball(sigma)
    tails = bell_tails(sigma**2, count + 2)
    places = [arb(2).sqrt() * (2 * tail).erfcinv() for tail in tails[1:]]
    fall = tails[count] / (tails[count] - tails[count + 1])
    after = (-(arb(count + 1) ** 2 - arb(count) ** 2) / (2 * size**2)).exp() * (tails[count] - tails[count + 1])
    fall, far = fall - tails[count + 1] / after, count / size
    c = (2 + abs((far / size).log())) / far
    y = far - c
    holds = c * y >= 1 and y >= 1 and (-(y**2) / 2).exp() / (2 * arb.pi()).sqrt() / (y + 1 / y) >= tails[count]
    beyond = 1 / size + (c / size + fall) / (y + 1 / size) if holds else arb("inf")
    every = [2 * places[0], beyond, *(right - left for left, right in zip(places, places[1:], strict=False))]
    return max((one.upper() for one in every), key=float)


def quantile(law: Json) -> Known:
    """One choice ∝ e^{−rate·cost} in each group, where the cost is by how many ranks a value is off.

    a values of one unit and b of the other move the costs so that losses differ by numbers in an interval of length
    η = 2·rate·(max(α, 1 − α)·max(a, b) + min(α, 1 − α)·min(a, b)); rate·max(a, b) for an extreme, whose cost counts one
    side only. So ε = Ση, and ρ = Ση²/8 [CR21]. For the loss, η of different groups are put together until each sum is
    as wide as the widest: there are fewer than 2⌈Ση/widest⌉ such sums [DDR20, Lemma 3.4].
    """
    rate, level = exact(law["rate"]), exact(law["level"])
    extreme = (level == 0 and law["offset"] <= 0) or (level == 1 and law["offset"] >= 0)
    small, large = (Fraction(0), rate) if extreme else (2 * rate * share for share in sorted((level, 1 - level)))
    ways = [
        [(large * max(a, b) + small * min(a, b), n) for a, b, n in way if n and max(a, b)]
        for way in corners({**law, "rows_per_group": law["each"], "rows": law["total"]})
    ]
    epsilon, squares = (max(sum(eta**power * n for eta, n in way) for way in ways) for power in (1, 2))
    widest = max(eta for way in ways for eta, _ in way)
    many = min(max(sum(n for _, n in way) for way in ways), 2 * math.ceil(epsilon / widest) - 1)
    return Known("pure", {"epsilon": epsilon}, epsilon, squares / 8, parts=(Part("range", (widest,), many),))


def threshold(law: Json) -> Known:
    """Keys are shown if their noisy number of units is at least `least`.

    A unit that is alone in its g keys is exposed with δ = 1 − (1 − p)^g, p = P(c + Y ≥ least). Otherwise the loss is that
    of the noise; of Laplace noise if p ≤ 1 − e^{−c/scale}, so that a key that is not shown loses no more [KKMN09; DVG22,
    Sec. 2]. With Gaussian noise, moments are bounded outside that event [BS16, Def. 8.1].
    """
    noise, alone = additive(law["noise"]), upper_tail(law["noise"], law["least"] - law["each"])
    delta = -((-alone).log1p() * law["groups"]).expm1()
    if noise.epsilon is None:
        both = {"rho": noise.rho, "delta": delta}
        return Known("approximate_zcdp", both, None, noise.rho, delta, noise.parts, noise.slack)
    if not alone <= 1 - (-law["each"] / ball(granules(law["noise"]))).exp():
        delta = arb(1)
    both, pair = {"epsilon": noise.epsilon, "delta": delta}, (Part("pair", (noise.epsilon,)),)
    return Known("approximate", both, noise.epsilon, noise.rho, delta, pair)


def derived(law: Json) -> Known | None:
    """What follows from the law of a mechanism; None if it depends on the data."""
    match law["law"]:
        case "discrete Laplace" | "discrete Gaussian" | "rounded Gaussian":
            return additive(law)
        case "threshold":
            return threshold(law)
        case "grouped quantile":
            return quantile(law)
        case "partition selection":  # k keys with (ε/k, 1 − (1 − δ)^{1/k}) each [DVG22; KOV15, Thm 3.3]
            epsilon, delta, pairs = exact(law["epsilon"]), exact(law["delta"]), law["keys"]
            both, part = {"epsilon": epsilon, "delta": delta}, Part("pair", (epsilon / pairs,), pairs)
            return Known("approximate", both, epsilon, epsilon**2 / 2, ball(delta), (part,), either=True)
        case "exponential":  # the losses lie in an interval of length ε [DDR20, Lemma 3.4; CR21]
            epsilon = exact(law["epsilon"])
            return Known("pure", {"epsilon": epsilon}, epsilon, epsilon**2 / 8, parts=(Part("range", (epsilon,)),))
        case "shared noise":  # whatever the tables are, together they use up the price
            price, flavor = coordinates(law["price"]), law["price"]["flavor"]
            if flavor == "pure":
                part = Part("pair", (price["epsilon"],))
                return Known(flavor, price, price["epsilon"], price["epsilon"] ** 2 / 2, parts=(part,))
            square = price["mu"] ** 2 if "mu" in price else 2 * price["rho"]
            parts = (Part("gauss", (square,)),) if "mu" in price else None
            return Known(flavor, price, None, square / 2, parts=parts)
        case "sparse histogram":  # γ: twice the chance that one is alone, k·p(1 − p)^n at the worst p [HRW11, Sec. 5]
            p = arb(1) / max(law["cells"], law["people"] + 1)
            gamma = 2 * law["cells"] * p * (law["people"] * (-p).log1p()).exp()
            noise = additive(law["noise"])
            return Known("random", noise.promise | {"gamma": gamma}, noise.epsilon)
    return None


# 4. ε at δ


def tails(part: Part, x: Fraction) -> tuple[arb, arb]:
    """P(L > x) and Q(L > x) for a pair of laws P and Q. All pairs here are the same in both directions."""
    match part.kind, part.numbers:
        case "gauss", (square,):  # L is normal with variance μ² and mean ±μ²/2
            half, root = ball(square) / 2, ball(square).sqrt()
            return normal((half - ball(x)) / root), normal((-half - ball(x)) / root)
        case "laplace", (scale, move):  # P = Y, Q = Y + move: L(y) = (|y − move| − |y|)/scale
            if x * scale >= move or x * scale < -move:
                return (arb(0), arb(0)) if x > 0 else (arb(1), arb(1))
            last = math.ceil((move - x * scale) / 2) - 1  # the largest y with such a loss, 0 ≤ y < move
            beyond = [(-n / ball(scale)).exp() / (1 + (-1 / ball(scale)).exp()) for n in (last + 1, move - last)]
            return 1 - beyond[0], beyond[1]
        case "bell", (variance, move):  # P = Y + move, Q = Y: L(y) = (2y·move − move²)/(2σ²)
            least = math.floor(x * variance / move + Fraction(move, 2)) + 1
            return bell_tail(variance, least - move), bell_tail(variance, least)
        case "range", (eta,):  # [DDR20, Lemma 3.4]: Q(L > l) = (e^{−(l+η)/2} − e^{−η})/(1 − e^{−η})
            ends = [ball(min(max(end, -eta), eta) + eta) / 2 for end in (-x, x)]
            below, above = (((-end).exp() - (-ball(eta)).exp()) / -((-ball(eta)).expm1()) for end in ends)
            return 1 - below, above
    (epsilon,) = part.numbers  # randomized response [KOV15, Thm 3.3]
    if not -epsilon <= x < epsilon:
        return (arb(0), arb(0)) if x > 0 else (arb(1), arb(1))
    return 1 / (1 + (-ball(epsilon)).exp()), 1 / (1 + ball(epsilon).exp())


def reach(part: Part, delta: float) -> Fraction:
    """All losses of a pair are below this, apart from a probability far below δ."""
    match part.kind, part.numbers:
        case "laplace", (scale, move):
            return Fraction(move) / scale
        case "gauss" | "bell", (square, *move):
            root = move[0] / math.sqrt(square) * 1.1 if move else math.sqrt(float(ball(square)))
            return Fraction(root * root + root * math.sqrt(-2 * math.log(delta * 1e-10)))
    return Fraction(part.numbers[0])


def on_lattice(part: Part, step: Fraction, delta: float) -> tuple[arb_poly, int, arb]:
    """Masses at multiples of the step that dominate a pair, the first multiple, and the mass at infinity.

    The P- and Q-mass of each cell go to its two ends so that both stay the same: the hockey-stick curve becomes its
    chords, which lie above it [DGKM22].
    """
    last = math.ceil(reach(part, delta) / step)
    above = [tails(part, step * i) for i in range(-last - 1, last + 1)]
    masses, width = [1 - above[0][0], *([arb(0)] * (len(above) - 1))], -((-ball(step)).expm1())
    for i, ((p, q), (p_next, q_next)) in enumerate(zip(above, above[1:], strict=False)):
        right = (p - p_next - (q - q_next) * ball(step * (i - last - 1)).exp()) / width
        masses[i], masses[i + 1] = masses[i] + p - p_next - right, masses[i + 1] + right
    return arb_poly(masses), -last - 1, above[-1][0]


def epsilon_at(parts: list[Part], goal: arb) -> float:
    """The least ε, rounded up, for which E[(1 − e^{ε−L})₊] ≤ goal is proved, for the sum L of all losses."""
    square = sum((ball(part.numbers[0]) * part.times for part in parts if part.kind == "gauss"), arb(0))
    laws = [*([Part("gauss", (square,))] if square > 0 else []), *(part for part in parts if part.kind != "gauss")]
    if len(laws) == 1 and laws[0].times == 1:  # closed forms; for Gaussians [BW18, Thm 8]

        def fits(x: float) -> bool:
            p, q = tails(laws[0], Fraction(x))
            return bool(p - ball(Fraction(x)).exp() * q <= goal)

        return bisected(fits)
    delta = float(goal)
    step = Fraction(sum(reach(law, delta) * law.times for law in laws)).limit_denominator(10**6) / POINTS
    total, first, finite = arb_poly([1]), 0, arb(1)
    for law in laws:
        masses, start, infinite = on_lattice(law, step, delta)
        total, first = total * masses**law.times, first + start * law.times
        finite *= (1 - infinite) ** law.times
    # From the right, S₁ = P(L = ∞) + Σ masses and S₂ = Σ masses·e^{−L}: E[(1 − e^{ε−L})₊] = S₁ − e^ε·S₂.
    s1, s2, grow = 1 - finite, arb(0), ball(step).exp()
    weight = ball(-step * (first + total.degree())).exp()
    for place in range(total.degree(), -1, -1):
        s1, s2 = s1 + total[place], s2 + total[place] * weight
        if not s1 - s2 / (weight * grow) <= goal:  # ε lies between this point and the one before it
            return max(0.0, float(((s1 - goal) / s2).log().upper()))
        weight *= grow
    return 0.0


def bisected(fits: Callable[[float], bool]) -> float:
    """The least number that fits, from above, to 12 digits; infinite beyond a million."""
    low, high = 0.0, 1e-3
    while not fits(high):
        low, high = high, 2 * high
        if high > 1e6:
            return math.inf
    while high - low > 1e-13 * high and high > 1e-12:
        low, high = (low, (low + high) / 2) if fits((low + high) / 2) else ((low + high) / 2, high)
    return high


def from_rho(rho: Any, delta: arb) -> float:
    """ε of ρ-zCDP at δ: min over α of ρα + ln(1 − 1/α) + (ln(1/δ) − ln α)/(α − 1) [CKS20, Prop. 12].

    Every α is valid; the best has ρx² + ln(1 + x) = ln(1/δ) for x = α − 1.
    """
    small, goal = float(ball(rho)), -float(delta.log())
    x = ball(Fraction(bisected(lambda x: small * x * x + math.log1p(x) >= goal)))
    return max(0.0, float((ball(rho) * (1 + x) - (1 / x).log1p() - (delta.log() + x.log1p()) / x).upper()))


def composed(known: list[Known], delta: Fraction) -> float | None:
    """ε of all measurements at δ; None if the law of one is not known. Losses add [ZDW22, Thm 10].

    The loss is infinite with probability 1 − Π(1 − δᵢ) at most.
    """
    if any(one.parts is None for one in known):
        return None
    alive, slack = arb(1), sum((one.slack for one in known), arb(0)).exp()
    for one in known:
        alive *= 1 - one.delta
    goal = (ball(delta) - (1 - alive)) / (alive * slack)
    return epsilon_at([part for one in known for part in one.parts or ()], goal) if goal > 0 else math.inf


# 5. Budgets

NAMES = {
    **{"pure": ("epsilon",), "approximate": ("epsilon", "delta"), "gaussian": ("mu",)},
    **{"zcdp": ("rho", "xi"), "approximate_zcdp": ("rho", "delta")},
}


def coordinates(promise: Json) -> dict[str, Fraction]:
    """The parameters that add up; of a random promise, those of the inner one and γ."""
    if promise["flavor"] == "random":
        return coordinates(promise["inner"]) | {"gamma": exact(promise["gamma"])}
    return {name: exact(promise[name]) for name in NAMES[promise["flavor"]]}


def charged(price: Json, budget: Json) -> dict[str, Fraction]:
    """A price in the flavor of a budget: ε-DP is ε²/2-zCDP [BS16, Prop. 1.4], outside an event too."""
    given, wanted = coordinates(price), coordinates(budget)
    if "rho" in wanted and "rho" not in given:
        given = given | {"rho": given["epsilon"] ** 2 / 2}
    return {name: given.get(name, Fraction(0)) for name in wanted}


def check_budget(promise: Json, paid: list[dict[str, Fraction]], state: Json, of: str, found: Findings) -> None:
    """What is spent is the sum of what was paid, within the promise, and what remains is the rest."""
    spent, left = coordinates(state["spent"]), coordinates(state["remaining"])
    for name, whole in coordinates(promise).items():
        added = sum((one[name] for one in paid), Fraction(0))
        rest = Fraction(0) if name == "gamma" and any(map(any, map(dict.values, paid))) else whole - added
        found.agree(f"{of}: {name} spent", spent[name], added)
        found.agree(f"{of}: {name} remaining", left[name], rest)
        found.judge(f"{of}: {name} within the promise", added, whole, added <= whole)


def check_charge(budget: Json, price: Json, of: str, found: Findings) -> None:
    """The budget of a certificate before and after its charge."""
    before, paid = coordinates(budget["before"]["spent"]), charged(price, budget["promise"])
    for name, value in charged(budget["charge"], budget["promise"]).items():
        found.agree(f"{of}: {name} charged", value, paid[name])
    check_budget(budget["promise"], [before], budget["before"], f"{of} before", found)
    if budget["after"] is not None:
        check_budget(budget["promise"], [before, paid], budget["after"], f"{of} after", found)


def check_ledger(ledger: Json, found: Findings) -> None:
    """The sum of the entries of each account."""
    numbers = [entry["number"] for entry in ledger["entries"]]
    found.judge("entries: in order, none twice", len(numbers), len(set(numbers)), numbers == sorted(set(numbers)))
    for account in ledger["accounts"]:
        prices = [entry["price"] for entry in ledger["entries"] if entry["dataset"] == account["dataset"]]
        paid = [charged(price, account["promise"]) for price in prices]
        check_budget(account["promise"], paid, account, account["dataset"], found)


# 6. A certificate


def check_measurement(one: Json, of: str, found: Findings) -> Known | None:
    """Sections 1 to 3."""
    law, moves = one["mechanism"], one["moves"]
    far, noise, known = check_distance(one, of, found), law.get("noise", law), derived(law)
    if far is not None and "granularity" in noise:
        check_noise(noise, far, moves[0].get("deviations", 0), of, found)
    if far is not None and law["law"] == "exponential":  # a score moves by less than 2 where a count moves by 1
        found.agree(f"{of}: sensitivity", exact(law["sensitivity"]), 2 * far["l1"])
    if moves and law["law"] in ("threshold", "partition selection"):
        twice = law["law"] == "partition selection" and moves[0]["relation"] == "replace-one"
        keys = moves[0]["groups"] * (2 if twice else 1)
        found.agree(f"{of}: keys of one unit", law["keys"] if "keys" in law else law["groups"], keys)
    if one["error"] is not None:
        check_error(one, of, found)
    if known is None:
        found.unknown(f"{of}: promise", one["promise"], f"the noise of {law['law']} depends on the data")
        return None
    stated, flavor = coordinates(one["promise"]), one["promise"]["flavor"]
    found.judge(f"{of}: flavor", flavor, known.flavor, flavor == known.flavor)
    for name, number in known.promise.items():
        found.agree(f"{of}: {name}", stated.get(name), number, **(NEARLY if isinstance(number, arb) else {}))
    return known


def check_certificate(figures: Json, found: Findings) -> None:
    """All figures of an answer."""
    plan, promise, price = figures["plan"], figures["promise"], figures["price"]
    check_written(figures, "", found)
    every = [
        check_measurement(one, f"{n}. {one['name'] or 'keys'}", found) for n, one in enumerate(plan["measurements"], 1)
    ]
    check_charge(figures["budget"], price, "budget", found)
    for other in figures.get("join", {}).get("beside", ()):
        check_charge(other["budget"], price, f"budget of {other['dataset']}", found)
    known = [one for one in every if one is not None]
    if len(known) < len(every):
        for name in ("promise", "headline", "delta"):
            found.unknown(name, promise if name == "promise" else None, "it follows from the measurements above")
        return
    check_promise(known, figures, found)
    check_headline(known, figures, found)


def check_written(value: Any, at: str, found: Findings) -> None:
    """Every promise is written as its parameters say. Only what differs is reported."""
    for name, inside in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        check_written(inside, f"{at} {name}".strip(), found)
    if isinstance(value, dict) and value.get("flavor") in NAMES:
        wanted = [number for name, number in coordinates(value).items() if name != "xi" or number]
        written = [exact(float(number)) for number in re.findall(r"=([-+.\de]+)", value["notation"])]
        if written != wanted:
            found.judge(f"{at}: as written", value["notation"], float(wanted[0]), False)


def check_promise(known: list[Known], figures: Json, found: Findings) -> None:
    """The promise of all measurements together, in the flavor of the price; for stages, the sum of their prices."""
    promise, stages = figures["promise"], figures["plan"]["stages"]
    flavor, stated = promise["flavor"], coordinates(promise)
    summed = {
        "epsilon": sum((one.epsilon or Fraction(0) for one in known), Fraction(0)),
        **{"rho": sum((ball(one.rho) for one in known if one.rho is not None), arb(0)), "xi": Fraction(0)},
        "delta": sum((one.delta for one in known), arb(0)),
        "gamma": sum((one.promise.get("gamma", arb(0)) for one in known), arb(0)),
    }
    if stages:
        prices = [coordinates(stage["price"]) for stage in stages]
        for number, (stage, price) in enumerate(zip(stages, prices, strict=True), 1):
            parts = [known[place] for place in stage["measurements"]]
            name = next(iter(price))
            spent = sum((ball(getattr(part, name)) for part in parts), arb(0))
            found.judge(
                f"stage {number}: {name} within its price",
                float(price[name]),
                float(spent),
                bool(spent <= ball(price[name]) * (1 + DIGITS)),
            )
        summed |= {name: sum((price[name] for price in prices), Fraction(0)) for name in prices[0]}
    if flavor == "approximate" and stated["delta"]:
        epsilon = composed(known, stated["delta"])
        if epsilon is None:
            return found.unknown("promise: epsilon", stated["epsilon"], "a law depends on earlier answers")
        found.agree("promise: epsilon at its delta", stated["epsilon"], epsilon, below=SOUND, above=LOOSE)
        return found.agree("promise: delta", stated["delta"], coordinates(figures["price"])["delta"])
    for name, value in stated.items():
        found.agree(f"promise: {name}", value, summed[name], **(NEARLY if name in ("delta", "gamma") else {}))
    return None


def check_headline(known: list[Known], figures: Json, found: Findings) -> None:
    """The promise as (ε, δ): what it implies, what the losses themselves prove, and ε′ with P(L > ε′) ≤ δ."""
    promise, headline, masses = figures["promise"], figures["headline"], figures["delta"]
    stated, delta = coordinates(promise), exact(headline["delta"])
    mass = sum((one.delta for one in known), arb(0))
    if "rho" in stated and delta > stated.get("delta", 0):
        event = stated.get("delta", Fraction(0))
        rest, rho = ball((delta - event) / (1 - event)), ball(stated["rho"])
        implied, odds = from_rho(stated["rho"], rest), None if event else rho + 2 * (-rho * rest.log()).sqrt()
        own = None if figures["plan"]["stages"] else composed(known, delta)
        epsilon = implied if own is None else min(implied, own)
    else:
        implied = epsilon = float(stated["epsilon"])
        odds = None if stated.get("delta") else stated["epsilon"]
        found.agree("headline: delta", delta, stated.get("delta", 0))
    found.agree("headline: implied", headline["implied"], implied, below=1e-9, above=1e-6)
    found.agree("headline: epsilon", headline["epsilon"], epsilon, below=SOUND, above=LOOSE)
    if odds is None or headline["odds"] is None:
        found.judge("headline: odds", headline["odds"], odds, odds is None and headline["odds"] is None)
    else:
        found.agree("headline: odds", headline["odds"], odds, below=1e-9, above=1e-6)
    found.agree("headline: gamma", headline["gamma"] or 0, stated.get("gamma", 0))
    found.agree("loss infinite with probability", masses["infinite_mass"], mass, **NEARLY)
    if masses["finite_tail"] is not None:
        losses = [one.epsilon for one in known if one.epsilon is not None and not one.either]
        bounded = len(losses) == len(known) and sum(losses) <= coordinates(figures["price"])["epsilon"]
        tail = coordinates(figures["price"]).get("delta", 0) - sum(
            (one.delta for one in known if not one.either), arb(0)
        )
        found.agree("finite losses above ε with δ", masses["finite_tail"], arb(0) if bounded else tail, **NEARLY)


class Page(HTMLParser):
    """The elements of a certificate that are for machines."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside, self.texts, self.said = "", {"sitr-release": "", "sitr-figures": ""}, dict[str, str | None]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "template" and said.get("class") in self.texts:
            self.inside, self.said = str(said["class"]), self.said | said

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == "template" else self.inside

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[self.inside] += data


def check_record(figures: Json, page: Page, found: Findings) -> None:
    """The released numbers have the hash that the record names, and both are about the same entry."""
    receipt, release = figures["receipt"], page.texts["sitr-release"]
    for name, attribute in (("entry", "data-entry"), ("at", "data-charged"), ("sha256", "data-sha256")):
        found.judge(
            f"record: {name}", receipt[name], page.said.get(attribute), str(receipt[name]) == page.said.get(attribute)
        )
    if not release:
        return found.unknown("record: released numbers", receipt["sha256"], "the page does not carry them")
    hashed, inside = sha256(release.encode()).hexdigest(), json.loads(release)
    found.judge("record: hash of the released numbers", receipt["sha256"], hashed, receipt["sha256"] == hashed)
    for name in ("entry", "at", "dataset", "private"):
        found.judge(f"release: {name}", inside[name], receipt[name], inside[name] == receipt[name])
    return None


def check(text: str) -> Findings:
    """The findings about a certificate, the JSON of an answer, or a ledger."""
    found, page = Findings(), Page(text) if text.lstrip().startswith("<") else None
    content = json.loads(page.texts["sitr-figures"] if page else text)
    if "entries" in content:
        check_written(content, "", found)
        check_ledger(content, found)
    else:
        check_certificate(content, found)
        if page:
            check_record(content, page, found)
    return found


def main(arguments: list[str]) -> int:
    """Print the table and the verdict."""
    try:
        (path,) = arguments
        found = check(Path(path).read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as failure:
        sys.stderr.write(f"Cannot check this: {failure!r}\nUsage: python sitr_check.py CERTIFICATE\n")
        return 2
    wide = max(len(figure) for figure, *_ in found.rows)
    for figure, stated, mine, verdict in [("figure", "stated", "derived", "verdict"), *found.rows]:
        sys.stdout.write(f"{figure:{wide}}  {stated:26}  {mine:26}  {verdict}\n")
    counts = {
        verdict: sum(row[3].startswith(verdict) for row in found.rows) for verdict in ("agrees", "DIFFERS", "not")
    }
    sys.stdout.write(
        f"\n{counts['agrees']} figures agree, {counts['DIFFERS']} differ, {counts['not']} are not derivable.\n"
    )
    return 1 if counts["DIFFERS"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
