"""Images from flat coloured polygons: parts, sprites and backdrops of the demo."""
