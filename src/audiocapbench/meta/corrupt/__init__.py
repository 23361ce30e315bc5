"""Makes new trials: pairs of a true caption and one that was made wrong, from any caption set."""
