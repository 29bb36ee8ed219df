#include "jinja/program/instructions.h"

#include <array>

#include "jinja/common/operators.h"
#include "jinja/common/place.h"
#include "text/text.h"

namespace rondo::jinja {
namespace {

constexpr std::array kOpNames = {
    "push_none",
    "push_bool",
    "push_integer",
    "push_number",
    "push_string",
    "push_undefined_choice",
    "push_no_caller",
    "pop",
    "load_slot",
    "load_outer",
    "load_name",
    "slot_attr",
    "store_slot",
    "clear_slot",
    "copy_slot",
    "resolve_slot",
    "unpack",
    "check_namespace",
    "set_member",
    "get_attr",
    "get_item",
    "get_member",
    "slice",
    "loop_attr",
    "list",
    "tuple",
    "dict",
    "concat",
    "binary",
    "negative",
    "positive",
    "not",
    "undefined_number",
    "compare",
    "equals_string",
    "compare_chain",
    "require_defined",
    "call",
    "call_method",
    "filter",
    "test",
    "macro",
    "call_loop",
    "return",
    "return_top",
    "jump",
    "jump_if_false",
    "jump_if_true",
    "jump_if_bound",
    "bind_missing",
    "begin_test",
    "end_test",
    "enter_if",
    "guard",
    "leave_if",
    "enter_choice",
    "leave_choice",
    "for_begin",
    "for_next",
    "for_completed",
    "for_end",
    "break",
    "continue",
    "text",
    "emit_string",
    "add_part",
    "emit_concat",
    "emit",
    "begin_capture",
    "end_capture",
    "autoescape",
    "end_autoescape",
    "mark_safe",
    "begin_generation",
    "end_generation",
};
static_assert(kOpNames.size() == static_cast<std::size_t>(Op::kEndGeneration) + 1);

// The meaning of an operand, for the listing.
std::string operands(const Program& program, const Instruction& instruction) {
  const auto name = [&](std::uint32_t id) { return " `" + program.names[id] + "`"; };
  const auto number = [](std::uint32_t value) { return " " + std::to_string(value); };
  switch (instruction.op) {
    case Op::kPushNumber: return " " + program.numbers[instruction.a].text;
    case Op::kPushString:
    case Op::kEmitString:
    case Op::kEqualsString:
    case Op::kGetMember:
    case Op::kText: return " " + text::quoted(program.literal_texts[instruction.a]);
    case Op::kLoadSlot: return number(instruction.a) + name(instruction.b);
    case Op::kLoadOuter: return number(instruction.a) + name(instruction.b) + " out" + number(instruction.small);
    case Op::kLoadName:
    case Op::kSetMember:
    case Op::kUndefinedNumber:
    case Op::kGetAttr: return name(instruction.a);
    case Op::kSlotAttr:
    case Op::kResolveSlot:
    case Op::kBindMissing: return number(instruction.a) + name(instruction.b);
    case Op::kCopySlot: return number(instruction.a) + number(instruction.b) + " out" + number(instruction.small);
    case Op::kCall: return " shape" + number(instruction.a);
    case Op::kCallMethod:
    case Op::kFilter:
    case Op::kTest: return name(instruction.b) + " shape" + number(instruction.a);
    case Op::kCompare:
    case Op::kCompareChain: return " " + std::string(to_string(static_cast<CompareOp>(instruction.flag)));
    case Op::kEndTest: return number(instruction.a) + " condition" + number(instruction.b);
    case Op::kPushBool:
    case Op::kBinary:
    case Op::kGuard:
    case Op::kEmit:
    case Op::kEndCapture: return number(instruction.flag);
    case Op::kForBegin:
      return (instruction.b == kNoSlot ? std::string() : " loop" + number(instruction.b)) +
             (instruction.a == kNoFunction ? std::string() : " filter" + number(instruction.a)) +
             (instruction.small != 0 ? " recursive" : "");
    case Op::kStoreSlot:
    case Op::kClearSlot:
    case Op::kUnpack:
    case Op::kLoopAttr:
    case Op::kList:
    case Op::kTuple:
    case Op::kDict:
    case Op::kConcat:
    case Op::kMacro:
    case Op::kCallLoop:
    case Op::kJump:
    case Op::kJumpIfFalse:
    case Op::kJumpIfTrue:
    case Op::kJumpIfBound:
    case Op::kForNext:
    case Op::kLeaveIf:
    case Op::kAddPart:
    case Op::kForEnd:
    case Op::kBreak:
    case Op::kPushInteger:
    case Op::kContinue: return number(instruction.a);
    default: return {};
  }
}

}  // namespace

std::string_view to_string(Op op) { return kOpNames[static_cast<std::size_t>(op)]; }

std::string disassemble(const Program& program) {
  std::string out;
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    for (std::size_t id = 0; id < program.functions.size(); ++id) {
      if (program.functions[id].entry != at) continue;
      out += "function " + std::to_string(id) + " `" + program.functions[id].name + "`\n";
    }
    const Instruction& instruction = program.code[at];
    const Place& place = instruction.place;
    out += "  " + std::to_string(at) + "  " + std::to_string(place.line) + ":" + std::to_string(place.column) + "  " +
           std::string(to_string(instruction.op)) + operands(program, instruction) + "\n";
  }
  return out;
}

}  // namespace rondo::jinja
