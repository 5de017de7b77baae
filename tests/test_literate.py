"""The pages below `tests/cases`: see `literate`."""

from __future__ import annotations

from pathlib import Path

import pytest
from literate import Case, cases

CASES = list(cases(Path(__file__).parent / "cases"))


@pytest.mark.parametrize("case", CASES, ids=[f"{case.page.parent.name}/{case.page.stem}: {case.title}" for case in CASES])
def test_case(case: Case) -> None:
    failures = case.failures()
    if case.skip is None:
        assert not failures, "\n" + "\n".join(failures)
    elif failures:
        pytest.skip(case.skip)
    else:
        pytest.fail("gap closed: remove the skip from this heading")
