"""Reports as self-contained HTML files that need no network.

* study of annotations, and its report: `study` -> `Study`, `write_report`
* sheet for one rater: `feedback_sheet`, `card_lines`, `side_of`
* general pages: `page`, made of `Section` with `Text`, `Items`, `Code`, `Table` (`graded_table`), `Drawings`, `Cards`,
  and `Figure` (`captioned`) in one of the forms of `kalos_core.report.look` and `kalos_core.report.axes`
* origin of the data: `Source`; recommended next steps: `steps_of`; study in Markdown: `summary_of`
* experiments with synthetic raters: `experiment_sections`
"""

from kalos_core.names import public_names
from kalos_core.report.chapters import graded_table as graded_table
from kalos_core.report.chapters import write_report as write_report
from kalos_core.report.experiments import experiment_sections as experiment_sections
from kalos_core.report.feedback import card_lines as card_lines
from kalos_core.report.feedback import feedback_sheet as feedback_sheet
from kalos_core.report.feedback import side_of as side_of
from kalos_core.report.front import Source as Source
from kalos_core.report.front import steps_of as steps_of
from kalos_core.report.look import Card as Card
from kalos_core.report.look import Cards as Cards
from kalos_core.report.markdown import summary_of as summary_of
from kalos_core.report.objects import captioned as captioned
from kalos_core.report.pages import Block as Block
from kalos_core.report.pages import Code as Code
from kalos_core.report.pages import Drawings as Drawings
from kalos_core.report.pages import Figure as Figure
from kalos_core.report.pages import Items as Items
from kalos_core.report.pages import Section as Section
from kalos_core.report.pages import Table as Table
from kalos_core.report.pages import Text as Text
from kalos_core.report.pages import page as page
from kalos_core.report.studies import Study as Study
from kalos_core.report.studies import study as study

__all__ = public_names(vars())
