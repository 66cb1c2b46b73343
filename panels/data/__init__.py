"""What the view draws: a module a section, which says what it sends, as plain values, and where its clicks lead."""
