// Any bytes as the body of a request, for each of the readers, and any arguments for the writers: nothing crashes, what was read has
// its limits, and the deltas of a stream that can be put together add up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "apis/completions.h"
#include "apis/custom_input.h"
#include "apis/items.h"
#include "apis/listings.h"
#include "apis/stored_responses.h"
#include "apis/truncation.h"
#include "apis/writer.h"
#include "json/parse.h"
#include "json/print.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file

void expect(bool holds) {
  if (!holds) std::abort();
}

// A turn whose texts are the fuzzer's.
void write_turn(const apis::GenerateRequest& request, std::string_view text) {
  const apis::Naming naming = {[](auto...) { return std::string("i"); }, [](auto...) { return std::string("c"); },
                               [](auto...) { return std::string("s"); }};
  apis::TurnBuilder builder(0, naming);
  apis::TurnCollector collector(request.choices);
  const auto writer = apis::make_writer(request, {});
  expect(!writer->start().empty());
  const auto take = [&](const std::vector<apis::TurnEvent>& events) {
    for (const apis::TurnEvent& event : events) {
      collector.add(event);
      for (const apis::StreamEvent& written : writer->add(event)) expect(json::parse(written.data).ok());
    }
  };
  const std::string name = request.tool_table.empty() ? "f" : request.tool_table.front().name;
  for (const parse::EventKind kind :
       {parse::EventKind::kReasoning, parse::EventKind::kContent, parse::EventKind::kCallStart,
        parse::EventKind::kArguments, parse::EventKind::kCallEnd}) {
    parse::Event event;
    event.kind = kind;
    event.text = kind == parse::EventKind::kCallStart ? name : std::string(text);
    take(builder.feed({&event, 1}));
  }
  take(builder.finish(apis::Finish::kStop));
  for (std::size_t i = 1; i < request.choices; ++i) {
    apis::TurnBuilder other(i, naming);
    take(other.finish(apis::Finish::kStop));
  }
  expect(!writer->finish({}).empty());
  expect(json::parse(json::to_compact(apis::reply_body(request, {}, collector.choices(), {}))).ok());
}

void read_all(const json::Value& body, std::string_view text) {
  for (const chat::Api api : {chat::Api::kChat, chat::Api::kMessages, chat::Api::kResponses}) {
    const auto request = apis::read(api, body);
    if (!request.ok()) {
      expect(!request.fault().message.empty() && request.fault().status() >= 400);
      continue;
    }
    expect(request.value().choices >= 1 && request.value().choices <= apis::kMostChoices);
    expect(request.value().stops.size() <= apis::kMostStops);
    write_turn(request.value(), text.substr(0, 4096));
    apis::GenerateRequest shortened = request.value();
    const std::size_t messages = shortened.messages.size();
    const std::size_t dropped = apis::drop_oldest(shortened, std::vector<std::size_t>(messages, 1), text.size() % 8);
    expect(shortened.messages.size() == messages - dropped && (messages == 0 || dropped < messages));
  }
  (void)apis::read_completion(body);
  (void)apis::read_tokenize(body);
  (void)apis::read_detokenize(body);
  (void)apis::read_conversation_request(body);
  if (!body.is_object()) return;
  auto resolved = apis::resolve_items(
      apis::input_items(body), [](const json::Value& item) { return std::optional(json::Array{item}); }, "input");
  expect(resolved.ok() && resolved.value().items.size() == resolved.value().places.size());
  (void)apis::check_ids({}, resolved.value(), "input");
  (void)apis::check_compaction(body);
  json::Array& items = resolved.value().items;
  apis::name_items(items, [](std::string_view) { return std::string("i"); });
  expect(apis::page_of(items, {}).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto body = apis::parse_body(text);
  if (body.ok()) read_all(body.value(), text);
  apis::CustomInput input;
  std::string joined;
  for (const char byte : text) joined += input.feed({&byte, 1});
  expect(joined + input.close() == apis::custom_input(text));
  return 0;
}
