// The words of probes: texts that no template writes itself.  So a render shows whether and where a message's text was
// written.
//
// There are three sets, which must not replace each other: a format, the ids of a prompt, and the proofs that people
// read all come from renders of these exact words.  In a set, all words differ and none is a part of another.
#pragma once

#include <string_view>

namespace rondo::probe {

// ---- Two letters.  Only the text around them is used: closes, stops, generation prompts.
inline constexpr std::string_view kShortSystem = "Hs";
inline constexpr std::string_view kShortQuestion = "Hq";
inline constexpr std::string_view kShortNextQuestion = "Nq";
inline constexpr std::string_view kShortThought = "YY";
inline constexpr std::string_view kShortAnswer = "ZZ";
inline constexpr std::string_view kShortResult = "Rr";
// Contains a space, for texts that are also sent as parts.
inline constexpr std::string_view kPartText = "Zq7 text";

// Also two letters, for a second history, which is compared with one made of the words above.
inline constexpr std::string_view kOlderSystem = "Ss";
inline constexpr std::string_view kOlderQuestion = "Uu";
inline constexpr std::string_view kOlderThought = "Rr";
inline constexpr std::string_view kOlderAnswer = "Aa";
inline constexpr std::string_view kOlderResult = "Tt";
inline constexpr std::string_view kNewQuestion = "Nn";

// ---- Words with a hyphen, for proofs: people can see whose text it is.
inline constexpr std::string_view kSystemWord = "system-one";
inline constexpr std::string_view kQuestionWord = "question-one";
inline constexpr std::string_view kSecondQuestionWord = "question-two";
inline constexpr std::string_view kThoughtWord = "thought-one";
inline constexpr std::string_view kAnswerWord = "answer-one";
inline constexpr std::string_view kSecondAnswerWord = "answer-two";
inline constexpr std::string_view kResultWord = "result-one";
inline constexpr std::string_view kSecondResultWord = "result-two";

// ---- Two words between capital letters, for the format: they show what a template trims, splits or prints as a value.
inline constexpr std::string_view kQuestionText = "Uprobe questionU";
inline constexpr std::string_view kSecondQuestionText = "Uprobe againU";
inline constexpr std::string_view kReasoningText = "Rprobe thoughtR";
inline constexpr std::string_view kContentText = "Cprobe answerC";
inline constexpr std::string_view kResultText = "Tprobe resultT";

// ---- Tools, in the same three sets.  All have flat schemas with descriptions everywhere, because some templates
// cannot describe others.
inline constexpr std::string_view kSmallTool = "probe";  // with one text parameter (probe/messages.h)
inline constexpr std::string_view kSmallParameter = "z";

// Two tools as JSON text: the first with the text parameters `k` and `z`, the second with `q`.
inline constexpr std::string_view kToolName = "find_city";
inline constexpr std::string_view kSecondToolName = "find_road";
inline constexpr std::string_view kWordTools = R"([
{"type":"function","function":{"name":"find_city","description":"finds a city","parameters":{"type":"object","properties":{
 "k":{"type":"string","description":"the key"},"z":{"type":"string","description":"the last"}},"required":["k"]}}},
{"type":"function","function":{"name":"find_road","description":"finds a road","parameters":{"type":"object","properties":{
 "q":{"type":"string","description":"the query"}},"required":["q"]}}}])";

// Two tools as JSON text: the first with the text parameters `k0` to `k2`, the second with `q0`.
inline constexpr std::string_view kFirstTool = "alpha_tool";
inline constexpr std::string_view kSecondTool = "beta_tool";
inline constexpr std::string_view kTextTools = R"([
{"type":"function","function":{"name":"alpha_tool","description":"first","parameters":{"type":"object","properties":{
 "k0":{"type":"string","description":"d"},"k1":{"type":"string","description":"d"},"k2":{"type":"string","description":"d"}},"required":["k0"]}}},
{"type":"function","function":{"name":"beta_tool","description":"second","parameters":{"type":"object","properties":{
 "q0":{"type":"string","description":"d"}},"required":["q0"]}}}])";

}  // namespace rondo::probe
