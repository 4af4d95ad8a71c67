"""`sitr demo`: from a file to a certificate, with an invented hospital."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

from sitr.cli import papers, preview
from sitr.cli.options import Json, promise
from sitr.cli.progress import working
from sitr.cli.terminal import console, say_json
from sitr.report.words.messages import said

QUESTION = "SELECT ward, COUNT(*) AS visits, SUM(cost) AS total FROM visits GROUP BY ward"
NEXT_QUESTION = "SELECT age_band, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY age_band"
BUDGET, PRICE = "zcdp(0.5)", "zcdp(0.05)"
STEPS = ("Making up a hospital", "Protecting its patients", "Previewing", "Asking", "Writing the certificate")


def demo(
    directory: Annotated[Path, typer.Option(help="The folder for the files.")] = Path("sitr-demo"),
    rows: Annotated[int, typer.Option(min=1, help="The number of visits to make up.")] = 200_000,
    reconstruction: Annotated[
        bool, typer.Option("--reconstruction", help="Attack invented people instead, with more and more noise.")
    ] = False,
    parties: Annotated[
        int | None, typer.Option(min=3, max=20, help="Add up the numbers of this many processes instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Try Sitr on a made-up hospital.

    Protects its patients, previews a question, asks it, and writes a certificate. Run it again: the same answer is
    shown and nothing is spent.

    With --reconstruction, shows why noise is needed: an attack finds nearly every secret bit of invented people from
    many counts that are too accurate, and fails where the counts keep a promise.

    With --parties, that many processes add up their private numbers without trusting each other, and one drops out.

    Example: sitr demo --directory sitr-demo
    """
    if reconstruction:
        from sitr.cli.reconstruction import show_reconstruction

        show_reconstruction(as_json=as_json)
        return
    if parties is not None:
        from sitr.cli.parties import show_parties

        show_parties(parties, as_json=as_json)
        return
    from sitr.session.dataset import open as open_description
    from sitr.session.sample import SampleFiles

    files = SampleFiles.of(directory)
    data, description, ledger = files.data, files.description, files.ledger
    price = promise(PRICE)
    with _step(0, quiet=as_json):
        made = files.make(rows=rows)
    with _step(1, quiet=as_json):
        files.protect()
    with _step(2, quiet=as_json):
        question = open_description(description).budget().sql(QUESTION)
        expected = question.preview(price)
    if not as_json:
        _say(said(f"The visits of an invented hospital {'are' if made else 'were already'} in {data}."))
        _say(said(f"Their public description is {description}; all answers together may cost {BUDGET}."))
        _say(f"\n{said('A question and its price, before anything is read or spent:')}\n")
        preview.show(expected)
    with _step(3, quiet=as_json):
        answer = question.release(price)
    with _step(4, quiet=as_json):
        certificate = answer.certificate(directory / f"certificate-{answer.receipt.entry.number}.html")
        chart = answer.plot(directory / f"chart-{answer.receipt.entry.number}.svg")
    if as_json:
        paths = {"data": data, "description": description, "ledger": ledger, "certificate": certificate, "chart": chart}
        written = {name: str(path) for name, path in paths.items()}
        say_json({"files": written, "preview": expected.to_dict(), "answer": answer.to_dict()})
        return
    _say(f"\n{said('The answer, after its price was recorded in the ledger:')}\n")
    papers.show(answer, whole=True)
    _say("\n" + said(f"The certificate that explains it is {certificate}, and its chart is {chart}."))
    _say(said("Try next:"))
    _say(f"  sitr ask {shlex.quote(str(description))} \"{NEXT_QUESTION}\" --price 'zcdp(0.02)'")
    _say(f"  sitr ledger show {shlex.quote(str(ledger))}")


def _step(position: int, *, quiet: bool) -> AbstractContextManager[None]:
    return working(f"{STEPS[position]} ({position + 1} of {len(STEPS)})", quiet=quiet)


def _say(line: str) -> None:
    console().print(line, soft_wrap=True)
