// What the gateway keeps of the Responses API: found again by its tenant alone, kept before it is acknowledged, and looked after
// where the gateway that ran a response is gone.
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>

#include "apis/stored_responses.h"
#include "gateway/archive.h"
#include "gateway/background.h"
#include "gateway/keeping.h"
#include "json/print.h"
#include "spans/memory_store.h"
#include "spans/sqlite_store.h"
#include "tests/support/own_folder.h"

using namespace rondo;
using gateway::Archive;
using gateway::ResponseRecord;

namespace {

json::Value message(const std::string& role, const std::string& text, const std::string& id) {
  return json::Object{{"type", "message"}, {"role", role}, {"content", text}, {"id", id}};
}

ResponseRecord record(const std::string& id, const std::string& status, std::vector<std::string> before = {}) {
  ResponseRecord out;
  out.body = json::Object{
      {"id", id}, {"status", status}, {"output", json::Array{message("assistant", "to " + id, "msg_" + id)}}};
  out.input = {message("user", "asked " + id, "in_" + id)};
  out.before = std::move(before);
  return out;
}

void put(spans::Store& store, const Archive& archive, std::vector<spans::StoredObject> objects) {
  std::optional<bool> ok;
  archive.put(std::move(objects), [&](const Status& kept) { ok = kept.ok(); });
  store.flush();
  CHECK(ok == true);
}

std::string texts(const json::Array& items) {
  std::string out;
  for (const json::Value& item : items) out += std::string(item.find_string("content").value_or("?")) + ",";
  return out;
}

void for_each_store(const std::function<void(spans::Store&)>& law) {
  spans::MemoryStore memory;
  law(memory);
  const testing::OwnFolder folder("archive");
  auto sqlite = spans::SqliteStore::open(folder.path("a.sqlite"), {.sync = false});
  REQUIRE(sqlite.ok());
  law(*sqlite.value());
}

// A store that keeps nothing.
class Full final : public spans::MemoryStore {
 public:
  void put_objects(std::vector<spans::StoredObject>, Kept kept) override {
    kept(Error(ErrorCode::kIo, "the disk is full"));
  }
};

// Writes down what it is told.
class Recorder final : public gateway::ReplySink {
 public:
  explicit Recorder(bool takes_events) : takes_events_(takes_events) {}
  [[nodiscard]] bool takes_events() const override { return takes_events_; }
  void refuse(chat::Api, const apis::Fault& why) override { said += "refused: " + why.message + "\n"; }
  void start(const net::Headers&) override { said += "start\n"; }
  void send(std::span<const apis::StreamEvent> events) override {
    for (const apis::StreamEvent& event : events) said += event.name + "\n";
  }
  void finish(gateway::WholeReply reply) override {
    said += takes_events_ ? "finish\n" : json::to_compact(reply.body) + "\n";
    fault = reply.fault;
  }
  void on_gone(std::function<void()>) override {}
  std::string said;
  std::optional<apis::Fault> fault;

 private:
  bool takes_events_;
};

struct Rig {
  explicit Rig(spans::Store& store) : kept(store, spans::HashKey{1, 2, 3}) {
    gateway::ServiceParts parts;
    parts.spans = &kept;
    parts.now_ms = [this] { return now_ms; };
    state = std::make_shared<gateway::Service::State>(loop, std::move(parts));
  }
  // Runs what is ready.
  void settle() {
    loop.post([this] { loop.post([this] { loop.stop(); }); });
    loop.run();
  }
  net::Loop loop;
  std::int64_t now_ms = 1'000'000;
  spans::Spans kept;
  std::shared_ptr<gateway::Service::State> state;
};

}  // namespace

TEST_CASE("a response is found by its tenant alone, with all that it went on from") {
  for_each_store([](spans::Store& store) {
    spans::Spans kept(store, spans::HashKey{1, 2, 3});
    const Archive ours(kept, "us");
    const Archive theirs(kept, "them");
    put(store, ours, {ours.response_object(record("resp_1", "completed"), 1)});
    put(store, ours, {ours.response_object(record("resp_2", "completed", {"resp_1"}), 2)});
    put(store, ours, {ours.response_object(record("resp_3", "completed", {"resp_1", "resp_2"}), 3)});
    const auto third = ours.response("resp_3");
    REQUIRE(third.ok());
    REQUIRE(third.value());
    CHECK(third.value()->body == record("resp_3", "completed").body);
    CHECK(texts(ours.items_before(*third.value()).value()) == "asked resp_1,to resp_1,asked resp_2,to resp_2,");
    CHECK_FALSE(ours.response("resp_9").value());
    CHECK_FALSE(theirs.response("resp_3").value());
    CHECK_FALSE(theirs.erase_response(*third.value()).value());
    // One that was deleted can't be gone on from.
    CHECK(ours.erase_response(record("resp_1", "completed")).value());
    CHECK(ours.items_before(*third.value()).fault().code == "previous_response_not_found");
    // A chain is forgotten as a whole, from its last response on.
    CHECK(store.expire(1'000, {.ttl_ms = 998}).value() == 0);
    CHECK(store.expire(1'000, {.ttl_ms = 996}).value() == 1);
    CHECK_FALSE(ours.response("resp_3").value());
  });
}

TEST_CASE("a conversation's items are its own, in their order") {
  for_each_store([](spans::Store& store) {
    spans::Spans kept(store, spans::HashKey{1, 2, 3});
    const Archive ours(kept, "us");
    const Archive theirs(kept, "them");
    put(store, ours,
        {ours.conversation_object({"conv_1", 7, {{"a", "b"}}}, 1),
         ours.item_object("conv_1", message("user", "x", "i1"), 1),
         ours.item_object("conv_1", message("user", "y", "i2"), 1)});
    put(store, ours,
        {ours.conversation_object({"conv_2", 8, {}}, 1), ours.item_object("conv_2", message("user", "z", "i1"), 1)});
    put(store, ours, {ours.item_object("conv_1", message("user", "w", "i3"), 2)});
    CHECK(ours.conversation("conv_1").value()->metadata == json::Object{{"a", "b"}});
    CHECK(texts(ours.conversation_items("conv_1").value()) == "x,y,w,");
    CHECK(texts(ours.conversation_items("conv_2").value()) == "z,");
    CHECK(theirs.conversation_items("conv_1").value().empty());
    CHECK_FALSE(theirs.conversation("conv_1").value());
    CHECK_FALSE(theirs.conversation_item("conv_1", "i1").value());
    CHECK(ours.erase_item("conv_1", "i2").value());
    CHECK_FALSE(ours.erase_item("conv_1", "i2").value());
    CHECK_FALSE(theirs.erase_conversation("conv_1").value());
    CHECK(ours.erase_conversation("conv_1").value());
    CHECK(ours.conversation_items("conv_1").value().empty());
    CHECK(texts(ours.conversation_items("conv_2").value()) == "z,");
  });
}

TEST_CASE("the last byte of a reply waits for the store, and says where that failed") {
  const json::Value body = record("resp_1", "completed").body;
  const std::vector<apis::StreamEvent> events = apis::replayed(body, false);
  spans::MemoryStore good;
  Full full;
  for (const bool is_full : {false, true}) {
    Rig rig(is_full ? static_cast<spans::Store&>(full) : good);
    const gateway::Keeping keeping{.state = rig.state, .tenant = "us", .input = {}, .conversation = ""};
    const auto whole = std::make_shared<Recorder>(false);
    gateway::keeping_sink(keeping, whole)->finish({.headers = {}, .body = body});
    CHECK(whole->said.empty());
    rig.settle();
    CHECK(whole->said ==
          (is_full ? "refused: the response could not be stored: the disk is full\n" : json::to_compact(body) + "\n"));
    const auto stream = std::make_shared<Recorder>(true);
    const auto sink = gateway::keeping_sink(keeping, stream);
    sink->start({});
    sink->send(events);
    sink->finish({.headers = {}, .body = body});
    CHECK(stream->said.find("response.completed") == std::string::npos);
    CHECK(stream->said.ends_with("response.output_item.done\n"));
    rig.settle();
    CHECK(stream->said.ends_with(is_full ? "response.failed\n\nfinish\n" : "response.completed\n\nfinish\n"));
    CHECK(stream->fault.has_value() == is_full);
    CHECK(Archive(rig.kept, "us").response("resp_1").value().has_value() == !is_full);
    rig.state.reset();
  }
}

TEST_CASE("a response whose gateway is gone has failed, and one that was to be cancelled is") {
  spans::MemoryStore store;
  Rig rig(store);
  const Archive archive(rig.kept, "us");
  ResponseRecord running = record("resp_1", "in_progress");
  running.beat_ms = rig.now_ms;
  running.chunks = 1;
  put(store, archive,
      {archive.response_object(running, rig.now_ms),
       archive.chunk_object(running, 0, "event: a\ndata: {}\n\nevent: b\ndata: {}\n\n", rig.now_ms)});
  rig.now_ms += 59'000;
  CHECK(gateway::looked_after(*rig.state, archive, running).status() == "in_progress");
  rig.now_ms += 2'000;
  const ResponseRecord lost = gateway::looked_after(*rig.state, archive, running);
  CHECK(lost.status() == "failed");
  CHECK(lost.body.find("error")->find_string("code") == "server_error");
  CHECK(archive.response("resp_1").value()->status() == "failed");
  CHECK(archive.chunk("resp_1", 1)
            .value()
            ->starts_with("event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":2,"));
  running.body.as_object().set("id", "resp_2");
  put(store, archive, {archive.response_object(running, 1), archive.wish_object(running, "cancel", 1)});
  CHECK(gateway::looked_after(*rig.state, archive, running).status() == "cancelled");
}
