"""The sentences about certificates that were verified, in Arabic."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.ledger.entry import Entry
from sitr.report.words.arabic.marks import code, ltr, named
from sitr.report.words.arabic.nouns import KEY, RECORD, counted


@dataclass(frozen=True, slots=True)
class VerifyWords:
    """What a ledger says about a certificate."""

    def valid(self, entry: Entry, /) -> str:
        """The page is as it was written."""
        return f"صحيحة: هذه الشهادة تعود إلى {_entry(entry)}، ولم يطرأ عليها تغيير."

    def altered(self, entry: Entry, /) -> str:
        """The page was changed, in what readers see or elsewhere."""
        return f"محرَّفة: تشير هذه الشهادة إلى {_entry(entry)}، لكنها ليست كما كتبها {code('Sitr')}. فلا تثق بأرقامها."

    def unknown(self, number: int, /) -> str:
        """There is no such entry."""
        return f"قيد مجهول: تشير هذه الشهادة إلى القيد {ltr(str(number))}، وهو غير موجود في السجل."

    def other(self, number: int, /) -> str:
        """The page names an entry of another ledger."""
        entry = ltr(str(number))
        return f"سجل آخر: تشير هذه الشهادة إلى قيد رقمه {entry}، وليس هو القيد الذي يحمل هذا الرقم في هذا السجل."

    def listed(self, number: int, /) -> str:
        """A signed head lists the page."""
        return f"صحيحة: هذه الشهادة مدرجة في الرأس الموقَّع للقيد {ltr(str(number))}، ولم يطرأ عليها تغيير."

    def unlisted(self, number: int, /) -> str:
        """A signed head does not list the page."""
        return (
            f"غير مدرجة: تشير هذه الشهادة إلى القيد {ltr(str(number))}، لكنها غير مدرجة في الرأس الموقَّع. فقد حُرِّفت، "
            "أو كُتبت بعد الرأس. فلا تثق بأرقامها."
        )

    def records(self, records: int, signers: int, hash: str, /) -> str:
        """How long a ledger is, and where it ends."""
        by = f"{'ب' if signers <= 2 else 'بـ'}{counted(signers, KEY, oblique=True)}"
        signed = f"، موقَّعة {by}" if signers else ""
        return f"{counted(records, RECORD)}{signed}؛ والبصمة الأخيرة {ltr(hash)}."

    def release(self, intact: bool, /) -> str:
        """Whether the numbers for machines are those that were released."""
        if intact:
            return f"كما سُجِّلت في السجل؛ ويعرض الأمر {code('sitr show')} الإجابة من جديد إن كانت ما تزال محفوظة"
        return "ليست ما سجّله السجل"


def _entry(entry: Entry) -> str:
    return f"القيد {ltr(str(entry.number))} من {named(entry.dataset)}"
