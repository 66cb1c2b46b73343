"""Images with the outlines of every rater, each in their colour.

* all annotations of an image: `draw_image`; the annotations of one unit, cut out: `draw_unit`, `draw_members`
* what they return: `Drawing`, with `Drawing.png` and `Drawing.figure`; `Outline`
* what is outlined: `outlines_of`
"""

from kalos_core.drawing.draw import draw_image, draw_members, draw_unit
from kalos_core.drawing.drawing import Drawing
from kalos_core.drawing.outlines import Outline, outlines_of

__all__ = ["Drawing", "Outline", "draw_image", "draw_members", "draw_unit", "outlines_of"]
