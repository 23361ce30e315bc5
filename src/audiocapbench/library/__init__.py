"""The library: score, run, import_run, judge, compare and leaderboard, also for async code."""
