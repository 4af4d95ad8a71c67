"""Opacus trains, Sitr accounts. Skipped where the extra `opacus`, which brings torch, is not installed."""

from __future__ import annotations

import doctest
import importlib
import math
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from sitr.errors import InvalidPromise
from sitr.loss.loss import Loss

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # other libraries' own, while they are imported
    opacus = pytest.importorskip("opacus", reason="the extra `opacus` is not installed", exc_type=ModuleNotFoundError)
    torch = importlib.import_module("torch")
    ours: Any = importlib.import_module("sitr.interop.opacus")
    theirs: Any = importlib.import_module("opacus.accountants")
    calibration: Any = importlib.import_module("opacus.accountants.utils")

pytestmark = pytest.mark.filterwarnings("ignore")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "interop.md"
KNOWN = 10.05363477
"""ε for σ = 0.8, q = 0.01 and 10,000 steps at δ = 1e-5."""


def trainable(examples: int = 64, batch: int = 8) -> dict[str, Any]:
    torch.manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(examples, 3), torch.randint(0, 2, (examples,)))
    module = torch.nn.Linear(3, 2)
    return {
        "module": module,
        "optimizer": torch.optim.SGD(module.parameters(), lr=0.1),
        "data_loader": torch.utils.data.DataLoader(data, batch_size=batch),
    }


def train(module: Any, optimizer: Any, data_loader: Any, *, epochs: int) -> None:
    for _ in range(epochs):
        for values, labels in data_loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(values), labels).backward()
            optimizer.step()


def test_the_accountant_is_registered() -> None:
    assert type(theirs.create_accountant("sitr")) is ours.SitrAccountant
    assert ours.SitrAccountant.mechanism() == "sitr"


def test_steps_are_remembered_as_others_remember_them() -> None:
    one, other = ours.SitrAccountant(), theirs.PRVAccountant()
    for noise, rate in [(1.0, 0.1)] * 3 + [(2.0, 0.1)] * 2 + [(1.0, 0.1)] + [(1.0, 0.2)] * 4:
        one.step(noise_multiplier=noise, sample_rate=rate)
        other.step(noise_multiplier=noise, sample_rate=rate)
    assert one.history == other.history == [(1.0, 0.1, 3), (2.0, 0.1, 2), (1.0, 0.1, 1), (1.0, 0.2, 4)]
    assert len(one) == len(other) == 4


def test_the_interval_holds_the_known_value_and_its_upper_end_is_promised() -> None:
    accountant = ours.SitrAccountant()
    accountant.history = [(0.8, 0.01, 10_000)]
    assert KNOWN in accountant.get_bounds(1e-5)
    assert accountant.get_bounds(1e-5).width < 2e-3
    assert accountant.get_epsilon(1e-5) == accountant.get_bounds(1e-5).upper
    assert accountant.get_bounds(1e-5, relative=1e-5).width < accountant.get_bounds(1e-5, relative=1e-2).width


def test_history_split_in_two_is_the_same_history() -> None:
    one, other = ours.SitrAccountant(), ours.SitrAccountant()
    one.history, other.history = [(0.8, 0.01, 1000)], [(0.8, 0.01, 400), (0.8, 0.01, 600)]
    assert one.loss() == other.loss()


def test_another_accountant_agrees() -> None:
    one, other = ours.SitrAccountant(), theirs.PRVAccountant()
    one.history = other.history = [(1.1, 0.01, 500), (0.9, 0.02, 200)]
    upper = other.get_epsilon(1e-5, eps_error=0.01)
    assert one.get_bounds(1e-5).lower <= upper <= one.get_bounds(1e-5).upper + 0.03


def test_state_goes_out_and_comes_in() -> None:
    one, other = ours.SitrAccountant(), ours.SitrAccountant()
    one.history = [(1.0, 0.1, 3)]
    state = one.state_dict()
    assert state == {"history": [(1.0, 0.1, 3)], "mechanism": "sitr"}
    one.step(noise_multiplier=1.0, sample_rate=0.1)
    other.load_state_dict(state)
    assert other.history == [(1.0, 0.1, 3)]
    with pytest.raises(ValueError, match="prv"):
        one.load_state_dict({"history": [], "mechanism": "prv"})


def test_nothing_done_and_nothing_hidden() -> None:
    accountant = ours.SitrAccountant()
    assert accountant.loss() == Loss(())
    assert accountant.get_epsilon(1e-5) == 0.0
    accountant.step(noise_multiplier=0.0, sample_rate=0.1)
    assert accountant.get_epsilon(1e-5) == math.inf


@pytest.mark.parametrize("history", [(-1.0, 0.1, 1), (1.0, 1.5, 1), (1.0, 0.1, -1), (math.nan, 0.1, 1)])
def test_a_history_that_cannot_be_is_refused(history: tuple[float, float, int]) -> None:
    accountant = ours.SitrAccountant()
    accountant.history = [history]
    with pytest.raises(InvalidPromise):
        accountant.get_epsilon(1e-5)


def test_an_engine_trains_with_it() -> None:
    engine = opacus.PrivacyEngine(accountant="sitr")
    module, optimizer, loader = engine.make_private(**trainable(), noise_multiplier=1.0, max_grad_norm=1.0)
    train(module, optimizer, loader, epochs=2)
    assert engine.accountant.history == [(1.0, 1 / 8, 16)]
    bounds = engine.accountant.get_bounds(1e-5)
    assert 0.0 < bounds.lower <= bounds.upper == engine.get_epsilon(1e-5)


def test_an_engine_finds_the_noise_for_a_target() -> None:
    engine = opacus.PrivacyEngine(accountant="sitr")
    module, optimizer, loader = engine.make_private_with_epsilon(
        **trainable(), target_epsilon=3.0, target_delta=1e-5, epochs=2, max_grad_norm=1.0
    )
    train(module, optimizer, loader, epochs=2)
    assert engine.accountant.history == [(optimizer.noise_multiplier, 1 / 8, 16)]
    assert 2.98 < engine.get_epsilon(1e-5) <= 3.0


@pytest.mark.parametrize("target", [0.1, 1.0, 60.0])
def test_halving_ends_at_every_target(target: float) -> None:
    found = calibration.get_noise_multiplier(
        target_epsilon=target, target_delta=1e-5, sample_rate=0.01, steps=10_000, accountant="sitr"
    )
    accountant = ours.SitrAccountant()
    accountant.history = [(found, 0.01, 10_000)]
    assert target - 0.01 <= accountant.get_epsilon(1e-5) <= target


def test_a_checkpoint_carries_the_history(tmp_path: Path) -> None:
    first = opacus.PrivacyEngine(accountant="sitr")
    module, optimizer, loader = first.make_private(**trainable(), noise_multiplier=1.0, max_grad_norm=1.0)
    train(module, optimizer, loader, epochs=1)
    first.save_checkpoint(path=tmp_path / "run", module=module, optimizer=optimizer)
    second = opacus.PrivacyEngine(accountant="sitr")
    module, optimizer, loader = second.make_private(**trainable(), noise_multiplier=1.0, max_grad_norm=1.0)
    second.load_checkpoint(path=tmp_path / "run", module=module, optimizer=optimizer)
    assert second.accountant.history == [(1.0, 1 / 8, 8)]
    assert second.get_epsilon(1e-5) == first.get_epsilon(1e-5)


def test_the_examples_of_the_module_are_right() -> None:
    found = doctest.testmod(ours, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.attempted
    assert not found.failed


def test_the_examples_of_the_document_run() -> None:
    examples = re.findall(r"^```py\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    assert examples
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, str(DOCUMENT), "exec"), names)
    assert names["bounds"].upper <= 3.0
