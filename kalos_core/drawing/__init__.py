"""Images with the outlines of every rater, each in their colour.

* all annotations of an image: `draw_image`; the annotations of one unit, cut out: `draw_unit`, `draw_members`
* what they return: `Drawing`, with `Drawing.png` and `Drawing.figure`; `Outline`
* what is outlined: `outlines_of`
"""

from kalos_core.drawing.draw import draw_image as draw_image
from kalos_core.drawing.draw import draw_members as draw_members
from kalos_core.drawing.draw import draw_unit as draw_unit
from kalos_core.drawing.drawing import Drawing as Drawing
from kalos_core.drawing.outlines import Outline as Outline
from kalos_core.drawing.outlines import outlines_of as outlines_of
from kalos_core.names import public_names

__all__ = public_names(vars())
