// The output of the compiler and the input of the VM: functions of instructions for a stack machine.
//
// Function 0 is the template itself.  Macros, call blocks, recursive loops and loop filters are further functions.
// Local variables are numbered slots of a function's activation.  A function reaches the slots of the functions around
// it by depth.  A variable that nobody sets is looked up by name among the render variables and the globals.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "jinja/common/operators.h"
#include "jinja/common/place.h"
#include "text/origins.h"

namespace rondo::jinja {

enum class Op : std::uint8_t {
  // Values.  "push", "pop" and "top" refer to the value stack.
  kPushNone,
  kPushBool,             // flag
  kPushInteger,          // a: its bits, a signed 32-bit number
  kPushNumber,           // a: number
  kPushString,           // a: literal
  kPushUndefinedChoice,  // the value of a failing inline if without else
  kPushNoCaller,         // `caller` if there is none
  kPop,
  kLoadSlot,        // a: slot, b: name (for the message if it is undefined)
  kLoadOuter,       // a: slot, b: name, small: how many functions out
  kLoadName,        // a: name
  kSlotAttr,        // a: slot, b: name of the attribute, small: name of the variable; flag: 1 if the attribute is plain
  kStoreSlot,       // a: slot; flag: an assignment that may bind a message (set)
  kClearSlot,       // a: slot
  kCopySlot,        // a: slot, b: slot to copy, of the function that is `small` levels out
  kResolveSlot,     // a: slot from the variable named b
  kUnpack,          // a: count; pop an iterable, push its items, the first on top
  kCheckNamespace,  // pop; fails unless a namespace
  kSetMember,       // a: name; pop a namespace, pop the value
  kGetAttr,         // a: name
  kGetItem,
  kGetMember,  // a: literal, b: name; object['name']
  kSlice,      // pop step, stop, start, object; flag: 1 in a constant expression
  kLoopAttr,   // a: LoopAttr, small: how many loops out
  kList,       // a: count
  kTuple,      // a: count
  kDict,       // a: count of pairs
  kConcat,     // a: count, flag: Escape
  kBinary,     // flag: BinaryOp
  kNegative,
  kPositive,
  kNot,
  kUndefinedNumber,  // a: name; fails in place of a constant that the reference cannot write
  kCompare,          // flag: CompareOp
  kEqualsString,     // a: literal, flag: 1 for !=; the constant is the right operand
  kCompareChain,     // flag: CompareOp; if it fails push false and jump to a, else push the right operand
  // Calls.  a: call; the stack holds [callee,] positional, keyword, star, double star
  kRequireDefined,  // fails if top is undefined: comes before the arguments of a method, which may fail themselves
  kCall,            // flag: 1 if the result is written by the next instruction, which is kEmit or kAddPart
  kCallMethod,      // b: name; the callee is the attribute of the object below the arguments
  kFilter,          // b: name; the value is below the arguments; flag: as kCall's
  kTest,            // b: name
  kMacro,           // a: function; push it as a value
  kCallLoop,        // a: function of a recursive loop; pop the iterable, push the text
  kReturn,          // from a macro, call block or recursive loop: its output is the result
  kReturnTop,       // from a loop filter: the result is on top
  // Jumps.
  kJump,         // a: target
  kJumpIfFalse,  // a: target, if top is false; else pop
  kJumpIfTrue,   // a: target, if top is true; else pop
  kJumpIfBound,  // a: target, b: slot; if the parameter was given
  kBindMissing,  // a: slot, b: name; the parameter was not given and has no default
  // Conditions and the control context.
  kBeginTest,    // reads from here on belong to a condition
  kEndTest,      // a: target if false, b: node, flag: TestFlag; if true, a branch of an if statement begins
  kEnterIf,      // before the first condition of an if statement; also does what kBeginTest does
  kGuard,        // flag: TestFlag; on entry to the else branch: bind what the conditions say
  kLeaveIf,      // a: target
  kEnterChoice,  // flag: TestFlag; inside the taken branch of an inline if
  kLeaveChoice,
  // Loops.
  kForBegin,      // pop the iterable; a: filter function or kNoFunction; b: slot of `loop` or kNoSlot; small: 1 if the
                  // function is a recursive loop's
  kForNext,       // a: target at the end; push the item
  kForCompleted,  // the body ran to its end
  kForEnd,        // a: target to go to if the body ran to its end: after the else block
  kBreak,         // a: target
  kContinue,      // a: target
  // Output.
  kText,        // a: literal
  kEmitString,  // a: literal; escaped under autoescape
  // a: as kEmit; pop the right and left operand of a `+` whose result is written: writes left at once if that gives the
  // same, otherwise adds; pushes what is still to be written.
  kAddPart,
  kEmitConcat,  // b: count, a: as kEmit; writes that many values of the stack in sequence, as `~` joins them
  // pop; a: number of the output expression, or 0; flag: Escape, or 2: never escape, and the value must be a string.
  kEmit,
  kBeginCapture,
  kEndCapture,  // push the text; flag: 1 marks it safe if autoescape is on
  kAutoescape,  // pop; sets autoescape to its truth
  kEndAutoescape,
  kMarkSafe,  // under autoescape top becomes text, and markup
  kBeginGeneration,
  kEndGeneration,
};

inline constexpr std::uint32_t kNoFunction = 0xFFFFFFFFU;
inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFFU;

enum class LoopAttr : std::uint32_t {
  kIndex,
  kIndex0,
  kRevIndex,
  kRevIndex0,
  kFirst,
  kLast,
  kLength,
  kDepth,
  kDepth0,
  kPrevItem,
  kNextItem
};

// How kEmit and kConcat treat text that is not markup.
enum Escape : std::uint8_t {
  kEscapeAsSet = 0,  // as the innermost active autoescape block says
  kEscapeNever = 1,
  kEscapeAlways = 3,  // the value 2 has a special meaning for kEmit; see there
};

// Bits of a condition's `flag`.
enum TestFlag : std::uint8_t {
  kTestNegated = 1,  // the condition is `not ...`: if it fails, its variable is true
  kTestElse = 2,     // the branch is taken because every condition failed
  kTestOfIf = 4,     // the condition belongs to the enclosing kEnterIf
};

// The size makes the offset of an instruction a shift.
struct alignas(32) Instruction {
  Op op = Op::kReturn;
  std::uint8_t flag = 0;
  std::uint16_t small = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Place place;  // in the template
};

// A number constant as it is spelled.
struct NumberConstant {
  bool is_float = false;
  std::string text;
};

struct CallShape {
  std::uint32_t positional = 0;
  std::vector<std::uint32_t> keywords;  // names
  bool star = false;
  bool double_star = false;
  // Returns how many values it has on the stack, without the callee.
  [[nodiscard]] std::uint32_t size() const {
    return positional + static_cast<std::uint32_t>(keywords.size()) + (star ? 1U : 0U) + (double_star ? 1U : 0U);
  }
  auto operator<=>(const CallShape&) const = default;
};

struct Function {
  std::string name;  // "" for call blocks
  std::uint32_t entry = 0;
  std::uint32_t slots = 0;
  bool uses_caller = false;               // the body mentions `caller`
  bool encloses = false;                  // it has inner functions, which may read its activation after it has ended
  std::vector<std::uint32_t> parameters;  // names
  std::vector<std::uint32_t> parameter_slots;
  std::uint32_t caller_slot = kNoSlot;  // slots of the special variables, if the body uses them
  std::uint32_t kwargs_slot = kNoSlot;
  std::uint32_t varargs_slot = kNoSlot;
};

// The meaning of a name as an attribute, method, filter or test; found once for all renders.
struct Method;
struct Filter;
struct Test;
struct NameInfo {
  const Filter* filter = nullptr;
  const Test* test = nullptr;
  const Method* string_method = nullptr;
  const Method* list_method = nullptr;
  const Method* dict_method = nullptr;
  bool is_plain = false;  // as an attribute of a dict or namespace it can only be a member
};

struct Program {
  std::string source;
  std::vector<Instruction> code;
  std::vector<Function> functions;
  std::vector<std::string> names;
  std::vector<NameInfo> name_infos;  // by name
  std::uint32_t stack_size = 0;      // the most values that a function has on the stack
  std::vector<NumberConstant> numbers;
  std::vector<CallShape> calls;
  std::vector<std::string> literal_texts;  // by LiteralId
  std::vector<text::Literal> literals;
  std::vector<Place> conditions;   // by node number
  std::vector<Place> expressions;  // the expressions whose value is written, by number - 1
  // Filters and tests that must exist for the template to load: the reference looks them up when it compiles, if they
  // are outside conditions.
  std::vector<std::uint32_t> needed_filters;
  std::vector<std::uint32_t> needed_tests;

  std::vector<std::string> undeclared;
  std::vector<std::string> compared_roles;
  bool has_generation = false;
  bool has_self = false;         // whether `self` means the template, even if a variable has that name
  bool may_have_markup = false;  // whether the template can make a string that counts as escaped
};

[[nodiscard]] std::string_view to_string(Op op);

// Returns one line per instruction.
[[nodiscard]] std::string disassemble(const Program& program);

}  // namespace rondo::jinja
