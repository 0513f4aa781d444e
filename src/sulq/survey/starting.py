"""A survey file to begin with."""

from __future__ import annotations

START = """# A survey that people answer from their own devices. What it takes: `sulq survey plan FILE`.
[survey]
title = "Sick leave"
about = "A few questions. Your device randomizes your answers before they leave it."
languages = ["en"]     # with several, every text is a table: {en = "…", de = "…"}

# What every person is promised, for the whole survey and for ever. There is no default: docs/epsilon.md.
epsilon = 3
# "epsilon": everyone answers everything.  "people": everyone answers one question, drawn by lot.
# "rounds": a learner asks, in rounds.
divides = "people"

people = 6000          # how many are expected
precision = 0.05       # the error that is wanted, as a share
confidence = 0.95

invited = true         # only with a link, each once; false for everybody
keeps = "tallies"      # or "reports"; the people are told which
# opens = 2027-01-10T08:00:00Z
# closes = 2027-02-10
# busiest = 200        # people within ten minutes, at most, if all is well: to notice bursts
# store = "postgresql://db.example/surveys?schema=sick_leave"   # by default a file beside this one

[questions.team]
kind = "one-of"
text = "Where do you work?"
choices = ["office", "workshop"]
alone = false          # only says to which group a person belongs

[questions.feigned]
kind = "yes-no"
text = "Did you ever call in sick without being sick?"
by = "team"            # the groups that are compared
weight = 2             # put to twice as many people as the others

[questions.pressure]
kind = "scale"
text = "How often do you go to work although you are sick?"
choices = {never = "Never", seldom = "Seldom", often = "Often", always = "Always"}

[questions.days]
kind = "number"
text = "On how many days were you sick last year?"
low = 0                # chosen by public knowledge; what lies outside counts as the nearest
high = 60
step = 1
unit = "days"
precision = 4
"""
