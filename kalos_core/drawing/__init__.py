"""Images with the outlines of every rater, each rater in a colour.

* all annotations of an image: `draw_image`; a crop with the annotations of one unit: `draw_unit`, `draw_members`
* result: `Drawing`, with `Drawing.png` and `Drawing.figure`; `Outline`
* outlines of annotations: `outlines_of`
"""

from kalos_core.drawing.draw import draw_image as draw_image
from kalos_core.drawing.draw import draw_members as draw_members
from kalos_core.drawing.draw import draw_unit as draw_unit
from kalos_core.drawing.drawing import Drawing as Drawing
from kalos_core.drawing.outlines import Outline as Outline
from kalos_core.drawing.outlines import outlines_of as outlines_of
from kalos_core.names import public_names

__all__ = public_names(vars())
