#include "edge/samples.h"

#include <algorithm>
#include <array>
#include <utility>

#include "edge/candidates.h"
#include "edge/edge_template.h"
#include "probe/messages.h"

namespace rondo::edge {
namespace {

constexpr std::size_t kAnyOrder = 4;  // up to this many messages, every order is tried

constexpr std::array<std::string_view, 7> kWordTexts = {"alpha",
                                                        "Tell me more about it",
                                                        "42 and 7",
                                                        "x",
                                                        "yes",
                                                        "None",
                                                        "one two three four five six seven eight nine ten"};

constexpr std::array<std::string_view, 21> kInnerTexts = {"first line\nsecond line",
                                                          "a\n\n  b",
                                                          "say \"hi\" & <b>'c'</b>",
                                                          "{{ x }} {% if y %} {# z #}",
                                                          "back\\slash \\n",
                                                          "tab\tinside",
                                                          "\xc3\xbcn\xc3\xaf"
                                                          "c\xc3\xb6"
                                                          "de \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x99\x82",
                                                          "{\"k\": [1, null]}",
                                                          "[1, 2]",
                                                          "null",
                                                          "0",
                                                          "a\r\nb",
                                                          "%s %d {0} $1",
                                                          "\xc4\xb0stanbul \xc3\x9f",
                                                          "e\xcc\x81 combining",
                                                          "a\xe2\x80\xa8"
                                                          "b",
                                                          ".",
                                                          "?!",
                                                          "'",
                                                          "# heading\n- item\n```\ncode\n```",
                                                          "a  b"};

constexpr std::array<std::string_view, 10> kEndTexts = {
    " lead",        "trail ", "\nlead", "trail\n\n", "\t x \r\n", "\xc2\xa0nbsp\xc2\xa0", "\xe3\x80\x80wide",
    "\x0bvertical", "x\n",    "\n \n x"};

constexpr std::array<std::string_view, 3> kEmptyTexts = {"", " ", "\n"};

bool holds_any(std::string_view text, const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts,
                             [&](const std::string& other) { return text.find(other) != std::string_view::npos; });
}

// The texts that such a speaker may say.
std::vector<std::string> pool_of(const Speaker& speaker) {
  std::vector<std::string> out;
  const auto add = [&](const auto& texts) {
    for (const std::string_view text : texts) {
      if (!holds_any(text, speaker.except)) out.emplace_back(text);
    }
  };
  add(kWordTexts);
  if (speaker.texts >= Texts::kInner) {
    add(kInnerTexts);
    constexpr std::size_t kLong = 3000;
    out.emplace_back(kLong, 'q');
  }
  if (speaker.texts >= Texts::kEnds) add(kEndTexts);
  if (speaker.texts >= Texts::kAny) add(kEmptyTexts);
  if (out.empty()) out.emplace_back("q");
  return out;
}

class Maker {
 public:
  explicit Maker(const Kind& kind, bool reads_time)
      : kind_(kind),
        reads_time_(reads_time),
        system_(pool_of(kind.system_texts)),
        user_(pool_of(kind.user_texts)),
        assistant_(pool_of(kind.assistant_texts)) {}

  std::vector<Sample> make(const SampleParts& parts) {
    if (parts.orders) {
      for (const std::string& roles : orders()) add(roles);
    }
    if (parts.texts) add_texts();
    if (parts.text_parts && kind_.text_parts) add_parts();
    if (!parts.media) return std::move(out_);
    add_media(kImage, kind_.images);
    add_media(kVideo, kind_.videos);
    if (kind_.images != Media::kNone && kind_.videos != Media::kNone && kind_.several_media)
      add_content({media_part(kImage), text_part(), media_part(kVideo)});
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<std::string> leads() const {
    if (kind_.system == SystemUse::kNone) return {""};
    if (kind_.system == SystemUse::kLead) return {"s"};
    return {"", "s"};
  }

  static void alternate(std::vector<std::string>& out, const std::string& lead, std::size_t most, bool answered) {
    std::string roles = lead;
    while (roles.size() < most) {
      roles += (roles.size() - lead.size()) % 2 == 0 ? 'u' : 'a';
      const bool ends_with_user = roles.back() == 'u';
      const bool is_shown = roles.size() - lead.size() < 8 || roles.size() + 2 > most;
      if (is_shown && (ends_with_user || answered)) out.push_back(roles);
    }
  }

  [[nodiscard]] std::vector<std::string> orders() const {
    std::vector<std::string> out;
    for (const std::string& lead : leads()) {
      if (kind_.turns == Turns::kOne) {
        out.push_back(lead + "u");
        continue;
      }
      alternate(out, lead, kind_.max_messages, kind_.ends_with_answer);
      if (kind_.turns == Turns::kAny) any_orders(out, lead);
      if (kind_.later_system) {
        for (const char* roles : {"usau", "uasu", "usausu", "uasusau"}) out.push_back(lead + roles);
        if (!lead.empty()) out.push_back(lead + "su");
        if (kind_.turns == Turns::kAny) out.push_back(lead + "usu");
        if (kind_.turns == Turns::kAny && kind_.ends_with_answer) out.push_back(lead + "us");
      }
    }
    return out;
  }

  void any_orders(std::vector<std::string>& out, const std::string& lead) const {
    for (std::size_t size = 1; size <= kAnyOrder; ++size) {
      for (std::size_t bits = 0; bits < (std::size_t{1} << size); ++bits) {
        std::string roles = lead;
        for (std::size_t i = 0; i < size; ++i) roles += (bits >> i) % 2 == 0 ? 'u' : 'a';
        if (roles.back() == 'u' || kind_.ends_with_answer) out.push_back(roles);
      }
    }
  }

  [[nodiscard]] std::vector<std::string> text_orders() const {
    std::vector<std::string> out;
    for (const std::string& lead : leads()) {
      if (kind_.turns == Turns::kOne) {
        out.push_back(lead + "u");
      } else {
        out.push_back(lead + "uauau");
        if (kind_.ends_with_answer) out.push_back(lead + "ua");
      }
    }
    return out;
  }

  const std::string& next_text(char role) {
    const std::vector<std::string>& pool = role == 's' ? system_ : role == 'u' ? user_ : assistant_;
    return pool[text_++ % pool.size()];
  }

  json::Value text_part() { return chat::text_part(next_text('u')); }

  void add_sample(const std::string& roles, const Setting& setting) {
    Sample sample;
    for (const char role : roles) sample.messages.push_back(plain_message_of(role, next_text(role)));
    sample.setting = setting;
    out_.push_back(std::move(sample));
  }

  // Adds the conversation under every setting of the kind.
  void add(const std::string& roles) {
    add_sample(roles, {.generation_prompt = true});
    if (reads_time_) add_sample(roles, {.generation_prompt = true, .later = true});
    if (kind_.thinking) add_sample(roles, {.generation_prompt = true, .thinking = true});
    if (kind_.without_prompt) add_sample(roles, {.generation_prompt = false});
    if (kind_.without_prompt && kind_.thinking) add_sample(roles, {.generation_prompt = false, .thinking = true});
  }

  // Every text for every role, as the first, last and a middle message.
  void add_texts() {
    const std::size_t most = std::max({system_.size(), user_.size(), assistant_.size()});
    for (std::size_t i = 0; i < most; ++i) {
      for (const std::string& roles : text_orders()) {
        text_ = i;
        add_sample(roles, {.generation_prompt = true});
      }
    }
  }

  // Gives these parts to the number-th place of a user message.
  void add_content_at(std::size_t number, const json::Array& parts) {
    std::vector<std::pair<std::string, std::size_t>> places;
    for (const std::string& roles : text_orders()) {
      for (std::size_t i = 0; i < roles.size(); ++i) {
        if (roles[i] == 'u') places.emplace_back(roles, i);
      }
    }
    const auto& [roles, index] = places[number % places.size()];
    add_sample(roles, {.generation_prompt = true});
    out_.back().messages[index] = probe::plain_message(kUser, json::Value(parts));
  }

  // Adds conversations in which a user message has these parts.
  void add_content(const json::Array& parts) {
    for (const std::string& roles : text_orders()) {
      for (std::size_t i = 0; i < roles.size(); ++i) {
        if (roles[i] != 'u') continue;
        add_sample(roles, {.generation_prompt = true});
        out_.back().messages[i] = probe::plain_message(kUser, json::Value(parts));
      }
    }
  }

  // Writes the texts of all messages as one, two and three parts.
  void add_parts() {
    const std::vector<std::string> orders = text_orders();
    const std::size_t most = std::max({system_.size(), user_.size(), assistant_.size()});
    for (std::size_t i = 0; i < most; ++i) {
      Sample sample;
      const std::string& roles = orders[i % orders.size()];
      for (std::size_t m = 0; m < roles.size(); ++m) {
        const std::vector<std::string>& except = kind_.speaker(roles[m]).except;
        json::Array parts;
        std::string joined;
        for (std::size_t p = 0; p <= (i + m) % 3; ++p) {
          parts.push_back(chat::text_part(next_text(roles[m])));
          joined += *parts.back().find_string("text");
        }
        if (holds_any(joined, except)) parts.resize(1);
        sample.messages.push_back(probe::plain_message(role_name(roles[m]), json::Value(std::move(parts))));
      }
      out_.push_back(std::move(sample));
    }
  }

  // Puts every text beside a part of that type, at every position.
  void add_media(std::string_view type, Media media) {
    if (media == Media::kNone) return;
    const json::Value part = media_part(type);
    for (std::size_t i = 0; i < user_.size(); ++i) {
      text_ = i;
      const json::Value text = text_part();
      add_content_at(i, {part, text});
      if (media == Media::kAnywhere) add_content_at(i + 1, {text, part});
      if (media == Media::kAnywhere) add_content_at(i + 2, {text, part, text_part()});
    }
    add_content({part, text_part()});
    if (media == Media::kAnywhere) add_content({text_part(), part, text_part()});
    if (media == Media::kAnywhere) add_content({part});
    if (!kind_.several_media) return;
    add_content({part, part, text_part()});
    if (media == Media::kAnywhere) add_content({text_part(), part, part, text_part(), part});
    Sample sample;
    const std::string roles = text_orders().back();
    for (const char role : roles) {
      sample.messages.push_back(role == 'u' ? probe::plain_message(kUser, json::Array{part, text_part()})
                                            : plain_message_of(role, next_text(role)));
    }
    out_.push_back(std::move(sample));
  }

  const Kind& kind_;
  bool reads_time_;
  std::vector<std::string> system_;
  std::vector<std::string> user_;
  std::vector<std::string> assistant_;
  std::size_t text_ = 0;  // the number of the next one
  std::vector<Sample> out_;
};

}  // namespace

std::vector<Sample> samples_of(const Kind& kind, bool reads_time, const SampleParts& parts) {
  return Maker(kind, reads_time).make(parts);
}

std::optional<Sample> sample_saying(const Kind& kind, char role, std::string_view text) {
  const std::string lead = kind.system == SystemUse::kNone ? "" : "s";
  const std::string roles = lead + (kind.turns == Turns::kOne ? "u" : "uauau");
  if (roles.find(role) == std::string::npos) return std::nullopt;
  Sample out;
  for (const char other : roles) out.messages.push_back(plain_message_of(other, other == role ? text : "word"));
  return out;
}

std::vector<Sample> samples_with(const Kind& kind, char role, std::string_view text, Texts level) {
  constexpr std::string_view kWhite = " \t\n\r\v\f";
  const std::string told(text);
  std::vector<Sample> out;
  for (const std::string& said : {told, told + " b", "a " + told, "a " + told + " b", "a\n" + told + "\nb"}) {
    const bool has_white_end =
        kWhite.find(said.front()) != std::string_view::npos || kWhite.find(said.back()) != std::string_view::npos;
    if (level < Texts::kEnds && has_white_end) continue;
    if (auto sample = sample_saying(kind, role, said)) out.push_back(*std::move(sample));
  }
  return out;
}

}  // namespace rondo::edge
