// Models and Edge templates (edge/): export of a model's template, and templates made in advance.
#pragma once

#include <string>

#include "core/model.h"
#include "edge/export.h"
#include "edge/prebuilt.h"
#include "rondo/result.h"

namespace rondo::core {

// The template of `call`'s model as an Edge template; `model_path` is what the file says of it.  Of the conversation, special
// tokens and variables count.  Fails as Model::prepare() and edge::export_template() do.
[[nodiscard]] Result<edge::Exported> export_edge(const Model& model, Call& call, const std::string& model_path);
// What of an Edge template holds for the template of `call`'s model.
[[nodiscard]] Result<edge::Exported> compare_edge(const Model& model, Call& call, edge::EdgeTemplate edge_template);

// The template made in advance for the model in a folder, by what its config.json says; nullptr if there is none.
[[nodiscard]] const edge::Prebuilt* prebuilt_edge(const std::string& folder);

}  // namespace rondo::core
