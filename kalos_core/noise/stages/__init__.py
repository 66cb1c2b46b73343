"""The four stages of generation, one module each (KαLOS §9.4).

Each stage draws its targets from all reference annotations. A target that an earlier event has consumed is lost and not
replaced.
"""
