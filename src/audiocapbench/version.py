"""The version of the toolkit, read by the build and by every signature."""

VERSION = "0.1.0"
