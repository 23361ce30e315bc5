"""Scorers on trial, for people to read."""
