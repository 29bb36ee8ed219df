# Build helpers: one static library per folder of src/rondo, files that travel inside it, test programs, fuzz targets.

add_library(rondo_public INTERFACE)
target_include_directories(rondo_public INTERFACE ${CMAKE_SOURCE_DIR}/include)

# What most sources include.  A header still names those of them that it uses: the lint looks that up.
set(RONDO_PCH_HEADERS <algorithm> <array> <cstddef> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string>
    <string_view> <unordered_map> <utility> <variant> <vector>)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cpp CONTENT "")

# rondo_precompile(NAME HEADER...): an object library whose precompiled headers others use again: those of most sources, and these.
function(rondo_precompile name)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
  target_link_libraries(${name} PRIVATE rondo_warnings)
  target_precompile_headers(${name} PRIVATE ${RONDO_PCH_HEADERS} ${ARGN})
endfunction()

# rondo_cold(TARGET): tests spend little of their time in it, so where the sanitizers are on it is not optimised, which takes a third of
# the time to compile.
function(rondo_cold target)
  if(RONDO_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

set(RONDO_COLD_PCH rondo_pch)
if(RONDO_PCH)
  rondo_precompile(rondo_pch)
  if(RONDO_SANITIZE)
    set(RONDO_COLD_PCH rondo_cold_pch)
    rondo_precompile(${RONDO_COLD_PCH})
    rondo_cold(${RONDO_COLD_PCH})
  endif()
endif()

# rondo_part(NAME SOURCES a.cpp HEADERS a.h DEPENDS other ... TESTS a_test.cpp [LIBRARIES third-party targets] [HOT]
#            [SELDOM] [ONCE])
#
# Called from src/rondo/NAME/CMakeLists.txt.  Makes the library rondo_NAME and, when there are TESTS, the program
# rondo_NAME_test, registered with CTest.  Third-party libraries are linked privately: their headers stay in this folder.
# HOT: tests spend much of their time in this folder, so it is optimised under the sanitizers too.
# SELDOM: a program spends little of its time in this folder, so a release optimises it less, which takes a third less time to compile;
# with RONDO_SMALL it optimises for size: a quarter less code than with -O1.
# ONCE: it runs once for a template or a schema, so it is optimised for size with RONDO_SMALL, and fully otherwise.
function(rondo_part name)
  cmake_parse_arguments(PART "HOT;SELDOM;ONCE" "" "SOURCES;HEADERS;DEPENDS;LIBRARIES;TESTS" ${ARGN})
  list(TRANSFORM PART_DEPENDS PREPEND rondo_)
  add_library(rondo_${name} STATIC ${PART_SOURCES})
  target_sources(rondo_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src/rondo FILES ${PART_HEADERS})
  target_link_libraries(rondo_${name} PUBLIC rondo_public ${PART_DEPENDS} PRIVATE rondo_warnings ${PART_LIBRARIES})
  set(pch rondo_pch)
  if(PART_HOT)
    set_property(GLOBAL APPEND PROPERTY RONDO_HOT rondo_${name})
  else()
    rondo_cold(rondo_${name})
    set(pch ${RONDO_COLD_PCH})
  endif()
  if(PART_SELDOM)
    target_compile_options(rondo_${name} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${RONDO_SMALL}>,-Os,-O1>>)
  endif()
  if(PART_ONCE AND RONDO_SMALL)
    target_compile_options(rondo_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  if(RONDO_PCH)
    target_precompile_headers(rondo_${name} REUSE_FROM ${pch})
  endif()
  set_target_properties(rondo_${name} PROPERTIES UNITY_BUILD ${RONDO_UNITY} UNITY_BUILD_BATCH_SIZE ${RONDO_UNITY_SIZE})
  if(RONDO_TESTS AND PART_TESTS)
    rondo_test(rondo_${name}_test SOURCES ${PART_TESTS} LIBRARIES rondo_${name})
  endif()
endfunction()

# rondo_embed(OUT HEADER folder/x.h NAMESPACE rondo::x [LOOKUP name] FILES a.json b.jinja ...)
#
# Makes a source that holds the files' texts and names it in the variable OUT.  HEADER declares what it defines: for each file a function
# `std::string_view a_json()`, or with LOOKUP one function `std::string_view name(std::string_view file)`, which answers "" for other names.
function(rondo_embed out)
  cmake_parse_arguments(EMBED "" "HEADER;NAMESPACE;LOOKUP" "FILES" ${ARGN})
  set(functions "")
  set(cases "")
  foreach(file ${EMBED_FILES})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME)
    string(REPLACE "." "_" function ${name})
    string(APPEND cases "  if (file == \"${name}\") return R\"EMBEDDED(${text})EMBEDDED\";\n")
    string(APPEND functions "std::string_view ${function}() {\n  return R\"EMBEDDED(${text})EMBEDDED\";\n}\n\n")
  endforeach()
  if(EMBED_LOOKUP)
    set(functions "std::string_view ${EMBED_LOOKUP}(std::string_view file) {\n${cases}  return \"\";\n}\n\n")
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_text.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
#include "@EMBED_HEADER@"

namespace @EMBED_NAMESPACE@ {

@functions@}  // namespace @EMBED_NAMESPACE@
]=])
  set(${out} ${source} PARENT_SCOPE)
endfunction()

# rondo_test_base(): what all test programs share: doctest's main(), their options, and the headers that are compiled once.
function(rondo_test_base)
  if(TARGET rondo_test_main)
    return()
  endif()
  add_library(rondo_test_options INTERFACE)
  if(RONDO_SANITIZE)
    target_compile_options(rondo_test_options INTERFACE -O0)
    if(RONDO_FUZZ)
      # What guides a fuzzer is of no use in tests, and a fifth of the time that compiling them takes.
      target_compile_options(rondo_test_options INTERFACE -fno-sanitize-coverage=edge,inline-8bit-counters,pc-table)
    endif()
  endif()
  add_library(rondo_test_main STATIC ${CMAKE_SOURCE_DIR}/tests/support/test_main.cpp)
  target_compile_definitions(rondo_test_main PUBLIC RONDO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_include_directories(rondo_test_main PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(rondo_test_main PUBLIC rondo::doctest PRIVATE rondo_warnings)
  if(RONDO_PCH)
    rondo_precompile(rondo_test_pch <doctest/doctest.h>)
    target_link_libraries(rondo_test_pch PRIVATE rondo_test_main rondo_test_options)
  endif()
endfunction()

# rondo_test_compile(TARGET): compiles it as test programs are.
function(rondo_test_compile target)
  target_link_libraries(${target} PRIVATE rondo_test_main rondo_test_options rondo_warnings)
  if(RONDO_PCH)
    # The headers are those of an object library, which is compiled for any place; a program would be for an executable's.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM rondo_test_pch)
  endif()
endfunction()

# rondo_test_support(OUT SOURCE...): the sources; instead of each that lies in tests/support, what it was compiled to, once for all programs.
function(rondo_test_support out)
  set(parts "")
  foreach(source ${ARGN})
    if(source MATCHES "support/([^/]+)[.]cpp$")
      set(target rondo_support_${CMAKE_MATCH_1})
      if(NOT TARGET ${target})
        add_library(${target} OBJECT ${CMAKE_SOURCE_DIR}/tests/support/${CMAKE_MATCH_1}.cpp)
        target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/rondo ${CMAKE_SOURCE_DIR}/include)
        rondo_test_compile(${target})
      endif()
      set(source $<TARGET_OBJECTS:${target}>)
    endif()
    list(APPEND parts ${source})
  endforeach()
  set(${out} "${parts}" PARENT_SCOPE)
endfunction()

# rondo_test(NAME SOURCES a_test.cpp ... LIBRARIES rondo_x ... [COVERS rondo_y]): one doctest program; its main() is compiled once.
#
# CTest labels it with the libraries that it tests: COVERS where it says so, else LIBRARIES.  `./dev mutate` picks tests by that.
function(rondo_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES;COVERS" ${ARGN})
  if(NOT TEST_COVERS)
    set(TEST_COVERS ${TEST_LIBRARIES})
  endif()
  rondo_test_base()
  rondo_test_support(parts ${TEST_SOURCES})
  add_executable(${name} ${parts})
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES})
  rondo_test_compile(${name})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${RONDO_UNITY} UNITY_BUILD_BATCH_SIZE ${RONDO_UNITY_SIZE})
  add_test(NAME ${name} COMMAND ${name})
  # tools/testing/run_tests.py counts the cases of doctest programs and takes every other test as one case.
  set_tests_properties(${name} PROPERTIES LABELS "doctest;${TEST_COVERS}")
endfunction()

# rondo_fuzz(NAME SOURCES x.cpp LIBRARIES rondo_x ...): one libFuzzer target; seeds in fuzz/seeds/NAME if that exists.
function(rondo_fuzz name)
  cmake_parse_arguments(FUZZ "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(fuzz_${name} ${FUZZ_SOURCES})
  target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(fuzz_${name} PRIVATE ${FUZZ_LIBRARIES} rondo_warnings)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  if(NOT TARGET fuzz_targets)
    add_custom_target(fuzz_targets)
  endif()
  add_dependencies(fuzz_targets fuzz_${name})
endfunction()

# rondo_exports(TARGET PATTERN): the shared library shows the names that fit, and the linker leaves out what they do not reach.
function(rondo_exports target pattern)
  if(APPLE AND CMAKE_CROSSCOMPILING)
    return()  # the cross compiler's linker cannot choose; tools/packaging/wheel.py compiles with hidden names instead
  endif()
  if(APPLE)
    target_link_options(${target} PRIVATE "LINKER:-exported_symbol,_${pattern}" "LINKER:-dead_strip")
    return()
  endif()
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "{\n  global: ${pattern};\n  local: *;\n};\n")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}" "LINKER:--gc-sections")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# rondo_linked(OUT TARGET): the parts of rondo that a program is linked with, directly or through others.
function(rondo_linked out target)
  set(found "")
  set(next ${target})
  while(next)
    list(POP_FRONT next name)
    get_target_property(libraries ${name} LINK_LIBRARIES)
    foreach(library ${libraries})
      if(NOT TARGET ${library} OR NOT library MATCHES "^rondo" OR library IN_LIST found)
        continue()
      endif()
      get_target_property(type ${library} TYPE)
      if(NOT type STREQUAL "SHARED_LIBRARY")  # it has its parts in itself
        list(APPEND found ${library})
        list(APPEND next ${library})
      endif()
    endforeach()
  endwhile()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# rondo_hot_first(FOLDER): of an inline function the linker keeps the copy that it sees first.  Under the sanitizers that would be the one
# of the tests or of another part that is not optimised, a quarter of the time that tests take; so hot parts come first.
function(rondo_hot_first folder)
  get_property(hot GLOBAL PROPERTY RONDO_HOT)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE" OR type STREQUAL "MODULE_LIBRARY")
      rondo_linked(linked ${target})
      set(first "")
      foreach(part ${hot})
        if(part IN_LIST linked)
          list(APPEND first $<TARGET_FILE:${part}>)
        endif()
      endforeach()
      if(first)
        target_link_options(${target} PRIVATE LINKER:--whole-archive ${first} LINKER:--no-whole-archive)
      endif()
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(inner ${folders})
    rondo_hot_first(${inner})
  endforeach()
endfunction()
