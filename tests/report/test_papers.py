"""One paper for each kind of question: made once for an answer, whatever is shown of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

from sitr import questions
from sitr.loss.loss import Loss
from sitr.plans.plan import Plan
from sitr.questions.aggregate.release import Release
from sitr.questions.synthetic.quality_plan import QualityPlan
from sitr.report.papers import PLANNED, RELEASED
from sitr.report.views import views
from sitr.session.answer import Answer
from tests.report.conftest import Certified


@pytest.mark.parametrize("name", ["ungrouped", "gaussian_with_threshold", "many"])
def test_no_view_of_the_loss_is_computed_twice_for_all_papers(
    make: Callable[[str], Release],
    certify: Callable[..., Certified],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    certificate, calls, compute = certify(make(name)), [], Loss.epsilon

    def counted(loss: Loss, **parameters: Any) -> object:
        calls.append(parameters)
        return compute(loss, **parameters)

    monkeypatch.setattr(Loss, "epsilon", counted)
    views.cache_clear()
    answer = Answer(*certificate, request=None)
    assert str(answer)
    assert repr(answer)
    assert answer.to_dict()["headline"]
    assert answer._repr_html_()
    answer.certificate(tmp_path / "certificate.html")
    answer.label(tmp_path / "label.html")
    answer.plot(tmp_path / "chart.svg")
    deltas = [call["delta"] for call in calls]
    assert len(deltas) == len({*deltas})
    assert any(delta == pytest.approx(1e-6) for delta in deltas)


def _kinds(of: type[Plan]) -> Iterator[type[Plan]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)


def test_every_kind_of_plan_has_a_paper() -> None:
    """The quality of synthetic rows is measured with them, or is judged later: it is never previewed alone."""
    for module in walk_packages(questions.__path__, "sitr.questions."):
        import_module(module.name)
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in _kinds(Plan)}
    never = f"{QualityPlan.__module__}.{QualityPlan.__name__}"
    assert {kind for kind in kinds if kind.startswith("sitr.")} - {never} == PLANNED.keys()
    assert all(callable(home.preview) for home in PLANNED.values())


def test_every_release_with_a_paper_exists() -> None:
    for name, home in RELEASED.items():
        module, _, kind = name.rpartition(".")
        assert getattr(import_module(module), kind).__qualname__ == kind
        assert callable(home.answer)
