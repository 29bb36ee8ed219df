#include "cli/usage.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/io.h"

namespace rondo::cli {
namespace {

// How many letters must be added, removed, replaced or swapped with the next one to make `to` of `from`.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> cost(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  std::iota(cost[0].begin(), cost[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    cost[i][0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost.back().back();
}

// The name that was meant, as "; did you mean `render`?"; "" if none is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  const auto near = std::ranges::min_element(names, {}, [&](const std::string& name) { return distance(word, name); });
  if (near == names.end() || distance(word, *near) > std::max<std::size_t>(1, word.size() / 3)) return "";
  return "; did you mean `" + *near + "`?";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string no_command(const CLI::App& app, const std::string& word) {
  return "there is no command `" + word + "`" + suggestion(word, command_names(app));
}

// What is wrong with a word that a command left over.
std::string complaint(const CLI::App& command, const std::string& path, const std::string& word) {
  if (word.starts_with('-') && word != "-") {
    const std::string name = word.substr(0, word.find('='));
    return "`" + path + "` has no option `" + name + "`" + suggestion(name, option_names(command));
  }
  if (!command_names(command).empty()) return no_command(command, word);
  return "`" + path + "` has no place for the argument `" + word + "`";
}

// The first word that nothing took: an option first, because words after an unknown one may be its value.
std::optional<std::string> left_over(const CLI::App& command) {
  const std::vector<std::string> words = command.remaining();
  const auto option = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  if (option != words.end() && command_names(command).empty()) return *option;
  return words.empty() ? std::nullopt : std::optional(words.front());
}

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::Error& error) {
  const CLI::App* command = &app;
  std::string path = app.get_name();
  std::optional<std::string> word = left_over(app);
  while (!word && !command->get_subcommands().empty()) {
    command = command->get_subcommands().back();
    path += " " + command->get_name();
    word = left_over(*command);
  }
  const std::string what = word ? complaint(*command, path, *word) : error.what();
  return "rondo: " + what + "\nRun `" + path + " --help` for more information.\n";
}

void define_help_command(CLI::App& app, std::function<int()>& chosen) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *app.add_subcommand("help", "what a command does, as its --help");
  command.add_option("COMMAND", *words, "the command (default: what there is)");
  command.footer("Examples:\n  rondo help render\n  rondo help edge export");
  command.callback([&, words] {
    const CLI::App* named = &app;
    std::string path = app.get_name();
    for (const std::string& word : *words) {
      const std::vector<const CLI::App*> next =
          named->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
      if (next.empty()) throw CLI::ValidationError(no_command(*named, word), CLI::ExitCodes::ValidationError);
      named = next.front();
      path += " " + word;
    }
    chosen = [named, path] {
      return print(named->get_formatter()->make_help(named, path, CLI::AppFormatMode::Normal)) ? kSuccess : kFailure;
    };
  });
}

}  // namespace rondo::cli
