# The embedded engine: finds libllama as RONDO_LLAMA says and defines the target `rondo_llama`.
#
# Without an engine (RONDO_LLAMA=off) the target does not exist, and everything else still builds and is tested.  A part
# asks with if(TARGET rondo_llama); code that is compiled either way asks with `#ifdef RONDO_HAVE_LLAMA`, which
# the target defines for whoever links it.

# One feature that rondo needs and that older libraries lack; structs differ between versions, so only a compile tells.
function(rondo_require_llama feature body)
  include(CheckCXXSourceCompiles)
  get_target_property(CMAKE_REQUIRED_INCLUDES llama INTERFACE_INCLUDE_DIRECTORIES)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a question to the header: nothing needs to link
  string(MAKE_C_IDENTIFIER "RONDO_LLAMA_HAS_${feature}" variable)
  check_cxx_source_compiles("#include <llama.h>\nint main() { ${body} }\n" ${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "the llama.cpp found at ${llama_DIR} lacks `${feature}`: use a newer one, RONDO_LLAMA=source or off")
  endif()
endfunction()

function(rondo_llama_source_prefix variable)
  if(RONDO_LLAMA_PREFIX)
    set(${variable} ${RONDO_LLAMA_PREFIX} PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND python3 -m tools.dependencies.llama --prefix WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "libllama has not been built yet: run ./dev setup, or configure with -DRONDO_LLAMA=off")
  endif()
  set(${variable} ${prefix} PARENT_SCOPE)
endfunction()

if(NOT RONDO_LLAMA MATCHES "^(source|system|off)$")
  message(FATAL_ERROR "RONDO_LLAMA is `${RONDO_LLAMA}`; it must be source, system or off")
endif()
if(NOT RONDO_LLAMA STREQUAL "off")
  unset(llama_LIBRARY CACHE)  # the package's own cache entries would outlive a change of prefix
  unset(llama_DIR CACHE)
  unset(ggml_DIR CACHE)
  set(hints)
  if(RONDO_LLAMA STREQUAL "source")
    rondo_llama_source_prefix(prefix)
    set(hints PATHS ${prefix} NO_DEFAULT_PATH)
    list(PREPEND CMAKE_PREFIX_PATH ${prefix})
  endif()
  # The pinned source calls itself 0.5.0-dev, which CMake orders before 0.5.0 but not before 0.5.
  find_package(llama 0.5 CONFIG REQUIRED ${hints})
  if(RONDO_LLAMA STREQUAL "system")
    rondo_require_llama(llama_context_params::n_rs_seq
      "auto p = llama_context_default_params(); p.n_rs_seq = 1; return static_cast<int>(p.n_rs_seq);")
    rondo_require_llama(llama_state_seq_get_data_ext
      "return llama_state_seq_get_data_ext(nullptr, nullptr, 0, 0, 0) != 0;")
    rondo_require_llama(llama_model_init_from_user
      "return llama_model_init_from_user(nullptr, nullptr, nullptr, llama_model_default_params()) != nullptr;")
  endif()
  add_library(rondo_llama INTERFACE)
  target_link_libraries(rondo_llama INTERFACE llama Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_definitions(rondo_llama INTERFACE RONDO_HAVE_LLAMA=1)
  # What the library uses without asking the processor (engine/processor.h).  A library for this very machine needs no check, and
  # one with loadable backends asks for itself.
  if(NOT GGML_NATIVE AND NOT GGML_BACKEND_DL)
    if(GGML_AVX2)
      target_compile_definitions(rondo_llama INTERFACE RONDO_LLAMA_NEEDS_AVX2)
    endif()
    if(GGML_CPU_ARM_ARCH MATCHES "dotprod")
      target_compile_definitions(rondo_llama INTERFACE RONDO_LLAMA_NEEDS_DOTPROD)
    endif()
  endif()
  message(STATUS "Embedded engine: llama.cpp ${llama_VERSION} (${RONDO_LLAMA}) at ${llama_DIR}")
else()
  message(STATUS "Embedded engine: off")
endif()
