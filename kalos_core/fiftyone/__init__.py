"""The bridge to FiftyOne, and the only place of the library that imports it: labels <-> annotations, runs, views."""
