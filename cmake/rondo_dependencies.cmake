# Third-party libraries of the parts, all from the system (./dev setup installs them on Debian):
#   rondo::pcre2      regular expressions (tokenizer)     rondo::cli11     command lines (cli)
#   rondo::libyaml    files of tests (yaml)               rondo::doctest   tests
#   rondo::boost      event loop, HTTP and TLS (net)      rondo::sqlite    turns on disk (spans)
#   rondo::sodium     API keys (keys)                     rondo::toml      files of settings (toml)
# Each is an imported target that a part names under LIBRARIES.

find_package(Threads REQUIRED)
include(rondo_pcre2)
if(NOT TARGET rondo::pcre2)
  message(FATAL_ERROR "PCRE2 (8 bit) is missing: run ./dev setup, or install libpcre2-dev")
endif()

# Static where there is one, as PCRE2.  The installed library does not use it.
find_path(RONDO_LIBYAML_INCLUDE yaml.h)
find_library(RONDO_LIBYAML_LIBRARY NAMES libyaml.a yaml)
if(NOT RONDO_LIBYAML_INCLUDE OR NOT RONDO_LIBYAML_LIBRARY)
  message(FATAL_ERROR "libyaml is missing: run ./dev setup, or install libyaml-dev")
endif()
add_library(rondo::libyaml UNKNOWN IMPORTED)
set_target_properties(rondo::libyaml PROPERTIES IMPORTED_LOCATION ${RONDO_LIBYAML_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${RONDO_LIBYAML_INCLUDE})

if(RONDO_CLI)
  find_path(RONDO_CLI11_INCLUDE CLI/CLI.hpp)
  if(NOT RONDO_CLI11_INCLUDE)
    message(FATAL_ERROR "CLI11 is missing: run ./dev setup, install libcli11-dev, or configure with RONDO_CLI=OFF")
  endif()
  add_library(rondo::cli11 INTERFACE IMPORTED)
  set_target_properties(rondo::cli11 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${RONDO_CLI11_INCLUDE})
endif()

# Boost's headers alone: Asio and Beast; TLS is OpenSSL's.
if(RONDO_NET)
  find_package(OpenSSL 3.0 REQUIRED)
  find_path(RONDO_BOOST_INCLUDE boost/beast.hpp)
  if(NOT RONDO_BOOST_INCLUDE)
    message(FATAL_ERROR "Boost is missing: run ./dev setup, install libboost1.81-dev, or configure with RONDO_NET=OFF")
  endif()
  add_library(rondo::boost INTERFACE IMPORTED)
  target_include_directories(rondo::boost SYSTEM INTERFACE ${RONDO_BOOST_INCLUDE})
  target_compile_definitions(rondo::boost INTERFACE BOOST_ALL_NO_LIB BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE)
  target_link_libraries(rondo::boost INTERFACE OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

  find_path(RONDO_SQLITE_INCLUDE sqlite3.h)
  find_library(RONDO_SQLITE_LIBRARY NAMES sqlite3)
  if(NOT RONDO_SQLITE_INCLUDE OR NOT RONDO_SQLITE_LIBRARY)
    message(FATAL_ERROR "SQLite is missing: run ./dev setup, install libsqlite3-dev, or configure with RONDO_NET=OFF")
  endif()
  add_library(rondo::sqlite UNKNOWN IMPORTED)
  set_target_properties(rondo::sqlite PROPERTIES IMPORTED_LOCATION ${RONDO_SQLITE_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${RONDO_SQLITE_INCLUDE} INTERFACE_LINK_LIBRARIES Threads::Threads)

  find_path(RONDO_SODIUM_INCLUDE sodium.h)
  find_library(RONDO_SODIUM_LIBRARY NAMES libsodium.a sodium)
  if(NOT RONDO_SODIUM_INCLUDE OR NOT RONDO_SODIUM_LIBRARY)
    message(FATAL_ERROR "libsodium is missing: run ./dev setup, install libsodium-dev, or configure with RONDO_NET=OFF")
  endif()
  add_library(rondo::sodium UNKNOWN IMPORTED)
  set_target_properties(rondo::sodium PROPERTIES IMPORTED_LOCATION ${RONDO_SODIUM_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${RONDO_SODIUM_INCLUDE} INTERFACE_LINK_LIBRARIES Threads::Threads)

  find_path(RONDO_TOML_INCLUDE toml++/toml.h)
  if(NOT RONDO_TOML_INCLUDE)
    message(FATAL_ERROR "toml++ is missing: run ./dev setup, install libtomlplusplus-dev, or configure with RONDO_NET=OFF")
  endif()
  add_library(rondo::toml INTERFACE IMPORTED)
  target_include_directories(rondo::toml SYSTEM INTERFACE ${RONDO_TOML_INCLUDE})
endif()

if(RONDO_TESTS)
  find_path(RONDO_DOCTEST_INCLUDE doctest/doctest.h)
  if(NOT RONDO_DOCTEST_INCLUDE)
    message(FATAL_ERROR "doctest is missing: run ./dev setup, install doctest-dev, or configure with RONDO_TESTS=OFF")
  endif()
  add_library(rondo::doctest INTERFACE IMPORTED)
  set_target_properties(rondo::doctest PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${RONDO_DOCTEST_INCLUDE})
endif()
