"""Pages of the documentation that are made, not written: by `mkdocs_hooks.py`, or once, as files."""
