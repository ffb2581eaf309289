"""One module for each format: `read(file, limits)` takes an open binary file and answers with its Text, or raises Unreadable."""
