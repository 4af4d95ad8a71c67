"""The sentences of histograms, in English."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sitr.dataset.cells import Axis, Categories, Dates, Granular, Rule
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Prefixes, Ranges, Sparse, Tree, Unlisted
from sitr.report.figures import CONFIDENCE, about, at_most, chance, counted, error, number, visible
from sitr.report.words.english.nouns import caps, nobody, noise, unit, units

if TYPE_CHECKING:
    from sitr.questions.histogram.counts import Histogram
    from sitr.questions.histogram.fit import HistogramPlan


@dataclass(frozen=True, slots=True)
class HistogramWords:
    """Counts by cell."""

    def measured(self, plan: HistogramPlan, /) -> str:
        """How the cells were measured."""
        match plan.method:
            case Flat():
                return f"Each of {counted(plan.grid.size, 'public cell')} gets its own noise, including empty cells."
            case Sparse():
                cells = counted(plan.grid.size, "public cell")
                every = f"Each of {cells} gets its own noise, including empty cells: γ is too small to leave any out."
                some = f"Only cells with people get noise. Of {cells}, the empty ones are shown as exactly 0."
                return every if plan.sparse is None else some
            case Tree():
                tree = plan.hierarchy
                assert tree is not None
                levels = " and ".join(number(size) for size in tree.sizes)
                return f"A tree of {levels} sums over neighbouring cells, made consistent by least squares."
            case Prefixes() | Ranges():
                return (
                    f"The sums over all cells up to each of {counted(plan.grid.size, 'public cell')} get correlated "
                    "noise. A range of cells is a difference of such sums, so its error hardly grows with its length."
                )
            case Buckets(share):
                return (
                    f"{_percent(share)} of the price pays for choosing which neighbouring cells to join; each sum is "
                    "spread evenly over its cells."
                )
            case Bins(candidates, share):
                listed = ", ".join(map(number, candidates))
                return f"{_percent(share)} of the price pays for choosing the number of bins among {listed}."
            case Unlisted():
                return (
                    f"The categories are not public. A category is shown if its number of {units(plan.tally.query)}, "
                    f"with noise, is at least {_least(plan)}; the others are left out."
                )

    def outside(self, plan: HistogramPlan, /) -> str:
        """Where rows are counted whose values are in none of the cells; empty if no cell is public."""
        axes = () if plan.tally.grid is None else plan.grid.axes
        return " ".join(filter(None, (sentence for axis in axes for sentence in (_outside(axis), _missing(axis)))))

    def noise(self, plan: HistogramPlan, /) -> str:
        """The law of the noise, and the sensitivity to which it is fitted."""
        what = "replacing" if plan.tally.query.relation is Relation.REPLACE_ONE else "adding or removing"
        who = unit(plan.tally.query)
        if plan.prefixes is not None:
            size, reach = about(plan.prefixes.sigma), at_most(plan.prefixes.sensitivity)
            return (
                f"Gaussian, σ = {size}, correlated, rounded exactly to a fine grid: {what} one {who} moves the counts "
                f"by at most {reach} in the norm of the noise."
            )
        far, law = plan.distance, noise(plan.noise)
        moved = f"√{number(far.l2_squared)} in ℓ₂ norm" if plan.noise.euclidean else f"{number(far.l1)} in ℓ₁ norm"
        return f"{law[0].upper()}{law[1:]}: {what} one {who} moves the counts by at most {moved}."

    def cells(self, axis: Axis, /) -> tuple[str, ...]:
        """The labels of all cells of a column."""
        return tuple(visible(cell.label) for cell in axis.cells())

    def released(self, histogram: Histogram, /) -> str:
        """What was released, in a few words."""
        columns = " and ".join(visible(axis.column.name) for axis in histogram.grid.axes)
        return f"counts by {columns}: {counted(len(histogram.counts), 'cell')}"

    def public(self, plan: HistogramPlan, /) -> tuple[str, ...]:
        """What was assumed to be public knowledge."""
        query = plan.tally.query
        limits = [f"the caps: {caps(query)} for each person"] if isinstance(query.unit, Person) else []
        size = [f"the number of {units(query)}"] if query.relation is Relation.REPLACE_ONE else []
        axes = () if plan.tally.grid is None else plan.tally.grid.axes
        cells = [f"the cells of {visible(axis.column.name)}" for axis in axes]
        total = ["the number of rows"] if plan.sparse is not None else []
        return ("the names and types of the columns, and the question itself", *size, *total, *limits, *cells)

    def error(self, plan: HistogramPlan, /) -> str:
        """The error of a count, which depends only on the law of the noise."""
        far, each = plan.error(confidence=CONFIDENCE), "count" if plan.prefixes is not None else "measured number"
        once = f"Each {each}, taken alone, is within ± {error(far)} of the exact one with 95% probability"
        caps = "; the bias from caps is not measured" if plan.tally.query.unmeasured else ""
        return f"{once}, and is off by {about(plan.mean_noise(), digits=3)} on average{caps}."

    def ranges(self, plan: HistogramPlan, /) -> str:
        """The error of the ranges for which the method was chosen; empty if it was not."""
        if plan.for_ranges is None:
            return ""
        every = "rectangles" if len(plan.grid.axes) > 1 else "ranges of cells"
        what = f"the {counted(len(plan.for_ranges), 'range')} asked for" if plan.for_ranges else f"all {every}"
        return f"The root mean square error of {what} is {about(plan.range_deviation(), digits=3)}."

    def exposure(self, plan: HistogramPlan, /) -> str:
        """P(L = +∞), or the number of people whom a random promise may expose."""
        if plan.sparse is not None:
            return (
                "Anyone who is alone in a cell is exposed outright: everybody sees that somebody is there. This "
                f"happens to at most {at_most(plan.sparse.exposed())} people on average, in the worst population."
            )
        mass = plan.infinite_mass()
        if mass == 0.0:
            return nobody(plan.tally.query)
        return (
            f"With probability at most {at_most(mass)} ({chance(mass)}) a category that only one "
            f"{unit(plan.tally.query)} has passes the threshold by chance and is shown."
        )

    def intervals(self, histogram: Histogram, /) -> str:
        """What the intervals mean, and what they do not."""
        once = "Each interval, taken alone, contains the exact count (after caps) with 95% probability."
        if histogram.starts is not None:
            once += " The count of a joined cell may be anything up to the whole sum."
        if histogram.empty is not None:
            once += " A cell that is exactly 0 has no interval: nobody is there."
        if histogram.plan.threshold is not None:
            once += " This holds before categories are selected: of those shown, counts near the threshold look larger."
        if histogram.processed:
            once += " Intervals follow from the noise alone, so a processed count may lie outside its interval."
        return once

    def out(self, histogram: Histogram, /) -> str:
        """Why a count can be outside its own interval, in a histogram where one is."""
        if histogram.processed or histogram.starts is not None:
            return "A count can lie outside its interval, because intervals follow from the measured numbers alone."
        ends = "0 and the public total" if histogram.total is not None else "0"
        return (
            f"A count can lie outside its interval: noise can push it beyond {ends}, and intervals leave out what no "
            "count can be."
        )

    def digits(self) -> str:
        """How counts are rounded, and where all digits are."""
        return (
            "Counts are rounded to the first two digits of the error, and intervals outward; files, tables and --exact "
            "have all digits."
        )

    def processing(self, histogram: Histogram, /) -> str:
        """What was done with the noisy counts; empty if nothing was."""
        return f"{'; '.join(histogram.processed)}. This costs nothing." if histogram.processed else ""

    def empty(self, plan: HistogramPlan, /) -> str:
        """What a histogram without cells means."""
        return f"No category reached the threshold of {_least(plan)}. This does not mean that the data are empty."

    def known_empty(self) -> str:
        """In place of an interval, where a cell is known to be empty."""
        return "exactly 0"

    def title(self, histogram: Histogram, /) -> str:
        """The title of the chart."""
        caps = " (bias not measured)" if histogram.plan.tally.query.unmeasured else ""
        return f"Histogram of {' and '.join(visible(axis.column.name) for axis in histogram.grid.axes)}{caps}"

    def nothing(self) -> str:
        """What an empty chart says."""
        return "No cell is shown."

    def together(self, cells: int, /) -> str:
        """How many cells share a bar of the chart."""
        return "with 95% intervals" if cells == 1 else f"{number(cells)} neighbouring cells in each bar"

    def density(self, axis: Axis, unit: Fraction, /) -> str:
        """What the heights of bars are if cells differ in width."""
        size = about(unit)
        if isinstance(axis, Dates):
            of = "day" if unit == 1 else f"{size} days"
        else:
            of = f"{'unit' if unit == 1 else size} of {visible(axis.column.name)}"
        return f"Cells differ in width, so heights are counts for every {of}."

    def hollow(self, bars: int, /) -> str:
        """Bars that are left out because no value belongs to them."""
        return f"{counted(bars, 'cell')} without a whole number {'is' if bars == 1 else 'are'} not drawn."

    def largest(self, shown: int, total: int, /) -> str:
        """Whether the chart shows all cells."""
        return "with 95% intervals" if total <= shown else f"the largest {number(shown)} of {number(total)} cells"

    def bars(self, bars: int, note: str, /, *, largest: str = "") -> str:
        """A chart of bars in one sentence."""
        most = f"; the largest is {largest}" if largest else ""
        return f"{number(bars)} bars, {note}{most}."

    def darkest(self, count: str, /) -> str:
        """The largest count in a chart of tiles."""
        return f"the darkest tile is {count}"

    def tiles(self, rows: int, columns: int, count: str, /) -> str:
        """A chart of tiles in one sentence."""
        return f"{number(rows)} by {number(columns)} tiles; the darkest is {count}."


def _outside(axis: Axis) -> str:
    name = visible(axis.column.name)
    if isinstance(axis, Categories):
        values = f"Rows with another {name} than these"
    elif isinstance(axis, Granular):
        return ""  # synthetic rows only
    else:
        low, high = (about(end) if isinstance(end, Fraction) else str(end) for end in axis.ends)
        values = f"Values of {name} below {low} or above {high}"
    match axis.outside:
        case Rule.CLAMP:
            return f"{values} are counted in the first or the last cell."
        case Rule.DROP:
            return f"{values} are left out."
        case Rule.MISSING:
            return f"{values} are counted as missing."
        case Rule.CELL:
            return ""  # the label of the cell says it


def _missing(axis: Axis) -> str:
    left_out = axis.missing is Rule.DROP and not isinstance(axis, Granular)
    return f"Rows without a value in {visible(axis.column.name)} are left out." if left_out else ""


def _least(plan: HistogramPlan) -> str:
    return number(plan.threshold.least if plan.threshold is not None else 0)


def _percent(share: Fraction) -> str:
    return f"{about(Fraction(share) * 100, digits=3)}%"
