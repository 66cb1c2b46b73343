"""Tasks for each shard, run locally in turn, or in parallel on Dask workers."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any, TypeVar

from kalos_core.errors import InputError, repr_of
from kalos_core.extras import optional
from kalos_core.sharding import OneShard, Part, Task, Tasks

Table = TypeVar("Table")
Progress = Callable[[float, str], None]
"""``progress(share, label)``: fraction completed, and the next step."""

TIMEOUT = 10
"""Seconds to wait for a scheduler at an address."""

AHEAD = 2
"""Shards submitted per worker thread at a time, so that results do not pile up on workers."""


def over_shards(
    shards: Iterable[OneShard[Table]],
    task: Tasks[Table, Part],
    client: Any = None,
    progress: Progress | None = None,
    label: str = "Shards",
) -> list[Part]:
    """Return the results of a task for the table of each shard, in the order of shards.

    Parameters
    ----------
    shards : Shards
    task : callable, or one for each shard
        Maps the table of one shard to a part of the result. For Dask, it must be picklable.
    client : Client of `dask.distributed`, address of a scheduler, or None
        None: locally, one shard after the other, so that only one is in memory.
    progress : callable, optional
        Raise an exception in it to stop.
    label : str
        Label for the progress.

    Raises
    ------
    InputError
        If a shard cannot be used; the message names its file. Shards of a worker that died are given to others; a
        shard that all workers die of is named.
    """
    every = list(shards)
    asked = list(zip(every, [task] * len(every) if callable(task) else task, strict=True))
    parts: dict[int, Part] = {}

    def tell() -> None:
        if progress is not None:
            progress(len(parts) / len(asked), f"{label}: {len(parts):,} of {len(asked):,}")

    with opened(client) as known:
        work = _here(asked) if known is None else _by_workers(known, asked)
        with closing(work):  # before closing the client
            tell()
            for number, part in work:
                parts[number] = part
                tell()
    return [parts[number] for number in range(len(asked))]


def _dask() -> Any:
    """Import Dask's workers; raise an error that says how to install them if they are missing."""
    return optional("distributed", "dask", "client")


@contextmanager
def opened(client: Any) -> Iterator[Any]:
    """Yield a Dask client; one created from an address is closed afterwards. None stays None."""
    if client is None:
        yield None
        return
    dask = _dask()
    if isinstance(client, dask.Client):
        yield client
        return
    if not isinstance(client, str):
        raise InputError(f"client: expected a dask.distributed.Client, or an address, got {type(client).__name__}")
    try:
        made = dask.Client(client, timeout=TIMEOUT)
    except (OSError, ValueError) as error:
        raise InputError(f"client: expected the address of a Dask scheduler, got {repr_of(client)}: {error}") from None
    try:
        yield made
    finally:
        made.close()


def worked_on(shard: OneShard[Table], task: Task[Table, Part]) -> Part:
    """Return the result of a task for a shard; errors name the shard."""
    table = shard.read()
    try:
        return task(table)
    except InputError as error:
        raise InputError(f"{shard.name}: {error}") from None


def _here(asked: list[tuple[OneShard[Table], Task[Table, Part]]]) -> Generator[tuple[int, Part], None, None]:
    for number, (shard, task) in enumerate(asked):
        yield number, worked_on(shard, task)


def _by_workers(
    client: Any, asked: list[tuple[OneShard[Table], Task[Table, Part]]]
) -> Generator[tuple[int, Part], None, None]:
    """Yield parts as they are completed. The scheduler moves unfinished shards of a dead worker to another.

    A worker holds several shards, and the scheduler blames all of them for its death. Shards that it gives up are
    retried once, one at a time.
    """
    threads = sum(client.nthreads().values()) or 1
    suspects = yield from _given_out(client, asked, range(len(asked)), AHEAD * threads)
    for number in suspects:
        again = yield from _given_out(client, asked, [number], 1)
        if again:
            name, error = asked[number][0].name, again[number]
            raise InputError(f"{name}: expected a worker to finish it, got {error}") from None


def _given_out(
    client: Any, asked: list[tuple[OneShard[Table], Task[Table, Part]]], numbers: Iterable[int], at_once: int
) -> Generator[tuple[int, Part], None, dict[int, Exception]]:
    """Yield parts of some shards as they are completed, with `at_once` on workers; return those that killed workers."""
    dask = _dask()
    waiting, running = iter(numbers), dask.as_completed()
    given: dict[str, int] = {}
    died: dict[int, Exception] = {}

    def submit(number: int) -> None:
        key = f"kalos-{uuid.uuid4().hex}"
        given[key] = number
        running.add(client.submit(worked_on, *asked[number], key=key, pure=False))

    try:
        for number in islice(waiting, at_once):
            submit(number)
        for future in running:
            number = given[future.key]
            try:
                yield number, future.result()
            except dask.KilledWorker as error:
                died[number] = error
            future.release()
            for following in islice(waiting, 1):
                submit(following)
        return died
    finally:
        client.cancel([future for future in list(running.futures) if not future.done()])
