# PCRE2 with 8-bit characters, as the target `rondo::pcre2`.  The build includes this file, and so does the installed package.
#
# The static library is taken where there is one, so that programs need nothing but the system's libraries.
# Where there is none at all the target does not exist.

find_path(RONDO_PCRE2_INCLUDE pcre2.h)
find_library(RONDO_PCRE2_LIBRARY NAMES libpcre2-8.a pcre2-8)
mark_as_advanced(RONDO_PCRE2_INCLUDE RONDO_PCRE2_LIBRARY)
if(RONDO_PCRE2_INCLUDE AND RONDO_PCRE2_LIBRARY AND NOT TARGET rondo::pcre2)
  add_library(rondo::pcre2 UNKNOWN IMPORTED)
  set_target_properties(rondo::pcre2 PROPERTIES IMPORTED_LOCATION ${RONDO_PCRE2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${RONDO_PCRE2_INCLUDE} INTERFACE_COMPILE_DEFINITIONS PCRE2_STATIC)
endif()
