#include "probe/turns.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "json/parse.h"

namespace rondo::probe {
namespace {

// Each turn as `header|data|tail`.  Also checks that the functions for one turn agree with the one for all.
std::vector<std::string> turns_of(const std::string& source, const std::string& messages) {
  const auto chat_template = jinja::Template::compile(source, {}, "turns").value();
  const json::Array list = json::parse(messages).value().as_array();
  const auto rendered =
      chat_template->render(json::Object{{"messages", list}, {"add_generation_prompt", true}}, {}).value();
  const std::string_view text = rendered.text.bytes();
  std::vector<std::string> out;
  const std::vector<TurnExtent> turns = turn_extents(rendered, list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    const TurnExtent& turn = turns[i];
    CHECK(turn.begin == turn_begin(rendered, index));
    if (!turn.begin) {
      out.emplace_back("none");
      continue;
    }
    const auto data = data_extent(rendered, index);
    REQUIRE(turn.data.has_value() == data.has_value());
    const Extent extent = turn.data.value_or(Extent{*turn.begin, *turn.begin});
    if (data) CHECK((data->begin == extent.begin && data->end == extent.end));
    CHECK(turn.tail_end == tail_end(rendered, index, extent.end));
    out.push_back(std::string(text.substr(*turn.begin, extent.begin - *turn.begin)) + "|" +
                  std::string(text.substr(extent.begin, extent.end - extent.begin)) + "|" +
                  std::string(text.substr(extent.end, turn.tail_end - extent.end)));
  }
  return out;
}

using Turns = std::vector<std::string>;

constexpr const char* kTalk = R"([{"role": "user", "content": "Hi.", "thought": "x"},
                                  {"role": "assistant", "content": "Yes.", "thought": "y"}])";

TEST_CASE("a turn is its header, its data and what follows them, up to the next turn or the generation prompt") {
  CHECK(turns_of("^{% for m in messages %}<{{ m.role }}>{{ m.content }}</e>\n{% endfor %}"
                 "{% if add_generation_prompt %}<assistant>{% endif %}",
                 kTalk) == Turns{"<user>|Hi.|</e>\n", "<assistant>|Yes.|</e>\n"});
  CHECK(turns_of("{% for m in messages %}<{{ m.role }}/>{% endfor %}", kTalk) == Turns{"||<user/>", "||<assistant/>"});
}

TEST_CASE("a message that is read by its index owns what is written of it, and no more") {
  CHECK(turns_of("<{{ messages[0].content }}-{{ messages[1].content }}>", kTalk) == Turns{"|Hi.|", "|Yes.|"});
  CHECK(turns_of("{{ messages[1].content }}", kTalk) == Turns{"none", "|Yes.|"});
}

TEST_CASE("what a turn says twice is its data both times") {
  CHECK(turns_of("{% for m in messages %}({{ m.content }}={{ m.content }}){% endfor %}", kTalk) ==
        Turns{"(|Hi.=Hi.|)", "(|Yes.=Yes.|)"});
}

TEST_CASE("what a later turn repeats of a message is no data of it") {
  CHECK(turns_of("{% for m in messages %}{% if m.role == 'tool' %}"
                 "[{% for o in messages %}{% for c in o.tool_calls or [] %}{% if c.id == m.tool_call_id %}"
                 "{{ c.function.name }}{% endif %}{% endfor %}{% endfor %}={{ m.content }}]"
                 "{% else %}({{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %})"
                 "{% endif %}{% endfor %}",
                 R"([{"role": "user", "content": "q"},
                     {"role": "assistant", "content": "a", "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
                     {"role": "tool", "content": "r", "tool_call_id": "1"}, {"role": "user", "content": "s"}])") ==
        Turns{"(|q|)", "(|af|)", "[f=|r|]", "(|s|)"});
}

TEST_CASE("what is written of a message for the first time is its data, however late") {
  CHECK(turns_of("{% for m in messages %}({{ m.content }}){% endfor %}"
                 "{% for m in messages %}<{{ m.thought }}{{ m.content }}>{% endfor %}",
                 kTalk) == Turns{"(|Hi.)(Yes.)<xHi.|>", "(|Yes.)<xHi.><yYes.|>"});
}

}  // namespace
}  // namespace rondo::probe
