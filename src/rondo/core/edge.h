// TensorRT Edge-LLM templates (edge/) of models: exporting, comparing, and templates made in advance.
#pragma once

#include <string>

#include "core/model.h"
#include "edge/export.h"
#include "edge/prebuilt.h"
#include "rondo/result.h"

namespace rondo::core {

// Exports the template of `call`'s model as an Edge template.  The file names the model `model_path`.  Uses only the
// special tokens and variables of the conversation.  Fails as Model::prepare() and edge::export_template() do.
[[nodiscard]] Result<edge::Exported> export_edge(const Model& model, Call& call, const std::string& model_path);
// Finds in which conversations `edge_template` writes the same as the template of `call`'s model.
[[nodiscard]] Result<edge::Exported> compare_edge(const Model& model, Call& call, edge::EdgeTemplate edge_template);

// Returns the template made in advance that fits the config.json in `folder`; nullptr if there is none.
[[nodiscard]] const edge::Prebuilt* prebuilt_edge(const std::string& folder);

}  // namespace rondo::core
