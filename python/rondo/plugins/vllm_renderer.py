"""Prompts of vLLM rendered and tokenized by rondo: `--tokenizer-mode rondo` (docs/plugins.md).

Text of users and tools never becomes a control token.  Conversations with images, sounds or the like, and renders with options
that rondo does not know, go the way of vLLM's own renderer.
"""
from vllm.renderers.hf import HfRenderer

from rondo.plugins.rendering import chat_template_of

__all__ = ["RondoRenderer"]


class RondoRenderer(HfRenderer):
    """vLLM's renderer, whose tokenizer applies its chat template by rondo."""

    def __init__(self, config, tokenizer):
        super().__init__(config, tokenizer)
        if self.tokenizer is not None:
            # The renderer's tokenizer is a copy of its own.
            self.tokenizer.apply_chat_template = chat_template_of(tokenizer, self.tokenizer.apply_chat_template)
