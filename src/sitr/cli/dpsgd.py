"""`sitr dpsgd`: the privacy loss of training with noisy gradients, or the noise that it needs."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.papers import Plot, check_plot, draw
from sitr.cli.progress import working
from sitr.cli.terminal import say
from sitr.errors import BadUsage


def dpsgd(
    examples: Annotated[int, typer.Option(help="The number of examples.")],
    batch: Annotated[int, typer.Option(help="The average batch size.")],
    epochs: Annotated[float, typer.Option(help="How often each example is used, on average.")],
    delta: Annotated[float, typer.Option(help="The δ to meet, well below 1/examples.")],
    sigma: Annotated[float | None, typer.Option(help="The noise multiplier: report ε for it.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The ε to meet: find the least noise for it.")] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Report the privacy loss of DP-SGD, or find its noise.

    Batches are Poisson samples. Neighbouring data sets differ by adding or removing one example.

    Example: sitr dpsgd --examples 60000 --batch 256 --epochs 60 --sigma 1.1 --delta 1e-5
    """
    from sitr.accounting.calibrate import calibrate
    from sitr.accounting.training import Training
    from sitr.flavors.approximate import ApproximateDP
    from sitr.loss.law import check
    from sitr.report.account import AccountedLoss, render, training_rows
    from sitr.report.chart.account import chart
    from sitr.report.figures import about
    from sitr.report.words.words import in_words

    if (sigma is None) == (epsilon is None):
        raise BadUsage(
            wanted="either --sigma, to report ε, or --epsilon, to find σ",
            given="neither" if sigma is None else "both",
            do="Write for example --sigma 1.1, or --epsilon 3.",
        )
    check_plot(plot)
    check(delta, "delta", above=0.0, below=1.0)
    with working("Adding losses", quiet=as_json):
        training = Training(examples, batch, epochs, 1.0 if sigma is None else sigma)
        if epsilon is not None:
            target = ApproximateDP(epsilon, delta)
            training = replace(training, sigma=calibrate(lambda value: replace(training, sigma=value).loss(), target))
        found = AccountedLoss.at_delta(training.loss(), delta, proved=inf if epsilon is None else epsilon)
    headline = found.headline()
    if epsilon is not None:
        headline = in_words().accounting.with_sigma(headline, about(training.sigma))
    content = {
        "examples": examples,
        "batch": batch,
        "epochs": epochs,
        "rate": float(training.rate),
        "steps": training.steps,
        "sigma": float(training.sigma),
    }
    say(render(headline, training_rows(training, found)), content | found.to_dict(), as_json=as_json)
    draw(plot, lambda: chart(found.loss, delta=found.largest_delta), as_json=as_json)
