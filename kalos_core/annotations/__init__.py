"""`Annotations`, the frozen table of all annotations of all raters, and the functions that readers build it with.

* table: `Annotations`, and a summary of it: `overview`
* input from readers: `RawTable` (one entry per annotation), `Source` (images, raters, classes, assignment), and
  `build_annotations`, which checks both; `OnInvalid` controls shapes that cannot be used; `warn_of_silent_raters` for
  sources without assignment
* `Account`: what a reader left out, did not use or assumed
* columns of names and ids: `as_name`, `id_array`, `object_array`
"""

from kalos_core.annotations.account import Account as Account
from kalos_core.annotations.build import OnInvalid as OnInvalid
from kalos_core.annotations.build import RawTable as RawTable
from kalos_core.annotations.build import Source as Source
from kalos_core.annotations.columns import as_name as as_name
from kalos_core.annotations.columns import id_array as id_array
from kalos_core.annotations.columns import object_array as object_array
from kalos_core.annotations.counting import overview as overview
from kalos_core.annotations.table import Annotations as Annotations
from kalos_core.annotations.table import build_annotations as build_annotations
from kalos_core.annotations.table import warn_of_silent_raters as warn_of_silent_raters
from kalos_core.names import public_names

__all__ = public_names(vars())
