"""The demo: drawn scenes whose objects are known, and four simulated raters who label them.

`demo.scenes.draw_scenes` draws, `demo.raters.simulate` labels, `demo.files.write` saves both.
"""
