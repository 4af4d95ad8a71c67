"""A second opinion on Sitr: `python sitr_check.py certificate.html` derives its figures again from caps and noise.

It also reads an answer (`sitr ask --json`) or a ledger (`sitr ledger show --json`), and needs python-flint only. Exit
codes: 0 all figures agree, 1 one differs, 2 unreadable. Numbers agree to 12 digits; ε at some δ may be 1% above the
proved bound, 0.05% below. [BS16] Bun: Concentrated DP. [CKS20] Canonne: Discrete Gaussian. [CR21] Cesar. [DDR20] Dong:
Range. [DGKM22] Doroshenko. [DMNS06] Dwork. [DRS22] Dong. [DVG22] Desfontaines. [FHU23] Fichtenberger. [HRW11] Hall.
[KKMN09] Korolova. [KOV15] Kairouz. [MPRV09] Mironov. [MS20] McKenna. [XHZK23] Xiao. [ZDW22] Zhu."""

import html
import json
import math
import re
import sys
from fractions import Fraction
from functools import cache
from hashlib import sha256
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from flint import arb, arb_poly, ctx

BITS, POINTS, DIGITS, SOUND, LOOSE, SHARP = 128, 2**11, 1e-12, 5e-4, 1e-2, 1e-5
POWERS, CHECKSUM = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", ","), "figures_sha256"
ODD = r'"(?!(low|high|centre|offset|least|name)")\w+": "? *-|"(times|sums|max\w+|groups|each|keys)": (?!n|[1-9]\d*[,}])'
SHOWN = re.compile(r'class="(badge|statement)">[^<\d]*(\d[\d,]*(?:\.\d+)?)(?: × (10))?([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*)')
CELL = re.compile(r'class="n" title="([−\d,.]+)(?: ± ([\d,.]+))?"[^>]*><bdi dir="ltr"><b>([^<]*)<')
NUMBER = re.compile(r'"((?!confidence")\w+)": "?(-?\d[\d.e/+-]*)"?[,}]')  # in an object, also as text, with its name
SUMMED, BESIDE = ("pure", "approximate", "zcdp", "approximate_zcdp", "gaussian"), ("delta", "gamma", "xi")
FORM = re.compile(r"(?:odometer\()?(\w+)(?:\w+\(|[()]|, |\w+=(?:[\d.e+-]+|true|\{[^{}]*\}))*\)")  # of a promise
WHO = (r'"(?:unit|neighbors)": "(\w+)', r'"(?:relation|neighbors)": "(?:[^"]* )?([^" ]*)"')  # who is protected, and how
CAPS, GIVEN = ("max_groups", "max_rows_per_group", "max_rows"), ("float", "people", "mean", "mu", "xi", "ranges")
Json = dict[str, Any]


def exact(number: Any) -> Fraction:  # a float stands for the decimal that it prints as; a tab or "true" is refused
    return number if isinstance(number, Fraction) else Fraction(json.dumps(number).strip('"'))


def ball(number: Any) -> arb:
    return number if isinstance(number, arb) else arb((one := exact(number)).numerator) / arb(one.denominator)


def added(numbers: Any) -> arb:
    return sum(map(ball, numbers), arb(0))


def normal(x: arb) -> arb:  # Φ
    return (-x / arb(2).sqrt()).erfc() / 2


def room(block: Json) -> tuple[int, int, int | None, int | None]:
    """The most rows of a unit in a cell, its cells, its rows in all (None: no other cap); all cells (None: unknown).
    Of rows beyond the caps, up to C of a unit, at least min(g, m) are within: with at most g groups, m rows in each."""
    groups, each, total = (block.get(name, 1) for name in CAPS)
    cells, cuts = block["cells"], groups != total and (block["cells"] is None or groups < block["cells"])
    reached, every = min(groups, cells or groups), min(groups * each, total or groups * each)
    one = {"rows over all groups": reached * each, "units over all groups": reached, "all rows": every}
    one["rows left out"] = block.get("counted_up_to", 0) - min(each, groups if cuts else each)
    if block["counts"] in one:  # all rows may be in one of several ranges of cells
        return one[block["counts"]], 1, None, None if block["counts"] == "all rows" else 1
    return (1, groups, None, cells) if block["counts"] in ("units", "once") else (each, groups, total, cells)


def corners(each: int, groups: int, total: int | None, cells: int | None, relation: str) -> Any:
    """The worst ways to fill groups: (rows of one unit, of the other, number of groups). With at most m rows in a group
    and T in all, a sum of a convex function is largest if ⌊T/m⌋ groups are full and one has the rest. If units replace
    others, x groups are full of both, rests are alone or over a full group or a rest; sums are linear in x."""
    most = each * min(groups, cells or groups)
    full, rest = divmod(min(total or most, most), m := min(each, total or most))
    if relation == "add-remove":
        return (yield [(m, 0, full), (rest, 0, 1)])
    for alone, over, both in ((2, 0, 0), (1, 1, 0), (0, 2, 0), (0, 0, 1)) if rest else ((0, 0, 0),):
        least, most = max(0, 2 * full + alone + both - (cells or math.inf)), full - min(1, over)
        for x in {least, most} if least <= most else ():
            yield [(m, m, x), (m, 0, 2 * (full - x) - over), (m, rest, over), (rest, 0, alone), (rest, rest, both)]


def apart(ways: Any, small: Any, large: Any) -> tuple[Any, Any, Any, int]:
    """Σ gaps, Σ squares, the widest and the number of gaps, at worst; a and b rows move a group by B·max + A·min."""
    found = [[(large * max(a, b) + small * min(a, b), n) for a, b, n in way] for way in ways]  # up and down
    l1, squares, many = (max(sum(gap**k * n for gap, n in way if gap) for way in found) for k in (1, 2, 0))
    return l1, squares, max(gap for way in found for gap, n in way if n), many


def distance(block: Json, granularity: Any = 1) -> dict[str, Any]:  # how far a unit moves numbers, in granules
    ends = {name: exact(end) / exact(granularity) for name, end in block.get("bounds", {"high": 1}).items()}
    low, high = (ends.get(end, 0) - ends.get("centre", 0) for end in ("low", "high"))
    l1, l2, largest, _ = apart(corners(*room(block), block["relation"]), *sorted((-min(0, low), max(0, high))))
    l2, largest = (l1**2, l1) if "sums" in block else (l2, largest)  # a sum of sizes moves by the ℓ1 distance
    return {"l1": (many := block.get("sums", block.get("times", 1))) * l1, "l2_squared": many * l2, "largest": largest}


@cache
def bell_tails(variance: Fraction, count: int) -> list[arb]:
    """P(Y ≥ k) for 0 ≤ k < count, P(Y = y) ∝ e^{−y²/(2σ²)} on the integers: sums from where all is negligible."""
    far, rate = count + 40 + math.isqrt(int(600 * variance)), ball(-1 / (2 * variance))
    terms = [(rate * (y * y)).exp() for y in range(far)]
    total = terms[-1] * arb(0, 1) * (2 + ball(variance))  # a ball that holds the sum of all further terms
    sums = [total := total + term for term in reversed(terms)][::-1]
    return [one / (2 * sums[0] - 1) for one in sums[:count]]


class Part(NamedTuple):
    kind: str  # laws P and Q that dominate a loss in both directions, this many times
    numbers: tuple[Any, ...]  # gauss: μ²; laplace: scale and move; bell: σ² and move; range: η; pair: ε
    times: int = 1

    def tails(self, x: Fraction) -> tuple[arb, arb]:  # P(L > x) and Q(L > x)
        largest = self.numbers[-1] / (self.numbers[0] if self.kind == "laplace" else 1)
        if self.kind not in ("gauss", "bell") and not -largest <= x < largest:
            return (arb(0), arb(0)) if x > 0 else (arb(1), arb(1))
        match self.kind, self.numbers:
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
                return tuple(table[k] if k >= 0 else 1 - table[1 - k] for k in (least - move, least))
            case "range", (eta,):  # [DDR20, Lemma 3.4]: Q(L > l) = (e^{(η−l)/2} − 1)/(e^η − 1)
                below, above = (ball((eta - end) / 2).expm1() / ball(eta).expm1() for end in (-x, x))
                return 1 - below, above
        return 1 / (1 + ball(-largest).exp()), 1 / (1 + ball(largest).exp())  # randomized response [KOV15, Thm 3.3]

    def reach(self, tiny: arb) -> Fraction:  # losses are larger with a tiny probability only
        return next(x for x in (Fraction(9, 8) ** power / 1024 for power in range(400)) if self.tails(x)[0] <= tiny)

    def on_lattice(self, step: Fraction, tiny: arb) -> tuple[arb_poly, int, arb]:
        """Masses at multiples of the step that dominate the pair, the first multiple, and the finite mass.
        The P- and Q-mass of each cell go to its ends: the hockey-stick curve becomes its chords, above it [DGKM22]."""
        last = math.ceil(self.reach(tiny) / step)
        above = [self.tails(step * i) for i in range(-last - 1, last + 1)]
        masses, width = [1 - above[0][0], *([arb(0)] * (len(above) - 1))], -((-ball(step)).expm1())
        for i, ((p, q), (p_next, q_next)) in enumerate(pairwise(above)):
            right = (p - p_next - (q - q_next) * ball(step * (i - last - 1)).exp()) / width
            masses[i], masses[i + 1] = masses[i] + p - p_next - right, masses[i + 1] + right
        return arb_poly(masses), -last - 1, 1 - above[-1][0]


class Known(NamedTuple):
    promise: dict[str, Any]  # of a mechanism; outside an event of probability δ, losses are at most ε, or moments ρ
    epsilon: Fraction | None = None
    rho: Any = None  # ε²/2 if nothing better is known [BS16, Prop. 1.4]
    delta: Any = 0
    parts: tuple[Part, ...] | None = None  # None if no pair of laws is known
    slack: Any = 0  # the finite part of δ is multiplied by e^slack
    either: bool = False  # whether δ is for finite losses with some data

    def paid(self, name: str) -> Any:  # infinite if it has none, as Gaussian noise has no ε
        own = getattr(self, name, None) if name in self._fields else self.promise.get(name, None if "mu" in name else 0)
        return arb("inf") if own is None else own


def keeping(promise: dict[str, Any]) -> Known:  # of whatever keeps it: (ε, δ) as randomized response [KOV15, Thm 3.3]
    epsilon, square = promise.get("epsilon"), promise.get("mu²", promise.get("epsilon", arb("inf")) ** 2)
    part = Part("pair", (epsilon,)) if epsilon else Part("gauss", (square,)) if "mu²" in promise else None
    return Known(promise, epsilon, promise.get("rho", square / 2), promise.get("delta", 0), part and (part,))


class Stated(dict[str, Any]):  # of a mechanism, as the file describes it
    def size(self, name: str = "") -> Fraction:  # in steps of the noise
        return exact(self[name or ("scale" if "scale" in self else "sigma")]) / exact(self["granularity"])

    def upper_tail(self, k: int) -> arb:
        """P(Y ≥ k) for additive noise in granules, whose law is symmetric. Discrete Gaussian, σ > 1,000: e^{−y²/2σ²}
        is convex beyond σ, so terms are at most integrals over half a step to both sides, and their sum at least that
        of the trapezoids. The sum over all integers is σ√(2π)(1 ± e^{−σ²})."""
        if k < 1:
            return 1 - self.upper_tail(1 - k)
        at, most = k / (size := ball(self.size())), normal((1 - 2 * k) / (2 * size))
        if self["law"] == "discrete Laplace":
            return (-at).exp() / (1 + (-1 / size).exp())
        if self["law"] == "rounded Gaussian" or self.size() <= 1000:  # ⌊σZ + ½⌋ ≥ k
            return most if self["law"] == "rounded Gaussian" else bell_tails(self.size() ** 2, k + 1)[k]
        least = normal(-at) + (-(at**2) / 2).exp() / (size * (8 * arb.pi()).sqrt())
        return (least.union(most) if k > self.size() + 1 else arb(0.5, 0.5)) * (1 + arb(0, 2) * (-(size**2)).exp())

    def additive(self) -> Known:
        """Laplace: ε = Δ/scale [DMNS06]. Discrete Gaussian: ρ = Δ²/2σ² [CKS20, Thm 4]. Rounded: μ = Δ/σ [DRS22]. Of
        Laplace noise on vectors, one number that moves by Δ loses most: a vector moves in steps of one granule, each
        with the same trade-off curve; one number attains their composition, as its likelihood ratio is monotone.
        Gaussian, σ > 32: let s² = σ² − τ², w(x) = Σ_j e^{−(j−x)²/2τ²}, and X of density ∝ e^{−x²/2s²}·w(x). A
        j with weights e^{−(j−X)²/2τ²} has the law of Y, by completing the square; from X + 1 that of Y + 1, as w has
        period 1. So (Y, Y + v) is made from (X, X + v), of normal densities times w/E[w]: its hockey-stick is at most
        N(0, s²)'s times (1 + η)/(1 − η) for each number that moves; w/E[w] = 1 ± η, η = 2Σ_j e^{−2π²τ²j²} (Poisson)"""
        ratio = (moved := self.size("sensitivity")) / (size := self.size())
        if self["law"] == "discrete Laplace":
            part = Part("laplace", (size, math.floor(moved))) if moved >= 1 else Part("pair", (ratio,))
            return Known({"epsilon": ratio}, ratio, ratio**2 / 2, parts=(part,))
        if self["law"] != "discrete Gaussian":
            return keeping({"mu²": ratio**2} if self["law"] == "rounded Gaussian" else {})  # no other noise is known
        if size > 32:
            numbers = 1 if self["single"] else max(1, math.floor(moved**2))
            tau2, eta = (arb(40000) * numbers).log() / (2 * arb.pi() ** 2), arb(2) / (40000 * numbers - 1)
            part, slack = Part("gauss", (ball(moved**2) / (ball(size) ** 2 - tau2),)), 2 * numbers * eta.atanh()
        elif moved >= 1 and (self["single"] or moved**2 < 2):  # the loss of one number; of vectors, see `least_mu`
            part, slack = Part("bell", (size**2, math.floor(moved))), arb(0)
        else:
            part, slack = Part("gauss", (ball(moved**2) * least_mu(size) ** 2,)), arb(0)
        return Known({"rho": ratio**2 / 2}, None, ratio**2 / 2, parts=(part,), slack=slack)

    def quantile(self) -> Known:
        """One choice ∝ e^{−rate·cost} in each group; the cost is how many ranks a value is off. With a values of one
        unit and b of the other, losses lie in an interval of length η = A·min(a, b) + B·max(a, b); A, B = 2·rate·(α or
        1 − α); or 0, rate for an extreme, whose cost counts one side. ε = Ση, ρ = Ση²/8 [CR21]; with `flip`, losses are
        ±η at most, ρ = Ση²/2 [MS20]. Groups are put together until all are as wide: below 2⌈Ση/widest⌉ [DDR20, 3.4]."""
        rate, level = exact(self["rate"]), exact(self["level"])
        extreme = (level == 0 and self["offset"] <= 0) or (level == 1 and self["offset"] >= 0)
        small, large = (Fraction(0), rate) if extreme else (2 * rate * share for share in sorted((level, 1 - level)))
        ways = corners(*(self[name] for name in ("each", "groups", "total", "cells", "relation")))
        epsilon, squares, widest, many = apart(ways, small, large)
        part = Part("pair" if self["flip"] else "range", (widest,), int(min(many, 2 * math.ceil(epsilon / widest) - 1)))
        return Known({"epsilon": epsilon}, epsilon, squares / (2 if self["flip"] else 8), parts=(part,))

    def threshold(self) -> Known:
        """Keys are shown if their noisy number of units is at least `least`. A unit that is alone in its g keys is
        exposed with δ = 1 − (1 − p)^g, p = P(c + Y ≥ least). Otherwise the loss is that of the noise; for Laplace if
        p ≤ 1 − e^{−c/scale}: a key that is not shown loses no more [KKMN09; DVG22, 2]; for Gaussian, [BS16, 8.1]."""
        noise, alone = (law := Stated(self["noise"])).additive(), law.upper_tail(self["least"] - self["each"])
        delta = -((-alone).log1p() * self["groups"]).expm1()
        if noise.epsilon is None:
            return noise._replace(promise={"rho": noise.rho, "delta": delta}, delta=delta)
        return keeping(noise.promise | {"delta": delta if alone <= 1 - (-self["each"] / ball(law.size())).exp() else 1})

    def replaced(self) -> arb:
        """‖e_a − e_b‖²/‖e_a‖² for rows in two cells: what replacing a row costs beside adding it. ⟨e_a, e_b⟩ = ΣΠk/σ²,
        k = 1 − 1/m if they agree, −1/m for siblings, 0 below [XHZK23]. Of too many ways: Πk ≥ −Π(1 − 1/m)/(m − 1)."""
        found, whole = self["bases"], added(map(weight, self["bases"]))
        pairs = {(c, len(m)) for base in found for c, m in zip(base["columns"], base["families"], strict=True)}
        deep = {c: sorted(n for d, n in pairs if d == c) for c, _ in sorted(pairs)}
        if math.prod(len(each) + 1 for each in deep.values()) > 2**12:
            far = 2 * added(weight(b) / (1 - 1 / ball(min(map(max, b["families"])))) for b in found if b["families"])
        else:
            depths = (zip(deep.items(), at, strict=True) for at in product(*(range(len(n) + 1) for n in deep.values())))
            ways = ({(c, n): d - k for (c, levels), d in one for k, n in enumerate(levels)} for one in depths)
            far = 2 * (whole - min((added(weight(base, at) for base in found) for at in ways), key=float))
        return min(max(far / whole, arb(1), key=float), arb(4), key=float)

    def prefixed(self, block: Json) -> arb:
        """max ‖Lv‖² for what a unit adds to, or changes in, counts. Prefix sums of x with the noise σLz are L(Lx + σz):
        L² sums along lines, so L has c_k = C(2k, k)/4^k below its diagonal [FHU23]; a cell beside is a line of its own.
        A row costs Π Σ c_k² at most, N rows N² times that. In one line, LᵀL ≥ 0 falls to the right and away from the
        diagonal: no k cells cost more than the first ones, and then those beside, 1 each. Replaced: what both cost; or
        N² times the widest pair of rows, ‖Le_0‖² + ‖Le_d‖² − 2⟨Le_0, Le_d⟩, or ‖Le_0‖² + 1 with a cell beside."""
        (each, groups, total, _), cells = room(block), math.prod(map(sum, self["lines"]))
        rows, replace = min(total or each * groups, each * min(groups, cells)), block["relation"] != "add-remove"
        series = [[*accumulate(range(1, n), lambda c, k: c - c / (2 * k), initial=arb(1))] for n, _ in self["lines"]]
        most, each = rows**2 * math.prod((added(c * c for c in one) for one in series), start=arb(1)), min(each, rows)
        if len(series) > 1:
            return ball(most * (1 + replace))
        (c,), n, k = series, len(series[0]), -(-rows // each)
        first = (arb_poly(c) * arb_poly([1] * min(k, n))).coeffs()[:n]  # L·1_k
        most = min(most, each**2 * (added(x * x for x in first) + max(0, k - n)), key=float)
        squares, shared = [*accumulate(x * x for x in c)], arb_poly(c) * arb_poly(c[::-1])
        pairs = (squares[-1] + squares[-1 - d] - 2 * shared[n - 1 + d] for d in range(1, n))
        widest = max([squares[-1] + min(1, cells - n), *pairs], key=float)
        return min(2 * most, rows**2 * widest, key=float) if replace else most

    def known(self) -> Known | None:  # None if it depends on the data
        noises = dict.fromkeys(("discrete Laplace", "discrete Gaussian", "rounded Gaussian"), self.additive)
        if rule := (noises | {"threshold": self.threshold, "grouped quantile": self.quantile}).get(self["law"]):
            return rule()
        epsilon, delta = exact(self.get("epsilon", 0)), exact(self.get("delta", 0))
        match self["law"]:
            case "partition selection":  # k keys with (ε/k, 1 − (1 − δ)^{1/k}) each [DVG22; KOV15, Thm 3.3]
                part = Part("pair", (epsilon / self["keys"],), self["keys"])
                return Known({"epsilon": epsilon, "delta": delta}, epsilon, epsilon**2 / 2, delta, (part,), either=True)
            case "exponential":  # the losses lie in an interval of length ε [DDR20, Lemma 3.4; CR21]
                return Known({"epsilon": epsilon}, epsilon, epsilon**2 / 8, parts=(Part("range", (epsilon,)),))
            case "shared noise":  # whatever the tables are, together they use up the price
                return keeping(coordinates(self["price"]))
            case "residual Gaussian" | "prefix Gaussian":  # μ² = s²·Σ p/σ², p = Π (1 − 1/m) [XHZK23, Sec. 4; FHU23]
                return keeping({"mu²": ball(self["sensitivity"]) ** 2 * added(map(weight, self["bases"]))})
            case "sparse histogram":  # γ: twice the chance to be alone, k·p(1 − p)^n at the worst p [HRW11, Sec. 5]
                p, noise = arb(1) / max(self["cells"], self["people"] + 1), Stated(self["noise"]).additive()
                gamma = 2 * self["cells"] * p * (self["people"] * (-p).log1p()).exp()
                return Known(noise.promise | {"gamma": gamma}, noise.epsilon, noise.rho)
        return None


def weight(base: Json, at: Any = None) -> arb:  # Π (1 − 1/m)/σ², or Π k/σ² for cells that agree down to some level
    steps = ((at[c, len(m)] if at else 1, max(m)) for c, m in zip(base["columns"], base["families"], strict=True))
    return ball(math.prod((n > 0) - Fraction(n >= 0, m) for n, m in steps)) / ball(base["sigma"]) ** 2


@cache
def least_mu(sigma: Fraction) -> arb:
    """μ such that Y and Y + 1 are no easier to tell apart than N(0, 1) and N(μ, 1), for discrete Gaussian Y. Thresholds
    are the best tests, as ratios are monotone. With P(Y ≥ k) = Φ(−z_k), μ is the largest z_{k+1} − z_k [DRS22, 2.6],
    also for −k; beyond 200σ, probabilities are below e^{−19,000}. Vectors: ℓ2 length times μ [DRS22, Cor. 3.3]."""
    places = [arb(2).sqrt() * (2 * p).erfcinv() for p in bell_tails(sigma**2, max(50, math.ceil(200 * sigma)) + 2)[1:]]
    return max((one.upper() for one in (2 * places[0], *(b - a for a, b in pairwise(places)))), key=float)


def epsilon_at(parts: list[Part], goal: arb) -> float:
    """The least ε, rounded up, for which E[(1 − e^{ε−L})₊] ≤ goal is proved, for the sum L of all losses."""
    square = added(ball(part.numbers[0]) * part.times for part in parts if part.kind == "gauss")
    laws = [*([Part("gauss", (square,))] if square > 0 else []), *(part for part in parts if part.kind != "gauss")]
    if [law.times for law in laws] == [1]:  # δ(ε) = P(L > ε) − e^ε·Q(L > ε), by halving an interval that holds ε
        low, high, x = Fraction(0), laws[0].reach(goal), Fraction(0)
        for _ in range(60):
            p, q = laws[0].tails(x)
            low, high = (low, x) if p - ball(x).exp() * q <= goal else (x, high)
            x = (low + high) / 2
        return float(ball(high).upper())
    wide = Fraction(sum(law.reach(tiny := goal / 10**9) * law.times for law in laws))
    step = wide.limit_denominator(10**9) / (POINTS * math.isqrt(sum(law.times for law in laws)))  # finer for many
    jumps: Json = {"bell": lambda square, move: move / (2 * square), "laplace": lambda scale, _: 1 / scale}
    jump = max((jumps[law.kind](*law.numbers) for law in laws if law.kind in jumps), default=step)
    step = jump / math.ceil(jump / step) if jump > step else step  # large jumps of the loss are on the lattice
    total, first, finite = arb_poly([1]), 0, arb(1)
    for law in laws:
        masses, start, share = law.on_lattice(step, tiny)
        total, first, finite = total * masses**law.times, first + start * law.times, finite * share**law.times
    # From the right, S₁ = P(L = ∞) + Σ masses and S₂ = Σ masses·e^{−L}: E[(1 − e^{ε−L})₊] = S₁ − e^ε·S₂.
    s1, s2, grow, weight = 1 - finite, arb(0), ball(step).exp(), ball(-step * (first + total.degree())).exp()
    for place in range(total.degree(), -1, -1):
        s1, s2 = s1 + total[place], s2 + total[place] * weight
        if not s1 - s2 / (weight * grow) <= goal:  # ε lies between this point and the one before it
            return max(0.0, float(((s1 - goal) / s2).log().upper()))
        weight *= grow
    return 0.0


def from_rho(rho: Fraction, delta: arb, xi: Any = 0) -> float:
    """ε = min over α of ξ + ρα + ln(1 − 1/α) − (ln δ + ln α)/(α − 1) [CKS20, 12]; best: ρ(α − 1)² + ln α = −ln δ."""
    low, high = 0.0, 1 / float(delta)
    for _ in range(100):
        x = (low + high) / 2
        low, high = (low, x) if float(rho) * x * x + math.log1p(x) >= -float(delta.log()) else (x, high)
    at = ball(Fraction(high))
    return max(0.0, float((xi + ball(rho) * (1 + at) - (1 / at).log1p() - (delta.log() + at.log1p()) / at).upper()))


def composed(known: list[Known], delta: Fraction) -> float:
    """ε of all measurements at δ; ∞ if a law is not known. Losses add [ZDW22, Thm 10]; P(L = ∞) = 1 − Π(1 − δᵢ)."""
    alive = math.prod((1 - ball(one.delta) for one in known), start=arb(1))
    goal = (ball(delta) - (1 - alive)) / (alive * added(one.slack for one in known).exp())
    parts: list[Any] = [part for one in known for part in one.parts or (None,)]
    found = epsilon_at(parts, goal) if goal > 0 and None not in parts else math.inf
    losses = added(one.paid("epsilon") for one in known)  # a bound if δ is for infinite losses only
    return found if added(one.delta for one in known) > ball(delta) else min(found, float(losses))


def coordinates(promise: Json) -> Json:
    """The parameters that add up, as squares of μ do; of a random promise, the inner ones and γ."""
    if "inner" in promise:
        return coordinates(promise["inner"]) | {n: exact(promise[n]) for n in ("gamma",) if n in promise}
    names = [n for n in ("epsilon", "rho", "xi", "mu", "delta") if promise["flavor"] in SUMMED and n in promise]
    return {n + "²" * (n == "mu"): exact(promise[n]) ** (1 + (n == "mu")) for n in names if promise[n] or n != "xi"}


def charged(price: Json, budget: Json) -> dict[str, Fraction]:
    """In a budget: ε-DP is ε²/2-zCDP [BS16, 1.4], and μ-Gaussian if Φ(μ/2) = e^ε/(1 + e^ε) [DRS22]; μ is μ²/2-zCDP."""
    given, wanted = coordinates(price), coordinates(budget)
    if "rho" in wanted and "rho" not in given:
        given["rho"] = given.pop("mu²") / 2 if "mu²" in given else given.pop("epsilon") ** 2 / 2
    if "mu²" in wanted and "mu²" not in given:
        given["mu²"] = exact(float(arb(8).sqrt() * (2 / (1 + ball(given.pop("epsilon")).exp())).erfcinv())) ** 2
    return {name: given.get(name, Fraction(0)) for name in given | wanted}


class Check(NamedTuple):
    rows: list[tuple[str, str, str, str]]  # what was looked at: the figure, stated, derived, and the verdict

    def judge(self, figure: str, stated: Any, mine: Any, right: bool, why: str = "") -> None:
        said = [value.get("notation") if isinstance(value, dict) else value for value in (stated, mine)]
        texts = [f"{float(one):.10g}" if isinstance(one, float | Fraction | arb) else str(one) for one in said]
        one, other = (text if len(text) <= 26 else f"{text[:25]}…" for text in texts)
        self.rows.append((figure, one, other, f"not derivable: {why}" if why else "agrees" if right else "DIFFERS"))

    def agree(self, figure: str, stated: Any, own: Any, below: float = DIGITS, above: float = DIGITS) -> None:
        if stated is None or own is None or own == math.inf:
            return self.judge(figure, stated, own, stated is None and own in (None, math.inf))
        mine, given = ball(own), ball(stated)
        sharp = mine.rad() <= SHARP * (size := abs(mine))  # a wide ball would agree with anything
        right = sharp and not given < mine - below * size and not given > mine + above * size
        return self.judge(figure, stated, float(mine), bool(right))

    def ledger(self, ledger: Json) -> None:
        numbers = [entry["number"] for entry in ledger["entries"]]
        self.judge("entries: in order, none twice", len(numbers), len(set(numbers)), numbers == sorted(set(numbers)))
        for own in ledger["accounts"]:
            paid = [charged(e["price"], own["promise"]) for e in ledger["entries"] if e["dataset"] == own["dataset"]]
            self.budget(own["promise"], paid, own, own["dataset"])

    def charge(self, budget: Json, price: Json, of: str) -> None:
        paid, stated = (charged(each, budget["promise"]) for each in (price, budget["charge"]))
        for name in stated | paid:
            self.agree(f"{of}: {name} charged", stated.get(name, 0), paid.get(name, 0))
        for when, more in (("before", []), ("after", [paid])):
            if (now := budget[when]) is not None:
                self.budget(budget["promise"], [coordinates(budget["before"]["spent"]), *more], now, f"{of} {when}")

    def budget(self, promise: Json, paid: list[dict[str, Fraction]], state: Json, of: str) -> None:
        spent, left, whole = (coordinates(each) for each in (state["spent"], state["remaining"], promise))  # spent: Σ
        for name in {name: 0 for each in (whole, spent, left, *paid) for name in each}:
            total = sum((one.get(name, Fraction(0)) for one in paid), Fraction(0))
            late = name == "gamma" and any(any(one.values()) for one in paid)  # only the first charge has a γ
            self.agree(f"{of}: {name} spent", spent.get(name, 0), total)
            self.agree(f"{of}: {name} remaining", left.get(name, 0), 0 if late else whole.get(name, 0) - total)
            self.judge(f"{of}: {name} within the promise", total, whole.get(name, 0), total <= whole.get(name, 0))

    def distance(self, one: Json, of: str) -> None:
        """How far a unit moves the numbers, and the noise made for it: for ℓ1 if Laplace, for ℓ2 if Gaussian (the same
        for one number). A count moves a deviation within buckets of 2^j cells by 2(1 − 2^{−j}), for each j."""
        law, block, noise = one["mechanism"], one["moves"][0], one["mechanism"].get("noise", one["mechanism"])
        power, replace = 2 - (noise["law"] in ("discrete Laplace", "exponential")), block["relation"] != "add-remove"
        parts = [distance(each, one["granularity"]) for each in one["moves"]]
        far = {name: (max if name == "largest" else sum)(part[name] for part in parts) for name in parts[0]}
        for name, most in far.items():
            self.agree(f"{of}: distance, {name}", one["distance"][name], most)
        if not any("bounds" in each for each in one["moves"]):
            self.agree(f"{of}: granularity of a count", one["granularity"], 1)
        sizes = sum((2 - Fraction(2, 2**j)) ** power for j in range(1, block.get("deviations", 0) + 1))
        moved: Any = far["l1"] ** power if sizes or power == 1 or noise.get("single") else far["l2_squared"]
        moved *= sizes or (2 if law["law"] == "exponential" else 1)  # a score moves by less than 2, if a count by 1
        if law["law"] == "residual Gaussian":  # N rows, each worth the most that it adds; or N pairs, with 1 sign or 2
            alone = ball(distance(block | {"relation": "add-remove"}, one["granularity"])["largest"] ** 2)
            moved = max(alone * Stated(law).replaced(), ball(far["largest"] ** 2), key=float) if replace else alone
        if law["law"] in ("threshold", "partition selection"):  # keys of one unit; of both if replaced
            keys = block["max_groups"] * (2 if "keys" in law and replace else 1)
            self.agree(f"{of}: keys", law.get("keys", law.get("groups")), keys)
            self.agree(f"{of}: units in a key", law.get("each", 1), far["largest"])
        if law["law"] == "prefix Gaussian":  # on all cells, with one σ
            cells, plain = math.prod(map(sum, law["lines"])), [each["columns"] for each in law["bases"]] == [[]]
            right, moved = plain and min(map(min, law["lines"])) >= 0, Stated(law).prefixed(block)
            self.judge(f"{of}: cells of the lines", block["cells"], cells, right and cells == block["cells"])
        if "sensitivity" in noise:
            given, close = exact(noise["sensitivity"]) ** power, 2e-8 if "bases" in law else DIGITS
            self.agree(f"{of}: sensitivity{', squared' * (power - 1)}", given, moved, DIGITS, close)

    def measurement(self, of: str, one: Json, fitted: bool) -> Known:  # fitted: by code, without caps in the file
        law, moves, stated = one["mechanism"], one["moves"] or [], coordinates(one["promise"])
        noise, known = law.get("noise", law), Stated(law).known()
        if moves and one["distance"]:
            self.distance(one, of)
        elif not (moves and "rate" in law):  # noise on ranks has a reach of its own
            self.judge(f"{of}: distance", one["distance"], "", False, fitted * "the caps behind it are not in the file")
        if moves and "cells" in law:
            caps = [law[name] for name in ("each", "groups", "total", "cells") if name in law]
            self.judge(f"{of}: caps", caps, own := [*room(moves[0])][-len(caps) :], caps == own)
        if "granularity" in noise:
            step, width = exact(noise["granularity"]), exact(one["error"] or 0) / exact(one["granularity"])
            wide = round(width / step)  # P(|Y| > w) ≤ 5%, and w − 1 would not do
            right = Stated(noise).upper_tail(wide + 1) * 40 <= 1 and Stated(noise).upper_tail(wide) * 40 > 1
            self.agree(f"{of}: 95% error in granules", width, wide * step if right else None)
            self.agree(f"{of}: step of the noise", step, Fraction(1, 2 ** (moves or [{}])[0].get("deviations", 0)))
        else:
            self.agree(f"{of}: 95% error", one["error"], None)  # it differs between numbers
        if known is None:
            self.judge(f"{of}: promise", one["promise"], "", False, fitted * f"{law['law']} depends on the data")
            return keeping(stated)
        for name in known.promise | stated:
            self.agree(f"{of}: {name}", stated.get(name), known.promise.get(name, 0))
        return known

    def promise(self, known: list[Known], figures: Json) -> None:
        """The sum of measurements, or of prices of stages; as (ε, δ), what it implies, and ε′ with P(L > ε′) ≤ δ."""
        stages, (stated, price) = figures["plan"]["stages"], (coordinates(figures[n]) for n in ("promise", "price"))
        sums: Json = {name: added(one.paid(name) for one in known) for name in stated | dict.fromkeys(BESIDE)}
        places, close = sorted(place for stage in stages or () for place in stage["measurements"]), (DIGITS, DIGITS)
        self.judge("stages: each measurement once", places, "", not stages or places == [*range(len(known))])
        for number, stage in enumerate(stages or (), 1):
            parts = [known[place] for place in stage["measurements"]]  # what a price leaves out is 0
            for name, most in (prices := dict.fromkeys(sums, Fraction()) | coordinates(stage["price"])).items():
                both = name == "epsilon" and prices.get("delta")  # (ε, δ), as the whole plan if it has no stages
                own = arb(composed(parts, both) / (1 + SOUND)) if both else added(one.paid(name) for one in parts)
                self.judge(f"stage {number}: {name} in price", own, most, bool(own <= ball(most) * (1 + DIGITS)))
                sums[name] = most if number == 1 else sums.get(name, 0) + most
        if figures["promise"]["flavor"] == "approximate" and stated["delta"] and not stages:
            sums, close = sums | {"epsilon": composed(known, price["delta"]), "delta": price["delta"]}, (SOUND, LOOSE)
        for name, value in ({name: 0 for name in BESIDE if sums[name] > 0} | stated).items():
            self.agree(f"promise: {name}", value, sums.get(name), *(close if name == "epsilon" else ()))
            self.judge(f"promise: {name} within the price", value, price.get(name, 0), value <= price.get(name, 0))
        headline, masses, event = figures["headline"], figures["delta"], stated.get("delta", Fraction(0))
        delta, epsilon = exact(headline["delta"]), stated.get("epsilon")
        if (implied := (odds := epsilon)) is not None:
            self.agree("headline: delta", delta, event)
        else:
            rest, square, xi = ball((delta - event) / (1 - event)), stated.get("mu²"), ball(stated.get("xi", 0))
            implied = epsilon_at([Part("gauss", (square,))], rest) if square else from_rho(stated["rho"], rest, xi)
            odds = (rho := ball(square / 2 if square else stated["rho"])) + 2 * (-rho * rest.log()).sqrt() + xi
            epsilon = implied if stages else min(implied, composed(known, delta))
        self.agree("headline: implied", headline["implied"], implied, near := SOUND if "mu²" in stated else 1e-9, near)
        self.agree("headline: epsilon", headline["epsilon"], epsilon, SOUND, LOOSE)
        self.agree("headline: odds", headline["odds"], None if event else odds)
        self.agree("headline: gamma", headline["gamma"] or 0, stated.get("gamma", 0))
        self.agree("probability of an infinite loss", masses["infinite_mass"], added(one.delta for one in known))
        losses = [one.epsilon for one in known if one.epsilon is not None and not one.either]
        tail = ball(price.get("delta", 0)) - added(one.delta for one in known if not one.either)
        bounded = "delta" not in price or (len(losses) == len(known) and sum(losses) <= price.get("epsilon", 0))
        mine = None if {"rho", "mu"} & figures["promise"].keys() else 0 if bounded else tail  # if moments bound them
        self.agree("δ for finite losses above ε", masses["finite_tail"], mine)

    def seen(self, page: str, figures: Json, release: str) -> None:
        """Hash and entry of the record; and what a reader sees: promise and e^ε, rounded up, and released numbers."""
        said, own = figures["receipt"], json.loads(release or "{}") | {"sha256": sha256(release.encode()).hexdigest()}
        why = "" if release else "the page does not carry the released numbers"
        for name in ("sha256", "entry", "at", "dataset", "private", "coins"):
            self.judge(f"record: {name}", said.get(name), own.get(name), said.get(name) == own.get(name), why)
        stated, epsilon = coordinates(figures["promise"]), figures["headline"]["epsilon"] or 700
        for place, text, times, power in (found := SHOWN.findall(page)):  # 0.5, 10⁻⁵, 1.2 × 10⁻⁵
            number = Fraction(f"{text if times or not power else 1}e{power or 0}".translate(POWERS))
            mine = {"badge": figures["promise"].get("mu", next(iter(stated.values())))}.get(place, ball(epsilon).exp())
            if place == "badge" or (epsilon < 700 and "gamma" not in stated):  # which begins with γ
                self.agree(f"shown: {place}", number, mine, DIGITS, LOOSE)
        self.judge("shown: promise and e^ε", len(found), "badge, statement", len({place for place, *_ in found}) == 2)
        steps = {1.0, *(float(Fraction(one["granularity"])) for one in figures["plan"]["measurements"])}
        out = {f"{float(n) * by:.9g}" for n in re.findall(r"-?\d+(?:\.\d+)?", str(own.get("released"))) for by in steps}
        for whole, wide, text in CELL.findall(page):
            value, near, off = (float(one.replace("−", "-").replace(",", "") or 0) for one in (whole, text, wide))
            self.judge("shown: released", text, whole, f"{value:.9g}" in out and abs(value - near) <= off / 10)

    def repeated(self, figures: Json) -> None:
        """What is stated twice is the same; an odometer names no cap. What is said beside the plan has its numbers."""
        plan, nodes = figures["plan"]["measurements"], list[Json]()
        json.loads(json.dumps(figures), object_hook=lambda one: nodes.append(one) or one)  # type: ignore[func-returns-value]
        odd = [one["exact"] for one in nodes if "float" in one and float(exact(one["exact"])) != one["float"]]
        odd += [one["confidence"] for one in nodes if one.get("confidence", 0.95) != 0.95]  # the same for all errors
        for text, flavor, one in ((each["notation"], each["flavor"], each) for each in nodes if "notation" in each):
            found = ((n, exact(x), n == "mu") for n, x in re.findall(r"(\w+)=([\d.e+-]+)", text))
            said = {n + "²" * squared: x ** (1 + squared) for n, x, squared in found}
            mine = {n: x for n, x in coordinates(one).items() if n in said or text[:9] != "odometer(" or x < 10**300}
            of, word = FORM.fullmatch(text), flavor.removeprefix("approximate_")
            named = of and of[1] == word and flavor.startswith("approx") == ("delta" in said and "inner" not in one)
            whole = sum(one.get("parts", {}).values()) or one.get("gamma", 0)
            odd += [text] if not named or said != mine or abs(whole - one.get("gamma", 0)) > DIGITS else []
        stated = [one["caps"] for one in nodes if "caps" in one]  # of a batch, those of each question by its name
        caps = [[one[n] for n in CAPS] for own in stated for one in ([own] if {*CAPS} & own.keys() else own.values())]
        used = [[one[name] for name in CAPS] for one in nodes if {"counts", *CAPS} <= one.keys()]
        odd += [one for one in (*used, *caps) if caps and not (one in caps and one in used)]
        odd += [one for one in nodes if "rest" in one and [one[n] for n in CAPS[:2]] not in [each[:2] for each in used]]
        told = [(*(node.get("measured") or ()), node.get("threshold"), node.get("noise")) for node in nodes]
        for one in (each for some in told for each in some if isinstance(each, dict)):
            same = [each for each in plan if each["name"] == one.get("name")] or plan
            own, known = ({(n, exact(x)) for n, x in NUMBER.findall(json.dumps(each))} for each in (one, same))
            names, values = dict(known), {value for _, value in known}
            odd += [n for n, x in own - known if n not in GIVEN and (n in names or (n != "error" and x not in values))]
        self.judge("numbers that are stated twice", odd, [], not odd)
        chosen = re.search('HAVING|ORDER BY|LIMIT|QUALIFY|"other": true', json.dumps(figures))  # by noise: wider
        for one in (each for each in nodes if "aggregate" in each and each.get("error_at", 0) is None and not chosen):
            if same := [each["error"] for each in plan if each["error"] and each["name"] == one["aggregate"]]:
                self.judge(f"{one['name']}: 95% error"[:72], one["error"], same, one["error"] in same)

    def certificate(self, figures: Json) -> None:
        said, stated, parts = figures["receipt"], figures["promise"], enumerate(figures["plan"]["measurements"], 1)
        odd = re.findall(ODD, json.dumps(figures["plan"]))
        odd += [other for each in WHO for other in sorted({*re.findall(each, json.dumps(figures))})[1:]]
        self.judge("sizes: none below 0, no number of noises 0; one relation", odd, [], not odd)
        fitted = figures["kind"].endswith("statistic")
        known = [self.measurement(f"{n}. {one['name'] or 'keys'}"[:48], one, fitted) for n, one in parts]
        if said:  # with a keyed generator the promise holds against limited computing power [MPRV09]
            weaker = {"notation": f"computational({stated['notation']})", "flavor": "computational", "inner": stated}
            mine = {"keyed generator": weaker, "hardware": stated}.get(said["coins"])
            self.judge("promise with these coins", said["guarantee"], mine, said["guarantee"] == mine)
        self.promise(known, figures)
        self.repeated(figures)
        self.charge(figures["budget"], figures["price"], "budget")
        for other in figures.get("join", {}).get("beside", ()):
            self.charge(other["budget"], figures["price"], f"budget of {other['dataset']}")


@ctx.workprec(BITS)  # only while it checks: other code of the process has its own precision
def check(text: str) -> Check:
    found, elements = Check([]), re.findall(r'<template class="(sitr-\w+)"[^>]*>(.*?)</template>', text, re.DOTALL)
    page = {name: html.unescape(inside) for name, inside in elements}
    content = json.loads(page.get("sitr-figures", text))
    (found.ledger if "entries" in content else found.certificate)(content)
    if said := content.get("receipt"):  # with 8.0 as 8; "kept" and "again" say where an answer lies, not what it is
        all_of = content | {"receipt": {name: said[name] for name in said.keys() - {"kept", "again", CHECKSUM}}}
        plain = json.loads(json.dumps(all_of), parse_float=lambda t: int(n) if (n := float(t)).is_integer() else n)
        own, sum_of = sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest(), said.get(CHECKSUM)
        found.judge("checksum of all figures", sum_of, own, sum_of == own, "" if sum_of else "there is none")
    if page:
        found.seen(re.sub("<template.*?</template>", "", text, flags=re.DOTALL), content, page["sitr-release"])
    return found


def main(arguments: list[str]) -> int:
    try:
        (path,) = arguments
        rows = [("figure", "stated", "derived", "verdict"), *check(Path(path).read_text("utf-8")).rows]
    except Exception as failure:  # noqa: BLE001 - whatever is odd about the file
        why = "Name one certificate, or a ledger or an answer in JSON; a label has no figures"
        sys.stderr.write(f"Cannot check this. {why if isinstance(failure, ValueError) else failure}.\n")
        return 2
    sys.stdout.writelines(f"{figure:72}  {stated:26}  {mine:26}  {verdict}\n" for figure, stated, mine, verdict in rows)
    agree, differ, rest = (sum(row[3].startswith(word) for row in rows) for word in ("agrees", "DIFFERS", "not"))
    sys.stdout.write(f"\n{agree} figures agree, {differ} differ, {rest} are not derivable.\n")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
