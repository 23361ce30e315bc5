"""A leaderboard site: submissions, what is checked of them, and the pages that show them."""
