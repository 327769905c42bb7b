# embed_folder(TARGET FOLDER HEADER NAME [OR_ELSE]): defines `extern const std::span<const PageFile> NAME`, which HEADER declares in
# easyretry::ROOM, as the files below FOLDER: path, tag, bytes, and the bytes compressed with gzip if that makes them fewer.
# Any bytes are allowed. "" as FOLDER embeds nothing. A folder without files is an error that says what to do OR_ELSE: only a part
# of the sources was copied. With `cmake -P`, this file writes OUT.
function(embed_folder target folder header name)
  set(files "")
  if(folder)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*)
    if(NOT files)
      message(FATAL_ERROR "There are no files to embed in ${folder}. Copy that folder, too, or ${ARGN}.")
    endif()
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(maker ${PROJECT_SOURCE_DIR}/cmake/embed_folder.cmake)
  set(needed ${files})
  list(TRANSFORM needed PREPEND ${folder}/)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DFOLDER=${folder}" "-DFILES=${files}" -DOUT=${out} -DHEADER=${header} -DNAME=${name} -P ${maker}
    DEPENDS ${needed} ${maker} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# The hexadecimal digits of a file, as a string literal of C++.
function(literal_of hex result)
  string(REGEX REPLACE "(..)" "\\\\x\\1" escapes "${hex}")
  set(${result} "\"${escapes}\"sv" PARENT_SCOPE)
endfunction()

# Bytes 4 to 7 of a gzip file are the time when it was made; without them, the same file always gives the same program.
function(gzipped file result)
  set(packed ${OUT}.gz)
  file(ARCHIVE_CREATE OUTPUT ${packed} PATHS ${file} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  file(READ ${packed} hex HEX)
  file(REMOVE ${packed})
  string(SUBSTRING "${hex}" 0 8 before)
  string(SUBSTRING "${hex}" 16 -1 after)
  set(${result} "${before}00000000${after}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  set(count 0)
  foreach(name_of_file IN LISTS FILES)
    set(file ${FOLDER}/${name_of_file})
    file(READ ${file} plain HEX)
    file(SHA256 ${file} hash)
    string(SUBSTRING ${hash} 0 32 tag)
    gzipped(${file} packed)
    string(LENGTH "${plain}" plain_length)
    string(LENGTH "${packed}" packed_length)
    if(NOT packed_length LESS plain_length)
      set(packed "")
    endif()
    literal_of("${plain}" plain)
    literal_of("${packed}" packed)
    string(APPEND entries "    PageFile{\"/${name_of_file}\"sv, \"${tag}\"sv,\n${plain},\n${packed}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  string(REGEX REPLACE "/.*" "" room ${HEADER})
  file(WRITE ${OUT} "#include \"${HEADER}\"\n\n#include <array>\n\n"
    "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\nnamespace easyretry::${room} {\n"
    "using namespace std::string_view_literals;\n"
    "namespace {\nconstexpr std::array<PageFile, ${count}> kAll{\n${entries}};\n}  // namespace\n"
    "const std::span<const PageFile> ${NAME}{kAll};\n}  // namespace easyretry::${room}\n")
endif()
