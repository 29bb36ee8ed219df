"""The stand-in under flit's name."""
from scikit_build_core.build import build_wheel, get_requires_for_build_wheel, prepare_metadata_for_build_wheel

__all__ = ["build_wheel", "get_requires_for_build_wheel", "prepare_metadata_for_build_wheel"]
