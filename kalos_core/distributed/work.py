"""A task for each shard: one after the other here, or many at a time by the workers of Dask."""

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
"""``progress(share, label)``: the share of the work that is done, and what comes next."""

TIMEOUT = 10
"""Seconds after which there is no scheduler at an address."""

AHEAD = 2
"""Shards for each thread of a worker that are given out at a time, so that results do not pile up on workers."""


def over_shards(
    shards: Iterable[OneShard[Table]],
    task: Tasks[Table, Part],
    client: Any = None,
    progress: Progress | None = None,
    label: str = "Shards",
) -> list[Part]:
    """What a task answers for the table of each shard, in the order of shards.

    Parameters
    ----------
    shards : Shards
    task : callable, or one for each shard
        From the table of one shard to a part of the result. For Dask it can be pickled.
    client : Client of `dask.distributed`, address of a scheduler, or None
        None: here, one shard after the other, so that one is held at a time.
    progress : callable, optional
        What it raises ends the work.
    label : str
        For the progress.

    Raises
    ------
    InputError
        Naming the file of the shard that cannot be used. The shards of a worker that died are given to others; a shard
        that all of them die of is named.
    """
    every = list(shards)
    asked = list(zip(every, [task] * len(every) if callable(task) else task, strict=True))
    parts: dict[int, Part] = {}

    def tell() -> None:
        if progress is not None:
            progress(len(parts) / len(asked), f"{label}: {len(parts):,} of {len(asked):,}")

    with opened(client) as known:
        work = _here(asked) if known is None else _by_workers(known, asked)
        with closing(work):  # before the client is
            tell()
            for number, part in work:
                parts[number] = part
                tell()
    return [parts[number] for number in range(len(asked))]


def _dask() -> Any:
    """The module of Dask's workers; an error that says how to install it."""
    return optional("distributed", "dask", "client")


@contextmanager
def opened(client: Any) -> Iterator[Any]:
    """A client of Dask, from its address if need be, which is closed again; None stays None."""
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
    """What a task answers for a shard; an error names the shard."""
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
    """Parts as they come. The scheduler gives what a worker that died has not finished to another.

    A worker holds several shards, and the scheduler blames all of them for its death: those it gives up are tried once
    more, one by one and alone.
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
    """Parts of some shards as they come, so many of which workers hold at a time; at last those they died of."""
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
