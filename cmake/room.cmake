# add_room(NAME [PART part] [ENTRY symbol] USES other…): a static library of every .cpp below src/NAME, without the folders that are
# separate libraries (inner_room with a PART). A room with a PART is built only if that part is. ENTRY: the function by which the core
# reaches the part (base/part.h); a program that links the room gets it.
function(add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "PART;ENTRY" "USES")
  make_room(${name} "${room_PART}" "${room_ENTRY}" ${room_USES})
endfunction()

# inner_room(ROOM/FOLDER [PART part] [ENTRY symbol] [USES folder…] [ROOMS other…]): a folder of a room. It may include its own files,
# those directly in the room's folder, the folders it uses and, with ROOMS, rooms that its room may not use. tests/rooms_test.py
# checks this. With a PART, it is a library of its own, easyretry_ROOM_FOLDER.
function(inner_room folder)
  cmake_parse_arguments(PARSE_ARGV 1 inner "" "PART;ENTRY" "USES;ROOMS")
  if(NOT IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    message(FATAL_ERROR "src/${folder} is no folder")
  endif()
  if(inner_PART)
    set_property(GLOBAL APPEND PROPERTY easyretry_separate_folders ${folder})
    get_filename_component(room ${folder} DIRECTORY)
    list(TRANSFORM inner_USES PREPEND ${room}_)
    make_room(${folder} ${inner_PART} "${inner_ENTRY}" ${room} ${inner_USES} ${inner_ROOMS})
  endif()
endfunction()

function(make_room folder part entry)
  if(part AND NOT EASYRETRY_HAS_${part})
    return()
  endif()
  string(REPLACE / _ name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  get_property(separate GLOBAL PROPERTY easyretry_separate_folders)
  foreach(other IN LISTS separate)
    if(NOT other STREQUAL folder)
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${other}/")
    endif()
  endforeach()
  add_library(easyretry_${name} STATIC ${sources})
  target_include_directories(easyretry_${name}
    PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(easyretry_${name} PUBLIC cxx_std_20)  # for projects that set no standard
  target_link_libraries(easyretry_${name} PRIVATE easyretry_warnings)
  target_precompile_headers(easyretry_${name} REUSE_FROM headers_of_libraries)
  compile_together(easyretry_${name})
  foreach(used ${ARGN})
    target_link_libraries(easyretry_${name} PUBLIC easyretry_${used})
  endforeach()
  if(entry)
    target_link_options(easyretry_${name} INTERFACE LINKER:-u,${entry})
  endif()
  if(NOT part)
    set(part core)
  endif()
  set_property(TARGET easyretry_${name} PROPERTY easyretry_part ${part})
  set_property(GLOBAL APPEND PROPERTY easyretry_rooms_of_${part} easyretry_${name})
  set_property(GLOBAL APPEND PROPERTY easyretry_entries_of_${part} ${entry})
endfunction()

# room_links(NAME LIBRARY…): third-party libraries that only the room's .cpp files use. Nothing, if the room is not built.
function(room_links name)
  if(TARGET easyretry_${name})
    target_link_libraries(easyretry_${name} PRIVATE ${ARGN})
    get_target_property(part easyretry_${name} easyretry_part)
    # Not our own ones, and not those that consist of headers alone: an installed archive is linked with the others (install.cmake).
    list(FILTER ARGN EXCLUDE REGEX "^easyretry_|^Boost::headers$|^nlohmann_json")
    set_property(GLOBAL APPEND PROPERTY easyretry_libraries_of_${part} ${ARGN})
  endif()
endfunction()
