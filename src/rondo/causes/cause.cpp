#include "causes/cause.h"

namespace rondo::causes {

std::string_view to_string(CauseKind kind) { return json::name_in(kCauseNames, kind); }

}  // namespace rondo::causes
