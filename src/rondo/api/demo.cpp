#include "api/demo.h"

namespace rondo::api {
namespace {

Error no_engine(const char* what) {
  Error error;
  error.code = ErrorCode::kUnsupported;
  error.message = std::string("`") + what + "` needs an engine, and this build has none";
  return error;
}

}  // namespace

Status run_demo(const DemoOptions&, const Print&, const Print&) { return no_engine("demo"); }

}  // namespace rondo::api
