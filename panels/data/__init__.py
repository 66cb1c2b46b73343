"""What the view draws: a module a section, which says what it sends, as a typed record, and where its clicks lead."""
