# The language, the warnings and the sanitizers, for all targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

# The warnings go to our own code only: every part and test links this target privately.
add_library(rondo_warnings INTERFACE)
target_compile_options(rondo_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  # Counts and places that are kept in 64 or in unsigned 32 bits fit an address space of 32.  Constants that do not are still warned of.
  target_compile_options(rondo_warnings INTERFACE -Wno-shorten-64-to-32 -Wno-sign-conversion)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(rondo_warnings INTERFACE -Wshadow -Wno-missing-designated-field-initializers)
else()
  # GCC warns of designated initialisers that leave members out, which is what they are for; and where it inlines much, of
  # memory that no path leaves uninitialised or exceeds, most of it inside of std::string.
  target_compile_options(rondo_warnings INTERFACE -Wno-missing-field-initializers -Wno-maybe-uninitialized -Wno-array-bounds
    -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# Several sources of a folder are compiled as one: headers and templates, most of the work, are read once for all of them.
# Off for daily work, where one file changes at a time.
option(RONDO_UNITY "Compile the sources of a folder together." ON)
set(RONDO_UNITY_SIZE 40 CACHE STRING "How many sources of a folder are compiled together at most.")
option(RONDO_PCH "Compile the standard library's headers once for all sources." ON)
# A class with members of types from an anonymous namespace is seen in the same file only, which such a file includes.
if(RONDO_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(rondo_warnings INTERFACE -Wno-subobject-linkage)
  # A large unit may grow by 40 % only, and then small functions are called that were inlined in files of their own; so
  # what counts as large begins beyond the sources that are compiled together.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=large-unit-insns=100000>)
endif()

# Clang sees the standard library's own use of what it calls deprecated once its headers are precompiled.
if(RONDO_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(rondo_warnings INTERFACE -Wno-deprecated-declarations)
endif()

if(RONDO_SANITIZE)
  # Any finding ends the program: a test that only prints one would pass.
  add_compile_options(-fsanitize=${RONDO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RONDO_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/cmake/sanitize_ignore.txt)
  endif()
  # An index one behind the end of a string or vector often still lies in its memory, where no sanitizer sees it; the
  # library's own checks do.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
