"""Pools of renderers, as earlier versions of the interface have them.

A renderer of rondo serves any number of threads, so that one is enough for all.
"""
import contextlib
import queue

from .base import is_multimodal


class RendererPool:
    """Renderers made by `factory`, and a renderer itself."""

    def __init__(self, factory, size: int = 16):
        if size < 1:
            raise ValueError("a pool needs at least one renderer")
        first = factory()
        shared = getattr(first, "is_thread_safe", False)
        self._renderers = queue.Queue()
        for renderer in [first] * size if shared else [first, *(factory() for _ in range(size - 1))]:
            self._renderers.put(renderer)
        self.size, self.renderer_cls, self.config = size, type(first), getattr(first, "config", None)
        self.supports_tools: bool = getattr(first, "supports_tools", True)
        self.is_multimodal: bool = is_multimodal(first)
        self.is_prefix_stable: bool = getattr(first, "is_prefix_stable", False)
        self.effective_thinking_retention = getattr(first, "effective_thinking_retention", None)

    @contextlib.contextmanager
    def checkout(self):
        renderer = self._renderers.get()
        try:
            yield renderer
        finally:
            self._renderers.put(renderer)

    def render(self, *args, **kwargs):
        with self.checkout() as renderer:
            return renderer.render(*args, **kwargs)

    def render_ids(self, *args, **kwargs):
        with self.checkout() as renderer:
            return renderer.render_ids(*args, **kwargs)

    def parse_response(self, *args, **kwargs):
        with self.checkout() as renderer:
            return renderer.parse_response(*args, **kwargs)

    def get_stop_token_ids(self):
        with self.checkout() as renderer:
            return renderer.get_stop_token_ids()

    def bridge_to_next_turn(self, *args, **kwargs):
        with self.checkout() as renderer:
            return renderer.bridge_to_next_turn(*args, **kwargs)
