"""Sitr and the other accountants, each with its default settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.cases import Calibration, Case, Mixture, Schedule, Training

Answer = tuple[float, float]
"""The claim: at least the first number (−∞ if nothing is claimed), at most the second."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One accountant: the modules to import before the clock starts, and the questions it can answer."""

    name: str
    modules: tuple[str, ...]
    training: Callable[[Training], Answer]
    mixture: Callable[[Mixture], Answer] | None = None
    calibration: Callable[[Calibration], Answer] | None = None
    schedule: Callable[[Schedule], Answer] | None = None

    def ask(self, case: Case) -> Callable[[], Answer] | None:
        """A function to be timed; None if this accountant cannot answer the question."""
        match case:
            case Training():
                return partial(self.training, case)
            case Mixture():
                return partial(self.mixture, case) if self.mixture else None
            case Schedule():
                return partial(self.schedule, case) if self.schedule else None
            case Calibration():
                return partial(self.calibration, case) if self.calibration else None


# Sitr


def _sitr_loss(rate: float, sigma: float, steps: int) -> Any:
    from sitr.loss.forms.gaussian import GaussianLaw
    from sitr.loss.forms.sampled import PoissonLaw
    from sitr.loss.loss import Loss

    return Loss.of(PoissonLaw(GaussianLaw(1 / sigma), rate), steps)


def _sitr_training(case: Training, *, relative: float) -> Answer:
    found = _sitr_loss(case.rate, case.sigma, case.steps).epsilon(delta=case.delta, relative=relative)
    return found.lower, found.upper


def _sitr_mixture(case: Mixture, *, relative: float) -> Answer:
    from sitr.loss.forms.finite import response
    from sitr.loss.forms.gaussian import GaussianLaw
    from sitr.loss.forms.laplace import LaplaceLaw
    from sitr.loss.loss import Loss

    parts = [
        *(Loss.of(GaussianLaw(1 / sigma)) for sigma in case.sigmas()),
        *(Loss.of(LaplaceLaw(1 / scale)) for scale in case.scales()),
        *(_sitr_loss(rate, sigma, 1) for rate, sigma in case.sampled()),
        *(Loss.of(response(epsilon)) for epsilon in case.responses()),
    ]
    found = Loss.compose(parts).epsilon(delta=case.delta, relative=relative)
    return found.lower, found.upper


def _sitr_schedule(case: Schedule) -> Answer:
    from sitr.loss.loss import Loss

    found = Loss.compose([_sitr_loss(case.rate, sigma, 1) for sigma in case.sigmas()]).epsilon(delta=case.delta)
    return found.lower, found.upper


def _sitr_calibration(case: Calibration) -> Answer:
    import sitr

    target = sitr.ApproximateDP(case.epsilon, case.delta)
    calibrate: Any = sitr.calibrate
    sigma = float(calibrate(lambda sigma: _sitr_loss(case.rate, sigma, case.steps), target))
    return sigma, sigma


# dp-accounting


def _dp_accounting_event(rate: float, sigma: float, steps: int) -> Any:
    import dp_accounting

    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    return dp_accounting.SelfComposedDpEvent(step, steps)


def _dp_accounting_training(case: Training) -> Answer:
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant()
    accountant.compose(_dp_accounting_event(case.rate, case.sigma, case.steps))
    return -math.inf, float(accountant.get_epsilon(case.delta))


def _dp_accounting_mixture(case: Mixture) -> Answer:
    from dp_accounting.pld import privacy_loss_distribution as pld

    parts = [
        *(pld.from_gaussian_mechanism(sigma) for sigma in case.sigmas()),
        *(pld.from_laplace_mechanism(scale) for scale in case.scales()),
        *(pld.from_gaussian_mechanism(sigma, sampling_prob=rate) for rate, sigma in case.sampled()),
        *(pld.from_randomized_response(2 / (math.exp(epsilon) + 1), 2) for epsilon in case.responses()),
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return -math.inf, float(total.get_epsilon_for_delta(case.delta))


def _dp_accounting_calibration(case: Calibration) -> Answer:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    sigma = dp_accounting.calibrate_dp_mechanism(
        PLDAccountant,
        lambda sigma: _dp_accounting_event(case.rate, sigma, case.steps),
        case.epsilon,
        case.delta,
        dp_accounting.ExplicitBracketInterval(0.5, 10.0),
        tol=1e-3,
    )
    return float(sigma), float(sigma)


# prv-accountant


def _prv_training(case: Training, *, error: float | None) -> Answer:
    from prv_accountant.dpsgd import DPSGDAccountant

    accountant = DPSGDAccountant(
        case.sigma, case.rate, case.steps, eps_error=error or case.error, delta_error=case.delta / 1000
    )
    low, _, high = accountant.compute_epsilon(case.delta, case.steps)
    return float(low), float(high)


def _prv_mixture(case: Mixture) -> Answer:
    import prv_accountant as prv

    parts = [
        *(prv.GaussianMechanism(sigma) for sigma in case.sigmas()),
        *(prv.LaplaceMechanism(1 / scale) for scale in case.scales()),
        *(prv.PoissonSubsampledGaussianMechanism(rate, sigma) for rate, sigma in case.sampled()),
        *(prv.PureDPMechanism(epsilon) for epsilon in case.responses()),
    ]
    accountant = prv.PRVAccountant(parts, eps_error=0.1, delta_error=case.delta / 1000)
    low, _, high = accountant.compute_epsilon(case.delta, [1] * len(parts))
    return float(low), float(high)


def _prv_calibration(case: Calibration) -> Answer:
    from prv_accountant.dpsgd import find_noise_multiplier

    sigma = float(find_noise_multiplier(case.rate, case.steps, case.epsilon, case.delta, eps_error=0.1))
    return sigma, sigma


# autodp


def _autodp_training(case: Training) -> Answer:
    from autodp.mechanism_zoo import NoisySGD_Mechanism

    return -math.inf, float(NoisySGD_Mechanism(case.rate, case.sigma, case.steps).get_approxDP(case.delta))


# Opacus


def _opacus_training(case: Training, *, accountant: str) -> Answer:
    from opacus.accountants import create_accountant

    chosen = create_accountant(accountant)
    chosen.history = [(case.sigma, case.rate, case.steps)]
    return -math.inf, float(chosen.get_epsilon(delta=case.delta))


def _opacus_calibration(case: Calibration, *, accountant: str) -> Answer:
    from opacus.accountants.utils import get_noise_multiplier

    sigma = get_noise_multiplier(
        target_epsilon=case.epsilon,
        target_delta=case.delta,
        sample_rate=case.rate,
        steps=case.steps,
        accountant=accountant,
    )
    return float(sigma), float(sigma)


def _opacus(name: str, accountant: str, *modules: str) -> Subject:
    return Subject(
        name,
        ("opacus.accountants.utils", *modules),
        partial(_opacus_training, accountant=accountant),
        calibration=partial(_opacus_calibration, accountant=accountant),
    )


SITR = "Sitr"
FINE = "Sitr, 1e-5"
DP_ACCOUNTING = "dp-accounting, loss"
PRV = "prv-accountant"
PRV_NARROW = "prv-accountant, 1e-3"
_OWN = ("sitr.loss.loss", "sitr.loss.forms.sampled", "sitr.loss.forms.finite", "sitr.loss.forms.laplace")

SUBJECTS: tuple[Subject, ...] = (
    Subject(
        SITR,
        (*_OWN, "sitr.flavors.approximate", "sitr.accounting.calibrate"),
        partial(_sitr_training, relative=1e-3),
        partial(_sitr_mixture, relative=1e-3),
        _sitr_calibration,
        _sitr_schedule,
    ),
    Subject(FINE, _OWN, partial(_sitr_training, relative=1e-5), partial(_sitr_mixture, relative=1e-5)),
    Subject(
        DP_ACCOUNTING,
        ("dp_accounting", "dp_accounting.pld"),
        _dp_accounting_training,
        _dp_accounting_mixture,
        _dp_accounting_calibration,
    ),
    Subject(PRV, ("prv_accountant.dpsgd",), partial(_prv_training, error=0.1), _prv_mixture, _prv_calibration),
    Subject(PRV_NARROW, ("prv_accountant.dpsgd",), partial(_prv_training, error=None)),
    Subject("autodp, Rényi", ("autodp.mechanism_zoo",), _autodp_training),
    _opacus("Opacus, loss", "prv"),
    _opacus("Opacus, Rényi", "rdp"),
    _opacus("Opacus, Gaussian limit", "gdp"),
    _opacus("Opacus with Sitr", "sitr", "sitr.interop.opacus"),
)
BY_NAME = {subject.name: subject for subject in SUBJECTS}
