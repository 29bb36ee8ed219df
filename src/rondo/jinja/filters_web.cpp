// Filters for HTML and URLs.
#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "jinja/filters.h"
#include "jinja/operations.h"
#include "jinja/string_functions.h"
#include "jinja/strings.h"
#include "jinja/views.h"

namespace rondo::jinja {
namespace {

Value escape(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("escape", 1), args, {});
  return escape_html(runtime, subject);
}

Value forceescape(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_forceescape", 1), args, {});
  return escape_html(runtime, to_text(runtime, subject).with_markup(false));
}

Value safe(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_mark_safe", 1), args, {});
  return to_text(runtime, subject).with_markup(true);
}

// --- striptags

std::string without(const std::string& text, std::string_view open, std::string_view close) {
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = text.find(open, at);
    const std::size_t end = begin == std::string::npos ? begin : text.find(close, begin);
    if (end == std::string::npos) break;
    out.append(text, at, begin - at);
    at = end + close.size();
  }
  return out + text.substr(at);
}

// The character that `&name;` stands for, or "" for names not known here (the reference knows 2,231).
std::string entity(std::string_view name) {
  static constexpr std::pair<std::string_view, char32_t> kEntities[] = {
      {"amp", '&'},     {"apos", '\''},    {"bull", 0x2022},   {"cent", 0xA2},    {"copy", 0xA9},    {"deg", 0xB0},
      {"euro", 0x20AC}, {"gt", '>'},       {"hellip", 0x2026}, {"laquo", 0xAB},   {"ldquo", 0x201C}, {"lsquo", 0x2018},
      {"lt", '<'},      {"mdash", 0x2014}, {"middot", 0xB7},   {"nbsp", 0xA0},    {"ndash", 0x2013}, {"para", 0xB6},
      {"pound", 0xA3},  {"quot", '"'},     {"raquo", 0xBB},    {"rdquo", 0x201D}, {"reg", 0xAE},     {"rsquo", 0x2019},
      {"sect", 0xA7},   {"times", 0xD7},   {"trade", 0x2122},  {"yen", 0xA5},
  };
  std::string out;
  for (const auto& [known, character] : kEntities) {
    if (known == name) utf8::append(out, character);
  }
  if (!out.empty() || name.size() < 2 || name[0] != '#') return out;
  const bool hex = name[1] == 'x' || name[1] == 'X';
  const std::optional<BigInt> code = BigInt::parse(name.substr(hex ? 2 : 1), hex ? 16 : 10);
  const std::optional<std::int64_t> value = code ? code->to_int64() : std::nullopt;
  if (code)
    utf8::append(out, value && *value > 0 && *value <= 0x10FFFF ? static_cast<char32_t>(*value) : utf8::kReplacement);
  return out;
}

std::string unescape(std::string_view text) {
  constexpr std::size_t kLongestName = 32;
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '&' ? text.substr(0, at + kLongestName).find(';', at) : std::string_view::npos;
    const std::string character = end == std::string_view::npos ? "" : entity(text.substr(at + 1, end - at - 1));
    if (character.empty()) {
      out += text[at];
    } else {
      out += character;
      at = end;
    }
  }
  return out;
}

Value striptags(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_striptags", 1), args, {});
  const Value text = to_text(runtime, subject);
  const std::string plain = without(without(std::string(bytes_of(runtime, text)), "<!--", "-->"), "<", ">");
  const Value words = str_split(runtime, make_computed(runtime, plain), {});
  const Value joined_words = join_strings(runtime, make_computed(runtime, " "), items_of(runtime, words));
  return make_computed(runtime, unescape(bytes_of(runtime, joined_words)), text.path());
}

// --- urlencode

std::string quote_url(std::string_view text, bool query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                       c == '.' || c == '-' || c == '~' || (!query && c == '/');
    if (plain) {
      out += c;
    } else if (query && c == ' ') {
      out += '+';
    } else {
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

Value urlencode(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_urlencode", 1), args, {});
  const bool pairs = subject.is_dict() || subject.is_sequence() || subject.is_undefined() || subject.is_object();
  if (!pairs)
    return make_computed(runtime, quote_url(bytes_of(runtime, to_text(runtime, subject)), false), subject.path());
  std::string out;
  const Value items = subject.is_dict() ? make_view(runtime, subject, DictPart::kItems) : subject;
  for (const Value& item : collect(runtime, items)) {
    const std::vector<Value> pair = unpack_items(runtime, item, 2);
    if (!out.empty()) out += '&';
    out += quote_url(bytes_of(runtime, to_text(runtime, pair[0])), true) + '=';
    out += quote_url(bytes_of(runtime, to_text(runtime, pair[1])), true);
  }
  return make_computed(runtime, out, subject.path());
}

// --- xmlattr

Value xmlattr(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_xmlattr", 2), args, {"autospace"});
  require_defined(runtime, subject);
  if (!subject.is_dict()) runtime.fail("'" + type_name(subject) + "' object has no attribute 'items'");
  std::vector<Value> parts;
  const auto literal = [&](std::string_view bytes) { parts.push_back(make_computed(runtime, bytes)); };
  for (const Dict::Entry& entry : entries_of(runtime, subject)) {
    if (entry.value.is_none() || entry.value.is_undefined()) continue;
    const Value key = key_of(runtime, subject.as_dict(), entry);
    if (!key.is_string()) runtime.fail("expected string or bytes-like object, got '" + type_name(key) + "'");
    if (bytes_of(runtime, key).find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      runtime.fail("Invalid character in attribute name: " + repr(runtime, key));
    }
    if (!parts.empty() || params.boolean(0, true)) literal(" ");
    parts.push_back(escape_html(runtime, key));
    literal("=\"");
    parts.push_back(escape_html(runtime, entry.value));
    literal("\"");
  }
  return join_parts(runtime, parts).with_markup(runtime.autoescape);
}

// --- urlize

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool is_word_byte(char c) { return is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; }

bool all_digits(std::string_view text, std::size_t most) {
  return !text.empty() && text.size() <= most &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A dot-separated part of a host name.
bool is_label(std::string_view text, std::size_t least) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return is_word_byte(c) || c == '%' || c == '-'; });
  return plain && text.size() >= least;
}

// What may stand behind `http://` or `www.`: labels and a top level of letters, or four numbers.
bool is_host(std::string_view host) {
  constexpr std::size_t kLongestTopLevel = 63;
  std::vector<std::string_view> labels;
  for (std::size_t at = 0; at <= host.size();) {
    const std::size_t dot = std::min(host.find('.', at), host.size());
    labels.push_back(host.substr(at, dot - at));
    at = dot + 1;
  }
  const bool address =
      labels.size() == 4 && std::all_of(labels.begin(), labels.end(), [](auto part) { return all_digits(part, 3); });
  const std::string_view top = labels.back();
  const bool letters =
      top.size() >= 2 && top.size() <= kLongestTopLevel &&
      std::all_of(top.begin(), top.end(), [](char c) { return is_alphanumeric(c) && !(c >= '0' && c <= '9'); });
  const bool encoded = top.starts_with("xn--") && is_label(top, 6);
  labels.pop_back();
  return address || ((letters || encoded) &&
                     std::all_of(labels.begin(), labels.end(), [](auto part) { return is_label(part, 1); }));
}

// The pattern by which jinja2 knows a URL: a scheme or `www.` before any host, else a host of a well-known top level.
bool looks_like_url(std::string_view text) {
  const bool scheme = starts_with_any(text, {"http://", "https://"});
  const std::string_view rest = scheme ? text.substr(text.find("//") + 2) : text;
  const std::size_t host_end = std::min(rest.find_first_of(":/?#"), rest.size());
  std::string_view tail = rest.substr(host_end);
  if (tail.starts_with(":")) {
    const std::size_t port_end = std::min(tail.find_first_of("/?#"), tail.size());
    if (!all_digits(tail.substr(1, port_end - 1), 5)) return false;
  }
  const std::string_view host = rest.substr(0, host_end);
  if (scheme) return is_host(host);
  if (host.starts_with("www.") && is_host(host.substr(4))) return true;
  const std::size_t dot = host.rfind('.');
  if (dot == std::string_view::npos) return false;
  static constexpr std::string_view kKnown[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
  if (std::find(std::begin(kKnown), std::end(kKnown), host.substr(dot + 1)) == std::end(kKnown)) return false;
  for (std::size_t at = 0; at < dot;) {
    const std::size_t end = host.find('.', at);
    if (!is_label(host.substr(at, end - at), 2)) return false;
    at = end + 1;
  }
  return true;
}

bool looks_like_mail(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == 0 || at == std::string_view::npos || at + 1 == text.size()) return false;
  const std::string_view host = text.substr(at + 1);
  const std::size_t dot = host.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == host.size() || !is_word_byte(host[0])) return false;
  return std::all_of(host.begin(), host.end(), [](char c) { return is_word_byte(c) || c == '.' || c == '-'; }) &&
         host.substr(dot).find('-') == std::string_view::npos;
}

struct LinkStyle {
  std::string attributes;  // ` rel="noopener"`
  std::int64_t limit = -1;
  std::vector<std::string> schemes;
};

std::string link(std::string_view target, std::string_view shown, std::string_view attributes) {
  return "<a href=\"" + std::string(target) + "\"" + std::string(attributes) + ">" + std::string(shown) + "</a>";
}

std::string link_word(std::string_view word, const LinkStyle& style) {
  std::string shown(word);
  if (style.limit >= 0 && static_cast<std::int64_t>(count_code_points(word)) > style.limit) {
    shown = std::string(word.substr(0, code_point_offset(word, static_cast<std::size_t>(style.limit)))) + "...";
  }
  if (looks_like_url(word)) {
    const bool scheme = starts_with_any(word, {"http://", "https://"});
    return link(scheme ? std::string(word) : "https://" + std::string(word), shown, style.attributes);
  }
  if (word.starts_with("mailto:") && looks_like_mail(word.substr(7))) return link(word, word.substr(7), "");
  const bool mail = word.find('@') != std::string_view::npos && !starts_with_any(word, {"www.", "@"}) &&
                    word.find(':') == std::string_view::npos && looks_like_mail(word);
  if (mail) return link("mailto:" + std::string(word), word, "");
  for (const std::string& scheme : style.schemes) {
    if (word != scheme && word.starts_with(scheme)) return link(word, word, style.attributes);
  }
  return std::string(word);
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// The word without brackets and punctuation around it, which stay outside of the link.
std::string link_in_brackets(std::string_view word, const LinkStyle& style) {
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
  return std::string(word.substr(0, begin)) + link_word(word.substr(begin, end - begin), style) +
         std::string(word.substr(end));
}

// ^([\w.+-]{2,}:(/){0,2})$
bool is_scheme_prefix(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon < 2) return false;
  const std::string_view rest = text.substr(colon + 1);
  if (rest != "" && rest != "/" && rest != "//") return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '.' || c == '+' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
  });
}

LinkStyle link_style(Runtime& runtime, const Params& params) {
  LinkStyle style;
  if (!params[0].is_none()) style.limit = params.integer(0, -1);
  std::vector<std::string> rel = {"noopener"};  // environment.policies["urlize.rel"]
  if (params.boolean(1, false)) rel.push_back("nofollow");
  if (!params[3].is_none()) {
    for (const Value& word : items_of(runtime, str_split(runtime, params.string(3), {}))) {
      rel.emplace_back(bytes_of(runtime, word));
    }
  }
  std::sort(rel.begin(), rel.end());
  rel.erase(std::unique(rel.begin(), rel.end()), rel.end());
  std::string joined_rel;
  for (const std::string& word : rel) joined_rel += (joined_rel.empty() ? "" : " ") + word;
  style.attributes =
      " rel=\"" + std::string(bytes_of(runtime, escape_html(runtime, make_computed(runtime, joined_rel)))) + "\"";
  if (!params[2].is_none() && truthy(runtime, params[2])) {
    style.attributes += " target=\"" + std::string(bytes_of(runtime, escape_html(runtime, params[2]))) + "\"";
  }
  if (!params[4].is_none()) {
    for (const Value& scheme : collect(runtime, params[4])) {
      if (!scheme.is_string()) runtime.fail("expected string or bytes-like object, got '" + type_name(scheme) + "'");
      if (!is_scheme_prefix(bytes_of(runtime, scheme))) {
        runtime.fail(repr(runtime, scheme) + " is not a valid URI scheme prefix.");
      }
      style.schemes.emplace_back(bytes_of(runtime, scheme));
    }
  }
  return style;
}

Value urlize(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_urlize", 2), args,
                      {"trim_url_limit", "nofollow", "target", "rel", "extra_schemes"});
  const LinkStyle style = link_style(runtime, params);
  const Value escaped = escape_html(runtime, subject);
  const std::string_view text = bytes_of(runtime, escaped);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !is_space(decode_at(text, end).value)) end += decode_at(text, end).size;
    out += link_in_brackets(text.substr(at, end - at), style);
    at = end;
    while (end < text.size() && is_space(decode_at(text, end).value)) end += decode_at(text, end).size;
    out += text.substr(at, end - at);
    at = end;
  }
  return make_computed(runtime, out, subject.path()).with_markup(runtime.autoescape);
}

constexpr auto kFilters = std::to_array<Filter>({
    {"e", escape},
    {"escape", escape},
    {"forceescape", forceescape},
    {"safe", safe},
    {"striptags", striptags},
    {"urlencode", urlencode},
    {"urlize", urlize},
    {"xmlattr", xmlattr},
});

}  // namespace

std::span<const Filter> web_filters() { return kFilters; }

}  // namespace rondo::jinja
