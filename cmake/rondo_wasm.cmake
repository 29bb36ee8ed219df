# The C API as one module of WebAssembly, rondo.wasm: what include/rondo.h declares, with malloc() and free() for what goes in,
# and capi/wasm.cpp for what comes out.

file(STRINGS ${CMAKE_SOURCE_DIR}/include/rondo.h declarations REGEX "^RONDO_API ")
set(exports malloc free rondo_wasm_units)
foreach(declaration ${declarations})
  string(REGEX REPLACE ".*(rondo_[a-z0-9_]+)\\(.*" "\\1" name "${declaration}")
  list(APPEND exports ${name})
endforeach()
list(TRANSFORM exports PREPEND "LINKER:--export=")
add_executable(rondo_wasm $<TARGET_OBJECTS:rondo_capi> ${CMAKE_SOURCE_DIR}/src/rondo/capi/wasm.cpp)
target_link_libraries(rondo_wasm PRIVATE rondo_protocol)
set_target_properties(rondo_wasm PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME rondo SUFFIX .wasm RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
# Deep templates and deep JSON recurse; what the library allows itself on a native stack of 8 MB it finds here too.
target_link_options(rondo_wasm PRIVATE ${exports} "LINKER:-z,stack-size=8388608" "LINKER:--gc-sections" "LINKER:--strip-all")
# All values pass through these.  Engines do not inline one function of a module into another, so the compiler does what it can.
foreach(part base json text)
  target_compile_options(rondo_${part} PRIVATE $<$<CONFIG:Release>:-O3>)
endforeach()
