"""Names say what a column identifies: a person, something else, or nothing."""

from __future__ import annotations

import pytest

from sitr.cli.identifiers import identifies, identifies_person

PERSONS = ["patient_id", "PatientID", "patientid", "user", "userIds", "Member No", "person-key", "SSN", "customers"]
PERSONS += ["رقم المريض", "رقم_الهوية", "معرف المستخدم", "المريض"]
THINGS = ["id", "ID", "visit_id", "visitId", "order uuid", "رقم الزيارة", "الرقم"]
OTHERS = ["patient_age", "user type", "paid", "valid", "days", "ward", "number_of_visits", "التكلفة", "", "__", "1"]


@pytest.mark.parametrize("name", PERSONS)
def test_persons(name: str) -> None:
    assert identifies_person(name)
    assert identifies(name)


@pytest.mark.parametrize("name", THINGS)
def test_an_id_of_something_is_not_proposed_as_a_person(name: str) -> None:
    assert identifies(name)
    assert not identifies_person(name)


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns(name: str) -> None:
    assert not identifies(name)
