"""What other processes did to a data set, taken up only where there is anything."""

from __future__ import annotations

from typing import Any

import fiftyone.core.odm as foo


def refresh(dataset: Any) -> None:
    """Take up what other processes did to a data set and its runs; next to nothing where that is nothing.

    FiftyOne marks every change of a data set's fields, information and list of runs with the time; a change of a run
    that is there already is marked by `store_config`.
    """
    stored = foo.get_db_conn().datasets.find_one({"_id": dataset._doc.id}, {"last_modified_at": True})
    if stored is None or stored.get("last_modified_at") != dataset._doc.last_modified_at:
        dataset.reload()
