"""What a load answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Loaded(Result):
    """A data set with the fields of the raters that were loaded into it."""

    dataset: Any
    fields: dict[str, str]

    def to_pandas(self) -> pd.DataFrame:
        """One row a rater, with the field."""
        import pandas as pd

        return pd.DataFrame({"rater": list(self.fields), "field": list(self.fields.values())})

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of what was loaded."""
        raise NotImplementedError

    def _plots(self) -> Mapping[str, Callable[..., Any]]:
        from kalos_core.figures import plot_counts

        return {"counts": plot_counts}

    def _content(self) -> dict[str, Any]:
        return {"dataset": self.dataset.name, "fields": self.fields, "counts": self.counts}
