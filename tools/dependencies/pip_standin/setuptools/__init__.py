"""Stands in for the build backend of a source package while pip downloads it; see scikit_build_core/build.py."""
