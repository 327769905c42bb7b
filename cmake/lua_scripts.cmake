# embed_lua_scripts(TARGET FOLDER ROOM): what ROOM/scripts.h declares in easyretry::ROOM::scripts, made of the .lua files in
# FOLDER. Run by `cmake -P` it makes the file OUT.
function(embed_lua_scripts target folder room)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.lua)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${folder}/embedded.cpp)
  set(maker ${PROJECT_SOURCE_DIR}/cmake/lua_scripts.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/${folder} -DOUT=${out} -DROOM=${room}
      -P ${maker}
    DEPENDS ${scripts} ${maker} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# The first line has the flags, and must stay the first.
function(write_embedded_scripts folder out room)
  string(REPLACE "/" "::" namespace "easyretry/${room}/scripts")
  file(READ ${folder}/common.lua common)
  file(GLOB scripts RELATIVE ${folder} ${folder}/*.lua)
  set(text "#include \"${room}/scripts.h\"\n\nnamespace ${namespace} {\n")
  foreach(script IN LISTS scripts)
    if(script STREQUAL common.lua)
      continue()
    endif()
    file(READ ${folder}/${script} whole)
    string(FIND "${whole}" "\n" end)
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${whole}" 0 ${end} first)
    string(SUBSTRING "${whole}" ${end} -1 rest)
    set(code "${first}${common}${rest}")
    string(SHA1 sha "${code}")
    string(REPLACE ".lua" "" name ${script})
    string(APPEND text "const Script ${name}{\"${name}\", \"${sha}\", R\"lua(${code})lua\"};\n")
  endforeach()
  string(APPEND text "}  // namespace ${namespace}\n")
  file(WRITE ${out} "${text}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  write_embedded_scripts(${FOLDER} ${OUT} ${ROOM})
endif()
