# What `cmake --install` lays out, in two components (the Python module is a third one, which only the wheel installs):
#   library   librondo.a (C++ and C), librondo.so (C), the headers of include/, rondoConfig.cmake for find_package(rondo), and for
#             pkg-config rondo.pc (C++), rondo-c.pc (C, shared), rondo-c-static.pc
#   program   the command line, with man pages and what shells need to complete it
# The tree may be moved: nothing in it names the folder that it was installed to, or the build.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(RONDO_INSTALL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/rondo)
set(RONDO_INSTALL_PKGCONFIG ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# One archive of all parts: users see no target of a part.  What only the C API needs lies in it too; who calls C++ links none of it.
list(TRANSFORM RONDO_ARCHIVE_PARTS REPLACE "(.+)" "$<TARGET_OBJECTS:rondo_\\1>" OUTPUT_VARIABLE objects)
add_library(rondo_library STATIC ${objects})
set_target_properties(rondo_library PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME rondo EXPORT_NAME rondo)
set(public_headers model.h parser.h partial_value.h result.h rollout.h session.h testing.h transcript.h)
list(TRANSFORM public_headers PREPEND ${CMAKE_SOURCE_DIR}/include/rondo/)
list(APPEND public_headers ${CMAKE_SOURCE_DIR}/include/rondo.h)
target_sources(rondo_library PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/include FILES ${public_headers})
target_compile_features(rondo_library INTERFACE cxx_std_20)
target_link_libraries(rondo_library PRIVATE rondo::pcre2 Threads::Threads)

# The C API as a shared library that shows its functions and nothing else.  The number behind its name is that of the ABI.
file(STRINGS ${CMAKE_SOURCE_DIR}/include/rondo.h abi_line REGEX "^#define RONDO_ABI_VERSION")
string(REGEX REPLACE "[^0-9]" "" RONDO_ABI "${abi_line}")
add_library(rondo_c SHARED $<TARGET_OBJECTS:rondo_capi>)
target_link_libraries(rondo_c PRIVATE rondo_protocol)
set_target_properties(rondo_c PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME rondo EXPORT_NAME c SOVERSION ${RONDO_ABI}
  VERSION ${RONDO_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH})
rondo_exports(rondo_c rondo_*)
target_sources(rondo_c PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/include FILES ${CMAKE_SOURCE_DIR}/include/rondo.h)
# The same from the archive: rondo::c_static is made by rondoConfig.cmake, where libyaml is found.

# The engine: the pinned one is installed beside the library, in a folder of its own; the system's is found again.
set(RONDO_PC_REQUIRES libpcre2-8)
set(RONDO_PC_LIBRARIES)
if(RONDO_LLAMA STREQUAL "source")
  get_target_property(llama_archive llama IMPORTED_LOCATION)
  cmake_path(GET llama_archive PARENT_PATH llama_folder)
  foreach(name llama ggml ggml-cpu ggml-base)  # users first
    install(FILES ${llama_folder}/lib${name}.a DESTINATION ${CMAKE_INSTALL_LIBDIR}/rondo COMPONENT library)
    set(installed $<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/rondo/lib${name}.a)
    target_link_libraries(rondo_library INTERFACE $<INSTALL_INTERFACE:${installed}>)
    string(APPEND RONDO_PC_LIBRARIES " \${libdir}/rondo/lib${name}.a")
  endforeach()
  target_link_libraries(rondo_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_DL_LIBS}>)
  list(TRANSFORM CMAKE_DL_LIBS PREPEND " -l" OUTPUT_VARIABLE dl_options)
  string(APPEND RONDO_PC_LIBRARIES ${dl_options})
elseif(RONDO_LLAMA STREQUAL "system")
  target_link_libraries(rondo_library PRIVATE llama)
  string(APPEND RONDO_PC_REQUIRES " llama")
endif()
string(APPEND RONDO_PC_LIBRARIES " -lstdc++ -lm ${CMAKE_THREAD_LIBS_INIT}")
string(STRIP "${RONDO_PC_LIBRARIES}" RONDO_PC_LIBRARIES)

install(TARGETS rondo_library rondo_c EXPORT rondo
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT rondo NAMESPACE rondo:: FILE rondoTargets.cmake DESTINATION ${RONDO_INSTALL_CMAKE} COMPONENT library)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rondoConfig.cmake.in ${CMAKE_BINARY_DIR}/rondoConfig.cmake
  INSTALL_DESTINATION ${RONDO_INSTALL_CMAKE} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rondoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/rondoConfig.cmake ${CMAKE_BINARY_DIR}/rondoConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/rondo_pcre2.cmake ${CMAKE_CURRENT_LIST_DIR}/rondo_libyaml.cmake DESTINATION ${RONDO_INSTALL_CMAKE} COMPONENT library)

# From the folder of the .pc files up to the prefix.
file(RELATIVE_PATH RONDO_PC_PREFIX /${RONDO_INSTALL_PKGCONFIG} /)
foreach(name rondo rondo-c rondo-c-static)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  list(APPEND pc_files ${CMAKE_BINARY_DIR}/${name}.pc)
endforeach()
install(FILES ${pc_files} DESTINATION ${RONDO_INSTALL_PKGCONFIG} COMPONENT library)

if(TARGET rondo)
  install(TARGETS rondo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # Man pages and completion, which the program itself tells.
  if(NOT CMAKE_CROSSCOMPILING)
    install(CODE "
      execute_process(COMMAND \"${CMAKE_COMMAND}\" -E env \"PYTHONPATH=${CMAKE_SOURCE_DIR}\"
                              python3 -m tools.packaging.shell_files --program \"$<TARGET_FILE:rondo>\"
                              --out \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\" RESULT_VARIABLE failed)
      if(failed)
        message(WARNING \"no man pages and no completion: tools/packaging/shell_files.py failed\")
      endif()" COMPONENT program)
  endif()
endif()
