"""`sitr demo --parties 5`: processes that do not trust each other add up their private numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from sitr.cli.progress import working
from sitr.cli.terminal import say
from sitr.report.figures import at_most
from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.text import terminal
from sitr.report.words.messages import said
from sitr.report.words.words import in_words

if TYPE_CHECKING:
    from sitr.audit.parties import Opened
    from sitr.mechanisms.distributed import DistributedNoise
    from sitr.mechanisms.secret_shares import SecretSharing

EPSILON, AGGREGATORS, MOST = 0.5, 3, 1000
"""The promise, the number of aggregators, and the largest number of patients that a hospital may have."""


def show_parties(parties: int, *, as_json: bool) -> None:
    """Add up invented counts of several hospitals, of which the last drops out, and show what everybody saw."""
    from sitr.audit.parties import add_up
    from sitr.flavors.pure import PureDP
    from sitr.mechanisms.distributed import DistributedNoise
    from sitr.mechanisms.secret_shares import SecretSharing

    noise = DistributedNoise.fitting(PureDP(EPSILON), parties=parties, dropouts=1, colluders=1)
    sharing = SecretSharing(AGGREGATORS, noise.bits(MOST * parties))
    numbers = [(37 * party * party + 113) % MOST for party in range(1, parties + 1)]  # invented
    with working(said("Adding up"), quiet=as_json):
        opened = add_up(numbers, noise, sharing, dropped=[parties - 1])
    say(_shown(opened, numbers, noise, sharing), _dict(opened, noise, sharing), as_json=as_json)


def _shown(opened: Opened, numbers: list[int], noise: DistributedNoise, sharing: SecretSharing) -> Group:
    words = in_words(None)
    headings = [said("hospital"), said("its patients"), *(said(f"share {place + 1}") for place in range(AGGREGATORS))]
    columns = tuple(PaperColumn(heading, Role.NUMBER) for heading in headings)
    rows = [
        tuple(
            words.numerals(one)
            for one in (str(party + 1), str(number), *(str(seen.get(party, "–")) for seen in opened.seen))
        )
        for party, number in enumerate(numbers)
    ]
    before = said(
        f"Each of {noise.parties} processes is a hospital that keeps its count to itself. It adds its share of the "
        f"noise, splits the result into {AGGREGATORS} random shares modulo 2^{sharing.bits}, and sends one to each of "
        f"{AGGREGATORS} other processes, which add up what they receive. The last hospital drops out on the way."
    )
    exact, error = sum(numbers[party] for party in opened.delivered), noise.error(delivered=len(opened.delivered))
    after = [
        said(
            f"The opened total of {len(opened.delivered)} hospitals is {opened.total}, with a 95% error of {error}. "
            f"Their exact total, which is known here only because it is invented, is {exact}."
        ),
        said(
            f"The promise to each patient is ε = {at_most(EPSILON)}, computational (IND-CDP): noise and shares come "
            f"from keyed generators. It holds if at most {noise.dropouts} of the hospitals drops out and at most "
            f"{noise.colluders} of the others, who subtracts its own noise, works together with all but one of the "
            "aggregators."
        ),
        said(
            "Such a coalition sees its own numbers, two columns of shares, which are uniform and independent of all "
            f"counts, and the total. The noise of the other {noise.honest} hospitals is enough to keep the promise."
        ),
    ]
    table = terminal.grid(PaperTable(columns, lambda: rows, len(rows)))
    return Group(Text(before), Text(), table, Text(), *(Text(line) for line in after))


def _dict(opened: Opened, noise: DistributedNoise, sharing: SecretSharing) -> dict[str, object]:
    from sitr.report.envelope import promise_dict

    return {
        "parties": noise.parties,
        "dropouts": noise.dropouts,
        "colluders": noise.colluders,
        "aggregators": sharing.aggregators,
        "bits": sharing.bits,
        "delivered": [party + 1 for party in opened.delivered],
        "total": opened.total,
        "error": noise.error(delivered=len(opened.delivered)),
        "sums": list(opened.sums),
        "promise": promise_dict(opened.promise),
    }
