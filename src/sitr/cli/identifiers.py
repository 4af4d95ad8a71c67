"""Columns that look as if they identify somebody or something, by their names alone: no value is looked at."""

from __future__ import annotations

import re

PERSONS = {
    *("beneficiary", "citizen", "client", "customer", "donor", "employee", "individual", "insured", "member"),
    *("participant", "passport", "patient", "people", "person", "pupil", "resident", "respondent", "ssn", "student"),
    *("subject", "user", "voter", "worker"),
    *("مريض", "شخص", "فرد", "مستخدم", "عضو", "عميل", "زبون", "طالب", "موظف", "مواطن", "مستفيد", "هوية"),
}
IDS = {"id", "guid", "uuid", "معرف", "رقم"}
MARKS = IDS | {"code", "hash", "key", "no", "nr", "num", "number", "pseudonym", "ref", "كود", "رمز"}


def identifies_person(name: str) -> bool:
    """Whether the name is a word for a person, alone or with a word such as "id".

    >>> [identifies_person(name) for name in ("patient_id", "userId", "Members", "رقم المريض")]
    [True, True, True, True]
    >>> [identifies_person(name) for name in ("patient_age", "visit_id", "id")]
    [False, False, False]
    """
    found = _words(name)
    return not found.isdisjoint(PERSONS) and found <= PERSONS | MARKS


def identifies(name: str) -> bool:
    """Whether the name looks like an id, of whatever kind.

    >>> [identifies(name) for name in ("id", "visit_id", "رقم الزيارة", "patient", "days", "paid")]
    [True, True, True, True, False, False]
    """
    return identifies_person(name) or not _words(name).isdisjoint(IDS)


def _words(name: str) -> set[str]:
    """The words of a name in lower case and singular; without the Arabic article, and with a final "id" apart.

    >>> sorted(_words("PatientID")), sorted(_words("userids")), sorted(_words("رقم_المريض"))
    (['id', 'patient'], ['id', 'user'], ['رقم', 'مريض'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = (re.sub(r"^ال(?=\w{2})", "", word) for word in re.findall(r"[^\W_]+", spaced.casefold()))
    found = set()
    for word in words:
        single = word.removesuffix("s") if word.removesuffix("s") in PERSONS or word.endswith("ids") else word
        glued = single.removesuffix("id") if single.removesuffix("id") in PERSONS else ""
        found |= {glued, "id"} if glued and glued != single else {single}
    return found
