"""What a drawn figure shows."""

import matplotlib as mpl


def all_text(figure):
    """Return every visible text of a figure, legends included."""
    return "\n".join(
        text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_visible()
    )


def means(axes):
    """Return the drawn mean curves: solid lines with a marker."""
    return [
        line
        for line in axes.lines
        if line.get_linestyle() == "-" and line.get_marker() not in ("None", "|")
    ]


def dashed(axes):
    """Return the drawn bounds."""
    return [line for line in axes.lines if line.get_linestyle() == "--"]
