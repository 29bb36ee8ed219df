#include "tests/support/markup.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/utf8.h"

namespace rondo::test {
namespace {

class Reader {
 public:
  Reader(std::string_view text, Dialect dialect) : text_(text), is_xml_(dialect == Dialect::kXml) {}

  Markup read() {
    check_characters();
    const std::string_view head = is_xml_ ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" : "<!doctype html>";
    if (!take(head)) complain("does not begin with " + std::string(head));
    while (out_.objection.empty() && at_ < text_.size()) {
      if (text_[at_] != '<') {
        add_text(take_text("<"));
      } else if (take("</")) {
        read_end();
      } else {
        ++at_;
        read_start();
      }
    }
    if (!open_.empty()) complain("is not closed: " + out_.elements[open_.back()].name);
    return std::move(out_);
  }

 private:
  void complain(const std::string& what) {
    if (out_.objection.empty()) out_.objection = "at byte " + std::to_string(at_) + ": " + what;
  }

  void check_characters() {
    for (std::size_t at = 0; at < text_.size();) {
      const utf8::Decoded unit = utf8::decode(text_, at);
      const char32_t c = unit.code_point;
      const bool is_allowed =
          unit.valid && (c >= 0x20 || c == 9 || c == 10 || c == 13) && c != 0xFFFE && c != 0xFFFF && c != 0;
      if (!is_allowed) {
        at_ = at;
        return complain("a character that is not allowed");
      }
      at += unit.size;
    }
  }

  bool take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  std::string take_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(" \n\t=<>/\"'&").find(text_[at_]) == std::string_view::npos) ++at_;
    if (at_ == begin) complain("expected a name");
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Up to one of the stops, references undone.
  std::string take_text(std::string_view stops) {
    std::string out;
    while (at_ < text_.size() && stops.find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == '&') {
        out += take_reference();
      } else if (text_[at_] == '<' || text_.substr(at_, 3) == "]]>") {
        complain("markup where text is expected");
        return out;
      } else {
        out += text_[at_++];
      }
      if (!out_.objection.empty()) return out;
    }
    return out;
  }

  std::string take_reference() {
    const std::size_t end = text_.find(';', at_);
    if (end == std::string_view::npos || end > at_ + 10) {
      complain("an ampersand that is no reference");
      return "";
    }
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    static const std::map<std::string_view, std::string> kNames = {
        {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}};
    std::string out;
    if (const auto known = kNames.find(name); known != kNames.end()) {
      out = known->second;
    } else if (!is_xml_ && name == "nbsp") {
      out = "\u00A0";
    } else {
      unsigned code = 0;
      const bool is_number =
          name.starts_with('#') &&
          std::from_chars(name.data() + 1, name.data() + name.size(), code).ptr == name.data() + name.size();
      if (!is_number || (code < 0x20 && code != 9 && code != 10 && code != 13)) complain("an unknown reference");
      utf8::append(out, code);
    }
    at_ = end + 1;
    return out;
  }

  void add_text(const std::string& text) {
    if (open_.empty() && text.find_first_not_of(" \n") != std::string::npos) complain("text outside of the document");
    for (const std::size_t element : open_) out_.elements[element].text += text;
  }

  void read_start() {
    Element element;
    element.name = take_name();
    while (out_.objection.empty()) {
      const std::size_t before = at_;
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
      const bool closes = take("/>");
      if (closes || take(">")) return open(std::move(element), closes);
      if (at_ == before) return complain("expected white space or the end of a tag");
      read_attribute(element);
    }
  }

  void read_attribute(Element& element) {
    const std::string name = take_name();
    std::string value;
    if (take("=\"")) {
      value = take_text("\"");
      if (!take("\"")) complain("an attribute that does not end");
    } else if (is_xml_) {
      complain("an attribute without a value in quotes");
    }
    if (!element.attributes.emplace(name, value).second) complain("an attribute that is there twice: " + name);
  }

  void open(Element element, bool closes) {
    static const std::set<std::string> kEmpty = {"meta", "input", "br", "hr", "img", "link", "base"};
    const std::string name = element.name;
    if (!is_xml_ && closes) complain("HTML closes no element in its opening tag");
    out_.elements.push_back(std::move(element));
    if (closes || (!is_xml_ && kEmpty.contains(name))) return;
    open_.push_back(out_.elements.size() - 1);
    if (is_xml_ || (name != "script" && name != "style")) return;
    // What stands in these is no markup.
    const std::size_t end = std::min(text_.find("</" + name, at_), text_.size());
    at_ = end;
  }

  void read_end() {
    const std::string name = take_name();
    if (!take(">")) return complain("an end tag that does not end");
    if (open_.empty() || out_.elements[open_.back()].name != name) return complain("closes what is not open: " + name);
    open_.pop_back();
  }

  std::string_view text_;
  bool is_xml_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
  Markup out_;
};

}  // namespace

std::vector<Element> Markup::all(std::string_view name) const {
  std::vector<Element> out;
  std::ranges::copy_if(elements, std::back_inserter(out), [&](const Element& element) { return element.name == name; });
  return out;
}

bool Markup::has_text(std::string_view text) const {
  return std::ranges::any_of(elements, [&](const Element& element) {
    return element.text.find(text) != std::string::npos ||
           std::ranges::any_of(element.attributes,
                               [&](const auto& entry) { return entry.second.find(text) != std::string::npos; });
  });
}

Markup read_markup(std::string_view text, Dialect dialect) { return Reader(text, dialect).read(); }

}  // namespace rondo::test
