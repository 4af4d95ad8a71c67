"""The sentences about joins of protected tables, in Arabic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Paid
from sitr.report.words.arabic.marks import ltr, named
from sitr.report.words.arabic.meaning import kept
from sitr.report.words.arabic.nouns import ROW, counted


@dataclass(frozen=True, slots=True)
class JoinWords:
    """What joins of protected tables read, protect and cost."""

    def met(self, most: int, /) -> str:
        """How many rows can be matched."""
        return (
            f"يمكن أن يُطابَق لكل شخص في كل جدول {counted(most, ROW)} على الأكثر؛ وما زاد على ذلك يُترك عشوائيًا. ولم يُقَس "
            "من كم شخص تُرك شيء."
        )

    def protected(self, names: Sequence[str], /) -> str:
        """Whom the promise protects where several tables are joined."""
        return (
            f"يضم السؤال الجداول المحمية {' و'.join(map(named, names))}. ويسري الوعد على صفوف الشخص في كل جدول منها، "
            "وفيها كلها معًا."
        )

    def paid(self, paid: Paid, /) -> str:
        """What was charged to another budget, and what is left of it."""
        left, whole = kept(paid.standing.remaining(), left=True), kept(paid.standing.promise)
        entry = f"{named(paid.dataset)}، القيد {ltr(str(paid.entry.number))}"
        return f"{entry}: {kept(paid.entry.price)}؛ وبقي {left} من {whole}"

    def would_pay(self, dataset: str, charge: Kept, now: Filter, then: Filter | None, /) -> str:
        """What would be charged to another budget; `then` is None if it cannot pay."""
        left, charged = kept(now.remaining(), left=True), kept(charge)
        if then is None:
            return f"{named(dataset)}: {charged}، لكن لم يبق إلا {left}"
        return f"{named(dataset)}: {charged}؛ المتبقي الآن {left}، وبعدها {kept(then.remaining(), left=True)}"

    def explained(self, name: str, on: str, most: int, outer: bool, /) -> str:
        """What is matched, in the tree of a question."""
        rows = f"{counted(most, ROW)} على الأكثر لكل شخص في كل جدول"
        without = "، والصفوف التي لا مقابل لها" if outer else ""
        return f"صفوف الشخص نفسه في {named(name)} حيث {named(on)}: {rows}{without}"
