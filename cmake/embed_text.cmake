# embed_text(TARGET FILE HEADER NAME): defines `extern const std::string_view NAME`, which HEADER declares in easyretry::ROOM, as
# the text of FILE. With `cmake -P`, this file writes OUT.
function(embed_text target file header name)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${file}.cpp)
  set(maker ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DFILE=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUT=${out} -DHEADER=${header} -DNAME=${name} -P ${maker}
    DEPENDS ${file} ${maker} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${FILE} text)
  string(REGEX REPLACE "/.*" "" room ${HEADER})
  file(WRITE ${OUT} "#include \"${HEADER}\"\n\nnamespace easyretry::${room} {\nconst std::string_view ${NAME} = R\"text(${text})text\";\n}\n")
endif()
