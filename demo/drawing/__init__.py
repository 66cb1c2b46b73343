"""Images out of flat coloured polygons: the parts, the sprites and the backdrops of the demo."""
