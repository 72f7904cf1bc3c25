"""Files and folders of users: how they are read, and where results may be written."""
