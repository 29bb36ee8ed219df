# Read by llama.cpp's own project (CMAKE_PROJECT_INCLUDE): a source for each of more than a hundred architectures includes the same
# headers, so they are compiled a dozen at a time.
function(rondo_join_architectures)
  get_target_property(sources llama SOURCES)
  list(FILTER sources INCLUDE REGEX "(^|/)models/.*[.]cpp$")
  set(count 0)
  foreach(source IN LISTS sources)
    math(EXPR group "${count} / 12")
    math(EXPR count "${count} + 1")
    set_property(SOURCE ${source} TARGET_DIRECTORY llama PROPERTY UNITY_GROUP models_${group})
  endforeach()
  set_target_properties(llama PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

if(PROJECT_IS_TOP_LEVEL)
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL rondo_join_architectures)
endif()
