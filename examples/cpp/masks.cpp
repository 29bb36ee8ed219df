// What of a conversation is learned: the ids that the model itself would have written.
//
// Usage: masks TEMPLATE TOKENIZER      (files, or a model's folder twice)
#include <cstdio>

#include "rondo/model.h"

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: masks TEMPLATE TOKENIZER\n");
    return 2;
  }
  const auto model = rondo::Model::load(arguments[1], arguments[2]);
  rondo::Chat chat;
  chat.messages = R"([{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Blue."}])";
  chat.add_generation_prompt = false;
  const auto encoded = model.ok() ? model.value().encode(chat) : rondo::Result<rondo::Encoded>(model.error());
  if (!encoded.ok()) {
    std::fprintf(stderr, "%s\n", encoded.error().to_string().c_str());
    return 1;
  }
  const rondo::Encoded& ids = encoded.value();
  for (std::size_t i = 0; i < ids.ids.size(); ++i) {
    const auto text = model.value().detokenize({ids.ids[i]});
    std::printf("%s%s", ids.sampled_mask[i] != 0 ? "+" : " ", text.ok() ? text.value().c_str() : "?");
  }
  std::printf("\n");
  return 0;
}
