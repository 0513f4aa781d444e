"""Surveys that people answer from their own devices: file, collector, results, rounds of a learner."""
