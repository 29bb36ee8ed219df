// The filter urlize: makes links from text that looks like an address.
#include "jinja/builtins/urlize.h"

#include <algorithm>
#include <cctype>

#include "base/bytes.h"
#include "jinja/common/characters.h"
#include "jinja/common/operators.h"
#include "jinja/types/access.h"
#include "jinja/types/compare.h"
#include "jinja/types/iteration.h"
#include "jinja/types/markup.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/string_search.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "unicode/case.h"

namespace rondo::jinja {
namespace {

// Letters that [a-z] matches when case is ignored, including the four that only equal one in some case.
bool is_latin_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == 0x130 || c == 0x131 || c == 0x17F || c == 0x212A;
}

bool starts_with_caseless(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), text.begin(), [](char want, char have) {
    return want == (have >= 'A' && have <= 'Z' ? static_cast<char>(have + ('a' - 'A')) : have);
  });
}

// `least` to `most` characters, all of which pass the test.
template <typename Test>
bool consists_of(std::string_view text, std::size_t least, std::size_t most, Test test) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const CodePoint c = decode_at(text, at);
    if (!test(c.value)) return false;
    at += c.size;
  }
  return count >= least && count <= most;
}

bool is_label(std::string_view text, std::size_t least, std::size_t most) {
  return consists_of(text, least, most, [](char32_t c) { return is_word(c) || c == '%' || c == '-'; });
}

std::vector<std::string_view> split_at_dots(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t dot = std::min(text.find('.', at), text.size());
    out.push_back(text.substr(at, dot - at));
    at = dot + 1;
  }
  return out;
}

constexpr std::size_t kAnyLength = std::string_view::npos;

// What may follow a scheme or `www.`: labels and a top level of letters.
bool is_host(std::string_view host) {
  std::vector<std::string_view> labels = split_at_dots(host);
  const std::string_view top = labels.back();
  labels.pop_back();
  const bool encoded = starts_with_caseless(top, "xn--") &&
                       consists_of(top.substr(4), 2, 59, [](char32_t c) { return is_word(c) || c == '%'; });
  return (encoded || consists_of(top, 2, 63, is_latin_letter)) &&
         std::all_of(labels.begin(), labels.end(), [](auto label) { return is_label(label, 1, kAnyLength); });
}

// A host with a well-known top level, which needs no scheme.
bool is_known_host(std::string_view host) {
  static constexpr std::string_view kKnown[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
  std::vector<std::string_view> labels = split_at_dots(host);
  const std::string_view top = labels.back();
  labels.pop_back();
  const bool known = std::any_of(std::begin(kKnown), std::end(kKnown), [&](std::string_view name) {
    return name.size() == top.size() && starts_with_caseless(top, name);
  });
  return known && !labels.empty() &&
         std::all_of(labels.begin(), labels.end(), [](auto label) { return is_label(label, 2, 63); });
}

bool is_ipv4(std::string_view host) {
  const std::vector<std::string_view> parts = split_at_dots(host);
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(),
                                          [](auto part) { return consists_of(part, 1, 3, unicode::is_decimal); });
}

// Between the brackets: (h{0,4}:){2}(h{0,4}:?){1,6}, with h a hexadecimal digit.
bool is_ipv6(std::string_view inside) {
  std::size_t at = 0;
  const auto digits = [&] {
    for (int count = 0; count < 4 && at < inside.size();) {
      const CodePoint c = decode_at(inside, at);
      const bool hex =
          unicode::is_decimal(c.value) || (c.value < 0x80 && std::isxdigit(static_cast<int>(c.value)) != 0);
      if (!hex) break;
      at += c.size;
      ++count;
    }
  };
  for (int group = 0; group < 2; ++group) {
    digits();
    if (at >= inside.size() || inside[at] != ':') return false;
    ++at;
  }
  for (int group = 0; group < 6; ++group) {
    digits();
    if (at < inside.size() && inside[at] == ':') ++at;
  }
  return at == inside.size();
}

// An optional port, then an optional path, query or fragment.
bool is_rest_of_url(std::string_view rest) {
  if (rest.starts_with(':')) {
    const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
    if (!consists_of(rest.substr(1, end - 1), 1, 5, unicode::is_decimal)) return false;
    rest.remove_prefix(end);
  }
  return rest.empty() || std::string_view("/?#").find(rest[0]) != std::string_view::npos;
}

// The offset after the characters that hosts consist of.
std::size_t host_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const CodePoint c = decode_at(text, at);
    if (!is_word(c.value) && c.value != '%' && c.value != '-' && c.value != '.') break;
    at += c.size;
  }
  return at;
}

// jinja2.utils._http_re
bool looks_like_url(std::string_view text) {
  const std::size_t scheme = starts_with_caseless(text, "http://") ? 7 : starts_with_caseless(text, "https://") ? 8 : 0;
  if (scheme != 0 && text.substr(scheme).starts_with('[')) {
    const std::size_t close = text.find(']');
    return close != std::string_view::npos && is_ipv6(text.substr(scheme + 1, close - scheme - 1)) &&
           is_rest_of_url(text.substr(close + 1));
  }
  const std::size_t end = host_end(text, scheme);
  if (!is_rest_of_url(text.substr(end))) return false;
  const std::string_view host = text.substr(scheme, end - scheme);
  if (scheme != 0) return is_host(host) || is_ipv4(host);
  return (starts_with_caseless(host, "www.") && is_host(host.substr(4))) || is_known_host(host);
}

// jinja2.utils._email_re
bool looks_like_mail(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == 0 || at == std::string_view::npos) return false;
  const std::string_view host = text.substr(at + 1);
  const std::size_t dot = host.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !is_word(decode_at(host, 0).value)) return false;
  return consists_of(host.substr(0, dot), 1, kAnyLength,
                     [](char32_t c) { return is_word(c) || c == '.' || c == '-'; }) &&
         consists_of(host.substr(dot + 1), 1, kAnyLength, is_word);
}

// jinja2.filters._uri_scheme_re
bool is_scheme(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view slashes = text.substr(colon + 1);
  return consists_of(text.substr(0, colon), 2, kAnyLength,
                     [](char32_t c) { return is_word(c) || c == '.' || c == '+' || c == '-'; }) &&
         (slashes.empty() || slashes == "/" || slashes == "//");
}

struct LinkStyle {
  std::string attributes;  // ` rel="noopener"`
  Value limit = Value::none();
  std::vector<std::string> schemes;
};

std::string link(std::string_view target, std::string_view shown, std::string_view attributes) {
  return "<a href=\"" + std::string(target) + "\"" + std::string(attributes) + ">" + std::string(shown) + "</a>";
}

std::string shortened(Runtime& runtime, std::string_view word, const Value& limit) {
  if (limit.is_none()) return std::string(word);
  const Value text = make_computed(runtime, word);
  if (!compare(runtime, CompareOp::kGt, make_length(count_code_points(word)), limit)) return std::string(word);
  return std::string(bytes_of(runtime, get_slice(runtime, text, Value::none(), limit, Value::none()))) + "...";
}

std::string link_word(Runtime& runtime, std::string_view word, const LinkStyle& style) {
  if (looks_like_url(word)) {
    const bool scheme = word.starts_with("https://") || word.starts_with("http://");
    return link(scheme ? std::string(word) : "https://" + std::string(word), shortened(runtime, word, style.limit),
                style.attributes);
  }
  if (word.starts_with("mailto:") && looks_like_mail(word.substr(7))) return link(word, word.substr(7), "");
  const bool mail = word.find('@') != std::string_view::npos && !word.starts_with("www.") && !word.starts_with('@') &&
                    word.find(':') == std::string_view::npos && looks_like_mail(word);
  if (mail) return link("mailto:" + std::string(word), word, "");
  for (const std::string& scheme : style.schemes) {
    if (word != scheme && word.starts_with(scheme)) return link(word, word, style.attributes);
  }
  return std::string(word);
}

// Links the word without the brackets and punctuation around it, which stay outside the link.
std::string link_in_brackets(Runtime& runtime, std::string_view word, const LinkStyle& style) {
  std::size_t begin = 0;
  for (;;) {
    if (word.substr(begin).starts_with("&lt;")) {
      begin += 4;
    } else if (begin < word.size() && (word[begin] == '(' || word[begin] == '<')) {
      ++begin;
    } else {
      break;
    }
  }
  std::size_t end = word.size();
  for (;;) {
    const std::string_view middle = word.substr(begin, end - begin);
    if (middle.ends_with("&gt;")) {
      end -= 4;
    } else if (!middle.empty() && std::string_view(")>.,\n").find(middle.back()) != std::string_view::npos) {
      --end;
    } else {
      break;
    }
  }
  for (const auto& [open, close] :
       {std::pair<std::string_view, std::string_view>{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}}) {
    const std::string_view middle = word.substr(begin, end - begin);
    const std::size_t opened = occurrences(middle, open);
    if (opened <= occurrences(middle, close)) continue;
    std::size_t moves = std::min(opened, occurrences(word.substr(end), close));
    for (; moves != 0; --moves) end = word.find(close, end) + close.size();
  }
  return std::string(word.substr(0, begin)) + link_word(runtime, word.substr(begin, end - begin), style) +
         std::string(word.substr(end));
}

std::string relations(Runtime& runtime, const Value& rel, bool nofollow) {
  std::vector<std::string> words = {"noopener"};  // environment.policies["urlize.rel"]
  if (nofollow) words.emplace_back("nofollow");
  if (truthy(runtime, rel)) {
    if (!rel.is_string()) runtime.fail("'" + type_name(rel) + "' object has no attribute 'split'");
    for (const Value& word : items_of(runtime, str_split(runtime, rel, {}))) {
      words.emplace_back(bytes_of(runtime, word));
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

LinkStyle link_style(Runtime& runtime, const Params& params) {
  LinkStyle style;
  style.limit = params[0];
  const Value rel = make_computed(runtime, relations(runtime, params[3], params.boolean(1, false)));
  style.attributes = " rel=\"" + std::string(bytes_of(runtime, escape_html(runtime, rel))) + "\"";
  if (truthy(runtime, params[2])) {
    style.attributes += " target=\"" + std::string(bytes_of(runtime, escape_html(runtime, params[2]))) + "\"";
  }
  if (params[4].is_none()) return style;
  for (const Value& scheme : collect(runtime, params[4])) {
    style.schemes.emplace_back(bytes_of(runtime, require_string(runtime, scheme)));
    if (!is_scheme(style.schemes.back())) {
      runtime.fail(repr(runtime, scheme) + " is not a valid URI scheme prefix.");
    }
  }
  return style;
}

}  // namespace

Value urlize(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_urlize", 2), args,
                      {"trim_url_limit", "nofollow", "target", "rel", "extra_schemes"});
  const LinkStyle style = link_style(runtime, params);
  const Value escaped = escape_html(runtime, subject);
  const std::string_view text = bytes_of(runtime, escaped);
  runtime.spend(2 * text.size());  // each word is tried as several kinds of address
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !is_space(decode_at(text, end).value)) end += decode_at(text, end).size;
    runtime.spend(1 + style.schemes.size());
    out += link_in_brackets(runtime, text.substr(at, end - at), style);
    at = end;
    while (end < text.size() && is_space(decode_at(text, end).value)) end += decode_at(text, end).size;
    out += text.substr(at, end - at);
    at = end;
  }
  return make_computed(runtime, out, subject.path()).with_markup(runtime.autoescape);
}

}  // namespace rondo::jinja
