"""Data sets of a few labels whose numbers can be worked out by hand."""

from collections.abc import Callable, Iterator
from typing import Any

import fiftyone as fo
import pytest

from tests.fiftyone_bridge.scenes import SCENES, make_samples

Make = Callable[..., fo.Dataset]
Meanwhile = Callable[..., None]


def build(samples: list[fo.Sample] | None = None, **options: Any) -> fo.Dataset:
    dataset = fo.Dataset(**options)
    dataset.add_samples(make_samples(SCENES) if samples is None else samples, progress=False)
    return dataset


@pytest.fixture
def make() -> Make:
    """Build data sets of the given samples, or of the six scenes; `nothing_stays` deletes them."""
    return build


@pytest.fixture(scope="module")
def make_once() -> Iterator[Make]:
    """The same for data sets that the tests of a module share: read them, or change a `clone()`."""
    made: list[fo.Dataset] = []

    def build_once(*arguments: Any, **options: Any) -> fo.Dataset:
        made.append(build(*arguments, **options))
        return made[-1]

    yield build_once
    for dataset in made:
        dataset.delete()


@pytest.fixture
def dataset(make: Make) -> fo.Dataset:
    """The six scenes."""
    return make()


@pytest.fixture(scope="module")
def unchanged(make_once: Make) -> fo.Dataset:
    """The six scenes, for tests that only read."""
    return make_once()


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """Every test leaves the database as it found it: with what fixtures of its module made, which come first."""
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Something happens around one call of a function, and never again: before that call, or after it."""

    def around(
        owner: Any,
        name: str,
        before: Callable[[], Any] = lambda: None,
        after: Callable[[], Any] = lambda: None,
        call: int = 1,
    ) -> None:
        original, calls = getattr(owner, name), []

        def changed(*arguments: Any, **options: Any) -> Any:
            calls.append(1)
            if len(calls) != call:
                return original(*arguments, **options)
            monkeypatch.setattr(owner, name, original)
            before()
            found = original(*arguments, **options)
            after()
            return found

        monkeypatch.setattr(owner, name, changed)

    return around
