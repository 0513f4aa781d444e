"""Row expressions, the questions made of them, and rounds of questions."""

from sulq.queries import reading

__all__ = ["reading"]
