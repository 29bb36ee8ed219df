// The last part of the demonstration: a server and a client of it.  Only if rondo has a network.
#pragma once

#include "demo/demo.h"
#include "rondo/result.h"

namespace rondo::cli {

// Plays four turns with a tool over HTTP, on the model of `options`.
[[nodiscard]] Result<demo::Served> serve_demo(const demo::DemoOptions& options);

}  // namespace rondo::cli
