// What the module for JavaScript has beside the C API.
#include <cstddef>
#include <cstdlib>

#include "base/units.h"

namespace rondo::capi {
extern "C" {

struct rondo_wasm_place {
  const char* data;
  std::size_t count;
};

// The text as JavaScript's engine takes it without decoding: returns the bytes of each unit, 1 for Latin-1 and 2 for UTF-16, and in
// `place` the units.  The caller frees those that are not the text itself.  0 where the text is no UTF-8, or there is no memory.
int rondo_wasm_units(const char* data, std::size_t size, rondo_wasm_place* place) {
  const units::Fit fit = units::fit({data, size});
  if (!fit.is_valid) return 0;
  *place = {data, fit.count};
  const auto width = static_cast<int>(fit.width);
  if (fit.is_same) return width;
  auto* made = static_cast<char*>(std::malloc(fit.count * static_cast<std::size_t>(width)));
  if (made == nullptr) return 0;
  units::write({data, size}, fit, made);
  place->data = made;
  return width;
}

}  // extern "C"
}  // namespace rondo::capi
