"""rondo behind the interfaces of other packages."""
