#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "model/gguf.h"
#include "model/model_files.h"
#include "tests/support/own_folder.h"

namespace rondo::model {
namespace {

using testing::OwnFolder;

template <typename T>
std::string raw(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
std::string raw_string(const std::string& text) { return raw<std::uint64_t>(text.size()) + text; }
std::string string_entry(const std::string& key, const std::string& value) {
  return raw_string(key) + raw<std::uint32_t>(8) + raw_string(value);
}
std::string u32_entry(const std::string& key, std::uint32_t value) {
  return raw_string(key) + raw<std::uint32_t>(4) + raw(value);
}
std::string strings_entry(const std::string& key, const std::vector<std::string>& values) {
  std::string out = raw_string(key) + raw<std::uint32_t>(9) + raw<std::uint32_t>(8) + raw<std::uint64_t>(values.size());
  for (const std::string& value : values) out += raw_string(value);
  return out;
}
std::string header(std::uint64_t tensors, std::uint64_t entries) {
  return "GGUF" + raw<std::uint32_t>(3) + raw(tensors) + raw(entries);
}
std::string tensor(const std::string& name, std::uint64_t elements, std::uint32_t type, std::uint64_t offset) {
  return raw_string(name) + raw<std::uint32_t>(1) + raw(elements) + raw(type) + raw(offset);
}
std::string small_gguf() {
  std::string file = header(2, 5) + string_entry("tokenizer.ggml.model", "gpt2") +
                     strings_entry("tokenizer.ggml.tokens", {"a", "b", "<s>"}) +
                     u32_entry("tokenizer.ggml.bos_token_id", 2) + string_entry("tokenizer.chat_template.rag", "R") +
                     string_entry("tokenizer.chat_template", "T") + tensor("one", 3, 0, 0) + tensor("two", 32, 8, 32);
  file.resize((file.size() + 31) / 32 * 32);
  return file + std::string(32 + 34, 'x');
}

}  // namespace

TEST_CASE("gguf: a whole file, and every prefix of it is refused") {
  const OwnFolder folder("gguf");
  const std::string whole = small_gguf();
  const Result<Gguf> gguf = read_gguf(folder.file("a.gguf", whole));
  REQUIRE(gguf.ok());
  CHECK(gguf.value().version == 3);
  REQUIRE(gguf.value().tensors.size() == 2);
  CHECK(gguf.value().tensors[0].size_bytes == 12);
  CHECK(gguf.value().tensors[1].size_bytes == 34);
  CHECK(*gguf.value().find_string("tokenizer.ggml.model") == "gpt2");
  CHECK(gguf.value().find_int("tokenizer.ggml.bos_token_id") == 2);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<Gguf> cut = read_gguf(folder.file("cut.gguf", whole.substr(0, size)));
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.error().code == ErrorCode::kTokenizer);
    CHECK(cut.error().offset.has_value());
  }
}

TEST_CASE("gguf: a tensor of each type has the bytes of its blocks") {
  // Bytes of 256 elements, by ggml's type numbers; 0 if there is no such type.
  const std::vector<std::uint64_t> bytes = {
      1024, 512, 144, 160, 0,    0,    176,  192, 272, 288, 84, 110, 144, 176, 210, 292, 66, 74,  98,  50, 144, 110,
      82,   136, 256, 512, 1024, 2048, 2048, 56,  512, 0,   0,  0,   54,  66,  0,   0,   0,  136, 144, 36, 72,  0};
  const OwnFolder folder("gguf_types");
  for (std::uint32_t type = 0; type < bytes.size(); ++type) {
    std::string file = header(1, 0) + tensor("t", 256, type, 0);
    file.resize((file.size() + 31) / 32 * 32 + 2048);
    const Result<Gguf> gguf = read_gguf(folder.file("a.gguf", file));
    CAPTURE(type);
    REQUIRE(gguf.ok() == (bytes[type] != 0));
    if (gguf.ok()) CHECK(gguf.value().tensors[0].size_bytes == bytes[type]);
  }
}

TEST_CASE("gguf: lists of numbers are read to the last one") {
  std::string list =
      raw_string("tokenizer.ggml.scores") + raw<std::uint32_t>(9) + raw<std::uint32_t>(6) + raw<std::uint64_t>(3);
  for (const float score : {0.5F, -2.0F, 7.25F}) list += raw(score);
  const OwnFolder folder("gguf_numbers");
  const Result<Gguf> gguf = read_gguf(folder.file("a.gguf", header(0, 1) + list));
  REQUIRE_MESSAGE(gguf.ok(), gguf.error().to_string());
  const auto* scores = gguf.value().find_floats("tokenizer.ggml.scores");
  REQUIRE(scores != nullptr);
  CHECK(*scores == std::vector<double>{0.5, -2.0, 7.25});
}

TEST_CASE("gguf: entries and tensors may be as small as they can be") {
  const OwnFolder folder("gguf_small");
  const std::string entries =
      raw_string("a") + raw<std::uint32_t>(0) + "x" + raw_string("b") + raw<std::uint32_t>(0) + "y";
  const Result<Gguf> gguf = read_gguf(folder.file("a.gguf", header(0, 2) + entries));
  REQUIRE_MESSAGE(gguf.ok(), gguf.error().to_string());
  CHECK(gguf.value().find_int("a") == 'x');
  CHECK(gguf.value().find_int("b") == 'y');
  CHECK_FALSE(read_gguf(folder.file("b.gguf", header(0, 3) + entries)).ok());
}

TEST_CASE("gguf: violations are named") {
  const OwnFolder folder("gguf_bad");
  const auto refuse = [&folder](const std::string& content) {
    const Result<Gguf> gguf = read_gguf(folder.file("bad.gguf", content));
    REQUIRE_FALSE(gguf.ok());
    return gguf.error().message;
  };
  const std::string pad(256, '\0');
  CHECK(refuse("GGML" + pad).find("does not start with `GGUF`") != std::string::npos);
  CHECK(refuse("GGUF" + raw<std::uint32_t>(1) + pad).find("version 1 is not supported") != std::string::npos);
  CHECK(refuse(header(0, std::uint64_t{1} << 60U) + pad).find("do not fit the file") != std::string::npos);
  CHECK(refuse(header(std::uint64_t{1} << 60U, 0) + pad).find("do not fit the file") != std::string::npos);
  CHECK(refuse(header(0, 2) + u32_entry("k", 1) + u32_entry("k", 1)).find("occurs twice") != std::string::npos);
  CHECK(refuse(header(0, 1) + u32_entry("general.alignment", 3)).find("power of two") != std::string::npos);
  CHECK(refuse(header(0, 1) + raw_string("k") + raw<std::uint32_t>(77) + pad).find("unknown type") !=
        std::string::npos);
  CHECK(refuse(header(0, 1) + raw_string("k") + raw<std::uint32_t>(9) + raw<std::uint32_t>(9) + pad)
            .find("array of arrays") != std::string::npos);
  CHECK(refuse(header(0, 1) + raw_string("k") + raw<std::uint32_t>(9) + raw<std::uint32_t>(0) +
               raw<std::uint64_t>(1 << 29) + pad)
            .find("ends inside") != std::string::npos);
  const auto claims = [](std::uint64_t count) {
    return header(0, 1) + raw_string("k") + raw<std::uint32_t>(9) + raw<std::uint32_t>(0) + raw(count);
  };
  CHECK(refuse(claims(std::uint64_t{1} << 30U) + pad).find("ends inside") != std::string::npos);
  CHECK(refuse(claims((std::uint64_t{1} << 30U) + 1) + pad).find("claims 1073741825 elements") != std::string::npos);
  CHECK(refuse(header(1, 0) + tensor("t", 5, 8, 0) + pad).find("multiple of 32") != std::string::npos);
  CHECK(refuse(header(1, 0) + tensor("t", 5, 4, 0) + pad).find("unknown type 4") != std::string::npos);
  CHECK(refuse(header(1, 0) + tensor("t", 5, 0, 64) + pad).find("expected 0") != std::string::npos);
  CHECK(refuse(header(1, 0) + tensor("t", std::uint64_t{1} << 62U, 0, 0) + pad).find("impossible") !=
        std::string::npos);
  CHECK(refuse(header(2, 0) + tensor("t", 1, 0, 0) + tensor("t", 1, 0, 32) + pad).find("twice") != std::string::npos);
  CHECK(refuse(header(0, 1) + strings_entry("tokenizer.ggml.tokens", {"a", "a"})).find("twice") != std::string::npos);
}

TEST_CASE("load: gguf with named templates") {
  const OwnFolder folder("load_gguf");
  const Result<ModelFiles> files = load(folder.file("m.gguf", small_gguf()));
  REQUIRE(files.ok());
  CHECK(files.value().tokenizer.has_value());
  REQUIRE(files.value().templates.size() == 2);
  CHECK(files.value().templates[0].name == "default");
  CHECK(files.value().templates[1].name == "rag");
  CHECK(files.value().bos_token == "<s>");
  CHECK_FALSE(files.value().eos_token.has_value());
  CHECK(load(folder.path()).ok());  // a folder with one .gguf
}

TEST_CASE("load: folder") {
  const OwnFolder folder("folder");
  const std::string root = folder.path();
  CHECK(load(root).error().code == ErrorCode::kNotFound);
  CHECK(load(root + "/nothing").error().message == "no such file or folder");
  folder.file("tokenizer_config.json",
              R"({"bos_token": {"content": "<b>"}, "eos_token": "<e>",
                 "chat_template": [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "D"}]})");
  Result<ModelFiles> files = load(root);
  REQUIRE(files.ok());
  REQUIRE(files.value().templates.size() == 2);
  CHECK(files.value().templates[0].text == "D");
  CHECK(files.value().bos_token == "<b>");
  CHECK(files.value().eos_token == "<e>");
  CHECK(load_tokenizer_source(root).error().code == ErrorCode::kNotFound);
  folder.file("chat_template.jinja", "J");
  folder.file("additional_chat_templates/rag.jinja", "G");
  files = load_template_source(root);
  REQUIRE(files.ok());
  REQUIRE(files.value().templates.size() == 2);
  CHECK(files.value().templates[0].text == "J");
  CHECK(files.value().templates[1].name == "rag");
  folder.file("tokenizer.json", "{\"model\": ");
  CHECK(load_template_source(root).ok());
  CHECK(load(root).error().code == ErrorCode::kJson);
  CHECK(load(root).error().source.ends_with("tokenizer.json"));
  folder.file("tokenizer.json", "{\"model\": {");
  CHECK(*load(root).value().tokenizer->tokenizer_json == "{\"model\": {");
}

TEST_CASE("load: a folder with a tokenizer only") {
  const OwnFolder folder("tokenizer_only");
  folder.file("tokenizer.json", R"({"model": {"type": "BPE"}})");
  folder.file("generation_config.json", R"({"eos_token_id": [1, 2]})");
  const std::string root = folder.path();
  const Result<ModelFiles> files = load(root);
  REQUIRE(files.ok());
  CHECK(files.value().templates.empty());
  REQUIRE(files.value().tokenizer.has_value());
  CHECK(files.value().tokenizer->generation_config != nullptr);
  CHECK(load_template_source(root).error().code == ErrorCode::kNotFound);
  CHECK(load_tokenizer_source(root + "/tokenizer.json").ok());
}

TEST_CASE("bug: a link that leads nowhere counted as a file that is not there") {
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}) {
    CAPTURE(name);
    const OwnFolder folder("broken_link");
    if (std::string(name) != "chat_template.jinja") folder.file("chat_template.jinja", "A");
    std::filesystem::create_symlink("../blobs/gone", folder.path() + "/" + name);
    const Result<ModelFiles> files = load(folder.path());
    REQUIRE_FALSE(files.ok());
    CHECK(files.error().message == "is a link to a file that is not there");
    CHECK(files.error().source.ends_with(name));
  }
}

TEST_CASE("load: single files") {
  const OwnFolder folder("single");
  CHECK(load(folder.file("a.jinja", "A")).value().templates[0].text == "A");
  CHECK(load(folder.file("a.txt", "B")).value().templates[0].text == "B");
  CHECK(load(folder.file("chat_template.json", R"({"chat_template": "C"})")).value().templates[0].text == "C");
  CHECK(load(folder.file("other.json", R"({"x": 1})")).error().code == ErrorCode::kNotFound);
  CHECK(load(folder.file("bad.json", R"({"chat_template": 1})")).error().code == ErrorCode::kJson);
  CHECK(load(folder.file("cut.gguf", "GGUF")).error().code == ErrorCode::kTokenizer);
}

}  // namespace rondo::model
