"""All functions and operators on rows, by name, with the rule that gives a call its type."""

from __future__ import annotations

from sitr.questions.aggregate.expressions.arithmetic import ARITHMETIC
from sitr.questions.aggregate.expressions.casts import CASTS
from sitr.questions.aggregate.expressions.choices import CHOICES
from sitr.questions.aggregate.expressions.conditions import CONDITIONS
from sitr.questions.aggregate.expressions.dates import DATES
from sitr.questions.aggregate.expressions.patterns import PATTERNS
from sitr.questions.aggregate.expressions.rules import Rule
from sitr.questions.aggregate.expressions.texts import TEXTS

ROW_FUNCTIONS: dict[str, Rule] = {**ARITHMETIC, **CONDITIONS, **CHOICES, **TEXTS, **PATTERNS, **DATES, **CASTS}
