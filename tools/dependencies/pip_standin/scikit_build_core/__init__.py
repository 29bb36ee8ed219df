"""Stands in for the build backend of a source package while pip downloads it; see build.py."""
