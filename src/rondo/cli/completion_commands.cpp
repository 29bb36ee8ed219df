#include "cli/completion_commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/io.h"

namespace rondo::cli {
namespace {

struct Word {
  std::vector<std::string> names;  // "-m", "--message"
  std::string help;
  std::vector<std::string> choices;
  bool takes_value = false;
};

struct Command {
  std::string path;  // "edge export"; "" for the program
  std::string help;
  std::vector<Word> options;
  std::vector<std::string> commands;
  std::vector<std::string> choices;  // of its positional arguments
};

// "strict" and "lenient" of "TEXT:{strict,lenient}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  std::vector<std::string> out;
  if (begin == std::string::npos || end == std::string::npos) return out;
  for (std::size_t at = begin + 1; at <= end;) {
    const std::size_t next = std::min(type.find(',', at), end);
    out.push_back(type.substr(at, next - at));
    at = next + 1;
  }
  return out;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Command>& out) {
  Command command{path, app.get_description(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    Word word{{}, option->get_description(), choices_of(*option), option->get_expected_max() > 0};
    for (const std::string& name : option->get_snames()) word.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) word.names.push_back("--" + name);
    if (word.names.empty()) {
      command.choices.insert(command.choices.end(), word.choices.begin(), word.choices.end());
    } else {
      command.options.push_back(std::move(word));
    }
  }
  const std::vector<const CLI::App*> below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* one : below) command.commands.push_back(one->get_name());
  out.push_back(std::move(command));
  for (const CLI::App* one : below) collect(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), out);
}

// All commands, from the program on.
std::vector<Command> all_commands(const CLI::App& app) {
  std::vector<Command> out;
  collect(app, "", out);
  const auto help = std::ranges::find(out, "help", &Command::path);
  if (help != out.end()) help->choices = out.front().commands;
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// --- bash, and zsh through its bashcompinit

std::string bash_script(const std::vector<Command>& commands) {
  std::string descents;  // a command, and a word that leads to another command
  std::string values;    // what follows an option
  std::string words;     // what else a command accepts
  for (const Command& command : commands) {
    for (const std::string& name : command.commands)
      descents += (descents.empty() ? "'" : "|'") + command.path + " " + name + "'";
    std::vector<std::string> all = command.commands;
    all.insert(all.end(), command.choices.begin(), command.choices.end());
    for (const Word& option : command.options) {
      all.insert(all.end(), option.names.begin(), option.names.end());
      if (!option.takes_value) continue;
      std::string cases;
      for (const std::string& name : option.names)
        cases += (cases.empty() ? "'" : "|'") + command.path + " " + name + "'";
      values += "    " + cases + ") " +
                (option.choices.empty() ? "words= files=1" : "words='" + joined(option.choices) + "' files=") + " ;;\n";
    }
    words += "    '" + command.path + "') words='" + joined(all) + "' ;;\n";
  }
  return "_rondo() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= words= files=1 i\n"
         "  if [ \"$current\" = = ]; then current=\n"
         "  elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case \"$path ${COMP_WORDS[i]}\" in\n"
         "    " +
         descents +
         ") path=\"${path:+$path }${COMP_WORDS[i]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case $path in\n" +
         words +
         "  esac\n"
         "  case $words in [a-z]*) files= ;; esac\n"
         "  case \"$path $before\" in\n" +
         values +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  if [ -n \"$files\" ] && [[ $current != -* ]]; then\n"
         "    local IFS=$'\\n'\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _rondo rondo\n";
}

std::string zsh_script(const std::vector<Command>& commands) {
  return "#compdef rondo\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(commands);
}

// --- fish

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// The condition that the command line has this command.
std::string fish_condition(const std::string& path) {
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(' ', at), path.size());
    out += (out.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") + path.substr(at, end - at);
    at = end + 1;
  }
  return out.empty() ? "__fish_use_subcommand" : out;
}

// What follows the condition in an option's line.
std::string fish_option(const Word& option) {
  std::string out;
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty()) out += " -f -a " + fish_text(joined(option.choices));
  return out + (option.takes_value ? " -r" : "") + " -d " + fish_text(option.help) + "\n";
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& command : commands) {
    const std::string begin = "complete -c rondo -n " + fish_text(fish_condition(command.path));
    for (const std::string& name : command.commands) {
      const std::string path = command.path.empty() ? name : command.path + " " + name;
      const auto named = std::ranges::find(commands, path, &Command::path);
      out.append(begin).append(" -f -a ").append(name).append(" -d ").append(fish_text(named->help)).append("\n");
    }
    if (!command.choices.empty()) out += begin + " -f -a " + fish_text(joined(command.choices)) + "\n";
    for (const Word& option : command.options) out += begin + fish_option(option);
  }
  return out;
}

}  // namespace

void define_completion_command(CLI::App& app, std::string& shell, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("completion", "a script with which a shell completes rondo's commands");
  command.add_option("SHELL", shell, "whose script")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.footer(
      "Examples:\n"
      "  rondo completion bash > ~/.local/share/bash-completion/completions/rondo\n"
      "  rondo completion zsh > \"${fpath[1]}/_rondo\"\n"
      "  rondo completion fish > ~/.config/fish/completions/rondo.fish");
  command.callback([&] {
    chosen = [&] {
      const auto script = shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
      return print(script(all_commands(app))) ? kSuccess : kFailure;
    };
  });
}

}  // namespace rondo::cli
