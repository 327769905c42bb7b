# add_room(NAME USES OTHER…): a static library of every .cpp below src/NAME.
function(add_room name)
  cmake_parse_arguments(ROOM "" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(easyretry_${name} STATIC ${sources})
  target_include_directories(easyretry_${name}
    PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(easyretry_${name} PRIVATE easyretry_warnings)
  target_precompile_headers(easyretry_${name} REUSE_FROM headers_of_libraries)
  foreach(used ${ROOM_USES})
    target_link_libraries(easyretry_${name} PUBLIC easyretry_${used})
  endforeach()
endfunction()

# room_links(NAME LIBRARY…): third-party libraries behind a room's .cpp files.
function(room_links name)
  target_link_libraries(easyretry_${name} PRIVATE ${ARGN})
endfunction()

# inner_room(ROOM/FOLDER USES folder…): a folder of a room that only includes itself, what lies in the room's own folder, and
# the folders it uses. Checked by tests/rooms_test.py.
function(inner_room folder)
  if(NOT IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    message(FATAL_ERROR "src/${folder} is no folder")
  endif()
endfunction()
