# Headers that nearly every file includes and that are not ours to change, parsed once: this saves two fifths of the compile time
# of a file. Files still include everything they use: tools/lint tidy and optimised builds compile them without these.
set(EASYRETRY_COMMON_HEADERS <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <deque>
  <filesystem> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <stdexcept> <stop_token> <string>
  <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector> <tl/expected.hpp>)

# GCC 12 treats code that it inlines from a precompiled header as ours, and its warnings about that code are wrong.
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# hiredis defines it for its users, and all targets that share precompiled headers must agree on it.
add_compile_definitions(_FILE_OFFSET_BITS=64)
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # see cmake/ccache.cmake

# make_headers(NAME OPTION HEADER…): precompiled headers that all targets compiled with OPTION can share.
function(make_headers name option)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  target_compile_options(${name} PRIVATE ${option})
  target_link_libraries(${name} PRIVATE easyretry_warnings)
endfunction()

make_headers(headers_of_libraries -fPIC ${EASYRETRY_COMMON_HEADERS})
make_headers(headers_of_programs -fPIE ${EASYRETRY_COMMON_HEADERS})
