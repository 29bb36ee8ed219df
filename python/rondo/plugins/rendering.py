"""`apply_chat_template` of an engine's tokenizer by rondo: token ids, in which text of users and tools is never a control token."""
import functools

from rondo.plugins import reading

__all__ = ["apply", "chat_template_of", "is_text_only"]

# Of transformers; none of these changes what a prompt is.
_IGNORED = ("return_dict", "return_tensors", "padding", "truncation", "max_length", "tokenizer_kwargs", "tokenize")


def is_text_only(conversation):
    """Whether every content is text, or a list of texts."""
    for message in conversation:
        content = message.get("content")
        if not isinstance(content, list):
            continue
        if not all(isinstance(part, str) or part.get("type") in (None, "text") for part in content):
            return False
    return True


def chat_template_of(tokenizer, original):
    """A function like `tokenizer.apply_chat_template`, of which `original` is the tokenizer's own.  It gives ids, also where
    text was asked for: an engine tokenizes text, and takes ids as they are."""
    return functools.partial(apply, tokenizer, original)


def apply(tokenizer, original, conversation, tools=None, documents=None, chat_template=None, add_generation_prompt=False,
          continue_final_message=False, **kwargs):
    """Raises rondo.Error where the template refuses the conversation."""
    if not is_text_only(conversation) or kwargs.get("return_assistant_tokens_mask"):
        return original(conversation=conversation, tools=tools, documents=documents, chat_template=chat_template,
                        add_generation_prompt=add_generation_prompt, continue_final_message=continue_final_message, **kwargs)
    variables = {name: value for name, value in kwargs.items() if name not in _IGNORED}
    encoded = reading.model_of(tokenizer, chat_template).encode(
        conversation, tools=tools, documents=documents, kwargs=variables or None,
        add_generation_prompt=add_generation_prompt and not continue_final_message,
        continue_final_message=True if continue_final_message else None)
    return encoded.ids.tolist()
