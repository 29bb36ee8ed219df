// The long texts of --help.  Internal to cli/.
#pragma once

namespace rondo::cli {

inline constexpr const char* kAbout =
    "rondo closes the ring between chat messages, token ids and sampled text: it renders a conversation with the\n"
    "model's own chat template, knows where every byte came from, parses what the model wrote back into a message,\n"
    "and appends the next turn without touching the tokens that the model has already seen.";

inline constexpr const char* kExamples =
    "A first walk (MODEL is a Hugging Face style folder or a .gguf file):\n"
    "  rondo render MODEL -m \"What is the capital of France?\"\n"
    "  rondo render MODEL -m \"Hello\" --spans        where each part of the prompt came from\n"
    "  rondo render MODEL -m \"Hello\" --trace        what each line of the template wrote, and why\n"
    "  rondo render MODEL -m \"Hello\" --html p.html  the same as a page\n"
    "  rondo tokenize MODEL \"Hello world\"\n"
    "  rondo encode MODEL --messages chat.json      token ids, with owners and masks\n"
    "  echo 'Paris.' | rondo parse MODEL\n"
    "  rondo explain MODEL                          the format that the parser uses, with template lines\n"
    "  rondo replay MODEL requests.jsonl            what a prefix cache saves on a log, and what is lost\n"
    "  rondo check MODEL                            what of its template breaks the prefix, and why\n"
    "  rondo test MODEL weather.rondo.yaml          the tests of its template that a file holds\n"
    "  rondo demo                                   a conversation on a real engine, with what it saves\n"
    "\n"
    "`rondo help COMMAND` explains a command.  Exit status: 0 done, 1 failed (one sentence on standard error),\n"
    "2 wrong usage.";

inline constexpr const char* kRenderFooter =
    "Examples:\n"
    "  rondo render MODEL --messages chat.json --tools tools.json\n"
    "  rondo render --template chat_template.jinja -m \"Hi\" --kwargs 'bos_token=<s>' --spans\n"
    "  rondo render MODEL --messages chat.json --html prompt.html\n"
    "  rondo render MODEL --messages chat.json --mask --html mask.html\n"
    "\n"
    "What the marks of --trace mean: `?` a condition, `>` what the line wrote, with values in angle brackets, `-` "
    "what\n"
    "it cut off a value.  Without options the prompt is printed, byte for byte unless in colours.";

inline constexpr const char* kJinjaFooter =
    "Examples:\n"
    "  rondo jinja --text 'Hello {{ name }}!' --context '{\"name\": \"Ann\"}'\n"
    "  rondo jinja letter.jinja --context variables.json --keep-trailing-newline";

inline constexpr const char* kParseFooter =
    "Examples:\n"
    "  rondo parse MODEL completion.txt --json\n"
    "  some-server | rondo parse MODEL --tools tools.json --stream --json\n"
    "  rondo parse MODEL --text 'Paris.'\n"
    "  rondo parse MODEL --ids '[9707, 1879, 151645]'";

inline constexpr const char* kBridgeFooter =
    "Examples:\n"
    "  rondo bridge MODEL --prompt-ids prompt.json --completion-ids '[9707, 151645]' --new-messages "
    "next.json\n"
    "  rondo encode MODEL --messages chat.json | rondo bridge MODEL --prompt-ids - --completion-ids '9707 151645' "
    "--new-messages next.json --ids";

inline constexpr const char* kGrammarFooter =
    "Triggers and warnings go to standard error.\n"
    "Examples:\n"
    "  rondo grammar MODEL --tools tools.json > calls.gbnf\n"
    "  rondo grammar MODEL --tools tools.json --llama-server\n"
    "  rondo grammar MODEL --schema answer.json --format structural_tag\n"
    "  rondo grammar MODEL --answer-grammar query.gbnf --format lark";

inline constexpr const char* kReplayFooter =
    "Example:\n"
    "  rondo replay MODEL requests.jsonl\n"
    "  rondo replay MODEL made:agents=500,turns=30 --replicas 16 --routing all\n"
    "\n"
    "Which logs are understood, and what the numbers mean: docs/replay.md.";

inline constexpr const char* kEncodeFooter =
    "Examples:\n"
    "  rondo encode MODEL --messages chat.json\n"
    "  rondo encode MODEL --messages chat.json --html prompt.html\n"
    "\n"
    "The table has for each id its message, whether it is the message's data or the template's text, whether the "
    "model "
    "would\n"
    "have sampled it, and whether its bytes are of several origins (`straddles`).";

inline constexpr const char* kExplainFooter =
    "Examples:\n"
    "  rondo explain MODEL\n"
    "  rondo explain chat_template.jinja --probes | less -R\n"
    "  rondo explain MODEL --format > format.json, then correct it: rondo parse MODEL --correct format.json\n"
    "\n"
    "The template is asked to write messages of placeholders (probes); what stands between them are the markers of "
    "the "
    "format.";

inline constexpr const char* kDiffFooter =
    "Example:\n"
    "  rondo diff MODEL turn1.json turn2.json\n"
    "\n"
    "Exit status: 0 if the second prompt begins with all of the first, 3 if not, 1 on failure.";

inline constexpr const char* kCheckFooter =
    "Examples:\n"
    "  rondo check MODEL\n"
    "  rondo check chat_template.jinja --tokenizer MODEL --fail-on warning\n"
    "  rondo check models/*/ --html check.html --sarif check.sarif --junit check.xml\n"
    "  rondo check MODEL --fix --output mended.jinja\n"
    "  rondo check MODEL --scenario reasoning-call --kwargs enable_thinking=false --json\n"
    "\n"
    "Each row of the table is a conversation: the model's turn is sampled, parsed, kept as a message and rendered "
    "again\n"
    "with what follows it.  `string` and `token`: the next prompt begins with what the model has seen; `bridge`: so "
    "does\n"
    "rondo's, which keeps the ids; `parse`: the parser read what was meant.";

inline constexpr const char* kServeFooter =
    "Examples:\n"
    "  rondo serve                                     the small random model, to try clients\n"
    "  rondo serve model.gguf --parallel 8\n"
    "  rondo serve models/mine/ --url http://10.0.0.5:8000 --url http://10.0.0.6:8000\n"
    "  rondo serve --config serve.toml                 several models, limits, keys\n"
    "  rondo serve --api-keys keys.txt --add-key ann   prints the secret of a new key\n"
    "\n"
    "Each option can be said in the environment (RONDO_SERVE_MAX_BODY=8) and in the file (max_body = 8) as well; the "
    "command\n"
    "line wins over the environment, which wins over the file.\n"
    "What it answers: docs/gateway.md.  SIGINT and SIGTERM: running requests end, then it does.";

inline constexpr const char* kEnginesFooter =
    "Examples:\n"
    "  rondo engines http://10.0.0.5:8000 http://10.0.0.6:8000\n"
    "  rondo engines https://engine.example --key SECRET --ca ca.pem --json\n"
    "\n"
    "What is asked, and what each kind can: docs/engine-remote.md.  Exit status: 0 if all are known, 1 if not.";

inline constexpr const char* kFakeEngineFooter =
    "Examples:\n"
    "  rondo fake-engine vllm --generate on --cached-tokens\n"
    "  rondo fake-engine llama-server --port 8080 --script script.json --fault die:3\n"
    "\n"
    "Faults: error500, error503, slow-start, slow-tokens, die, garbage, hang.  KIND:FIRST:COUNT is for COUNT requests "
    "from "
    "the\n"
    "FIRST one on.  What a script says: docs/fake-engines.md.  SIGINT and SIGTERM end it.";

inline constexpr const char* kEdgeExportFooter =
    "Examples:\n"
    "  rondo edge export MODEL -o engine/               the verdict on standard error\n"
    "  rondo edge export MODEL --json\n"
    "  rondo edge export MODEL --template custom.json\n"
    "\n"
    "What the format can say, and what the verdict means: docs/edge.md.";

inline constexpr const char* kEdgeFooter =
    "Examples:\n"
    "  rondo edge export MODEL -o engine/\n"
    "  rondo edge import engine/ -o template.jinja\n"
    "  rondo edge validate engine/processed_chat_template.json\n"
    "  rondo edge format engine/ requests.json\n"
    "\n"
    "What the format can say: docs/edge.md.";

inline constexpr const char* kEdgeImportFooter =
    "Examples:\n"
    "  rondo edge import engine/ -o template.jinja\n"
    "  rondo edge import engine/processed_chat_template.json > template.jinja";

inline constexpr const char* kEdgeFormatFooter =
    "Examples:\n"
    "  rondo edge format engine/ requests.json\n"
    "  rondo edge format engine/ '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}'";

inline constexpr const char* kDemoFooter =
    "Examples:\n"
    "  rondo demo\n"
    "  rondo demo model.gguf --json";

inline constexpr const char* kTestFooter =
    "Examples:\n"
    "  rondo test weather.rondo.yaml                 its `model:` says which template is meant\n"
    "  rondo test MODEL *.rondo.yaml --filter call\n"
    "  rondo test MODEL suite.json --json\n"
    "\n"
    "A suite is YAML or JSON: `cases`, each with messages and what is expected of them; a case that expects nothing\n"
    "is checked for what holds of any conversation.  All of it: docs/tester.md.\n"
    "Exit status: 0 if all cases passed, 1 if one failed, 2 if a suite or its model cannot be read.";

}  // namespace rondo::cli
