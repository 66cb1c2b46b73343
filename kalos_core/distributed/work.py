"""A task for each shard: one after the other here, or many at a time by the workers of Dask."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar

from kalos_core.errors import InputError, repr_of
from kalos_core.options import Settings, no_progress

Part = TypeVar("Part")
Table = TypeVar("Table")
Read = TypeVar("Read", covariant=True)
Task = Callable[[Table], Part]
Progress = Callable[[float, str], None]
"""``progress(share, label)``: the share of the work that is done, and what comes next."""


@dataclass(frozen=True, kw_only=True)
class Workers(Settings):
    """What every function of shards takes beside its settings: who works on them, and who is told of it."""

    client: Any = None
    progress: Progress | None = None


class OneShard(Protocol[Read]):
    """A shard as it is sent to whoever works on it."""

    @property
    def name(self) -> str:
        """Its file, for messages."""

    def read(self) -> Read:
        """Its table."""


class ManyShards(Protocol[Read]):
    """Shards in the order of their images or items."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[OneShard[Read]]: ...


TIMEOUT = 10
"""Seconds after which there is no scheduler at an address."""

AHEAD = 2
"""Shards for each thread of a worker that are given out at a time, so that results do not pile up on workers."""


def over_shards(
    shards: ManyShards[Table],
    task: Task[Table, Part] | Sequence[Task[Table, Part]],
    client: Any = None,
    progress: Progress | None = None,
    label: str = "Shards",
) -> list[Part]:
    """What a task answers for the table of each shard, in the order of shards.

    Parameters
    ----------
    shards : Shards or LabelShards
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
    tell = progress or no_progress
    parts: dict[int, Part] = {}
    with opened(client) as known:
        asked = list(zip(shards, [task] * len(shards) if callable(task) else task, strict=True))
        work = _here(asked) if known is None else _by_workers(known, asked)
        with closing(work):  # before the client is
            tell(0.0, f"{label}: 0 of {len(shards):,}")
            for number, part in work:
                parts[number] = part
                tell(len(parts) / len(shards), f"{label}: {len(parts):,} of {len(shards):,}")
    return [parts[number] for number in range(len(shards))]


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
