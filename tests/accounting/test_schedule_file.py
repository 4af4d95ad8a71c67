from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sitr.accounting.curves import LaplaceMoments, SampledGaussian
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.schedule_file import kinds, read_schedule
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.forms.shuffled import ShuffledLaw
from sitr.loss.loss import Loss
from sitr.numbers import exact

TEXT = """
- gaussian: {sigma: 2, sensitivity: 1}
  times: 10
- laplace: {scale: 10, sensitivity: 1}
- pure: {epsilon: 0.1}
- approximate: {epsilon: 1, delta: 1e-6}
- profile: [[1, 1e-3], [2, 1e-6]]
- concentrated: {mu: 0.1, tau: 0.5}
- zero_concentrated: {rho: 0.5, xi: 0.1}
- zero_concentrated: {rho: 0.5}
- renyi: {order: 2, epsilon: 0.1}
- renyi: {orders: {2: 0.1, 8.5: 0.5}}
- response: {epsilon: 1}
  name: survey
- subsampled: {rate: 0.01, step: {pure: {epsilon: 1}}}
  times: 1e3
- subsampled: {rate: 0.01, step: {gaussian: {sigma: 1, sensitivity: 1}}}
"""

SMALLER = PureDP(math.log1p(0.01 * math.expm1(1.0)))


@pytest.fixture
def schedule(tmp_path):
    path = tmp_path / "schedule.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return read_schedule(path)


def test_every_kind_has_its_exact_meaning(schedule):
    sampled = schedule.parts[11].promises
    assert sampled[0].epsilon == pytest.approx(SMALLER.epsilon, rel=1e-14)
    assert [(step.promises, step.times, step.name) for step in schedule.parts] == [
        (step.promises, step.times, step.name)
        for step in (
            Part((GaussianDP(0.5), ConcentratedDP(0.125, 0.5, scales_to_groups=True)), times=10),
            Part((PureDP(0.1), RenyiDP(LaplaceMoments(0.1)))),
            Part((PureDP(0.1),)),
            Part((ApproximateDP(1.0, 1e-6),)),
            Part((PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6))),)),
            Part((ConcentratedDP(0.1, 0.5),)),
            Part((ZeroConcentratedDP(0.5, xi=0.1),)),
            Part((ZeroConcentratedDP(0.5),)),
            Part((RenyiDP.at({2.0: 0.1}),)),
            Part((RenyiDP.at({2.0: 0.1, 8.5: 0.5}),)),
            Part((PureDP(1.0), PureDP(1.0).to_renyi(), PureDP(1.0).to_concentrated()), name="survey"),
            Part(sampled, times=1000),
            Part((RenyiDP(SampledGaussian(0.01, 1.0)),)),
        )
    ]


def test_a_step_has_a_loss_where_its_law_is_known(schedule):
    atoms = PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6))).worst_loss()
    assert atoms is not None
    laws = [None if (loss := step.loss()) is None else loss.laws[0][0] for step in schedule.parts]
    assert laws == [
        GaussianLaw(0.5),
        LaplaceLaw(0.1),
        response(0.1),
        response(1.0, infinite=1e-6),
        atoms.laws[0][0],
        *[None] * 5,
        response(1.0),
        PoissonLaw(response(1.0), 0.01),
        PoissonLaw(GaussianLaw(1.0), 0.01),
    ]


@pytest.mark.parametrize(
    "step",
    [
        {"pure": {"epsilon": 0}},
        {"gaussian": {"sigma": 1, "sensitivity": 0}},
        {"laplace": {"scale": 1, "sensitivity": 0}},
        {"subsampled": {"rate": 0, "step": {"pure": {"epsilon": 1}}}},
    ],
)
def test_a_step_that_tells_nothing_loses_nothing(step):
    assert read_schedule([step]).parts[0].loss() == Loss(())


def test_a_random_step_loses_what_is_inside():
    schedule = read_schedule([{"random": {"gamma": 0.1, "step": {"laplace": {"scale": 1, "sensitivity": 1}}}}])
    assert schedule.inner.parts[0].loss() == Loss.of(LaplaceLaw(1.0))


def test_the_path_may_be_text(tmp_path):
    path = tmp_path / "schedule.yaml"
    path.write_text("- pure: {epsilon: 1}\n", encoding="utf-8")
    assert read_schedule(str(path)) == Schedule((Part((PureDP(1.0),)),))


def test_numbers_are_decimals_not_what_yaml_takes_them_for(tmp_path):
    path = tmp_path / "schedule.yaml"
    path.write_text("- approximate: {epsilon: 010, delta: 1e-6}\n", encoding="utf-8")
    assert read_schedule(path).parts[0].promises == (ApproximateDP(10.0, 1e-6),)


def test_ratios_are_rounded_up():
    noise, spread = read_schedule([{"gaussian": {"sigma": 3, "sensitivity": 1}}]).parts[0].promises
    assert isinstance(noise, GaussianDP)
    assert isinstance(spread, ConcentratedDP)
    assert exact(noise.mu) >= Fraction(1, 3)
    assert exact(spread.mu) >= exact(noise.mu) ** 2 / 2
    assert spread.tau == noise.mu
    laplace, _ = read_schedule([{"laplace": {"scale": 3, "sensitivity": 1}}]).parts[0].promises
    assert isinstance(laplace, PureDP)
    assert Fraction(1, 3) <= exact(laplace.epsilon) < Fraction(1, 3) + Fraction(1, 10**16)


def test_a_decimal_with_too_many_digits_is_rounded_up():
    text = "0.1000000000000000000000001"
    (promise,) = read_schedule([{"pure": {"epsilon": text}}]).parts[0].promises
    assert isinstance(promise, PureDP)
    assert exact(promise.epsilon) >= Fraction(text)


def test_a_random_step_holds_all_its_promises_around_one_gamma():
    assert read_schedule([{"random": {"gamma": 0.05, "step": {"pure": {"epsilon": 1}}}}]).parts == (
        Part((RandomDP(PureDP(1.0), 0.05),)),
    )
    (step,) = read_schedule([{"random": {"gamma": 0.1, "step": {"response": {"epsilon": 1}}}}]).parts
    assert step.exceptions.gamma == 0.1
    assert len(step.promises) == 3
    assert step.inner == read_schedule([{"response": {"epsilon": 1}}]).parts[0]


def test_a_basis_is_finite_sample_unless_it_says_otherwise():
    random = {"gamma": 0.05, "step": {"pure": {"epsilon": 1}}}
    assert read_schedule([{"random": random}]).exceptions.basis is Basis.FINITE_SAMPLE
    assert read_schedule([{"random": {**random, "basis": "finite-sample"}}]).exceptions.basis is Basis.FINITE_SAMPLE
    assert read_schedule([{"random": {**random, "basis": "asymptotic"}}]).exceptions.basis is Basis.ASYMPTOTIC


GOOD = {"pure": {"epsilon": 1}}


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ({"pure": {"epsilon": -1}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": "-1e-9"}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": math.nan}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": "nan"}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": math.inf}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": "-.inf"}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": "1e999"}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": "1e999999999"}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": "9" * 100}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": "1:30"}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": True}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": None}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": [1]}}, "step 2, pure.epsilon"),
        ({"pure": {}}, "step 2, pure.epsilon"),
        ({"pure": {"epsilon": 1, "delta": 0}}, "step 2, pure"),
        ({"pure": 1}, "step 2, pure"),
        ({"pure": None}, "step 2, pure"),
        ({"pure": {1: 1}}, "step 2, pure"),
        ({"approximate": {"epsilon": 1, "delta": 1.1}}, "step 2, approximate.delta"),
        ({"approximate": {"epsilon": 1}}, "step 2, approximate.delta"),
        ({"gaussian": {"sigma": 0, "sensitivity": 1}}, "step 2, gaussian.sigma"),
        ({"gaussian": {"sigma": -2, "sensitivity": 1}}, "step 2, gaussian.sigma"),
        ({"gaussian": {"sigma": 2, "sensitivity": -1}}, "step 2, gaussian.sensitivity"),
        ({"gaussian": {"sigma": 2}}, "step 2, gaussian.sensitivity"),
        ({"gaussian": {"sigma": "1e-300", "sensitivity": "1e300"}}, "step 2, gaussian"),
        ({"gaussian": {"sigma": "1e-9999", "sensitivity": 1}}, "step 2, gaussian"),
        ({"gaussian": {"sigma": "1e-200", "sensitivity": 1}}, "step 2, gaussian"),
        ({"laplace": {"scale": 0, "sensitivity": 1}}, "step 2, laplace.scale"),
        ({"laplace": {"sigma": 1, "sensitivity": 1}}, "step 2, laplace"),
        ({"profile": []}, "step 2, profile"),
        ({"profile": {"epsilon": 1}}, "step 2, profile"),
        ({"profile": [[1, 1e-3], [1]]}, "step 2, profile[2]"),
        ({"profile": [[1, 2]]}, "step 2, profile[1].delta"),
        ({"concentrated": {"mu": 1}}, "step 2, concentrated.tau"),
        ({"zero_concentrated": {"xi": 1}}, "step 2, zero_concentrated.rho"),
        ({"zero_concentrated": []}, "step 2, zero_concentrated"),
        ({"renyi": {"order": 1, "epsilon": 1}}, "step 2, renyi.order"),
        ({"renyi": {"order": "1." + "0" * 30 + "1", "epsilon": 1}}, "step 2, renyi.order"),
        ({"renyi": {"order": 2}}, "step 2, renyi.epsilon"),
        ({"renyi": {"orders": {}}}, "step 2, renyi.orders"),
        ({"renyi": {"orders": {"x": 1}}}, "step 2, renyi.orders.x"),
        ({"renyi": {"orders": {2: -1}}}, "step 2, renyi.orders.2"),
        ({"renyi": {"orders": {2: 1}, "order": 2}}, "step 2, renyi"),
        ({"response": {"epsilon": -1}}, "step 2, response.epsilon"),
        ({"subsampled": {"rate": 1.5, "step": GOOD}}, "step 2, subsampled.rate"),
        ({"subsampled": {"rate": -0.5, "step": GOOD}}, "step 2, subsampled.rate"),
        ({"subsampled": {"rate": 0.5}}, "step 2, subsampled.step"),
        ({"subsampled": {"rate": 0.5, "step": {**GOOD, "times": 2}}}, "step 2, subsampled.step"),
        ({"subsampled": {"rate": 0.5, "step": {"pure": {"epsilon": -1}}}}, "step 2, subsampled.step, pure.epsilon"),
        ({"subsampled": {"rate": 0.5, "step": {"concentrated": {"mu": 1, "tau": 1}}}}, "step 2, subsampled.step"),
        ({"subsampled": {"rate": 0.5, "step": {"zero_concentrated": {"rho": 1}}}}, "step 2, subsampled.step"),
        ({"subsampled": {"rate": 0.5, "step": {"renyi": {"order": 2, "epsilon": 1}}}}, "step 2, subsampled.step"),
        ({"subsampled": {"rate": 0.5, "step": {"random": {"gamma": 0, "step": GOOD}}}}, "the schedule"),
        ({"random": {"gamma": 1.5, "step": GOOD}}, "step 2, random.gamma"),
        ({"random": {"gamma": 0.1, "basis": "limit", "step": GOOD}}, "step 2, random.basis"),
        ({"random": {"gamma": 0.1, "basis": ["asymptotic"], "step": GOOD}}, "step 2, random.basis"),
        ({"random": {"gamma": 0.1, "step": {"random": {"gamma": 0.1, "step": GOOD}}}}, "step 2, random.step"),
        ({**GOOD, "times": 0}, "step 2, times"),
        ({**GOOD, "times": -1}, "step 2, times"),
        ({**GOOD, "times": 1.5}, "step 2, times"),
        ({**GOOD, "times": 10**9}, "step 2, times"),
        ({**GOOD, "times": "many"}, "step 2, times"),
        ({**GOOD, "times": True}, "step 2, times"),
        ({**GOOD, "name": 1}, "step 2, name"),
        ({**GOOD, "note": "x"}, "step 2"),
        ({**GOOD, "response": {"epsilon": 1}}, "step 2"),
        ({"times": 3}, "step 2"),
        ({}, "step 2"),
        ("pure", "step 2"),
        (None, "step 2"),
    ],
)
def test_a_mistake_is_refused_with_its_place(item, place):
    with pytest.raises(InvalidPromise) as refusal:
        read_schedule([GOOD, item])
    assert refusal.value.wanted.endswith(f" in {place}")
    assert str(refusal.value).startswith(f"Expected {refusal.value.wanted}, got {refusal.value.given}. ")
    assert refusal.value.do.endswith(".")


@pytest.mark.parametrize("content", [[], None, 5, {"pure": {"epsilon": 1}}])
def test_a_plan_is_a_list_that_is_not_empty(content):
    with pytest.raises(InvalidPromise, match="a list of steps in the schedule"):
        read_schedule(content)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words",
        "- pure: {epsilon: 1",
        "- pure: {epsilon: 1}\n  pure: {epsilon: 2}",
        "- pure: {epsilon: 1, epsilon: 2}",
        "- ? [a]\n  : 1",
        "- pure: {epsilon: .nan}",
        "- &a {subsampled: {rate: 1, step: *a}}",
        "[" * 500,
        "\x00",
        "- pure: {epsilon: .inf}",
        "- pure: {epsilon: yes}",
    ],
)
def test_hostile_files_are_refused(text, tmp_path):
    path = tmp_path / "schedule.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidPromise):
        read_schedule(path)


def test_tags_are_text_and_are_never_carried_out(tmp_path):
    path = tmp_path / "schedule.yaml"
    path.write_text("- pure: {epsilon: !!python/object/apply:os.abort []}", encoding="utf-8")
    with pytest.raises(InvalidPromise, match=r"pure\.epsilon"):
        read_schedule(path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "schedule.yaml"
    path.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidPromise):
        read_schedule(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidPromise, match=r"none\.yaml"):
        read_schedule(tmp_path / "none.yaml")


def test_long_contents_are_cut_in_messages():
    with pytest.raises(InvalidPromise) as refusal:
        read_schedule([{"pure": {"epsilon": "x" * 1000}}])
    assert len(str(refusal.value)) < 300


def test_the_kinds_are_those_of_the_documentation():
    assert list(kinds()) == [
        "gaussian",
        "laplace",
        "response",
        "finite",
        "subsampled",
        "shuffled",
        "random",
        "profile",
        "renyi",
        "zero_concentrated",
        "pure",
        "approximate",
        "zcdp",
        "approximate_zcdp",
        "concentrated",
    ]


SAMPLED = {"subsampled": {"rate": 0.1, "step": {"pure": {"epsilon": 1}}}}


@pytest.mark.parametrize(
    "steps",
    [
        [{"random": {"gamma": 0.001, "step": SAMPLED}}],
        [{"random": {"gamma": 0.001, "step": {"pure": {"epsilon": 1}}}}, SAMPLED],
    ],
)
def test_sampling_and_random_promises_are_about_different_neighbours(steps: list[object]) -> None:
    # A sum of x in [−1, 1] with Laplace noise 1 on a sample of a tenth: replacing 1 by −1 may lose 0.2239, not 0.1586.
    with pytest.raises(InvalidPromise, match="either sampled or random steps"):
        read_schedule(steps)


SHUFFLED = {"shuffled": {"people": 1000, "step": {"laplace": {"scale": 1, "sensitivity": 2}}}}


def test_shuffled_answers_keep_their_promise_and_lose_less() -> None:
    (step,) = read_schedule([SHUFFLED]).parts
    assert step.promises == (PureDP(2.0),)
    assert step.loss() == Loss.of(ShuffledLaw(2.0, 1000))
    (nothing,) = read_schedule([{"shuffled": {"people": 5, "step": {"pure": {"epsilon": 0}}}}]).parts
    assert nothing.loss() == Loss(())


@pytest.mark.parametrize(
    ("step", "place"),
    [
        ({"shuffled": {"people": 0, "step": GOOD}}, "step 1, shuffled.people"),
        ({"shuffled": {"people": 1.5, "step": GOOD}}, "step 1, shuffled.people"),
        ({"shuffled": {"people": 10}}, "step 1, shuffled.step"),
        ({"shuffled": {"people": 10, "step": {"gaussian": {"sigma": 1, "sensitivity": 1}}}}, "step 1, shuffled.step"),
        ({"shuffled": {"people": 10, "step": {"approximate": {"epsilon": 1, "delta": 0.1}}}}, "step 1, shuffled.step"),
        ({"shuffled": {"people": 10, "step": SHUFFLED}}, "step 1, shuffled.step"),
        ({"shuffled": {"people": 10, "step": SAMPLED}}, "sampled or shuffled steps"),
        ({"subsampled": {"rate": 0.1, "step": SHUFFLED}}, "sampled or shuffled steps"),
    ],
)
def test_what_cannot_be_shuffled(step: dict[str, object], place: str) -> None:
    with pytest.raises(InvalidPromise, match=place):
        read_schedule([step])


def test_finite_pairs_are_steps() -> None:
    schedule = read_schedule([{"finite": {"p": ["3/4", "1/4"], "q": [0.25, "0.75"]}, "times": 3}])
    (part,) = schedule.parts
    assert [type(promise).__name__ for promise in part.promises] == ["PureDP", "ZeroConcentratedDP", "ConcentratedDP"]
    loss, same = schedule.loss(), read_schedule([{"response": {"epsilon": 1.0986122886681098}, "times": 3}]).loss()
    assert loss is not None
    assert same is not None
    assert loss.epsilon(delta=1e-3).upper == pytest.approx(same.epsilon(delta=1e-3).upper, rel=1e-9)
    (leaky,) = read_schedule([{"finite": {"p": [0.9, 0.1, 0], "q": [0.9, 0, 0.1]}}]).parts
    assert str(leaky.promises) == "(ApproximateDP(epsilon=0.0, delta=0.1),)"
    (same_laws,) = read_schedule([{"finite": {"p": [0.5, 0.5], "q": [0.5, 0.5]}}]).parts
    assert str(same_laws.promises) == "(PureDP(epsilon=0.0),)"


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.4], [0.5, 0.5], "add up to exactly 1"),
        ([1], [0.5, 0.5], "equal length"),
        ([], [1], "a list of probabilities"),
        (["1/0", 1], [1, 0], "a number above 0"),
        ([-1, 2], [1, 0], "at least 0"),
    ],
)
def test_what_is_no_finite_pair(p: object, q: object, message: str) -> None:
    with pytest.raises(InvalidPromise, match=message):
        read_schedule([{"finite": {"p": p, "q": q}}])
