"""Data of the sections: one module per section, with the plain values that it sends and where its clicks lead."""
