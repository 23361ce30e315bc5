"""Leaderboards: models of a store ranked, with what cannot be told apart."""
