"""Results as files: a report in one HTML page that needs no network.

* everything about some annotations, and the page about it: `study` -> `Study`, `write_report`
* a sheet for one rater: `feedback_sheet`, `card_lines`, `side_of`
* any page: `page`, of `Section` with `Text`, `Items`, `Code`, `Table` (`graded_table`), `Plot` (`captioned`) and
  `Drawings`; any `Block`
"""

from kalos_core.report.chapters import captioned, graded_table, write_report
from kalos_core.report.feedback import card_lines, feedback_sheet, side_of
from kalos_core.report.pages import Block, Code, Drawings, Items, Plot, Section, Table, Text, page
from kalos_core.report.studies import Study, study

__all__ = [
    "Block",
    "Code",
    "Drawings",
    "Items",
    "Plot",
    "Section",
    "Study",
    "Table",
    "Text",
    "captioned",
    "card_lines",
    "feedback_sheet",
    "graded_table",
    "page",
    "side_of",
    "study",
    "write_report",
]
