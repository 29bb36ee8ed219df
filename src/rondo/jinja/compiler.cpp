#include "jinja/compiler.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "jinja/folding.h"
#include "jinja/methods.h"
#include "jinja/operations.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"
#include "jinja/symbols.h"

namespace rondo::jinja {
namespace {

NameInfo name_info(std::string_view name) {
  NameInfo info;
  info.filter = find_filter(name);
  info.test = find_test(name);
  info.string_method = find_method(string_methods(), name);
  if (info.string_method != nullptr && info.string_method->markup_only) info.string_method = nullptr;
  info.list_method = find_method(list_methods(), name);
  info.dict_method = find_method(dict_methods(), name);
  info.is_plain = info.dict_method == nullptr && !name.starts_with("__");
  return info;
}

// A bound, not the exact number: every instruction that pushes, as if nothing were ever popped.
std::uint32_t stack_size(const Program& program) {
  std::uint32_t size = 1;
  for (const Instruction& instruction : program.code) size += instruction.op == Op::kUnpack ? instruction.a : 1;
  return size;
}

// Markup comes from autoescape blocks and from filters; any filter but the few that templates use all the time counts.
bool may_have_markup(const Program& program) {
  static constexpr std::string_view kPlain[] = {"capitalize", "count",  "default", "first",   "join",   "last",
                                                "length",     "list",   "lower",   "replace", "string", "tojson",
                                                "trim",       "upper",  "items",   "indent",  "int",    "selectattr",
                                                "rejectattr", "reject", "dictsort"};
  return std::any_of(program.code.begin(), program.code.end(), [&](const Instruction& instruction) {
    if (instruction.op == Op::kAutoescape) return true;
    if (instruction.op == Op::kLoadName) return program.names[instruction.a] == "lipsum";
    if (instruction.op != Op::kFilter) return false;
    const std::string& name = program.names[instruction.b];
    return std::find(std::begin(kPlain), std::end(kPlain), name) == std::end(kPlain);
  });
}

class Compiler {
 public:
  Compiler(Tree tree, std::string source, const std::string& name) : tree_(std::move(tree)), name_(name) {
    program_.source = std::move(source);
  }

  Result<Program> run() {
    escaping_.used = Escaping::is_used(tree_.body);
    const std::uint32_t root = add_function("");
    enter_function(root);
    Symbols symbols(nullptr, root);
    ScopeScanner(symbols, names_).body(tree_.body);
    const Scope scope(*this, symbols, false);
    program_.functions[root].entry = here();
    open_scope({1, 1});
    body(tree_.body);
    emit(Op::kReturn, {1, 1});
    leave_function();
    if (error_) return *std::move(error_);
    program_.compared_roles = compared_roles(tree_);
    program_.names = names_.all();
    for (const std::string& text : program_.names) program_.name_infos.push_back(name_info(text));
    program_.stack_size = stack_size(program_);
    program_.may_have_markup = may_have_markup(program_);
    program_.literal_texts = std::move(tree_.literal_texts);
    program_.literals = std::move(tree_.literals);
    program_.undeclared.assign(undeclared_.begin(), undeclared_.end());
    return std::move(program_);
  }

 private:
  // ---- emitting

  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }

  std::uint32_t emit(Op op, Place place, std::uint32_t a = 0, std::uint32_t b = 0, std::uint8_t flag = 0,
                     std::uint16_t small = 0) {
    program_.code.push_back({op, flag, small, a, b});
    program_.places.push_back(place);
    return here() - 1;
  }
  // Makes the jump at `instruction` go here.
  void land(std::uint32_t instruction) { program_.code[instruction].a = here(); }

  void fail(Place place, std::string message) {
    if (error_) return;
    Error error;
    error.code = ErrorCode::kTemplateSyntax;
    error.message = std::move(message);
    error.source = name_;
    error.line = place.line;
    error.column = place.column;
    error.line_text = line_text(program_.source, place.line);
    error_ = std::move(error);
  }

  NameId name(std::string_view text) { return names_.intern(text); }

  // ---- functions and scopes

  // A function that is being compiled.
  struct OpenFunction {
    std::uint32_t id = 0;
    std::map<std::pair<std::uint32_t, NameId>, std::uint32_t> slots;  // by level and name
    // The loops that are open, innermost last: the scope that declares `loop`, if the loop has that variable, and how
    // many blocks that break and continue cannot leave stand inside it.
    struct Loop {
      const Symbols* scope = nullptr;
      bool closed = false;
      std::uint32_t next = 0;
      std::vector<std::uint32_t> breaks;
    };
    std::vector<Loop> loops;
  };

  std::uint32_t add_function(std::string function_name) {
    program_.functions.emplace_back();
    program_.functions.back().name = std::move(function_name);
    return static_cast<std::uint32_t>(program_.functions.size() - 1);
  }
  void enter_function(std::uint32_t id) {
    if (!functions_.empty()) program_.functions[functions_.back().id].encloses = true;
    functions_.push_back({id, {}, {}});
  }
  void leave_function() {
    program_.functions[functions_.back().id].slots = static_cast<std::uint32_t>(functions_.back().slots.size());
    functions_.pop_back();
  }
  OpenFunction& function() { return functions_.back(); }

  // Makes `symbols` the current scope while it lives.
  class Scope {
   public:
    Scope(Compiler& compiler, const Symbols& symbols, bool soft)
        : compiler_(compiler), symbols_(compiler.symbols_), soft_(compiler.soft_) {
      compiler_.symbols_ = &symbols;
      compiler_.soft_ = soft;
    }
    ~Scope() {
      compiler_.symbols_ = symbols_;
      compiler_.soft_ = soft_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Compiler& compiler_;
    const Symbols* symbols_;
    bool soft_;
  };

  // What an entry of a scope compiles to.
  std::uint32_t slot(const Symbols& owner, NameId id) {
    for (OpenFunction& open : functions_) {
      if (open.id != owner.function()) continue;
      const auto key = std::make_pair(owner.level(), id);
      return open.slots.try_emplace(key, static_cast<std::uint32_t>(open.slots.size())).first->second;
    }
    return kNoSlot;
  }
  std::uint16_t functions_out(const Symbols& owner) const {
    std::uint16_t out = 0;
    while (functions_[functions_.size() - 1 - out].id != owner.function()) ++out;
    return out;
  }
  // A name that its scope only reads needs no slot: the variables of a render do not change.
  static bool is_by_name(const Symbols::Entry& entry) { return entry.load == Load::kResolve && !entry.stored; }

  // The instructions with which a scope begins: copies, variables and cleared slots for the names it sets.
  void open_scope(Place place) {
    for (const Symbols::Entry& entry : symbols_->entries()) {
      if (entry.load == Load::kResolve && !is_global_name(names_.at(entry.name)))
        undeclared_.insert(names_.at(entry.name));
      if (entry.load == Load::kParameter || is_by_name(entry)) continue;
      const std::uint32_t target = slot(*symbols_, entry.name);
      if (entry.load == Load::kUndefined) {
        emit(Op::kClearSlot, place, target);
      } else if (entry.load == Load::kResolve) {
        emit(Op::kResolveSlot, place, target, entry.name);
      } else {
        const Symbols* owner = symbols_->parent()->owner(entry.name);
        if (is_by_name(*owner->find(entry.name))) {
          emit(Op::kResolveSlot, place, target, entry.name);
        } else {
          emit(Op::kCopySlot, place, target, slot(*owner, entry.name), 0, functions_out(*owner));
        }
      }
    }
  }

  BinaryOp binary_op(const Expr& node) const {
    switch (node.token) {
      case TokenKind::kSub: return BinaryOp::kSub;
      case TokenKind::kMul: return BinaryOp::kMul;
      case TokenKind::kDiv: return BinaryOp::kDiv;
      case TokenKind::kFloorDiv: return BinaryOp::kFloorDiv;
      case TokenKind::kMod: return BinaryOp::kMod;
      case TokenKind::kPow:
        return !in_constant_ && !escaping_.open && is_constant(*node.items[0]) ? BinaryOp::kConstantPow
                                                                               : BinaryOp::kPow;
      default: return BinaryOp::kAdd;
    }
  }

  void load_name(std::string_view text, Place place) {
    const NameId id = name(text);
    const Symbols* owner = symbols_->owner(id);
    if (owner == nullptr || is_by_name(*owner->find(id))) {
      emit(Op::kLoadName, place, id);
    } else if (owner->function() == function().id) {
      emit(Op::kLoadSlot, place, slot(*owner, id), id);
    } else {
      emit(Op::kLoadOuter, place, slot(*owner, id), id, 0, functions_out(*owner));
    }
  }

  // Stores the value on top.
  void store(const Expr& target, bool binds) {
    switch (target.kind) {
      case ExprKind::kName: {
        const NameId id = name(target.text);
        emit(Op::kStoreSlot, target.place, slot(*symbols_->owner(id), id), 0, binds ? 1 : 0);
        break;
      }
      case ExprKind::kNsRef:
        load_name(target.text, target.place);
        emit(Op::kSetMember, target.place, name(target.attribute));
        break;
      default:
        emit(Op::kUnpack, target.place, static_cast<std::uint32_t>(target.items.size()));
        for (const ExprPtr& item : target.items) store(*item, binds);
        break;
    }
  }

  // ---- statements

  void body(const Body& statements) {
    for (const StmtPtr& node : statements) {
      if (error_) return;
      statement(*node);
    }
  }

  void statement(const Stmt& node) {
    switch (node.kind) {
      case StmtKind::kOutput: output(node); break;
      case StmtKind::kIf: if_statement(node); break;
      case StmtKind::kFor: for_statement(node); break;
      case StmtKind::kSet:
        check_namespaces(*node.target);
        expression(*node.value);
        store(*node.target, true);
        break;
      case StmtKind::kSetBlock: set_block(node); break;
      case StmtKind::kMacro:
        emit(Op::kMacro, node.place, macro(node));
        emit(Op::kStoreSlot, node.place, slot(*symbols_->owner(name(node.name)), name(node.name)));
        break;
      case StmtKind::kCallBlock: call_block(node); break;
      case StmtKind::kFilterBlock: filter_block(node); break;
      case StmtKind::kWith: with_block(node); break;
      case StmtKind::kAutoescape: autoescape(node); break;
      case StmtKind::kGeneration: generation(node); break;
      case StmtKind::kBreak:
      case StmtKind::kContinue: loop_control(node); break;
    }
  }

  void output(const Stmt& node) {
    for (const ExprPtr& item : node.items) {
      if (item->kind == ExprKind::kText) {
        emit(Op::kText, item->place, item->literal);
      } else {
        output_expression(*item);
      }
    }
  }

  void output_expression(const Expr& node) {
    const std::uint32_t number = expression_number(node.start);
    const Escape escape = escaping_.of_output(node);
    folding_ = begins_folding(node);
    if (node.kind == ExprKind::kString && escape == kEscapeAsSet) {
      emit(Op::kEmitString, node.start, node.literal);
    } else if (escape != kEscapeAsSet || is_constant(node)) {
      in_constant_ = is_constant(node);  // written as text at once
      value_of(node);
      in_constant_ = false;
      emit(Op::kEmit, node.start, number, 0, escape);
    } else if (node.kind == ExprKind::kConcat && !escaping_.used) {
      items(node.items);
      emit(Op::kEmitConcat, node.start, number, static_cast<std::uint32_t>(node.items.size()));
    } else {
      sum(node, number);
      if (node.kind == ExprKind::kFilter) program_.code.back().flag = 1;
      emit(Op::kEmit, node.start, number);
    }
    folding_ = false;
  }

  // A chain of `+` that is written: what is certain to be concatenated can go out piece by piece.
  void sum(const Expr& node, std::uint32_t number) {
    if (node.kind != ExprKind::kBinary || node.token != TokenKind::kAdd) {
      expression(node);
      return;
    }
    sum(*node.items[0], number);
    expression(*node.items[1]);
    emit(Op::kAddPart, node.place, number);
  }

  // Counts output expressions from 1, as far as text::Run can tell them apart.
  std::uint32_t expression_number(Place place) {
    program_.expressions.push_back(place);
    return program_.expressions.size() <= 0xFFFF ? static_cast<std::uint32_t>(program_.expressions.size()) : 0;
  }

  // A test: leaves for the returned jump if it is false.
  std::uint32_t condition(const Expr& node, std::uint8_t flag) {
    emit(Op::kBeginTest, node.start);
    expression(node);
    const auto id = static_cast<std::uint32_t>(program_.conditions.size());
    program_.conditions.push_back(node.start);
    return emit(Op::kEndTest, node.start, 0, id, flag);
  }
  static std::uint8_t negated(const Expr& node) {
    if (node.kind != ExprKind::kNot) return 0;
    return negated(*node.items[0]) != 0 ? 0 : kTestNegated;
  }

  void if_statement(const Stmt& node) {
    const bool soft = std::exchange(soft_, true);
    emit(Op::kEnterIf, node.place);
    std::vector<std::uint32_t> exits;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Expr& test = *node.items[i];
      const std::uint32_t jump = condition(test, kTestOfIf | negated(test));
      body(node.branches[i]);
      exits.push_back(emit(Op::kLeaveIf, test.start));
      land(jump);
    }
    if (!node.else_body.empty()) {
      const std::uint8_t flag = negated(*node.items.back());
      emit(Op::kGuard, node.place, 0, 0, static_cast<std::uint8_t>(flag | kTestElse));
      body(node.else_body);
    }
    exits.push_back(emit(Op::kLeaveIf, node.place));
    for (const std::uint32_t exit : exits) land(exit);
    soft_ = soft;
  }

  // for: the body's scope begins anew in each iteration.
  void for_statement(const Stmt& node) {
    check_loop_target(node);
    if (node.recursive) {
      const std::uint32_t id = add_function("loop");
      expression(*node.value);
      emit(Op::kCallLoop, node.place, id);
      emit(Op::kEmit, node.place, 0, 0, 1);
      const std::uint32_t jump = emit(Op::kJump, node.place);
      enter_function(id);
      program_.functions[id].entry = here();
      loop(node, id);
      emit(Op::kReturn, node.place);
      leave_function();
      land(jump);
    } else {
      expression(*node.value);
      loop(node, function().id);
    }
  }

  void loop(const Stmt& node, std::uint32_t id) {
    const bool extended = node.recursive || mentions(node.body, "loop");
    const NameId loop_name = name("loop");
    Symbols inner(symbols_, id);
    if (extended) inner.declare_parameter(loop_name);
    ScopeScanner scanner(inner, names_);
    scanner.parameter_target(*node.target);
    scanner.body(node.body);
    const std::uint32_t filter = node.test ? loop_filter(node) : kNoFunction;
    const std::uint32_t loop_slot = extended ? slot(inner, loop_name) : kNoSlot;
    emit(Op::kForBegin, node.place, filter, loop_slot, 0, node.recursive ? 1 : 0);
    function().loops.push_back({extended ? &inner : nullptr, false, here(), {}});
    const std::uint32_t next = emit(Op::kForNext, node.target->place);
    {
      const Scope scope(*this, inner, false);
      store(*node.target, false);
      open_scope(node.place);
      body(node.body);
    }
    if (!node.else_body.empty()) emit(Op::kForCompleted, node.place);
    emit(Op::kJump, node.place, next);
    land(next);
    for (const std::uint32_t jump : function().loops.back().breaks) land(jump);
    function().loops.pop_back();
    const std::uint32_t end = emit(Op::kForEnd, node.place);
    if (!node.else_body.empty()) {
      Symbols otherwise(symbols_, id);
      ScopeScanner(otherwise, names_).body(node.else_body);
      const Scope scope(*this, otherwise, false);
      open_scope(node.place);
      body(node.else_body);
    }
    land(end);
  }

  // A function of one argument, the item, that says whether the loop takes it.
  std::uint32_t loop_filter(const Stmt& node) {
    const std::uint32_t id = add_function("loop filter");
    const std::uint32_t jump = emit(Op::kJump, node.test->place);
    enter_function(id);
    Symbols inner(symbols_, id);
    ScopeScanner scanner(inner, names_);
    scanner.parameter_target(*node.target);
    scanner.expression(node.test.get());
    const Scope scope(*this, inner, false);
    program_.functions[id].entry = here();
    store(*node.target, false);
    open_scope(node.test->place);
    const std::uint32_t no = condition(*node.test, 0);
    emit(Op::kPushBool, node.test->place, 0, 0, 1);
    emit(Op::kReturnTop, node.test->place);
    land(no);
    emit(Op::kPushBool, node.test->place, 0, 0, 0);
    emit(Op::kReturnTop, node.test->place);
    leave_function();
    land(jump);
    return id;
  }

  void check_loop_target(const Stmt& node) {
    // The outermost loop has looked at all inside it.
    if (!function().loops.empty()) return;
    if (const Expr* target = find_assigned(node, "loop")) {
      fail(target->place, "Can't assign to special loop variable in for-loop target");
    }
  }

  void loop_control(const Stmt& node) {
    const bool is_break = node.kind == StmtKind::kBreak;
    if (function().loops.empty() || function().loops.back().closed) {
      fail(node.place, is_break ? "'break' outside loop" : "'continue' not properly in loop");
      return;
    }
    if (is_break) {
      function().loops.back().breaks.push_back(emit(Op::kBreak, node.place));
    } else {
      emit(Op::kContinue, node.place, function().loops.back().next);
    }
  }

  void set_block(const Stmt& node) {
    check_namespaces(*node.target);
    {
      Symbols inner(symbols_, function().id);
      ScopeScanner(inner, names_).body(node.body);
      const Scope scope(*this, inner, false);
      open_scope(node.place);
      emit(Op::kBeginCapture, node.place);
      body(node.body);
      emit(Op::kEndCapture, node.place, 0, 0, 1);
      if (node.value) filter(*node.value);
      if (node.value && escaping_.used) emit(Op::kMarkSafe, node.place);
    }
    store(*node.target, true);
  }

  void filter_block(const Stmt& node) {
    Symbols inner(symbols_, function().id);
    ScopeScanner scanner(inner, names_);
    scanner.body(node.body);
    scanner.expression(node.value.get());
    const Scope scope(*this, inner, false);
    open_scope(node.place);
    emit(Op::kBeginCapture, node.place);
    body(node.body);
    emit(Op::kEndCapture, node.place, 0, 0, 1);
    filter(*node.value);
    emit(Op::kEmit, node.place, 0, 0, 2);
  }

  void with_block(const Stmt& node) {
    Symbols inner(symbols_, function().id);
    ScopeScanner scanner(inner, names_);
    for (const ExprPtr& target : node.targets) scanner.parameter_target(*target);
    scanner.body(node.body);
    {
      const Scope scope(*this, inner, false);
      open_scope(node.place);
    }
    for (std::size_t i = 0; i < node.targets.size(); ++i) {
      expression(*node.items[i]);
      const Scope scope(*this, inner, false);
      store(*node.targets[i], true);
    }
    const Scope scope(*this, inner, false);
    body(node.body);
  }

  void autoescape(const Stmt& node) {
    Symbols inner(symbols_, function().id);
    ScopeScanner scanner(inner, names_);
    scanner.expression(node.value.get());
    scanner.body(node.body);
    const Scope scope(*this, inner, false);
    open_scope(node.place);
    expression(*node.value);
    emit(Op::kAutoescape, node.place);
    const Escaping outside = escaping_;
    escaping_.enter(*node.value);
    body(node.body);
    escaping_ = outside;
    emit(Op::kEndAutoescape, node.place);
  }

  // In the reference the block's body is a function of its own: break cannot leave it.
  void generation(const Stmt& node) {
    program_.has_generation = true;
    Symbols inner(symbols_, function().id);
    ScopeScanner(inner, names_).body(node.body);
    const Scope scope(*this, inner, false);
    const bool in_loop = !function().loops.empty();
    const bool closed = in_loop && std::exchange(function().loops.back().closed, true);
    emit(Op::kBeginGeneration, node.place);
    open_scope(node.place);
    body(node.body);
    emit(Op::kEndGeneration, node.place);
    if (in_loop) function().loops.back().closed = closed;
  }

  void call_block(const Stmt& node) {
    const std::uint32_t caller = macro(node);
    call(*node.value, caller);
    emit(Op::kEmit, node.place, 0, 0, 2);
  }

  // Compiles a macro's or call block's function and jumps over it.
  std::uint32_t macro(const Stmt& node) {
    const std::uint32_t jump = emit(Op::kJump, node.place);
    const std::uint32_t id = add_function(node.name);
    enter_function(id);
    Symbols inner(symbols_, id);
    ScopeScanner scanner(inner, names_);
    for (const std::string& parameter : node.parameters) inner.declare_parameter(name(parameter));
    for (const ExprPtr& value : node.defaults) scanner.expression(value.get());
    scanner.body(node.body);
    const Scope scope(*this, inner, false);
    declare_special_parameters(node, id, inner);
    for (const std::string& parameter : node.parameters) {
      program_.functions[id].parameters.push_back(name(parameter));
      program_.functions[id].parameter_slots.push_back(slot(inner, name(parameter)));
    }
    program_.functions[id].entry = here();
    open_scope(node.place);
    bind_parameters(node, inner);
    body(node.body);
    emit(Op::kReturn, node.place);
    leave_function();
    land(jump);
    return id;
  }

  // caller, kwargs and varargs exist in a macro whose body mentions them.
  void declare_special_parameters(const Stmt& node, std::uint32_t id, Symbols& inner) {
    const auto parameter = [&](std::string_view special) {
      return std::find(node.parameters.begin(), node.parameters.end(), special);
    };
    const auto declare = [&](std::string_view special) {
      inner.declare_parameter(name(special));
      return slot(inner, name(special));
    };
    if (mentions(node.body, "caller")) {
      program_.functions[id].uses_caller = true;
      const auto found = parameter("caller");
      if (found == node.parameters.end()) {
        program_.functions[id].caller_slot = declare("caller");
      } else if (node.parameters.end() - found > static_cast<std::ptrdiff_t>(node.defaults.size())) {
        fail(node.place,
             "When defining macros or call blocks the special \"caller\" argument must be omitted or be "
             "given a default.");
      }
    }
    if (parameter("kwargs") == node.parameters.end() && mentions(node.body, "kwargs")) {
      program_.functions[id].kwargs_slot = declare("kwargs");
    }
    if (parameter("varargs") == node.parameters.end() && mentions(node.body, "varargs")) {
      program_.functions[id].varargs_slot = declare("varargs");
    }
  }

  void bind_parameters(const Stmt& node, const Symbols& inner) {
    const std::size_t without = node.parameters.size() - node.defaults.size();
    for (std::size_t i = 0; i < node.parameters.size(); ++i) {
      const NameId id = name(node.parameters[i]);
      const std::uint32_t target = slot(inner, id);
      const std::uint32_t bound = emit(Op::kJumpIfBound, node.place, 0, target);
      if (i < without) {
        emit(Op::kBindMissing, node.place, target, id);
      } else {
        expression(*node.defaults[i - without]);
        emit(Op::kStoreSlot, node.place, target);
      }
      land(bound);
    }
  }

  void check_namespaces(const Expr& target) {
    if (target.kind == ExprKind::kNsRef) {
      load_name(target.text, target.place);
      emit(Op::kCheckNamespace, target.place);
    }
    for (const ExprPtr& item : target.items) check_namespaces(*item);
  }

  // ---- expressions: each pushes one value

  void items(const std::vector<ExprPtr>& nodes) {
    for (const ExprPtr& node : nodes) expression(*node);
  }

  void apply(const Expr& node, Op op, std::uint32_t count = 0, std::uint8_t flag = 0) {
    items(node.items);
    emit(op, node.place, count, 0, flag);
  }

  void expression(const Expr& node) {
    const bool outermost = !in_constant_ && is_constant(node);
    const bool folding = std::exchange(folding_, folding_ || begins_folding(node));
    in_constant_ = in_constant_ || outermost;
    if (outermost) constant_ = &node;
    value_of(node);
    folding_ = folding;
    if (outermost && may_overflow(node)) emit(Op::kCheckConstant, node.place);
    if (outermost) in_constant_ = false;
  }

  void value_of(const Expr& node) {
    if (error_) return;
    const auto count = static_cast<std::uint32_t>(node.items.size());
    switch (node.kind) {
      case ExprKind::kText:
      case ExprKind::kString: emit(Op::kPushString, node.place, node.literal); break;
      case ExprKind::kInteger:
      case ExprKind::kFloat: number(node); break;
      case ExprKind::kBool: emit(Op::kPushBool, node.place, 0, 0, node.flag ? 1 : 0); break;
      case ExprKind::kNone: emit(Op::kPushNone, node.place); break;
      case ExprKind::kNsRef:
      case ExprKind::kName: load_name(node.text, node.place); break;
      case ExprKind::kTuple: apply(node, Op::kTuple, count); break;
      case ExprKind::kList: apply(node, Op::kList, count); break;
      case ExprKind::kDict:
        if (folding_ && has_unhashable_key(node)) fail(node.place, "a list or dict cannot be a key");
        apply(node, Op::kDict, count / 2);
        break;
      case ExprKind::kConcat: apply(node, Op::kConcat, count, escaping_.of_join()); break;
      case ExprKind::kGetAttr: attribute(node); break;
      case ExprKind::kGetItem: subscript(node); break;
      case ExprKind::kSlice: fail(node.place, "a slice stands for nothing by itself"); break;
      case ExprKind::kCall: call(node, kNoFunction); break;
      case ExprKind::kFilter: filter(node, true); break;
      case ExprKind::kTest: test(node); break;
      case ExprKind::kNot: apply(node, Op::kNot); break;
      case ExprKind::kNegative: apply(node, Op::kNegative); break;
      case ExprKind::kPositive: apply(node, Op::kPositive); break;
      case ExprKind::kBinary: apply(node, Op::kBinary, 0, static_cast<std::uint8_t>(binary_op(node))); break;
      case ExprKind::kAnd: short_cut(node, Op::kJumpIfFalse); break;
      case ExprKind::kOr: short_cut(node, Op::kJumpIfTrue); break;
      case ExprKind::kCompare: comparison(node); break;
      case ExprKind::kInlineIf: inline_if(node); break;
    }
  }

  void number(const Expr& node) {
    const bool is_float = node.kind == ExprKind::kFloat;
    std::int32_t small = 0;
    const char* const end = node.text.data() + node.text.size();
    const auto [read_to, error] = std::from_chars(node.text.data(), end, small);
    if (!is_float && error == std::errc() && read_to == end) {
      emit(Op::kPushInteger, node.place, static_cast<std::uint32_t>(small));
      return;
    }
    const auto next = static_cast<std::uint32_t>(program_.numbers.size());
    const auto [found, is_new] = number_ids_.try_emplace({is_float, node.text}, next);
    if (is_new) program_.numbers.push_back({is_float, node.text});
    emit(Op::kPushNumber, node.place, found->second);
  }

  // The loop, counted outwards in this function, whose `loop` variable `node` names.
  std::optional<std::uint16_t> named_loop(const Expr& node) {
    if (node.kind != ExprKind::kName || node.text != "loop") return std::nullopt;
    const Symbols* owner = symbols_->owner(name("loop"));
    const auto& loops = function().loops;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (owner != nullptr && loops[loops.size() - 1 - i].scope == owner) return static_cast<std::uint16_t>(i);
    }
    return std::nullopt;
  }

  void attribute(const Expr& node) {
    static constexpr std::pair<std::string_view, LoopAttr> kAttributes[] = {
        {"index", LoopAttr::kIndex},         {"index0", LoopAttr::kIndex0},     {"revindex", LoopAttr::kRevIndex},
        {"revindex0", LoopAttr::kRevIndex0}, {"first", LoopAttr::kFirst},       {"last", LoopAttr::kLast},
        {"length", LoopAttr::kLength},       {"depth", LoopAttr::kDepth},       {"depth0", LoopAttr::kDepth0},
        {"previtem", LoopAttr::kPrevItem},   {"nextitem", LoopAttr::kNextItem},
    };
    if (const std::optional<std::uint16_t> out = named_loop(*node.items[0])) {
      for (const auto& [text, id] : kAttributes) {
        if (node.text != text) continue;
        emit(Op::kLoopAttr, node.place, static_cast<std::uint32_t>(id), 0, 0, *out);
        return;
      }
    }
    expression(*node.items[0]);
    const NameId id = name(node.text);
    Instruction& last = program_.code.back();
    if (last.op == Op::kLoadSlot && node.items[0]->kind == ExprKind::kName && last.b <= 0xFFFF) {
      last = {Op::kSlotAttr, 0, static_cast<std::uint16_t>(last.b), last.a, id};
      program_.places.back() = node.place;
      return;
    }
    emit(Op::kGetAttr, node.place, id);
  }

  void subscript(const Expr& node) {
    expression(*node.items[0]);
    const Expr& key = *node.items[1];
    if (key.kind == ExprKind::kString) {
      emit(Op::kGetMember, node.place, key.literal, name(tree_.literal_texts[key.literal]));
      return;
    }
    if (key.kind != ExprKind::kSlice) {
      expression(key);
      emit(Op::kGetItem, node.place);
      return;
    }
    for (const ExprPtr& part : key.items) {
      if (part) {
        expression(*part);
      } else {
        emit(Op::kPushNone, key.place);
      }
    }
    emit(Op::kSlice, node.place, 0, 0, in_constant_ && constant_ != &node ? 1 : 0);
  }

  // Pushes the arguments; `caller`, if any, as the last keyword.
  std::uint32_t arguments(const Arguments& call, std::uint32_t caller, Place place) {
    CallShape shape;
    shape.positional = static_cast<std::uint32_t>(call.positional.size());
    items(call.positional);
    for (const auto& [key, value] : call.keyword) {
      const NameId id = name(key);
      if (std::find(shape.keywords.begin(), shape.keywords.end(), id) != shape.keywords.end()) {
        fail(place, "keyword argument repeated: " + key);
      }
      shape.keywords.push_back(id);
      expression(*value);
    }
    if (caller != kNoFunction) {
      shape.keywords.push_back(name("caller"));
      emit(Op::kMacro, place, caller);
    }
    shape.star = call.star != nullptr;
    if (shape.star) expression(*call.star);
    shape.double_star = call.double_star != nullptr;
    if (shape.double_star) expression(*call.double_star);
    const auto next = static_cast<std::uint32_t>(program_.calls.size());
    const auto [found, is_new] = call_ids_.try_emplace(shape, next);
    if (is_new) program_.calls.push_back(std::move(shape));
    return found->second;
  }

  void call(const Expr& node, std::uint32_t caller) {
    const Expr& callee = *node.items[0];
    if (callee.kind == ExprKind::kGetAttr) {
      expression(*callee.items[0]);
      const std::uint32_t shape = arguments(node.call, caller, node.place);
      emit(Op::kCallMethod, node.place, shape, name(callee.text));
    } else {
      expression(callee);
      const std::uint32_t shape = arguments(node.call, caller, node.place);
      emit(Op::kCall, node.place, shape);
    }
  }

  // The filters of a filter or set block, innermost first; the text is on top.
  void filter(const Expr& node, bool of_value = false) {
    // Of several unknown filters the reference names the outermost.
    if (find_filter(node.text) == nullptr && !soft_) fail(node.place, "No filter named '" + node.text + "'.");
    if (of_value) {
      expression(*node.items[0]);
    } else if (!node.items.empty() && node.items[0]) {
      filter(*node.items[0]);
    }
    if (!soft_) program_.needed_filters.push_back(name(node.text));
    const std::uint32_t shape = arguments(node.call, kNoFunction, node.place);
    emit(Op::kFilter, node.place, shape, name(node.text));
  }

  void test(const Expr& node) {
    if (find_test(node.text) == nullptr && !soft_) fail(node.place, "No test named '" + node.text + "'.");
    if (!soft_) program_.needed_tests.push_back(name(node.text));
    expression(*node.items[0]);
    const std::uint32_t shape = arguments(node.call, kNoFunction, node.place);
    emit(Op::kTest, node.place, shape, name(node.text));
  }

  void short_cut(const Expr& node, Op jump) {
    expression(*node.items[0]);
    const std::uint32_t done = emit(jump, node.place);
    // What a literal shuts out is not even looked at.
    const bool shut_out = literal_truth(*node.items[0]) == (jump == Op::kJumpIfTrue);
    const bool soft = std::exchange(soft_, soft_ || shut_out);
    expression(*node.items[1]);
    soft_ = soft;
    land(done);
  }

  void comparison(const Expr& node) {
    expression(*node.items[0]);
    std::vector<std::uint32_t> failures;
    for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
      const bool last = i + 1 == node.comparisons.size();
      if (last && compare_with_string(node, i)) break;
      expression(*node.items[i + 1]);
      const auto flag = static_cast<std::uint8_t>(node.comparisons[i].op);
      const std::uint32_t at = emit(last ? Op::kCompare : Op::kCompareChain, node.comparisons[i].place, 0, 0, flag);
      if (!last) failures.push_back(at);
    }
    for (const std::uint32_t failure : failures) land(failure);
  }

  // `x == 'constant'` as one instruction; false if the comparison `i` of `node` is none such.
  bool compare_with_string(const Expr& node, std::size_t i) {
    const auto [comparison, place] = node.comparisons[i];
    const Expr& right = *node.items[i + 1];
    if (right.kind != ExprKind::kString) return false;
    if (comparison != Comparison::kEq && comparison != Comparison::kNe) return false;
    emit(Op::kEqualsString, place, right.literal, 0, comparison == Comparison::kNe ? 1 : 0);
    return true;
  }

  void inline_if(const Expr& node) {
    const bool soft = std::exchange(soft_, true);
    const std::uint32_t otherwise = condition(*node.items[0], 0);
    emit(Op::kEnterChoice, node.place, 0, 0, negated(*node.items[0]));
    expression(*node.items[1]);
    emit(Op::kLeaveChoice, node.place);
    const std::uint32_t end = emit(Op::kJump, node.place);
    land(otherwise);
    if (node.items[2]) {
      expression(*node.items[2]);
    } else {
      emit(Op::kPushUndefinedChoice, node.place);
    }
    land(end);
    soft_ = soft;
  }

  Tree tree_;
  std::string name_;
  Program program_;
  Names names_;
  std::map<std::pair<bool, std::string>, std::uint32_t> number_ids_;
  std::map<CallShape, std::uint32_t> call_ids_;
  std::vector<OpenFunction> functions_;
  const Symbols* symbols_ = nullptr;
  Escaping escaping_;
  bool folding_ = false;            // where the reference looks for expressions that it can compute when it compiles
  bool in_constant_ = false;        // inside one of them
  const Expr* constant_ = nullptr;  // the last of them that was not written at once
  bool soft_ = false;  // inside a condition's branch, where unknown filters are looked up only when they run
  std::set<std::string> undeclared_;
  std::optional<Error> error_;
};

}  // namespace

Result<Program> compile(Tree tree, std::string source, const std::string& name) {
  return Compiler(std::move(tree), std::move(source), name).run();
}

}  // namespace rondo::jinja
