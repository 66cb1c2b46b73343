"""Building blocks of the panels: clicks and errors, figures, tables, menus, drawings."""
