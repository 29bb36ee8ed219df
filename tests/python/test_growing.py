"""Conversations that grow as text, and Edge JSON."""
import json

import pytest

import rondo
from rondo import edge


def said(role, content):
    return {"role": role, "content": content}


def test_a_transcript_is_what_rendering_all_messages_gives(tiny):
    messages = [said("user", "Hi"), said("assistant", "Yo"), said("user", "And?"), said("assistant", "Well")]
    transcript = rondo.Transcript(tiny, messages, add_generation_prompt=True)
    assert transcript.text == tiny.render(messages, add_generation_prompt=True)
    assert transcript.last_append["kept"] == 0
    for role in ("user", "assistant", "user"):
        before = transcript.text
        new = transcript.append([said(role, role + " ünï")])
        messages.append(said(role, role + " ünï"))
        assert transcript.text == tiny.render(messages, add_generation_prompt=True)
        done = transcript.last_append
        assert done["way"] == "incremental", done["why"]
        assert before.encode()[: done["kept"]].decode() + new == transcript.text
    assert transcript.messages == messages
    assert len(transcript) == 7


def test_a_refused_message_changes_nothing(tiny):
    transcript = rondo.Transcript(tiny, [said("user", "Hi")])
    with pytest.raises(rondo.InvalidArgumentError):
        transcript.append("no list")
    assert len(transcript) == 1


def test_edge_json_as_dicts_and_paths(tmp_path):
    file = tmp_path / "own.jinja"
    file.write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }};{% endfor %}"
                    "{% if add_generation_prompt %}<assistant>{% endif %}")
    exported = edge.export_template(rondo.load(file), model_path="mine")
    assert exported["lossless"] and exported["template"]["model_path"] == "mine"
    (tmp_path / "again.jinja").write_text(edge.import_template(exported["template"]))
    assert rondo.load(tmp_path / "again.jinja").render([said("user", "Hi")]) == "<user>Hi;"
    assert edge.format(exported["template"], {"messages": [said("user", "Hi")]})[0]["complete"] == "<user>Hi;<assistant>"
    assert [found for found in edge.validate(exported["template"]) if found["level"] == "error"] == []
    (tmp_path / "processed_chat_template.json").write_text(json.dumps(exported["template"]))
    assert edge.import_template(tmp_path) == edge.import_template(exported["template"])


def test_what_is_wrong_with_edge_json_has_a_path(tmp_path):
    found = edge.validate({"roles": {"user": {"prefix": 1}}})
    assert any(one["path"] == "roles.user.prefix" and one["level"] == "error" for one in found)
    with pytest.raises(rondo.Error):
        edge.format({"roles": {}}, {"messages": []})
    with pytest.raises(rondo.NotFoundError):
        edge.import_template(tmp_path / "none.json")
