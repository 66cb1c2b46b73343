"""Demo: drawn scenes with known objects, and four simulated raters who label them.

`demo.scenes.draw_scenes` draws, `demo.raters.simulate` labels, `demo.files.write` saves both.
"""
