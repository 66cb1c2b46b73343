"""A task for each shard: one after the other here, or many at a time by the workers of Dask."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any, TypeVar

from kalos_core.errors import InputError, repr_of
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
    try:
        return import_module("distributed")
    except ImportError:
        raise InputError("client: expected dask.distributed, got none: pip install 'kalos-fiftyone[dask]'") from None


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
    """Parts as they come; what a worker that died has not finished is given to another by the scheduler.

    A worker holds several shards, and the scheduler blames all of them for its death: those it gives up are tried once
    more, one by one and alone.
    """
    dask = _dask()
    run = uuid.uuid4().hex
    waiting, suspects = deque(range(len(asked))), deque[int]()
    given: dict[str, tuple[int, bool]] = {}
    running = dask.as_completed()
    threads = sum(client.nthreads().values()) or 1

    def submit(number: int, alone: bool) -> None:
        shard, task = asked[number]
        key = f"kalos-{run}-{number}{'-alone' if alone else ''}"
        given[key] = number, alone
        running.add(client.submit(worked_on, shard, task, key=key, pure=False))

    def give_out() -> None:
        while waiting and not suspects and len(given) < AHEAD * threads:
            submit(waiting.popleft(), alone=False)
        if suspects and not given:
            submit(suspects.popleft(), alone=True)

    try:
        give_out()
        while given:
            future = next(running)
            number, alone = given.pop(future.key)
            try:
                yield number, future.result()
            except dask.KilledWorker as error:
                if alone:
                    raise InputError(f"{asked[number][0].name}: expected a worker to finish it, got {error}") from None
                suspects.append(number)
            future.release()
            give_out()
    finally:
        client.cancel([future for future in list(running.futures) if not future.done()])
