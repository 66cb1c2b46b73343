"""The four stages of generation, a module each (KαLOS §9.4).

Each draws its targets from all reference annotations; one that an earlier event has consumed is lost and not replaced.
"""
