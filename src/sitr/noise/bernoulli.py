"""Coins that fall with a given probability, exactly: p for a rational p, e^{−x} for a rational x."""

from __future__ import annotations

from fractions import Fraction

from sitr.noise.coins import Coins


def bernoulli(probability: Fraction, *, coins: Coins) -> bool:
    """True with this probability, 0 ≤ p ≤ 1.

    >>> from sitr.noise.coins import system_coins
    >>> [bernoulli(Fraction(p), coins=system_coins()) for p in (0, 1)]
    [False, True]
    """
    if not 0 <= probability <= 1:
        raise ValueError(f"A probability lies between 0 and 1. {probability} was given. Choose one of these.")
    return ratio_trial(probability.numerator, probability.denominator, coins=coins)


def bernoulli_exponential(exponent: Fraction, *, coins: Coins) -> bool:
    """True with probability e^{−x}, x ≥ 0.      [CKS20, Alg. 1]

    >>> from sitr.noise.coins import system_coins
    >>> [bernoulli_exponential(Fraction(x), coins=system_coins()) for x in (0, 10**9)]
    [True, False]
    """
    if exponent < 0:
        raise ValueError(f"An exponent is at least 0. {exponent} was given. Give x for a probability of e^-x.")
    return exponential_trial(exponent.numerator, exponent.denominator, coins=coins)


def ratio_trial(numerator: int, denominator: int, *, coins: Coins) -> bool:
    """True with probability n/d: a uniform real, read 64 binary digits at a time, falls below n/d.

    The first digits that differ decide. While all agree, the question is the same one about the remainder.
    """
    while True:
        digits, numerator = divmod(numerator << 64, denominator)
        drawn = coins.bits(64)
        if drawn != digits:
            return drawn < digits


def exponential_trial(numerator: int, denominator: int, *, coins: Coins) -> bool:
    """True with probability e^{−n/d}: e^{−1} for each whole unit, then the rest.      [CKS20, Alg. 1]"""
    whole, rest = divmod(numerator, denominator)
    while whole > 0:
        if not _unit_trial(1, 1, coins):
            return False
        whole -= 1
    return _unit_trial(rest, denominator, coins)


def _unit_trial(numerator: int, denominator: int, coins: Coins) -> bool:
    """e^{−x} for x = n/d ≤ 1: the first failure among trials of x/1, x/2, x/3, … comes at k with probability
    x^{k−1}/(k−1)! − x^k/k!; over the odd k this sums to the series of e^{−x}."""
    odd = True
    divisor = denominator
    while ratio_trial(numerator, divisor, coins=coins):
        odd = not odd
        divisor += denominator
    return odd
