"""Statements in SQL, read into what is asked of the rows. Only what reads them imports a parser."""
