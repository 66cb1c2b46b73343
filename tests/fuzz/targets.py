"""All targets: public functions of the library and the bridge, commands, and readers of damaged files."""

from __future__ import annotations

from tests.fuzz.bridge import BRIDGE, COMMAND_LINE
from tests.fuzz.calls import CALLS, FROM_ARRAYS, arguments, trusts
from tests.fuzz.files import READERS
from tests.fuzz.harness import Target

TARGETS: dict[str, Target] = {
    name: Target(call, arguments(name), FROM_ARRAYS if trusts(name) else ()) for name, call in CALLS.items()
} | {**READERS, **BRIDGE, **COMMAND_LINE}
