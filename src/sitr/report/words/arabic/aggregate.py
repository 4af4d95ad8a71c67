"""The sentences of answers to aggregate questions, in Arabic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import cast

from sitr.dataset.schema import Key
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.partition import PartitionSelection
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.numbers import exact
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.bias import Amount, Why
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.clamping import Clamping
from sitr.questions.aggregate.expressions.typed import TEMPORAL
from sitr.questions.aggregate.keys import KeyThreshold
from sitr.questions.aggregate.other import Rest, RowKey
from sitr.questions.aggregate.plan import KEYS, AggregatePlan, NoisyTerm
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.targeted import Met
from sitr.report.figures import about, at_least, at_most, number, percent, shortened, step, visible
from sitr.report.headline import Headline
from sitr.report.words.arabic.marks import listed, ltr, measurement, named
from sitr.report.words.arabic.meaning import DELTA, EPSILON, kept
from sitr.report.words.arabic.nouns import (
    BAR,
    GROUP,
    KEY,
    ROW,
    caps,
    chance,
    confidence,
    counted,
    nobody,
    noise,
    unit,
    units,
)
from sitr.report.words.arabic.ranks import RankWords
from sitr.report.words.measured import ends, keys_only, without_keys
from sitr.report.words.messages import isolated
from sitr.report.words.numerals import numerals


@dataclass(frozen=True, slots=True)
class AggregateWords:
    """An answer with keys and columns."""

    def contribution(self, query: BoundedQuery, /) -> str:
        """The most that one unit can contribute, and the rows that belong to no unit."""
        if not isinstance(query.unit, Person):
            return "يُحسب الصف الواحد مرة واحدة. ومن له عدة صفوف فحمايته أقل: صفًا صفًا، لا جملةً واحدة."
        return (
            f"يساهم كل شخص ب{caps(query)}. وتُترك الصفوف التي تتجاوز هذه السقوف عشوائيًا، وتُترك دائمًا الصفوف "
            f"التي لا قيمة لها في {named(query.unit.column)}."
        )

    def error(self) -> str:
        """What an error means, and what it does not include."""
        return (
            f"كل عدد على حدة لا يبعد عن الإجابة الدقيقة بأكثر من {ltr('±')} الخطأ باحتمال {confidence()}؛ ولا يشمل ذلك "
            "التحيز الناتج عن القصر ضمن الحدود وعن سقوف المساهمة."
        )

    def left_out(self, why: Why, of: str, query: BoundedQuery, /, *, total: bool = False) -> str:
        """A heading: the share of people from whom something was left out, perhaps of all groups together."""
        who, where = ("الذين", "عندهم") if isinstance(query.unit, Person) else ("التي", "فيها")
        cut = "تُركت صفوف لهم" if why is Why.ROWS else f"قُصرت قيم {named(of)} {where}"
        what = f"{units(query)} {who} {cut}"
        return f"{what}، في المجموعات كلها" if total else what

    def too_small(self) -> str:
        """In place of a share whose interval is too wide to mean anything."""
        return "الثمن أصغر من أن يكشف ذلك"

    def unmeasured(self, name: str, /) -> str:
        """A heading of a column whose bias was not measured."""
        return f"{name} (لم يُقَس التحيز)"

    def bias(self, query: BoundedQuery, /, *, total: bool = False) -> str:
        """What is known about the bias, in each group or only in all groups together."""
        if not query.leaves_out:
            return "لا تترك الحدود ولا السقوف شيئًا خارج هذه الإجابة."
        if query.watch is None:
            return (
                "قد تترك السقوف والحدود صفوفًا وقيمًا خارج الحساب، ولم يُقَس عددها، فقد تقع الأعداد الحقيقية "
                "للجدول خارج هذه الفترات."
            )
        share = ltr(f"{about(query.watch.share * 100)}%")
        whose = "الذين تُرك شيء من بياناتهم" if isinstance(query.unit, Person) else "التي تُرك شيء منها"
        return (
            f"يقيس {share} من الثمن عدد {units(query)} {whose} بسبب السقوف أو الحدود"
            + ("، في المجموعات كلها معًا: فهذا أقل من أن يكشف ذلك في كل مجموعة" if total else "")
            + self._how_much(query)
        )

    def _how_much(self, query: BoundedQuery) -> str:
        if query.watch is None or query.watch.rows is None:
            return "، أما مقدار ما تُرك فلا يُقاس."
        most = counted(query.watch.rows.rows, ROW, oblique=True)
        return f". ويقيس أيضًا عدد الصفوف التي تتركها السقوف، بحساب ما لا يزيد على {most} لكل {unit(query)}."

    def cut(self, key: RowKey | None, share: Amount, query: BoundedQuery, /, *, counts: bool = False) -> str:
        """Rows were left out of a group, or of all groups together (None); `counts` if COUNT(*) is shown."""
        count = (
            "العدد الدقيق لجميع الصفوف أكبر من العدد المحدود، وقد يكون فوق هذه الفترة"
            if counts
            else "بهذه الصفوف قد تقع الأعداد الدقيقة خارج فتراتها"
        )
        said = f"{self._share(key, share, query)} تُركت صفوف لهم بسبب السقوف: {count}"
        if query.watch is None or query.watch.rows is None:
            return f"{said}؛ ولم يُقَس بكم."
        return f"{said}."

    def clamped(
        self,
        key: RowKey | None,
        share: Amount,
        of: str,
        query: BoundedQuery,
        /,
        *,
        moved: Sequence[str],
        ranked: Sequence[str],
    ) -> str:
        """Values were clamped in a group, or in all groups together (None).

        This moves some columns; quantiles, minima and maxima only if they lie beyond the bounds themselves.
        """
        said = f"{self._share(key, share, query)} لهم قيم في {named(of)} خارج حدوده"
        names, quantiles = ("، ".join(map(named, each)) for each in (moved, ranked))
        parts = [f"من دون الحدود قد يقع خارج الفترة: {names}"] if moved else []
        parts += [f"ولا يتغير {quantiles} إلا إذا وقع خارج الحدود"] if ranked else []
        return f"{said}: {'؛ '.join(parts)}."

    def _share(self, key: RowKey | None, share: Amount, query: BoundedQuery) -> str:
        where = " في المجموعات كلها معًا" if key is None else f" في مجموعة {self._group(key, query)}" if key else ""
        if share.tells:
            some = f"نحو {ltr(percent(share.value))} (± {ltr(percent(share.error))})"
        else:
            some = f"ما لا يقل عن {ltr(f'{at_least(100 * share.low, digits=2)}%')}"
        return f"{some} من {units(query)}{where}"

    def _group(self, key: RowKey, query: BoundedQuery) -> str:
        """A group by the names and values of its columns: a value alone, such as 0, says nothing."""
        pairs = zip(query.keys, key, strict=False)
        return "، ".join(isolated(f"{visible(of.name)} = {self.key(part)}") for of, part in pairs)

    def beyond(self, people: Amount, query: BoundedQuery, /) -> str:
        """How many people had rows in more groups than the cap, or lost groups by the cap on all rows."""
        about_many = f"نحو {ltr(about(people.value))} (± {ltr(about(people.error))})"
        some = about_many if people.low else f"ما لا يزيد على {ltr(about(people.high))}"
        if query.max_rows is not None:
            return f"{some} من {units(query)} لهم صفوف في مجموعات تركت السقوف جميع صفوفهم فيها."
        groups = counted(query.max_groups, GROUP, oblique=True)
        return f"{some} من {units(query)} لهم صفوف في أكثر من {groups}، وتُركت بقية صفوفهم."

    def rows_lost(self, rows: Amount, second: int, query: BoundedQuery, /) -> str:
        """How many rows the caps left out, up to a second cap."""
        most = self._counting(second, query)
        where = " في المجموعات كلها معًا" if query.keys else ""
        if not rows.low:
            return f"تركت السقوف ما لا يزيد على {ltr(about(rows.high))} من الصفوف{where}، {most}."
        some = f"{ltr(about(rows.value))} (± {ltr(about(rows.error))})"
        return f"تركت السقوف ما لا يقل عن نحو {some} من الصفوف{where}، {most}."

    def rows_lost_error(self, error: str, /) -> str:
        """How precisely the number of rows that are left out will be known."""
        return f"سيُعرف عدد الصفوف المتروكة بخطأ {ltr(f'± {error}')} باحتمال {confidence()}."

    def lost_rows(self, second: int, query: BoundedQuery, /) -> str:
        """The name of the measurement of rows that were left out, up to a second cap."""
        return f"الصفوف المتروكة، {self._counting(second, query)}"

    def _counting(self, second: int, query: BoundedQuery) -> str:
        return f"بحساب ما لا يزيد على {counted(second, ROW, oblique=True)} لكل {unit(query)}"

    def clamping(self, both: Clamping, /) -> str:
        """Which bounds of a sum have less noise."""
        rows, person = both.rows, both.person
        found = (
            f"{named(both.column)}: {ltr(f'± {at_most(rows.error)}')} إذا قُصر كل صف ضمن الحدود، {named(rows.sql)}؛ "
            f"و{ltr(f'± {at_most(person.error)}')} إذا قُصر مجموع كل شخص في المجموعة مرة واحدة، {named(person.sql)}، "
            "وتُحسب عندئذ جميع صفوفه فيها."
        )
        if person.error < rows.error:
            return f"{found} قصر المجموع أفضل، ما لم تتجاوز مجاميع كثيرة حدوده."
        if person.error > rows.error:
            return f"{found} قصر الصفوف أفضل، ما لم تُترك صفوف كثيرة."
        return f"{found} قصر المجموع أفضل إذا كانت للأشخاص صفوف أكثر من السقف."

    def together(self, cells: int | None, /) -> str:
        """What an error means where noisy numbers selected or sorted the rows."""
        if cells == 0:
            return "لا يظهر أي عدد، فلا خطأ له."
        measured = "المنشورة" if cells is None else f"المقيسة، وعددها {ltr(number(cells))}،"
        one = " والأخطاء المذكورة هنا لمفتاح منشور واحد، وهي أكبر إذا كثرت المفاتيح." if cells is None else ""
        return (
            f"اختارت أعدادٌ مشوبة بالضوضاء الصفوفَ أو رتبتها، ولذلك تصح الفترات معًا لجميع الخلايا {measured} باحتمال "
            f"{confidence()}؛ ولا يشمل ذلك التحيز الناتج عن القصر ضمن الحدود وعن السقوف.{one}"
        )

    def other_error(self) -> str:
        """Of which row the errors are that are given before a release."""
        return "الأخطاء المذكورة هنا هي أخطاء صف (غير ذلك)، وهو أكثرها ضوضاء؛ وأخطاء الصفوف الأخرى أصغر."

    def weights(self, shares: Sequence[tuple[str, Fraction]], /) -> str:
        """How a question divides its price by weights."""
        return f"يُقسم الثمن بحسب الأوزان: {listed(f'{named(name)} {ltr(percent(part))}' for name, part in shares)}."

    def targets(self, found: Sequence[Met], rows: int | None, /) -> str:
        """Whether the errors of a plan meet the targets of the question."""
        where = "" if rows is None else f"، للمجموعات التي فيها {counted(rows, ROW)}"
        said = [
            f"{named(each.name)} {ltr(f'± {about(each.error)}')} "
            f"({'يحقق' if each.holds else 'لا يحقق'} {ltr(f'± {about(each.target)}')})"
            for each in found
        ]
        return f"يُقسم الثمن بحيث تبعد الأخطاء كلها عن أهدافها بالنسبة نفسها{where}: {listed(said)}."

    def at_rows(self, error: str, rows: int, /) -> str:
        """An error that depends on the number of rows."""
        return f"{ltr(error)} عند {counted(rows, ROW)}"

    def unlimited(self) -> str:
        """The error of a column that only the data limit."""
        return "يتوقف على البيانات"

    def none_left(self, cells: int, /) -> str:
        """What an answer means whose rows were all left out by HAVING, LIMIT or OFFSET."""
        return (
            f"لم تُبقِ {ltr('HAVING')} و{ltr('LIMIT')} و{ltr('OFFSET')} شيئًا من الصفوف المقيسة، وعددها "
            f"{ltr(number(cells))}. وقد دُفع ثمن هذه الإجابة؛ وهي لا تعني أن البيانات فارغة."
        )

    def negative(self, plan: AggregatePlan, /) -> str:
        """Why a count can be below 0, in an answer where one is."""
        if plan.threshold is None:
            return "العدد الذي يقل عن الصفر يعني عددًا دقيقًا صغيرًا: فقد كانت الضوضاء أكبر من العدد نفسه."
        small = "العدد الذي يقل عن الصفر يعني عددًا دقيقًا صغيرًا مع ضوضاء أكبر."
        if isinstance(plan.threshold, PartitionSelection):
            return f"{small} وقد اختير مفتاحه بحسب عدد {units(plan.query)} فيه."
        return f"{small} وقد ظهر مفتاحه لأن عدد {units(plan.query)} فيه، وله ضوضاء أخرى، بلغ العتبة."

    def exposure(self, plan: AggregatePlan, /) -> str:
        """P(L = +∞), the probability that somebody is exposed outright."""
        mass, who = plan.infinite_mass(), unit(plan.query)
        if mass == 0.0:
            return nobody(plan.query)
        often = f"باحتمال لا يتجاوز {ltr(at_most(mass))} (أي {chance(mass)})"
        if plan.shared_delta:
            return (
                f"{often} يظهر مصادفةً مفتاحٌ لا يوجد إلا عند {who} واحد، أو يغيب مفتاحٌ كان ظهوره مؤكدًا لو وُجد عند {who} "
                f"آخر أيضًا: وفي كلتا الحالتين انكشاف تام ل{who} واحد."
            )
        return f"{often} يجتاز العتبةَ مصادفةً مفتاحٌ لا يوجد إلا عند {who} واحد، فيظهر، وفي ذلك انكشاف تام لهذا ال{who}."

    def tail(self, plan: Plan, /) -> str:
        """The finite tail, which degrades gracefully."""
        if plan.finite_tail() > 0.0 and plan.shared_delta:
            return (
                f"ومع بيانات أخرى يغطي ما لا يتجاوز {ltr(at_most(plan.finite_tail()))} من {DELTA} نفسها الضوضاءَ غير "
                "المعتادة، والمفاتيحَ التي تظهر أو تغيب على خلاف الأرجح. وعندئذ قد تتغير نسبة الأرجحية بأكثر من العامل "
                f"{ltr('e^ε')}، لكن بعامل منتهٍ."
            )
        if plan.finite_tail() > 0.0:
            return (
                f"يغطي جزء آخر من {DELTA} قدره {ltr(at_most(plan.finite_tail()))} الضوضاء الكبيرة غير المعتادة. وعندئذ "
                f"تتدهور الخصوصية بلطف: قد تتغير نسبة الأرجحية بأكثر من العامل {ltr('e^ε')}، لكن بعامل منتهٍ دائمًا، "
                "وكلما كبر العامل ندر وقوعه."
            )
        if isinstance(plan.price, ApproximateZeroConcentratedDP) and plan.infinite_mass() > 0.0:
            return (
                f"وفيما عدا ذلك ليس للخسارة سقف ثابت، لكن لها ذيلًا رقيقًا كذيل التوزيع الغاوسي: فـ{ltr('ρ')} تضع حدًا "
                "لاحتمال الخسائر الكبيرة، وكل خسارة منتهية."
            )
        if isinstance(plan.price, GaussianDP):
            return (
                f"ليس للخسارة سقف ثابت، لكن لها ذيلًا كذيل التوزيع الغاوسي: فـ{ltr('μ')} تضع حدًا لاحتمال الخسائر "
                "الكبيرة، وكل خسارة منتهية."
            )
        if isinstance(plan.price, ZeroConcentratedDP | ApproximateZeroConcentratedDP):
            return (
                f"ليس للخسارة سقف ثابت، لكن لها ذيلًا رقيقًا كذيل التوزيع الغاوسي: فـ{ltr('ρ')} تضع حدًا لاحتمال الخسائر "
                "الكبيرة، وكل خسارة منتهية."
            )
        return f"لا ذيل منتهيًا هنا: فالخسارة لا تتجاوز {EPSILON} على أي وجه آخر."

    def shown_keys(self, plan: AggregatePlan, /) -> str:
        """How it was decided which keys are shown."""
        if not plan.query.keys:
            return "ليس في السؤال مجموعات، فللإجابة صف واحد، أيًّا كانت البيانات."
        if plan.threshold is None:
            if plan.query.cells == 1:
                return "أُعلن المفتاح الوحيد مسبقًا. وهو في الإجابة، مع ضوضاء، سواء أكان في البيانات أم لم يكن."
            return (
                f"أُعلنت المفاتيح كلها مسبقًا، وعددها {ltr(number(plan.query.cells or 0))}. وكل منها في الإجابة، مع "
                "ضوضاء، سواء أكان في البيانات أم لم يكن."
            )
        query = plan.query
        chosen, rest = (
            listed(named(key.name) for place, key in enumerate(query.keys) if (place in query.selected) is inside)
            for inside in (True, False)
        )
        whose = f"مفاتيح {chosen} غير علنية" if rest else "المفاتيح غير علنية"
        beside = f"، وله عندئذ صف لكل مفتاح علني من مفاتيح {rest}" if rest else ""
        own = f" {self._counted(plan)}" if plan.counted is not None else ""
        return f"{whose}. ويظهر المفتاح {_when(plan.threshold, query)}{beside}.{own} {self._left_out_keys(plan)}"

    def _counted(self, plan: AggregatePlan) -> str:
        assert plan.counted is not None
        return (
            f"و{named(plan.counted.name)} هو هذا العدد نفسه مع ضوضائه، ويُقاس مرة واحدة. وقرب العتبة يغلب أن يكون أكبر "
            "من العدد الدقيق، فتمتد فترته هناك بعيدًا إلى الأسفل: وهي صحيحة للمفاتيح التي تظهر."
        )

    def _left_out_keys(self, plan: AggregatePlan) -> str:
        if not plan.query.other:
            return "وتُترك المفاتيح الأخرى، ولا يُنشر عددها."
        draws = plan.other_draws
        many = f"عدد سحباتها {ltr(number(draws))}" if draws > 1 else "بسحبة واحدة"
        return (
            "وتجتمع المفاتيح الأخرى كلها في الصف (غير ذلك)، ويُقاس بعد تثبيت المفاتيح الظاهرة، مع ضوضاء كل عمود "
            f"{many}. ولا يُنشر عدد هذه المفاتيح."
        )

    def public(self, query: BoundedQuery, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        limits = [f"سقوف المساهمة: {caps(query)} لكل شخص"] if isinstance(query.unit, Person) else []
        known = [
            f"مفاتيح {named(key.name)}، وهي {counted(len(key.keys), KEY)}: {self._listed(key.keys)}"
            for key in query.keys
            if key.keys is not None
        ]
        clamps = {
            f"حدود {named(term.of.text)}، من {' إلى '.join(map(ltr, ends(term)))}"
            + ("" if term.of.kind in TEMPORAL else f"، وحجم حبيبته، {ltr(step(term.granularity))}"): None
            for term in query.terms
            if term.of is not None and term.quantised is not None
        }
        size = [f"عدد {units(query)}"] if query.relation is Relation.REPLACE_ONE else []
        return ("أسماء الأعمدة وأنواعها، والسؤال نفسه", *size, *limits, *known, *clamps)

    def _listed(self, keys: tuple[Key, ...]) -> str:
        first = listed(isolated(shortened(self.key(key), most=24)) for key in keys[:6])
        return first + (f" و{ltr(number(len(keys) - 6))} غيرها" if len(keys) > 6 else "")

    def moved(self, query: BoundedQuery, /) -> str:
        """A heading: how far one unit moves a number."""
        return f"مقدار ما يغيره {unit(query)} واحد"

    def sensitivity(self, far: Distance, query: BoundedQuery, /) -> str:
        """How far one unit moves what is measured."""
        return (
            f"يغير {unit(query)} واحد العددَ بما لا يتجاوز {ltr(number(far.largest))}، والعمودَ كله بما لا يتجاوز "
            f"{ltr(number(far.l1))} (مجموع المربعات: {ltr(number(far.l2_squared))})، بالحبيبات"
        )

    def in_granules(self, law: str, /) -> str:
        """A law of noise whose scale is in granules."""
        return f"{law}، بالحبيبات"

    def checking(self, query: BoundedQuery, /) -> str:
        """What the symbols of the checks mean."""
        return (
            f"{ltr('Δ')} هي أقصى ما يمكن أن يغير به {unit(query)} واحد عمودًا، بالحبيبات؛ وحجم الضوضاء بالحبيبات أيضًا."
        )

    def exact_sizes(self, sizes: Sequence[tuple[str, str]], /) -> str:
        """The sizes of the noise of the measurements as fractions."""
        return f"الأحجام الدقيقة: {'؛ '.join(f'{measurement(name)}: {ltr(size)}' for name, size in sizes)}."

    def beyond_groups(self, query: BoundedQuery, /) -> str:
        """The name of the measurement of people who had rows in more groups than the cap."""
        return f"{units(query)} ممن تجاوزوا سقف {'الصفوف' if query.max_rows is not None else 'المجموعات'}"

    def checks(self, plan: AggregatePlan, headline: Headline, /) -> tuple[str, ...]:
        """The arithmetic from noise to price: one line per measurement and one for the sum."""
        lines = [f"{measurement(each.measurement.name)}: {_share(each, plan)}" for each in plan.first]
        if plan.beyond is not None:
            lines.append(f"{self.beyond_groups(plan.query)}: {_cost(plan.beyond)}")
        if plan.lost is not None and plan.query.counted_up_to is not None:
            lines.append(f"{self.lost_rows(plan.query.counted_up_to, plan.query)}: {_cost(plan.lost)}")
        if plan.threshold is not None:
            lines.append(f"المفاتيح: {_threshold(plan.threshold, plan[KEYS].distance)}")
        return (*lines, f"معًا: {_together(plan, cast('Kept', headline.promise))}")

    def released(self, release: Release, /) -> str:
        """What was released, in a few words."""
        names = listed(named(column.name) for column in release.plan.columns)
        return f"{names}: {counted(len(release.rows), ROW)}"

    def error_of(self, errors: Sequence[tuple[str, str]], /, *, unmeasured: bool = False) -> str:
        """The error of each column, in a few words."""
        shown = "؛ ".join(f"{named(name)} {ltr(error)}" for name, error in errors)
        return f"{shown} (باحتمال {confidence()}{'؛ لم يُقَس التحيز' if unmeasured else ''})"

    def empty(self, plan: AggregatePlan, /) -> str:
        """What an answer without rows means."""
        least = getattr(plan.threshold, "least", None)
        none = "لم يُختر أي مفتاح." if least is None else f"لم يبلغ أي مفتاح العتبة {ltr(number(least))}."
        return f"{none} وقد دُفع ثمن هذه الإجابة؛ وهي لا تعني أن البيانات فارغة."

    def largest(self, shown: int, total: int, /) -> str:
        """A note that all keys are drawn, or only the largest."""
        if shown == total:
            each = {1: "", 2: " لكل منهما"}.get(total, " لكل منها")
            return f"{counted(total, BAR)}، مع فترة {confidence()}{each}."
        return f"رُسمت أكبر المفاتيح فقط: {ltr(number(shown))} من أصل {ltr(number(total))}."

    def chart(self, names: Sequence[str], /) -> str:
        """The title of a chart of these columns."""
        return f"{listed(map(named, names))}، مع فترات {confidence()}"

    def key(self, part: Key | Rest, /) -> str:
        """A value of a grouping column."""
        match part:
            case Rest.OTHER:
                return "(غير ذلك)"
            case None:
                return "(بلا قيمة)"
            case bool():
                return "صحيح" if part else "خطأ"
            case date():
                return numerals(part.isoformat())
            case int():
                return numerals(str(part))
            case "":
                return "(نص فارغ)"
            case _:
                return visible(str(part))

    def label(self, key: RowKey, /) -> str:
        """A whole key in one line."""
        return " · ".join(map(self.key, key)) if key else "جميع الصفوف"


def _cost(measured: Measurement) -> str:
    """The cost of a measurement of one number."""
    law, far = measured.mechanism, measured.distance
    assert isinstance(law, Noise)
    assert far is not None
    formula, symbol = law.arithmetic
    moved = far.l2_squared if law.euclidean else far.l1
    return ltr(f"{formula.format(moved=number(moved), size=about(law.size))} {_result(law.cost(), symbol)}")


def _share(measured: NoisyTerm, plan: AggregatePlan) -> str:
    """The cost of one measurement, from its sensitivity and its noise."""
    if measured.choice is not None:
        return RankWords().cost(measured.choice, plan)
    law, (formula, symbol) = measured.noise, measured.noise.arithmetic
    moved = measured.distance.l2_squared if law.euclidean else measured.distance.l1
    return ltr(f"{formula.format(moved=number(moved), size=about(law.size))} {_result(law.cost(), symbol)}")


def _when(selected: KeyThreshold, query: BoundedQuery) -> str:
    """When a key is shown."""
    if isinstance(selected, PartitionSelection):
        return (
            f"باحتمال يزداد بازدياد عدد {units(query)} فيه بأسرع ما يسمح به الثمن: ولا يقل عن {confidence()} إذا بلغ "
            f"العدد {ltr(number(selected.error()))}"
        )
    least = ltr(number(selected.least))
    return f"إذا كان عدد {units(query)} فيه، مع الضوضاء ({noise(selected.noise)})، لا يقل عن {least}"


def _threshold(threshold: KeyThreshold, far: Distance | None) -> str:
    if isinstance(threshold, PartitionSelection):
        parts = [f"ε/{number(threshold.keys)}", f"1 − (1 − δ)^(1/{number(threshold.keys)})"]
        epsilon, delta = (at_most(exact(each), digits=6) for each in (threshold.epsilon, threshold.delta))
        sums = ltr(f"ε ≤ {epsilon}, δ ≤ {delta}")
        return f"الاختيار الأمثل، {listed(map(ltr, parts))} لكل مفتاح من {ltr(number(threshold.keys))}، والمجموع {sums}"
    law, (formula, symbol) = threshold.noise, threshold.noise.arithmetic
    assert far is not None  # people are counted
    moved = number(far.l2_squared if law.euclidean else far.l1)
    first = f"{formula.format(moved=moved, size=about(law.size))} {_result(law.cost(), symbol)}"
    single = f"1 − (1 − p)^{threshold.groups} ≤ {at_most(threshold.promise().delta)} = δ"
    chance_of_one = ltr(f"p = P({threshold.each} + Z ≥ {number(threshold.least)})")
    return f"{ltr(first)}؛ {ltr(single)}، حيث {chance_of_one} و{ltr('Z')} هي الضوضاء"


def _together(plan: AggregatePlan, promise: Kept) -> str:
    """The sum of the shares, then the conversion if there is one, then the price."""
    if keys_only(plan):
        return listed([f"المفاتيح وحدها {kept(promise)}", f"ضمن الثمن {kept(plan.price)}"])
    match without_keys(plan):
        case ZeroConcentratedDP(rho):
            steps = [ltr(f"ρ ≤ {at_most(rho, digits=6)}")]
        case GaussianDP(mu):
            steps = [ltr(f"√Σμ² ≤ {at_most(mu, digits=6)}")]
        case PureDP(epsilon):
            steps = [ltr(f"ε ≤ {at_most(epsilon, digits=6)}")]
        case _:
            steps = [RankWords().together()]
    if plan.threshold is not None:
        how = "وعودها" if isinstance(plan.price, ApproximateZeroConcentratedDP) else "خسائرها"
        steps.append(f"ومع المفاتيح {kept(promise)}، بجمع {how}")
    elif isinstance(plan.price, ApproximateDP) and plan.price.delta > 0:
        steps.append(f"أي {kept(promise)}")
    return listed([*steps, f"ضمن الثمن {kept(plan.price)}"])


def _result(share: Fraction, symbol: str) -> str:
    text = at_most(share, digits=6)
    return f"{'=' if at_least(share, digits=6) == text else '≤'} {text} = {symbol}"
