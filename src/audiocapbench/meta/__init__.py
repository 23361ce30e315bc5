"""Scorers on trial: how often a metric, a judge or a model picks the caption that people picked."""
