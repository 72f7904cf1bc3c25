"""What tests say of folders of results."""


def visible(folder):
    """Return the names of what a user sees in a folder: all but our own state."""
    return {each.name for each in folder.iterdir()} - {".bayesduel"}
