"""What an event of a panel asks the App for, and what a panel shows."""

import fiftyone as fo

from tests.plugin import Panel


def names(operations):
    return [name for name, _ in operations]


def given(operations, name):
    (params,) = [params for operation, params in operations if operation == name]
    return params


def samples_of(dataset, operations):
    """Ids of the samples of the view an event set, in its order."""
    return fo.DatasetView._build(dataset, given(operations, "set_view")["view"]).values("id")


def view_of(dataset, operations):
    return fo.DatasetView._build(dataset, given(operations, "set_view")["view"])


def ids(dataset, *numbers):
    everything = dataset.values("id")
    return [everything[number] for number in numbers]


def on(panel, section):
    """The panel with a section chosen."""
    panel.send("on_change_section", value=section)
    return panel


def opened(dataset, section, page=None):
    """The workbench with a section chosen, and a page of it."""
    return at(Panel("raters", dataset).load(), section, page)


def at(panel, section, page=None):
    """The workbench, open already, with a section chosen, and a page of it."""
    panel.send("choose_section", value=section)
    if page:
        panel.send("choose_page", value=page)
    return panel


def plots(panel):
    return [name for name, prop in panel.shown.items() if prop["view"]["name"] == "PlotlyView"]
