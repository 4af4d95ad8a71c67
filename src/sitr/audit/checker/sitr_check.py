"""A second opinion on Sitr: `python sitr_check.py certificate.html` derives its figures again from caps and noise.

It also reads the JSON of an answer (`sitr ask --json`) and of a ledger (`sitr ledger show --json`). It needs
python-flint and nothing of Sitr: it was written from the papers below, to be read in an afternoon. Exit codes: 0 all
derivable figures agree, 1 a figure differs, 2 the file cannot be read. Derived numbers are fractions, or balls of Arb,
which hold the true number. They must agree to 12 digits. A stated ε at some δ may be 1% above the bound proved here, or
0.05% below, as this one is not always the tightest. What depends on the data or on earlier answers is "not derivable".

[BS16] Bun, Steinke: Concentrated DP. [BW18] Balle, Wang: Analytic Gaussian mechanism. [CKS20] Canonne et al.: Discrete
Gaussian. [CR21] Cesar, Rogers: Bounding. [DDR20] Dong et al.: Range. [DGKM22] Doroshenko et al.: Connect the dots.
[DLMF] dlmf.nist.gov. [DMNS06] Dwork et al.: Calibrating noise. [DRS22] Dong et al.: Gaussian DP. [DVG22] Desfontaines
et al.: Partition selection. [HRW11] Hall et al.: Random DP. [KKMN09] Korolova et al.: Queries. [KOV15] Kairouz et al.:
Composition. [MPRV09] Mironov et al.: Computational DP. [MS20] McKenna et al.: Flips. [XHZK23] Xiao et al.: Marginals.
[ZDW22] Zhu et al.: Losses.
"""

from __future__ import annotations

import html
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from flint import arb, arb_poly, ctx

BITS, DIGITS, SOUND, LOOSE, SHARP = 128, 1e-12, 5e-4, 1e-2, 1e-5
POINTS = 2**11  # of the lattice on which losses are added, times the root of their number
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", ",")
ODD = r'"(?!low"|high"|centre"|offset"|least"|name")\w+": "?\s*-|"(?:times|sums)": 0\b'
SHOWN = re.compile(r'class="(badge|statement)">[^<\d]*(\d[\d,]*(?:\.\d+)?)(?: × (10))?([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*)')
CELL = re.compile(r'title="([−\d,.]+)(?: ± ([\d,.]+))?"[^>]*><bdi dir="ltr"><b>([^<]*)<')
Json = dict[str, Any]


def exact(number: Any) -> Fraction:
    """A number of the file. A float stands for the decimal that it prints as, as Sitr defines it."""
    return number if isinstance(number, Fraction) else Fraction(repr(number) if isinstance(number, float) else number)


def ball(number: Any) -> arb:
    return number if isinstance(number, arb) else arb((one := exact(number)).numerator) / arb(one.denominator)


def added(numbers: Any) -> arb:
    return sum(map(ball, numbers), arb(0))


def normal(x: arb) -> arb:  # Φ
    return (-x / arb(2).sqrt()).erfc() / 2


def corners(block: Json) -> Iterator[list[tuple[int, int, int]]]:
    """The worst ways to fill groups: (rows of one unit, rows of the other, number of groups). With at most m rows in a
    group and T in all, a sum of a convex function over groups is largest if ⌊T/m⌋ are full and one has the rest. If a
    unit replaces another, x groups may be full of both, and the rest of each alone, over a full group of the other, or
    over its rest. All sums are linear in x, so only its two ends count."""
    cells, groups = block["cells"], block["groups"]
    most = block["rows_per_group"] * (groups if cells is None else min(groups, cells))
    total = most if block["rows"] is None else min(block["rows"], most)
    full, rest = divmod(total, each := min(block["rows_per_group"], total))
    if block["relation"] == "add-remove":
        yield [(each, 0, full), (rest, 0, 1)]
        return
    for alone, over, both in ((2, 0, 0), (1, 1, 0), (0, 2, 0), (0, 0, 1)) if rest else ((0, 0, 0),):
        least = 0 if cells is None else max(0, 2 * full + alone + both - cells)
        for x in {least, full - min(1, over)}:
            if least <= x <= full - min(1, over):
                apart = 2 * full - 2 * x - over
                yield [(each, each, x), (each, 0, apart), (each, rest, over), (rest, 0, alone), (rest, rest, both)]


def distance(block: Json) -> dict[str, int]:
    """Two units with a and b rows move a sum apart by B·max(a, b) + A·min(a, b): one pulls up, and the other down.
    B is the larger and A the smaller of −low and high, between which each row adds a number, or nothing."""
    small, large = sorted((-min(0, block["low"]), max(0, block["high"])))
    ways = [[(large * max(a, b) + small * min(a, b), n) for a, b, n in way] for way in corners(block)]
    l1, l2 = (max(sum(gap**power * n for gap, n in way) for way in ways) for power in (1, 2))
    largest = max(a for way in corners(block) for a, *_ in way) * (large + small * (block["relation"] != "add-remove"))
    if "sums" in block:  # each number is a sum of sizes, which moves by the ℓ1 distance
        return {"l1": block["sums"] * l1, "l2_squared": block["sums"] * l1**2, "largest": l1}
    return {"l1": block["times"] * l1, "l2_squared": block["times"] * l2, "largest": largest}


@cache
def bell_tails(variance: Fraction, count: int) -> list[arb]:
    """P(Y ≥ k) for 0 ≤ k < count, P(Y = y) ∝ e^{−y²/(2σ²)} on the integers: sums from where all is negligible."""
    far, rate = count + 40 + math.isqrt(int(600 * variance)), ball(-1 / (2 * variance))
    terms = [(rate * (y * y)).exp() for y in range(far)]
    total = terms[-1] * arb(0, 1) * (2 + ball(variance))  # a ball that holds the sum of all further terms
    sums = [total := total + term for term in reversed(terms)][::-1]
    return [one / (2 * sums[0] - 1) for one in sums[:count]]


def granules(law: Json, name: str = "") -> Fraction:
    return exact(law[name or ("scale" if "scale" in law else "sigma")]) / exact(law["granularity"])


def upper_tail(law: Json, k: int) -> arb:
    """P(Y ≥ k) for additive noise in granules, whose law is symmetric. Discrete Gaussian, σ > 1,000: e^{−y²/2σ²} is
    convex beyond σ, so terms are at most integrals over half a step to both sides, and their sum at least that of the
    trapezoids. The sum over all integers is σ√(2π)(1 ± e^{−σ²})."""
    if k < 1:
        return 1 - upper_tail(law, 1 - k)
    size = granules(law)
    if law["law"] == "discrete Laplace":
        return (-k / ball(size)).exp() / (1 + (-1 / ball(size)).exp())
    most, at = normal(-ball(Fraction(2 * k - 1, 2) / size)), k / ball(size)
    if law["law"] == "rounded Gaussian":  # ⌊σZ + ½⌋ ≥ k
        return most
    if size <= 1000:
        return bell_tails(size**2, k + 1)[k]
    least = normal(-at) + (-(at**2) / 2).exp() / (ball(size) * (8 * arb.pi()).sqrt())
    return (least.union(most) if k > size + 1 else arb(0.5, 0.5)) * (1 + arb(0, 2) * (-(ball(size) ** 2)).exp())


class Part(NamedTuple):
    """A pair of laws that dominates a loss, this many `times`."""

    kind: str  # gauss: μ²; laplace: scale and move; bell: σ² and move; range: η; pair: ε
    numbers: tuple[Any, ...]
    times: int = 1


class Known(NamedTuple):
    """What is derived about a mechanism. Outside an event of probability δ, losses are at most ε, or moments ρ."""

    flavor: str
    promise: dict[str, Any]
    epsilon: Fraction | None = None
    rho: Any = 0
    delta: Any = 0
    parts: tuple[Part, ...] | None = None  # None if no pair of laws is known
    slack: Any = 0  # the finite part of δ is multiplied by e^slack
    either: bool = False  # whether δ is for finite losses with some data


def pure(epsilon: Any, part: Part, rho: Any = None) -> Known:
    """ε-DP is ε²/2-zCDP [BS16, Prop. 1.4], and less where the law is known better."""
    return Known("pure", {"epsilon": epsilon}, epsilon, epsilon**2 / 2 if rho is None else rho, parts=(part,))


def additive(law: Json) -> Known:
    """Laplace: ε = Δ/scale [DMNS06]. Discrete Gaussian: ρ = Δ²/2σ² [CKS20, Thm 4]. Rounded Gaussian: μ = Δ/σ [DRS22].
    Of Laplace noise on vectors, one number that moves by Δ loses most: a vector moves in steps of one granule, each
    with the same trade-off curve; one number attains their composition, because its likelihood ratio is monotone."""
    ratio = (moved := granules(law, "sensitivity")) / (size := granules(law))
    if law["law"] == "discrete Laplace":
        return pure(ratio, Part("laplace", (size, math.floor(moved))) if moved >= 1 else Part("pair", (ratio,)))
    if law["law"] == "rounded Gaussian":
        return Known("gaussian", {"mu": ratio}, None, ratio**2 / 2, parts=(Part("gauss", (ratio**2,)),))
    part, slack = bell(moved, size, single=law["single"])
    return Known("zcdp", {"rho": ratio**2 / 2}, None, ratio**2 / 2, parts=(part,), slack=slack)


def bell(moved: Fraction, sigma: Fraction, *, single: bool) -> tuple[Part, arb]:
    """A pair of laws that dominates Gaussian noise on integers that move by this length in ℓ2, and its slack.
    *One number, σ ≤ 32*: the loss itself. *Vectors, σ ≤ 32*: see `least_mu`. *Larger σ*: let s² = σ² − τ²,
    w(x) = Σ_j e^{−(j−x)²/2τ²}, and X of density ∝ e^{−x²/2s²}·w(x). A j with weights e^{−(j−X)²/2τ²} has the law of Y,
    by completing the square; from X + 1 that of Y + 1, as w has period 1. So (Y, Y + v) is made from (X, X + v), whose
    densities are normal times w(x)/E[w]: the hockey-stick is at most that of N(0, s²), times (1 + η)/(1 − η) for each
    number that moves. w is its mean times at most 1 ± η, with η = 2Σ_j e^{−2π²τ²j²}, by Poisson's formula."""
    if sigma <= 32:
        if moved >= 1 and (single or moved**2 < 2):
            return Part("bell", (sigma**2, math.floor(moved))), arb(0)
        return Part("gauss", (ball(moved**2) * least_mu(sigma) ** 2,)), arb(0)
    numbers = 1 if single else max(1, math.floor(moved**2))
    tau2 = (arb(40000) * numbers).log() / (2 * arb.pi() ** 2)
    eta = 2 / (2 * arb.pi() ** 2 * tau2).expm1()
    return Part("gauss", (ball(moved**2) / (ball(sigma) ** 2 - tau2),)), numbers * ((1 + eta) / (1 - eta)).log()


@cache
def least_mu(sigma: Fraction) -> arb:
    """μ such that Y and Y + 1 are no easier to tell apart than N(0, 1) and N(μ, 1), for discrete Gaussian Y. Thresholds
    are the best tests, as likelihood ratios are monotone. With P(Y ≥ k) = Φ(−z_k), μ is the largest D = z_{k+1} − z_k
    [DRS22, Def. 2.6]; k and −k have the same D. Vectors: ℓ2 length times μ [DRS22, Cor. 3.3].
    The first K differences are computed. For k ≥ K: the derivative of −ln Φ(−z) is at least z, so zD + D²/2 ≤ a, where
    a = ln P(Y ≥ k)/P(Y ≥ k + 1) ≤ (2k + 1)/2σ² + r, and r is the fall of S(k) = P(Y ≥ k)/P(Y = k) from K to K + 1.
    And z_k ≥ y = k/σ − c, if P(Y ≥ k) ≤ φ(y)/(y + 1/y) [DLMF, 7.8.2], which holds for all k ≥ K if it holds at K and
    cy ≥ 1, y ≥ 1 there. The two give D ≤ 1/σ + (c/σ + r)/(y + 1/σ)."""
    count, size = max(50, math.ceil(200 * sigma)), ball(sigma)
    tails = bell_tails(sigma**2, count + 2)
    places = [arb(2).sqrt() * (2 * tail).erfcinv() for tail in tails[1:]]
    point, far = tails[count] - tails[count + 1], count / size
    fall = tails[count] / point - tails[count + 1] / (point * (-(2 * count + 1) / (2 * size**2)).exp())
    y = far - (c := (2 + abs((far / size).log())) / far)
    holds = c * y >= 1 and y >= 1 and (-(y**2) / 2).exp() / (2 * arb.pi()).sqrt() / (y + 1 / y) >= tails[count]
    beyond = 1 / size + (c / size + fall) / (y + 1 / size) if holds else arb("inf")
    return max((one.upper() for one in [2 * places[0], beyond, *(b - a for a, b in pairwise(places))]), key=float)


def quantile(law: Json) -> Known:
    """One choice ∝ e^{−rate·cost} in each group; the cost is how many ranks a value is off. With a values of one unit
    and b of the other, losses lie in an interval of length 2·rate·(max(α, 1 − α)·max(a, b) + min(α, 1 − α)·min(a, b)),
    η; rate·max(a, b) for an extreme, whose cost counts one side. So ε = Ση, ρ = Ση²/8 [CR21]; with `flip`, losses are
    ±η at most, ρ = Ση²/2 [MS20]. Groups are put together until all are as wide: below 2⌈Ση/widest⌉ [DDR20, 3.4]."""
    rate, level = exact(law["rate"]), exact(law["level"])
    extreme = (level == 0 and law["offset"] <= 0) or (level == 1 and law["offset"] >= 0)
    small, large = (Fraction(0), rate) if extreme else (2 * rate * share for share in sorted((level, 1 - level)))
    found = corners({**law, "rows_per_group": law["each"], "rows": law["total"]})
    ways = [[(large * max(a, b) + small * min(a, b), n) for a, b, n in way if n and max(a, b)] for way in found]
    epsilon, squares = (max(sum(eta**power * n for eta, n in way) for way in ways) for power in (1, 2))
    widest = max(eta for way in ways for eta, _ in way)
    many = min(max(sum(n for _, n in way) for way in ways), 2 * math.ceil(epsilon / widest) - 1)
    return pure(epsilon, Part("pair" if law["flip"] else "range", (widest,), many), squares / (2 if law["flip"] else 8))


def threshold(law: Json) -> Known:
    """Keys are shown if their noisy number of units is at least `least`. A unit that is alone in its g keys is exposed
    with δ = 1 − (1 − p)^g, p = P(c + Y ≥ least). Otherwise the loss is that of the noise; for Laplace if
    p ≤ 1 − e^{−c/scale}: a key that is not shown loses no more [KKMN09; DVG22, Sec. 2]; for Gaussian, [BS16, 8.1]."""
    noise, alone = additive(law["noise"]), upper_tail(law["noise"], law["least"] - law["each"])
    delta = -((-alone).log1p() * law["groups"]).expm1()
    if noise.epsilon is None:
        return noise._replace(flavor="approximate_zcdp", promise={"rho": noise.rho, "delta": delta}, delta=delta)
    delta = delta if alone <= 1 - (-law["each"] / ball(granules(law["noise"]))).exp() else arb(1)
    both, pair = {"epsilon": noise.epsilon, "delta": delta}, (Part("pair", (noise.epsilon,)),)
    return noise._replace(flavor="approximate", promise=both, delta=delta, parts=pair)


def replaced(law: Json) -> arb:
    """‖e_a − e_b‖²/‖e_a‖² for rows in two cells, from 1 to 4: what replacing a row costs more than adding it, at most.
    ⟨e_a, e_b⟩ = Σ σ⁻²·Π (1 − 1/m where a and b agree, −1/m where not), so sets of columns decide [XHZK23]. With several
    families of siblings, or many columns: a product is at least minus the one with the largest single negative part."""
    bases = [
        ([*zip(one["columns"], one["families"], strict=True)], 1 / ball(one["sigma"]) ** 2) for one in law["bases"]
    ]
    whole = added(precision * ball(weight(sets)) for sets, precision in bases)
    columns = sorted({column for sets, _ in bases for column, _ in sets})
    if len(columns) > 12 or any(len(families) > 1 for sets, _ in bases for _, families in sets):
        least = {id(sets): max((_least(each) / weight([each]) for each in sets), default=-1) for sets, _ in bases}
        far = 2 * added(precision * ball(weight(sets) * (1 + least[id(sets)])) for sets, precision in bases)
    else:
        signs = (dict(zip(columns, agree, strict=True)) for agree in product((1, 0), repeat=len(columns)))
        common = (added(math.prod(at[c] - ball(Fraction(1, m)) for c, (m,) in s) * w for s, w in bases) for at in signs)
        far = 2 * (whole - min(common, key=float))
    return min(max(far / whole, arb(1), key=float), arb(4), key=float)


def weight(sets: Any) -> Fraction:
    return math.prod((1 - Fraction(1, max(families)) for _, families in sets), start=Fraction(1))


def _least(one: Any) -> Fraction:
    return Fraction(1, min(size for size in one[1] if size > 1))


def derived(law: Json) -> Known | None:
    """What follows from the law of a mechanism; None if it depends on the data."""
    rules = {"threshold": threshold, "grouped quantile": quantile}
    if law["law"] in rules or "sigma" in law or "scale" in law:
        return rules.get(law["law"], additive)(law)
    match law["law"]:
        case "partition selection":  # k keys with (ε/k, 1 − (1 − δ)^{1/k}) each [DVG22; KOV15, Thm 3.3]
            epsilon, delta = exact(law["epsilon"]), exact(law["delta"])
            both, part = {"epsilon": epsilon, "delta": delta}, Part("pair", (epsilon / law["keys"],), law["keys"])
            return Known("approximate", both, epsilon, epsilon**2 / 2, delta, (part,), either=True)
        case "exponential":  # the losses lie in an interval of length ε [DDR20, Lemma 3.4; CR21]
            return pure(epsilon := exact(law["epsilon"]), Part("range", (epsilon,)), epsilon**2 / 8)
        case "shared noise":  # whatever the tables are, together they use up the price
            price, flavor = coordinates(law["price"]), law["price"]["flavor"]
            if flavor == "pure":
                return pure(price["epsilon"], Part("pair", (price["epsilon"],)))
            square = price["mu"] ** 2 if "mu" in price else 2 * price["rho"]
            return Known(flavor, price, None, square / 2, parts=(Part("gauss", (square,)),) if "mu" in price else None)
        case "residual Gaussian":  # μ² = s²·Σ p/σ², for s rows' worth, with p = Π (1 − 1/m) [XHZK23, Sec. 4]
            each = ((zip(one["columns"], one["families"], strict=True), ball(one["sigma"])) for one in law["bases"])
            square = ball(law["sensitivity"]) ** 2 * added(ball(weight(sets)) / sigma**2 for sets, sigma in each)
            return Known("gaussian", {"mu": square.sqrt()}, None, square / 2, parts=(Part("gauss", (square,)),))
        case "sparse histogram":  # γ: twice the chance that one is alone, k·p(1 − p)^n at the worst p [HRW11, Sec. 5]
            p, noise = arb(1) / max(law["cells"], law["people"] + 1), additive(law["noise"])
            gamma = 2 * law["cells"] * p * (law["people"] * (-p).log1p()).exp()
            return Known("random", noise.promise | {"gamma": gamma}, noise.epsilon, noise.rho)
    return None


def tails(part: Part, x: Fraction) -> tuple[arb, arb]:
    """P(L > x) and Q(L > x) for a pair of laws P and Q. All pairs here are the same in both directions."""
    largest = {"laplace": part.numbers[-1] / part.numbers[0], "pair": part.numbers[0]}.get(part.kind, math.inf)
    if not -largest <= x < largest:
        return (arb(0), arb(0)) if x > 0 else (arb(1), arb(1))
    match part.kind, part.numbers:
        case "gauss", (square,):  # L is normal with variance μ² and mean ±μ²/2
            half, root = ball(square) / 2, ball(square).sqrt()
            return normal((half - ball(x)) / root), normal((-half - ball(x)) / root)
        case "laplace", (scale, move):  # P = Y, Q = Y + move: L(y) = (|y − move| − |y|)/scale
            last = math.ceil((move - x * scale) / 2) - 1  # the largest y with such a loss, 0 ≤ y < move
            beyond = [(-n / ball(scale)).exp() / (1 + (-1 / ball(scale)).exp()) for n in (last + 1, move - last)]
            return 1 - beyond[0], beyond[1]
        case "bell", (variance, move):  # P = Y + move, Q = Y: L(y) = (2y·move − move²)/(2σ²)
            least = math.floor(x * variance / move + Fraction(move, 2)) + 1
            table = bell_tails(variance, 40 + 2 * move + math.isqrt(int(3600 * variance)))
            p, q = (table[k] if k >= 0 else 1 - table[1 - k] for k in (least - move, least))
            return p, q
        case "range", (eta,):  # [DDR20, Lemma 3.4]: Q(L > l) = (e^{−(l+η)/2} − e^{−η})/(1 − e^{−η})
            ends = [ball(min(max(end, -eta), eta) + eta) / 2 for end in (-x, x)]
            below, above = (((-end).exp() - (-ball(eta)).exp()) / -((-ball(eta)).expm1()) for end in ends)
            return 1 - below, above
    (epsilon,) = part.numbers  # randomized response [KOV15, Thm 3.3]
    return 1 / (1 + (-ball(epsilon)).exp()), 1 / (1 + ball(epsilon).exp())


def reach(part: Part, tiny: arb) -> Fraction:
    """Losses are larger than this with a tiny probability only."""
    return next(x for x in (Fraction(9, 8) ** power / 1024 for power in range(400)) if tails(part, x)[0] <= tiny)


def on_lattice(part: Part, step: Fraction, tiny: arb) -> tuple[arb_poly, int, arb]:
    """Masses at multiples of the step that dominate a pair, the first multiple, and the mass at infinity.
    The P- and Q-mass of each cell go to its ends: the hockey-stick curve becomes its chords, above it [DGKM22]."""
    last = math.ceil(reach(part, tiny) / step)
    above = [tails(part, step * i) for i in range(-last - 1, last + 1)]
    masses, width = [1 - above[0][0], *([arb(0)] * (len(above) - 1))], -((-ball(step)).expm1())
    for i, ((p, q), (p_next, q_next)) in enumerate(pairwise(above)):
        right = (p - p_next - (q - q_next) * ball(step * (i - last - 1)).exp()) / width
        masses[i], masses[i + 1] = masses[i] + p - p_next - right, masses[i + 1] + right
    return arb_poly(masses), -last - 1, above[-1][0]


def epsilon_at(parts: list[Part], goal: arb) -> float:
    """The least ε, rounded up, for which E[(1 − e^{ε−L})₊] ≤ goal is proved, for the sum L of all losses."""
    square = added(ball(part.numbers[0]) * part.times for part in parts if part.kind == "gauss")
    laws = [*([Part("gauss", (square,))] if square > 0 else []), *(part for part in parts if part.kind != "gauss")]
    if len(laws) == 1 and laws[0].times == 1:
        law = laws[0]  # the hockey-stick itself, P(L > ε) − e^ε·Q(L > ε) [BW18, Thm 5]
        return bisected(lambda x: bool(tails(law, exact(x))[0] - ball(x).exp() * tails(law, exact(x))[1] <= goal))
    wide = Fraction(sum(reach(law, tiny := goal / 10**9) * law.times for law in laws))
    step = wide.limit_denominator(10**9) / (POINTS * math.isqrt(sum(law.times for law in laws)))
    total, first, finite = arb_poly([1]), 0, arb(1)
    for law in laws:
        masses, start, infinite = on_lattice(law, step, tiny)
        total, first = total * masses**law.times, first + start * law.times
        finite *= (1 - infinite) ** law.times
    # From the right, S₁ = P(L = ∞) + Σ masses and S₂ = Σ masses·e^{−L}: E[(1 − e^{ε−L})₊] = S₁ − e^ε·S₂.
    s1, s2, grow, weight = 1 - finite, arb(0), ball(step).exp(), ball(-step * (first + total.degree())).exp()
    for place in range(total.degree(), -1, -1):
        s1, s2 = s1 + total[place], s2 + total[place] * weight
        if not s1 - s2 / (weight * grow) <= goal:  # ε lies between this point and the one before it
            return max(0.0, float(((s1 - goal) / s2).log().upper()))
        weight *= grow
    return 0.0


def bisected(fits: Callable[[float], bool]) -> float:
    """The least number that fits, from above, to 12 digits; infinite beyond a million."""
    low, high = 0.0, 1e-3
    while not fits(high) and high < 1e6:
        low, high = high, 2 * high
    for _ in range(60):
        low, high = (low, (low + high) / 2) if fits((low + high) / 2) else ((low + high) / 2, high)
    return high if fits(high) else math.inf


def from_rho(rho: Fraction, delta: arb) -> float:
    """ε of ρ-zCDP at δ: min over α of ρα + ln(1 − 1/α) + (ln(1/δ) − ln α)/(α − 1) [CKS20, Prop. 12].
    Every α is valid; the best has ρx² + ln(1 + x) = ln(1/δ) for x = α − 1."""
    x = ball(Fraction(bisected(lambda x: float(rho) * x * x + math.log1p(x) >= -float(delta.log()))))
    return max(0.0, float((ball(rho) * (1 + x) - (1 / x).log1p() - (delta.log() + x.log1p()) / x).upper()))


def composed(known: list[Known], delta: Fraction) -> float | None:
    """ε of all measurements at δ; None if a law is not known. Losses add [ZDW22, Thm 10]; P(L = ∞) = 1 − Π(1 − δᵢ)."""
    if any(one.parts is None for one in known):
        return None
    alive = math.prod((1 - ball(one.delta) for one in known), start=arb(1))
    goal = (ball(delta) - (1 - alive)) / (alive * added(one.slack for one in known).exp())
    found = epsilon_at([part for one in known for part in one.parts or ()], goal) if goal > 0 else math.inf
    losses = [one.epsilon for one in known if one.epsilon is not None]  # their sum, if δ is for infinite losses only
    bounded = len(losses) == len(known) and not added(one.delta for one in known) > ball(delta)
    return min(found, float(sum(losses))) if bounded else found


def spent(known: list[Known], name: str) -> arb:
    """The sum of a parameter; infinite if a mechanism has none, as Gaussian noise has no ε."""
    each = [one.promise.get(name, 0) if name == "gamma" else getattr(one, name, None) for one in known]
    return arb("inf") if None in each else added(each)


NAMES = {"pure": ["epsilon"], "approximate": ["epsilon", "delta"], "zcdp": ["rho", "xi"]}
NAMES |= {"approximate_zcdp": ["rho", "delta"], "gaussian": ["mu"]}


def coordinates(promise: Json) -> Json:
    """The parameters that add up, without a ξ of 0; of a random promise, those of the inner one and γ."""
    if promise["flavor"] == "random":
        return coordinates(promise["inner"]) | {"gamma": exact(promise["gamma"])}
    return {name: exact(promise[name]) for name in NAMES.get(promise["flavor"], []) if name != "xi" or promise[name]}


def charged(price: Json, budget: Json) -> dict[str, Fraction]:
    """A price in the flavor of a budget: ε-DP is ε²/2-zCDP [BS16, Prop. 1.4], outside an event too."""
    given, wanted = coordinates(price), coordinates(budget)
    if "rho" in wanted and "rho" not in given:
        given["rho"] = given.pop("epsilon") ** 2 / 2
    return {name: given.get(name, Fraction(0)) for name in given | wanted}


class Check(NamedTuple):
    """A check of one file; `rows` has what was looked at: the figure, stated, derived, and the verdict."""

    rows: list[tuple[str, str, str, str]]

    def judge(self, figure: str, stated: object, mine: object, right: bool) -> None:
        self.rows.append((figure, shown(stated), shown(mine), "agrees" if right else "DIFFERS"))

    def unknown(self, figure: str, stated: object, why: str) -> None:
        self.rows.append((figure, shown(stated), "", f"not derivable: {why}"))

    def agree(self, figure: str, stated: Any, own: Any, below: float = DIGITS, above: float = DIGITS) -> None:
        """The stated number differs from the derived one by no more than these parts of it."""
        if stated is None or own is None or own == math.inf:
            self.judge(figure, stated, own, stated is None and own in (None, math.inf))
        else:
            mine, given = ball(own), ball(stated)
            sharp = mine == 0 or mine.rad() <= SHARP * abs(mine)  # a wide ball would agree with anything
            right = sharp and not given < mine - below * abs(mine) and not given > mine + above * abs(mine)
            self.judge(figure, stated, float(mine), bool(right))

    def ledger(self, ledger: Json) -> None:
        numbers = [entry["number"] for entry in ledger["entries"]]
        self.judge("entries: in order, none twice", len(numbers), len(set(numbers)), numbers == sorted(set(numbers)))
        for account in ledger["accounts"]:
            name, entries = account["dataset"], ledger["entries"]
            paid = [charged(each["price"], account["promise"]) for each in entries if each["dataset"] == name]
            self.budget(account["promise"], paid, account, name)

    def charge(self, budget: Json, price: Json, of: str) -> None:
        before = coordinates(budget["before"]["spent"])
        paid, stated = (charged(each, budget["promise"]) for each in (price, budget["charge"]))
        for name in stated | paid:
            self.agree(f"{of}: {name} charged", stated.get(name, 0), paid.get(name, 0))
        self.budget(budget["promise"], [before], budget["before"], f"{of} before")
        if budget["after"] is not None:
            self.budget(budget["promise"], [before, paid], budget["after"], f"{of} after")

    def budget(self, promise: Json, paid: list[dict[str, Fraction]], state: Json, of: str) -> None:
        """What is spent is the sum of what was paid, within the promise; what remains is the rest."""
        spent, left, whole = (coordinates(each) for each in (state["spent"], state["remaining"], promise))
        for name in {name: 0 for each in (whole, spent, left, *paid) for name in each}:
            total = sum((one.get(name, Fraction(0)) for one in paid), Fraction(0))
            late = name == "gamma" and any(any(one.values()) for one in paid)  # only the first charge has a γ
            rest = 0 if late else whole.get(name, 0) - total
            self.agree(f"{of}: {name} spent", spent.get(name, 0), total)
            self.agree(f"{of}: {name} remaining", left.get(name, 0), rest)
            self.judge(f"{of}: {name} within the promise", total, whole.get(name, 0), total <= whole.get(name, 0))

    def distance(self, one: Json, of: str) -> dict[str, int] | None:
        """How far one unit moves the numbers of a measurement: blocks of numbers, which it moves together."""
        if one["moves"] is None or one["distance"] is None:
            if one["distance"] or "sensitivity" in one["mechanism"]:
                self.unknown(f"{of}: distance", one["distance"], "the caps behind it are not in the file")
            return None
        for block in one["moves"]:
            for end in ("low", "high") if "bounds" in block else ():
                value = exact(block["bounds"][end]) - exact(block["bounds"]["centre"])
                self.agree(f"{of}: {end} of a row in granules", block[end], value / exact(one["granularity"]))
        parts = [distance(block) for block in one["moves"]]
        far = {name: (max if name == "largest" else sum)(part[name] for part in parts) for name in parts[0]}
        for name, most in far.items():
            self.agree(f"{of}: distance, {name}", one["distance"][name], most)
        return far

    def noise(self, one: Json, law: Json, far: dict[str, int], of: str) -> None:
        """The noise is made for the distance: ℓ1 for Laplace, ℓ2 for Gaussian noise; they are the same for one number.
        A count that changes by 1 moves one deviation within buckets of 2^j cells, for each j, by 2(1 − 2^{−j})."""
        power, sizes = 1 if law["law"] == "discrete Laplace" else 2, one["moves"][0].get("deviations")
        moved: Any = far["l1"] ** power if power == 1 or law.get("single") else far["l2_squared"]
        if sizes:
            moved = far["l1"] ** power * sum((2 - Fraction(2, 2**j)) ** power for j in range(1, sizes + 1))
        self.agree(f"{of}: sensitivity{', squared' if power == 2 else ''}", exact(law["sensitivity"]) ** power, moved)

    def error(self, one: Json, of: str) -> None:
        """w granules, where P(|Y| > w) ≤ 5%, and w − 1 would not do."""
        law, width = one["mechanism"], exact(one["error"]) / exact(one["granularity"])
        wide = round(width / exact(law["granularity"]))
        right = upper_tail(law, wide + 1) * 40 <= 1 and (wide == 0 or upper_tail(law, wide) * 40 > 1)
        self.agree(f"{of}: 95% error in granules", width, wide * exact(law["granularity"]) if right else None)

    def measurement(self, of: str, one: Json, neighbors: str) -> Known | None:
        law, moves, stated = one["mechanism"], one["moves"] or [], coordinates(one["promise"])
        far, noise, known = self.distance(one, of), law.get("noise", law), derived(law)
        if neighbors.endswith("replace-one"):  # less would do if units were only added or removed
            right = all(each.get("relation", "replace-one") == "replace-one" for each in (law, *moves))
            self.judge(f"{of}: relation", "replace-one" if right else "add-remove", "replace-one", right)
        if far is not None and "granularity" in noise:
            self.noise(one, noise, far, of)
        if far is not None and law["law"] == "residual Gaussian":  # N rows, each worth what it adds; or N pairs of rows
            sign, most = moves[0]["low"] < 0 < moves[0]["high"], max(-moves[0]["low"], moves[0]["high"])
            times = arb(1) if moves[0]["relation"] == "add-remove" else arb(4) if sign else replaced(law)
            worth = times.sqrt() * moves[0]["rows_per_group"] * most
            self.agree(f"{of}: rows' worth of one unit", exact(law["sensitivity"]), worth, DIGITS, 1e-8)
        if far is not None and law["law"] == "exponential":  # a score moves by less than 2 where a count moves by 1
            self.agree(f"{of}: sensitivity", exact(law["sensitivity"]), 2 * far["l1"])
        if far is not None and law["law"] in ("threshold", "partition selection"):  # of one unit; of both if replaced
            keys = moves[0]["groups"] * (2 if "keys" in law and moves[0]["relation"] == "replace-one" else 1)
            self.agree(f"{of}: keys", law["keys"] if "keys" in law else law["groups"], keys)
        if one["error"] is not None:
            self.error(one, of)
        if known is None:
            self.unknown(f"{of}: promise", one["promise"], f"the noise of {law['law']} depends on the data")
            return None
        for name in known.promise | stated:
            self.agree(f"{of}: {name}", stated.get(name), known.promise.get(name, 0))
        return known

    def promise(self, known: list[Known], figures: Json) -> None:
        """The promise of all measurements, in the flavor of the price; for stages, the sum of their prices."""
        stated, stages = coordinates(figures["promise"]), figures["plan"]["stages"]
        sums: Json = {name: spent(known, name) for name in ("epsilon", "rho", "delta", "gamma")}
        places = sorted(place for stage in stages or () for place in stage["measurements"])
        if stages:
            self.judge("stages: each measurement once", places, len(known), places == [*range(len(known))])
        for number, stage in enumerate(stages or (), 1):
            for name, most in coordinates(stage["price"]).items():
                total = spent([known[place] for place in stage["measurements"]], name)
                self.judge(f"stage {number}: {name} in price", total, most, bool(total <= ball(most) * (1 + DIGITS)))
                sums[name] = most if number == 1 else sums.get(name, 0) + most
        price, close = coordinates(figures["price"]), {}
        if figures["promise"]["flavor"] == "approximate" and stated["delta"]:
            sums |= {"epsilon": composed(known, price["delta"]), "delta": price["delta"]}
            close = {"epsilon": (SOUND, LOOSE)}
        for name, value in ({name: 0 for name in ("delta", "gamma") if sums[name] > 0} | stated).items():
            self.agree(f"promise: {name}", value, sums.get(name), *close.get(name, ()))
            self.judge(f"promise: {name} within the price", value, price.get(name, 0), value <= price.get(name, 0))

    def headline(self, known: list[Known], figures: Json) -> None:
        """The promise as (ε, δ): what it implies, what the losses prove, and ε′ with P(L > ε′) ≤ δ."""
        stated, headline, masses = coordinates(figures["promise"]), figures["headline"], figures["delta"]
        delta, event = exact(headline["delta"]), stated.get("delta", Fraction(0))
        if "rho" in stated:
            rest, rho = ball((delta - event) / (1 - event)), ball(stated["rho"])
            implied, odds = from_rho(stated["rho"], rest), rho + 2 * (-rho * rest.log()).sqrt()
            own = None if figures["plan"]["stages"] else composed(known, delta)
            epsilon: Any = implied if own is None else min(implied, own)
        else:
            implied = epsilon = odds = stated["epsilon"]
            self.agree("headline: delta", delta, event)
        self.agree("headline: implied", headline["implied"], implied, 1e-9, 1e-9)
        self.agree("headline: epsilon", headline["epsilon"], epsilon, SOUND, LOOSE)
        self.agree("headline: odds", headline["odds"], None if event else odds)
        self.agree("headline: gamma", headline["gamma"] or 0, stated.get("gamma", 0))
        self.agree("probability of an infinite loss", masses["infinite_mass"], added(one.delta for one in known))
        if masses["finite_tail"] is not None:
            price, certain = coordinates(figures["price"]), [one for one in known if not one.either]
            losses = [one.epsilon for one in certain if one.epsilon is not None]
            tail = ball(price.get("delta", 0)) - added(one.delta for one in certain)
            bounded = "delta" not in price or (len(losses) == len(known) and sum(losses) <= price["epsilon"])
            self.agree("δ for finite losses above ε", masses["finite_tail"], 0 if bounded else tail)

    def record(self, figures: Json, release: str) -> None:
        """The released numbers have the hash that the record names, and both are about the same entry."""
        said, own = figures["receipt"], json.loads(release or "{}") | {"sha256": sha256(release.encode()).hexdigest()}
        if not release:
            self.unknown("record: released numbers", said["sha256"], "the page does not carry them")
        for name in ("sha256", "entry", "at", "dataset", "private", "coins") if release else ():
            self.judge(f"record: {name}", said.get(name), own.get(name), said.get(name) == own.get(name))

    def seen(self, page: str, figures: Json, release: str) -> None:
        """What a reader sees: the promise and e^ε, rounded up, and released numbers, in granules or not, rounded."""
        stated, epsilon = coordinates(figures["promise"]), figures["headline"]["epsilon"] or 700
        for place, text, times, power in SHOWN.findall(page):  # 0.5, 10⁻⁵, 1.2 × 10⁻⁵
            number = Fraction(f"{text if times or not power else 1}e{power or 0}".translate(POWERS))
            own = next(iter(stated.values())) if place == "badge" else ball(epsilon).exp()
            if place == "badge" or (epsilon < 700 and "gamma" not in stated):  # which begins with γ
                self.agree(f"shown: {place}", number, own, DIGITS, LOOSE)
        grains = {1.0, *(float(Fraction(one["granularity"])) for one in figures["plan"]["measurements"])}
        numbers = re.findall(r"-?\d+(?:\.\d+)?", json.dumps(json.loads(release or "{}").get("released")))
        known = {f"{float(number) * grain:.9g}" for number in numbers for grain in grains}
        for whole, wide, text in CELL.findall(page):
            value, near, off = (float(one.replace("−", "-").replace(",", "") or 0) for one in (whole, text, wide))
            if f"{value:.9g}" in known or not re.search("AVG|VAR|STD|CORR|TILE|MEDI|M[AI][NX]|/", figures["question"]):
                self.judge("shown: released", text, whole, f"{value:.9g}" in known and abs(value - near) <= off / 10)

    def certificate(self, figures: Json) -> None:
        said, stated, parts = figures["receipt"], figures["promise"], enumerate(figures["plan"]["measurements"], 1)
        who, odd = said["neighbors"] if said else "", re.findall(ODD, json.dumps(figures["plan"]))
        self.judge("sizes: none below 0, no number of noises 0", odd, [], not odd)
        every = [self.measurement(f"{number}. {one['name'] or 'keys'}"[:48], one, who) for number, one in parts]
        if said:  # with a keyed generator the promise holds against limited computing power [MPRV09]
            weaker = {"notation": f"computational({stated['notation']})", "flavor": "computational", "inner": stated}
            mine = {"keyed generator": weaker, "hardware": stated}.get(said["coins"])
            self.judge("promise with these coins", said["guarantee"], mine, said["guarantee"] == mine)
        known = [one for one in every if one is not None]
        if len(known) == len(every):
            self.promise(known, figures)
            self.headline(known, figures)
        else:
            self.unknown("promise and headline", figures["promise"], "a measurement is not")
        self.charge(figures["budget"], figures["price"], "budget")
        for other in figures.get("join", {}).get("beside", ()):
            self.charge(other["budget"], figures["price"], f"budget of {other['dataset']}")


def shown(value: Any) -> str:
    said = value.get("notation", "") if isinstance(value, dict) else value
    text = f"{float(value):.10g}" if isinstance(value, float | Fraction | arb) else str(said)
    return text if len(text) <= 26 else f"{text[:25]}…"


@ctx.workprec(BITS)  # only while it checks: other code of the process has its own precision
def check(text: str) -> Check:
    """The check of a certificate, of the JSON of an answer, or of a ledger."""
    found, elements = Check([]), re.findall(r'<template class="(sitr-\w+)"[^>]*>(.*?)</template>', text, re.DOTALL)
    page = {name: html.unescape(inside) for name, inside in elements}
    content = json.loads(page.get("sitr-figures", text))
    (found.ledger if "entries" in content else found.certificate)(content)
    if page:
        found.record(content, page["sitr-release"])
        found.seen(re.sub("<template.*?</template>", "", text, flags=re.DOTALL), content, page["sitr-release"])
    return found


def main(arguments: list[str]) -> int:
    try:
        (path,) = arguments
        rows = check(Path(path).read_text("utf-8")).rows
    except Exception as failure:  # noqa: BLE001 - whatever is odd about the file
        why = "Name one certificate, or a ledger or an answer in JSON; a label has no figures"
        sys.stderr.write(f"Cannot check this. {why if isinstance(failure, ValueError) else failure}.\n")
        return 2
    for figure, stated, mine, verdict in [("figure", "stated", "derived", "verdict"), *rows]:
        sys.stdout.write(f"{figure:72}  {stated:26}  {mine:26}  {verdict}\n")
    agree, differ, rest = (sum(row[3].startswith(word) for row in rows) for word in ("agrees", "DIFFERS", "not"))
    sys.stdout.write(f"\n{agree} figures agree, {differ} differ, {rest} are not derivable.\n")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
