"""The sentences about mechanisms that are verified exactly, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.report.figured import Figured
from sitr.report.figures import about
from sitr.report.words.arabic.marks import code, ltr, named


@dataclass(frozen=True, slots=True)
class ExactWords:
    """What is proved about a table of probabilities, and about claims."""

    def kept(self, claim: str, /) -> str:
        """The claim is proved."""
        return f"محفوظ: أُثبت {code(claim)} لكل المدخلات المتجاورة."

    def broken(self, claim: str, symbol: str, least: str, allowed: str, /) -> str:
        """The claim is refuted."""
        found = "لا نهائية" if least == "∞" else f"لا تقل عن {ltr(least)}"
        return f"منقوض: لا يصح {code(claim)}: فقيمة {ltr(symbol)} {found}، والادعاء يسمح بـ {ltr(allowed)}."

    def undecided(self, claim: str, symbol: str, low: str, high: str, allowed: str, /) -> str:
        """Neither can be proved."""
        return (
            f"غير محسوم: يسمح {code(claim)} بـ {ltr(f'{symbol} = {allowed}')}، "
            f"ولم يُثبت سوى أنها بين {ltr(low)} و{ltr(high)}. "
            "أعط احتمالات دقيقة، أو ادعاءً أضعف قليلًا."
        )

    def witness(self, first: str, second: str, event: str, probabilities: tuple[float, float] | None, /) -> str:
        """Where a claim is broken."""
        pair = f"المدخلان {named(first)} و{named(second)}"
        if not event:
            return pair
        odds = "" if probabilities is None else _odds(*probabilities)
        return f"{pair}، والناتج {named(event)}{odds}"

    def drawn(self, draws: int, confidence: float, /) -> str:
        """How sure the fractions of data are for which a random promise fails."""
        sure = f"بثقة {ltr(about(100 * confidence) + '%')}"
        return f"كل شيء سوى {ltr('γ')}؛ وكل فترة لها تصح {sure}، من أزواج مسحوبة من البيانات عددها {ltr(f'{draws:,}')}"

    def outright(self, mass: str, pair: str, /) -> str:
        """Mass at infinity, apart from the rest."""
        if not mass:
            return "لا يمكن أن ينكشف أحد انكشافًا تامًا: ليست أي خسارة لا نهائية."
        return f"باحتمال {ltr(mass)} يكشف ناتجٌ المدخلَ كشفًا تامًا ({named(pair)})، مهما كان {ltr('ε')}."

    def mechanism(self, inputs: int, outcomes: int, pairs: int, exact: bool, rounding: str, /) -> str:
        """What was verified."""
        numbers = "احتمالات دقيقة" if exact else f"احتمالات قد تخطئ بمعامل {ltr(f'1 ± {rounding}')}"
        counts = f"المدخلات: {ltr(str(inputs))}، النواتج: {ltr(str(outcomes))}، أزواج الجوار: {ltr(str(pairs))}"
        return f"{counts}؛ {numbers}"

    def coupled(self, epsilon: str, low: str, high: str, /) -> str:
        """The least δ of coupled worlds."""
        return (
            f"العوالم المقترنة: عند {ltr(f'ε = {epsilon}')} يحتاج أفضل محاكٍ إلى {ltr('δ')} "
            f"بين {ltr(low)} و{ltr(high)}، "
            "مُثبتًا من الجهتين."
        )

    def headings(self) -> tuple[str, str, str, str]:
        """The headings of the table of figures."""
        return "المقدار", "المُثبت", "المدخلان", "النواتج"

    def figure(self, name: Figured, parameter: str, /) -> str:
        """The name of a figure, with its parameter."""
        return {
            Figured.EPSILON: f"{ltr('ε')}، أكبر خسارة",
            Figured.EPSILON_AT_DELTA: f"{ltr('ε')} عند {ltr(f'δ = {parameter}')}",
            Figured.DELTA_AT_EPSILON: f"{ltr('δ')} عند {ltr(f'ε = {parameter}')}",
            Figured.EXCEEDING: f"{ltr(f'P(L > {parameter})')}، الاحتمالية",
            Figured.QUANTILE: f"{ltr('ε')} بحيث {ltr(f'P(L > ε) ≤ {parameter}')}",
            Figured.MEAN: f"{ltr('μ = E[L]')}، المركزة",
            Figured.SUBGAUSSIAN: f"{ltr('τ')}، المركزة",
            Figured.RHO: f"{ltr('ρ')}، المركزة الصفرية",
            Figured.RHO_AT_XI: f"{ltr('ρ')} عند {ltr(f'ξ = {parameter}')}",
            Figured.BEST_RHO: f"{ltr('ρ')} عند أفضل {ltr(f'ξ = {parameter}')}",
            Figured.RENYI: f"ريني من الرتبة {ltr(parameter)}",
            Figured.MU: f"{ltr('μ')}، الغاوسية",
            Figured.INFINITE: f"احتمال {ltr('L = ∞')}",
            Figured.GAMMA: f"{ltr('γ')} عند {ltr(f'ε = {parameter}')}، العشوائية",
            Figured.GAMMA_AT_DELTA: f"{ltr('γ')} عند {ltr(parameter)}، العشوائية",
        }[name]

    def exactly(self, value: str, /) -> str:
        """A figure that is a fraction."""
        return f"{ltr(value)} بالضبط"

    def picture(self) -> tuple[str, str, str]:
        """The title of the picture, and its axes."""
        return "أفضل اختبار بين مدخلين متجاورين", "الإيجابيات الكاذبة", "الإيجابيات الصادقة"

    def claimed(self, claim: str, /) -> str:
        """The curve of the claim."""
        return f"الادعاء: {code(claim)}"

    def verified(self) -> str:
        """The curve of the mechanism."""
        return "المتحقق منه: الآلية"


def _odds(first: float, second: float) -> str:
    return f"، باحتمالين {ltr(about(first))} و{ltr(about(second))}"
