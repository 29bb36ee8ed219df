# libyaml as the target `rondo::libyaml`, for files of tests that people write.  The build includes this file, and so does the installed
# package, for who links the C API statically.
#
# Static where there is one, as PCRE2.  Where there is none at all the target does not exist.

find_path(RONDO_LIBYAML_INCLUDE yaml.h)
find_library(RONDO_LIBYAML_LIBRARY NAMES libyaml.a yaml)
mark_as_advanced(RONDO_LIBYAML_INCLUDE RONDO_LIBYAML_LIBRARY)
if(RONDO_LIBYAML_INCLUDE AND RONDO_LIBYAML_LIBRARY AND NOT TARGET rondo::libyaml)
  add_library(rondo::libyaml UNKNOWN IMPORTED)
  set_target_properties(rondo::libyaml PROPERTIES IMPORTED_LOCATION ${RONDO_LIBYAML_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${RONDO_LIBYAML_INCLUDE})
endif()
