// Puts together the ids of a prompt from the known turns.  Internal to spans/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/model.h"
#include "rondo/result.h"
#include "spans/call_ids.h"
#include "spans/planner.h"

namespace rondo::spans {

struct KnownReply {
  std::size_t message = 0;
  std::shared_ptr<const Turn> turn;
  CallIds call_ids = {};  // of its calls, in its tokens
};

struct Known {
  std::size_t parent_message = 0;  // index of the message that is the parent's reply
  bool continues_parent = false;   // the last message is that reply, and the model continues it
  bool is_cut = false;             // the parent's reply is less than what is stored of it
  std::vector<KnownReply> later;   // replies after the parent's that are used as they were sampled, in order
};

class Composer {
 public:
  // `plan.parent` may be null.  Does not change the conversation of `request`.
  Composer(const core::Model& model, PlanRequest& request, const Known& known, Plan& plan)
      : model_(model), request_(request), known_(known), plan_(plan) {}

  // Fills in the fields of the plan that concern ids.  Fails as the model does if no other way is left.
  Status run();

 private:
  [[nodiscard]] core::Call call_without_continued() const;
  void put_known(const Turn& turn, std::size_t reply);
  void mark_sampled(const Turn& turn, std::size_t begin);
  [[nodiscard]] bool has_turns_behind(std::size_t message) const;

  Status compose_all();
  Status compose();
  Status continue_parent();
  // The ids of a reply up to where its text for the client ends.
  struct ShownReply {
    std::size_t ids = 0;          // how many of its ids
    std::vector<TokenId> rest{};  // ids of the shown text after these
  };
  [[nodiscard]] std::optional<ShownReply> shown_reply() const;
  [[nodiscard]] std::string hidden_end(std::string_view content) const;
  Status bridge();
  Status bridge_and_cut(core::Call call, core::BridgeCall bridge);
  Status raw_turns(bool with_parent, bool with_later);
  Status render(core::Call call);
  Status add_prefill();
  void put_appended(std::span<const TokenId> ids, std::span<const std::int32_t> owners, std::size_t first_message);
  [[nodiscard]] core::BridgeCall bridge_call() const;
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> sampled_ranges(const json::Array& history) const;
  void restore_reasoning(core::Call& call) const;

  const core::Model& model_;
  PlanRequest& request_;
  const Known& known_;
  Plan& plan_;
  // What becomes the plan's fields of these names.
  std::vector<TokenId> ids_;
  std::vector<std::int32_t> owners_;
  std::vector<std::uint8_t> sampled_;
  std::span<const TokenId> begun_;  // the parent's prompt, up to the beginning of its reply
  std::vector<TokenId> replied_;    // the ids of that reply
};

}  // namespace rondo::spans
