#include "json/parse.h"

#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "json/reader.h"

namespace rondo::json {

// Recursive descent with one function per rule.  Each returns false once the reader has failed.
class Parser {
 public:
  Parser(Reader& in, const ParseOptions& options) : in_(in), max_depth_(options.max_depth) {}

  // value = ws (object / array / string / number / literal)
  bool value(Value& out) {
    in_.skip_space();
    if (in_.at_ >= in_.text_.size()) return in_.fail("expected a value, found the end of the text");
    const std::size_t begin = in_.at_;
    if (!bare_value(out)) return false;
    out.set_source({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(in_.at_)});
    return true;
  }

 private:
  bool bare_value(Value& out) {
    switch (in_.text_[in_.at_]) {
      case '{': return nested(out, &Parser::object);
      case '[': return nested(out, &Parser::array);
      case '"': {
        std::string text;
        if (!in_.string_into(text)) return false;
        out = Value(std::move(text));
        return true;
      }
      case 't': return literal(out, "true", Value(true));
      case 'f': return literal(out, "false", Value(false));
      case 'n': return literal(out, "null", Value(nullptr));
      default: return number(out);
    }
  }

  bool nested(Value& out, bool (Parser::*rule)(Value&)) {
    if (depth_ == max_depth_) {
      return in_.fail("nested deeper than " + std::to_string(max_depth_) + " levels", ErrorCode::kLimit);
    }
    ++depth_;
    const bool ok = (this->*rule)(out);
    --depth_;
    return ok;
  }

  // object = "{" [ string ":" value *( "," string ":" value ) ] "}"
  bool object(Value& out) {
    const std::size_t first = members_.size();
    std::string_view key;
    for (in_.enter_object(); in_.member(key);) {
      Member member;
      member.key = key;
      if (!value(member.value)) return false;
      members_.push_back(std::move(member));
    }
    if (in_.failed()) return false;
    out = Value(Object::from_members(take_from(members_, first)));
    return true;
  }

  // array = "[" [ value *( "," value ) ] "]"
  bool array(Value& out) {
    const std::size_t first = elements_.size();
    for (in_.enter_array(); in_.element();) {
      Value element;
      if (!value(element)) return false;
      elements_.push_back(std::move(element));
    }
    if (in_.failed()) return false;
    out = Value(take_from(elements_, first));
    return true;
  }

  bool number(Value& out) {
    std::string_view text;
    bool is_float = false;
    if (!in_.number_text(text, is_float)) return false;
    out = Value(Number{std::string(text), is_float});
    return true;
  }

  bool literal(Value& out, std::string_view word, Value value) {
    if (!in_.word(word)) return false;
    out = std::move(value);
    return true;
  }

  // Moves everything from `first` on out of `stack`, into a vector of exactly that size.
  template <typename T>
  static std::vector<T> take_from(std::vector<T>& stack, std::size_t first) {
    const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<T> out(std::make_move_iterator(begin), std::make_move_iterator(stack.end()));
    stack.erase(begin, stack.end());
    return out;
  }

  Reader& in_;
  // The elements of all open arrays and objects.  Each takes its own part when it is closed.
  std::vector<Value> elements_;
  std::vector<Member> members_;
  int depth_ = 0;
  int max_depth_;
};

bool Reader::value(Value& out) { return !failed_ && Parser(*this, {}).value(out); }

namespace {

// Source ranges have 32 bits.
Status check_size(std::string_view text) {
  if (text.size() <= std::numeric_limits<std::uint32_t>::max()) return Done{};
  return Error(ErrorCode::kLimit, "a JSON text of 4 GiB or more is not supported");
}

}  // namespace

Result<Value> parse(std::string_view text, const ParseOptions& options) {
  if (Status size = check_size(text); !size.ok()) return size.error();
  Reader in(text);
  Value value;
  if (!Parser(in, options).value(value) || !in.finish()) return in.error();
  return value;
}

Result<Prefix> parse_prefix(std::string_view text, const ParseOptions& options) {
  if (Status size = check_size(text); !size.ok()) return size.error();
  Reader in(text);
  Prefix prefix;
  if (!Parser(in, options).value(prefix.value)) return in.error();
  prefix.end = in.at();
  return prefix;
}

}  // namespace rondo::json
