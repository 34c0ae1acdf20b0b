"""`every_case`: one test that tries many cases and names each that fails, where a test for each case tells no more."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest

Ids = Callable[[Any], str] | Sequence[str] | None


def every_case(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: Ids = None, beside_threads: bool = False
) -> Any:
    """Decorate a test as `pytest.mark.parametrize` would, but keep it one test.

    Names and cases (`pytest.param` included) are those of `parametrize`. All cases share the fixtures of the test, so
    none may depend on what another leaves behind. Each case that fails is reported with its name. `beside_threads` is
    for a test with a server in a thread of this process: a subtest exchanges the standard output while that thread may
    write to it, so the cases that fail are raised together at the end.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    tried = [_Case(case, len(arguments), ids, place) for place, case in enumerate(cases)]
    assert tried, "no case"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        if beside_threads:
            return _decorate_beside_threads(test, arguments, tried)
        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name not in arguments]
        wants_subtests = "subtests" in signature.parameters
        subtests_parameter = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)

        @wraps(test)
        def trying(subtests: pytest.Subtests, **fixtures: Any) -> None:
            given = {**fixtures, "subtests": subtests} if wants_subtests else fixtures
            for case in tried:
                with subtests.test(case.name):
                    test(**dict(zip(arguments, case.values, strict=True)), **given)

        parameters = fixtures if wants_subtests else [*fixtures, subtests_parameter]
        trying.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return trying

    return decorate


def _decorate_beside_threads(
    test: Callable[..., None], arguments: list[str], tried: "list[_Case]"
) -> Callable[..., None]:
    signature = inspect.signature(test)

    @wraps(test)
    def trying(**fixtures: Any) -> None:
        faults: list[BaseException] = []
        for case in tried:
            try:
                test(**dict(zip(arguments, case.values, strict=True)), **fixtures)
            except (Exception, pytest.fail.Exception) as fault:
                fault.add_note(f"in the case {case.name}")
                faults.append(fault)
        if faults:
            raise BaseExceptionGroup(f"{len(faults)} of {len(tried)} cases failed", faults)

    left = [each for name, each in signature.parameters.items() if name not in arguments]
    trying.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
    return trying


class _Case:
    """The values of one case and the name by which it is reported."""

    def __init__(self, case: Any, count: int, ids: Ids, place: int) -> None:
        is_param = hasattr(case, "values") and hasattr(case, "marks")
        self.values: tuple[Any, ...] = tuple(case.values) if is_param else (case,) if count == 1 else tuple(case)
        named = case.id if is_param else None
        show = ids if callable(ids) else _shown
        self.name = named or (ids[place] if isinstance(ids, Sequence) else "-".join(map(show, self.values)))


def _shown(value: Any) -> str:
    return str(getattr(value, "__name__", value))[:80]
