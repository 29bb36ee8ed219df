// Content that is not text: images, audio, files.
#include <string>
#include <utility>

#include "apis/request_parts.h"
#include "chat/api_parts.h"
#include "chat/conversation.h"
#include "json/print.h"

namespace rondo::apis {
namespace {

bool is_media(const json::Value& part) {
  const auto type = part.find_string("type");
  return type && *type != "text" && *type != "refusal";
}

// The field of a content part: "messages[1].content[0]".  Parts of results are in another list than parts of texts.
std::string part_place(const GenerateRequest& request, std::size_t message, std::size_t part) {
  const bool is_result = request.messages[message].find_string("role") == "tool";
  if (request.api == chat::Api::kMessages && is_result) return place_of(request, message, "content");
  const char* list = request.api == chat::Api::kResponses && is_result ? "output[" : "content[";
  return place_of(request, message, list + std::to_string(part) + "]");
}

// What a part is, in the words of its type: `image` for `image_url` and `input_image`.
std::string kind_of(const json::Value& part) {
  constexpr std::string_view kBegin = "input_";
  constexpr std::string_view kEnd = "_url";
  std::string_view type = part.find_string("type").value_or("");
  if (type.starts_with(kBegin)) type.remove_prefix(kBegin.size());
  if (type.ends_with(kEnd)) type.remove_suffix(kEnd.size());
  return std::string(type);
}

std::string sentence_for(const json::Value& part) {
  const json::Value* file = part.find("file");
  std::string name = chat::first_text(part, {"filename", "title"});
  if (name.empty() && file != nullptr) name = chat::first_text(*file, {"filename"});
  std::string out = "[" + kind_of(part);
  if (!name.empty()) out += " " + json::to_compact(json::Value(name));
  return out + " left out: this model reads only text]";
}

// Moves what stands behind `at` in the content of a message by `size` bytes.
void move_places(GenerateRequest& request, std::size_t message, std::size_t at, std::size_t size) {
  const auto move = [&](std::size_t& end) {
    if (end > at && end != chat::CacheMark::kAll) end += size;
  };
  for (chat::PartPlace& place : request.places)
    if (place.message == message && place.field == chat::PartPlace::Field::kContent) move(place.index);
  for (chat::CacheMark& mark : request.cache_marks)
    if (mark.message == message) move(mark.text_end);
}

}  // namespace

std::string media_place(const GenerateRequest& request) {
  const json::Array& messages = request.messages;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const json::Value* content = messages[i].find("content");
    if (content == nullptr || !content->is_array()) continue;
    for (std::size_t j = 0; j < content->as_array().size(); ++j)
      if (is_media(content->as_array()[j])) return part_place(request, i, j);
  }
  return "";
}

void note_media(GenerateRequest& request) {
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    if (!request.messages[i].is_object()) continue;
    json::Value* content = request.messages[i].as_object().find("content");
    if (content == nullptr || !content->is_array()) continue;
    std::size_t text_size = 0;
    for (std::size_t j = 0; j < content->as_array().size(); ++j) {
      json::Value& part = content->as_array()[j];
      if (is_media(part)) {
        std::string sentence = sentence_for(part);
        request.warnings.push_back(quoted_place(part_place(request, i, j)) + " is not text: the model got " +
                                   json::to_compact(json::Value(sentence)) + " in its place");
        move_places(request, i, text_size, sentence.size());
        part = chat::text_part(sentence);
      }
      text_size += part.find_string("text").value_or("").size();
    }
  }
}

}  // namespace rondo::apis
