"""`Annotations`, the frozen table of all annotations of all raters, and how readers make one.

* the table: `Annotations`, and a line about it: `overview`
* what readers hand over: `RawTable` (one entry per annotation), `Source` (images, raters, classes, who is assigned),
  and `build_annotations`, which checks both; `OnInvalid` says what becomes of shapes that cannot be used;
  `warn_of_silent_raters` where nobody said who was assigned
* `Account`: what a reader left out, did not use or assumed
* columns of names and ids: `as_name`, `id_array`, `object_array`
"""

from kalos_core.annotations.account import Account
from kalos_core.annotations.build import OnInvalid, RawTable, Source
from kalos_core.annotations.columns import as_name, id_array, object_array
from kalos_core.annotations.counting import overview
from kalos_core.annotations.table import Annotations, build_annotations, warn_of_silent_raters

__all__ = [
    "Account",
    "Annotations",
    "OnInvalid",
    "RawTable",
    "Source",
    "as_name",
    "build_annotations",
    "id_array",
    "object_array",
    "overview",
    "warn_of_silent_raters",
]
