"""The measurements of a plan for machines: enough to derive every figure about privacy again, without Sitr.

A program of a few hundred lines does that: `sitr_check.py`, which every certificate offers for download. The JSON of
an answer has all of this under `plan`: `measurements`, and `stages`, null unless an answer chose the noise of a later
one: then the promise is the sum of the prices of all stages, each with its `price` and the places of its
`measurements`. Each measurement has

===========  ===========================================================================================================
name         what is measured
mechanism    its `law` and the parameters of that law, see below; fractions are text, such as "1/3"
promise      what it promises by itself
distance     how far one unit moves the measured numbers, in granules: `l1`, `l2_squared`, `largest`; null where the
             mechanism finds out from the data
moves        from which the distance follows, null where it has none: what one unit may add to the numbers, a list whose
             parts add up. `relation`; what it `counts`, see `sitr.report.evidence.adds`; the caps, `max_groups`,
             `max_rows_per_group` and `max_rows` (null: no other cap), unless a unit counts once; and the number of
             `cells` (null: unknown). Each row adds 0 to 1, or nothing; or a value between the `bounds`, in the unit of
             the column: `low`, `high`, and the `centre` that is subtracted. There may be several such sets of numbers:
             `times`. With `sums`, the numbers are this many sums of the sizes of all differences; with `deviations` J,
             they are the deviations of buckets of 2, 4, …, 2^J cells; rows left out are `counted_up_to` a second cap
granularity  the value of 1 in the unit of the column
error        of the noise at 95% confidence, in the unit of the column; null unless it is additive
===========  ===========================================================================================================

===================  ===================================================================================================
law                  parameters
===================  ===================================================================================================
discrete Laplace     `scale`, `sensitivity` (ℓ1), `granularity`
discrete Gaussian    `sigma`, `sensitivity` (ℓ2), `granularity`, `single`: whether it hides one number only
rounded Gaussian     `sigma`, `sensitivity` (ℓ2), `granularity`
threshold            `noise`, a law from above; `groups` and `each`, of one unit; `least`, the number that is shown
partition selection  `epsilon`, `delta`, `keys`
grouped quantile     `rate`, `level`, `offset`, `each`, `groups`, `cells`, `total`, `inward`, `flip`, `relation`
exponential          `epsilon`, `sensitivity`, `monotone`
shared noise         `price`, which tables share that earlier answers choose
sparse histogram     `noise`, `cells`, `people`
residual Gaussian    `sensitivity`, in rows' worth; `bases`: the `columns` of each by number, the `families` of cells
                     of each column, and `sigma`
prefix Gaussian      `sensitivity`, in the norm of the noise; `bases`: a single one without columns, with `sigma`;
                     `lines`: of each column, how many cells are in a line, of which prefix sums are measured, and how
                     many beside it
===================  ===================================================================================================

The law of any other mechanism is its name in code: nothing can be derived from it.
"""

from __future__ import annotations

from typing import Any

from sitr.mechanisms.additive import Noise
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.prefix_gaussian import PrefixGaussian
from sitr.mechanisms.residual_gaussian import ResidualGaussian
from sitr.mechanisms.shared import SharedNoise
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.threshold import Threshold
from sitr.namespace import Later
from sitr.numbers import Number, exact, upward
from sitr.plans.plan import Measurement, Plan
from sitr.report.envelope import promise_dict
from sitr.report.evidence.adds import Moves
from sitr.report.figures import CONFIDENCE

MOVED = {
    "sitr.questions.aggregate.plan.AggregatePlan": Later("sitr.report.evidence.aggregate"),
    "sitr.questions.auto.plan.AutoPlan": Later("sitr.report.evidence.auto"),
    "sitr.questions.batch.plan.BatchPlan": Later("sitr.report.evidence.batch"),
    "sitr.questions.histogram.fit.HistogramPlan": Later("sitr.report.evidence.histogram"),
    "sitr.questions.suggest.question.SuggestionPlan": Later("sitr.report.evidence.suggest"),
    "sitr.questions.synthetic.plan.SynthesisPlan": Later("sitr.report.evidence.synthetic"),
    "sitr.questions.synthetic.several.SeveralPlan": Later("sitr.report.evidence.several"),
    "sitr.questions.tables.grouping.GroupingPlan": Later("sitr.report.evidence.tables"),
    "sitr.questions.tables.plan.TablesPlan": Later("sitr.report.evidence.tables"),
}
"""The modules whose `moves` says what one unit may add; of other plans, nothing is known beyond the distance."""


def content(plan: Plan) -> dict[str, Any]:
    """The measurements in the order of the plan, and its stages."""
    home = MOVED.get(f"{type(plan).__module__}.{type(plan).__qualname__}")
    moved = [None] * len(plan.measurements) if home is None else home.moves(plan)
    stages = getattr(home, "stages", None)
    return {
        "measurements": [_measurement(each, moves) for each, moves in zip(plan.measurements, moved, strict=True)],
        "stages": stages
        and [{"price": promise_dict(price), "measurements": list(places)} for price, places in stages(plan)],
    }


def _measurement(each: Measurement, moves: Moves) -> dict[str, Any]:
    far, noise = each.distance, getattr(each.mechanism, "noise", each.mechanism)
    return {
        "name": each.name,
        "mechanism": law(each.mechanism),
        "promise": promise_dict(each.mechanism.promise()),
        "distance": far and {"l1": far.l1, "l2_squared": far.l2_squared, "largest": far.largest},
        "moves": moves and [one.to_dict() for one in moves],
        "granularity": _exactly(each.granularity),
        "error": upward(noise.error(confidence=CONFIDENCE) * each.granularity) if isinstance(noise, Noise) else None,
    }


def law(mechanism: Mechanism) -> dict[str, Any]:
    """The law of a mechanism and its parameters."""
    match mechanism:
        case Noise():
            single = {"single": mechanism.single} if hasattr(mechanism, "single") else {}
            numbers = _numbers(mechanism, mechanism.parameter, "sensitivity", "granularity")
            return {"law": mechanism.law, **numbers, **single}
        case Threshold() | GaussianThreshold():
            parameters = {name: getattr(mechanism, name) for name in ("groups", "each", "least")}
            return {"law": "threshold", "noise": law(mechanism.noise), **parameters}
        case PartitionSelection():
            return {"law": "partition selection", **_numbers(mechanism, "epsilon", "delta"), "keys": mechanism.keys}
        case GroupedQuantile():
            whole = {name: getattr(mechanism, name) for name in ("offset", "each", "groups", "cells", "total")}
            whole |= {name: getattr(mechanism, name) for name in ("inward", "flip")}
            numbers = _numbers(mechanism, "rate", "level")
            return {"law": "grouped quantile", **numbers, **whole, "relation": mechanism.relation.value}
        case Exponential():
            numbers = _numbers(mechanism, "epsilon", "sensitivity")
            return {"law": "exponential", **numbers, "monotone": mechanism.monotone}
        case SharedNoise():
            return {"law": "shared noise", "price": promise_dict(mechanism.price)}
        case ResidualGaussian():
            bases = [
                {"columns": list(each.columns), "families": [list(f) for f in each.axes], "sigma": _exactly(each.sigma)}
                for each in mechanism.bases
            ]
            return {"law": "residual Gaussian", "sensitivity": _exactly(mechanism.sensitivity), "bases": bases}
        case PrefixGaussian():
            single = {"columns": [], "families": [], "sigma": _exactly(mechanism.sigma)}
            lines = {"lines": [list(axis) for axis in mechanism.axes]}
            return {"law": "prefix Gaussian", **_numbers(mechanism, "sensitivity"), "bases": [single], **lines}
        case SparseHistogram():
            noise = law(mechanism.noise)
            return {"law": "sparse histogram", "noise": noise, "cells": mechanism.cells, "people": mechanism.people}
    return {"law": type(mechanism).__name__}


def _numbers(mechanism: object, *names: str) -> dict[str, str]:
    return {name: _exactly(getattr(mechanism, name)) for name in names}


def _exactly(number: Number) -> str:
    return str(exact(number))
