"""rondo inside inference engines: parsers and renderers for any template (docs/plugins.md).

`rondo.plugins.vllm_plugin` and `rondo.plugins.sglang_plugin` are found by the engines themselves once rondo is installed (entry
points); `rondo.plugins.reading` is what both share.
"""
