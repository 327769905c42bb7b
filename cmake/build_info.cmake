# build_info(TARGET): defines `extern const std::string_view kBuildInfo` of easyretry::app, the JSON that `easyretry version --json`
# prints. Each build looks up the commit, and compiles the file again if it is another one. EASYRETRY_COMMIT names the commit of
# sources without Git. With `cmake -P`, this file writes OUT.
set(EASYRETRY_COMMIT "" CACHE STRING "The commit of these sources, if they are not a Git checkout")

function(build_info target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/build_info.cpp)
  set(maker ${PROJECT_SOURCE_DIR}/cmake/build_info.cmake)
  list(JOIN EASYRETRY_BUILT_PARTS "," built)
  list(JOIN EASYRETRY_MISSING_PARTS "," missing)
  list(JOIN EASYRETRY_LIBRARIES "," libraries)
  add_custom_target(easyretry_build_info BYPRODUCTS ${out} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSOURCE=${PROJECT_SOURCE_DIR} -DCOMMIT=${EASYRETRY_COMMIT} -DVERSION=${PROJECT_VERSION}
      -DBUILT=memory,sqlite,${built} -DMISSING=${missing} -DLIBRARIES=${libraries}
      "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -P ${maker})
  target_sources(${target} PRIVATE ${out})
  add_dependencies(${target} easyretry_build_info)
endfunction()

# Sets commit and modified. A checkout inside another repository is not asked: it would answer for that one.
function(ask_git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel HEAD OUTPUT_VARIABLE said ERROR_QUIET)
  if(NOT said MATCHES "^([^\n]+)\n([0-9a-f]+)\n$" OR NOT CMAKE_MATCH_1 STREQUAL SOURCE)
    return()
  endif()
  set(commit "\"${CMAKE_MATCH_2}\"" PARENT_SCOPE)
  execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE modified)
  if(modified)
    set(modified true PARENT_SCOPE)
  endif()
endfunction()

function(json_list text result)
  string(REPLACE "," "\", \"" text "${text}")
  if(text)
    set(text "\"${text}\"")
  endif()
  set(${result} "[${text}]" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(commit null)
  set(modified false)
  if(COMMIT)
    set(commit "\"${COMMIT}\"")
  else()
    ask_git()
  endif()
  json_list("${BUILT}" built)
  json_list("${MISSING}" missing)
  string(REGEX REPLACE "([^,=]+)=([^,]*)" "\"\\1\": \"\\2\"" libraries "${LIBRARIES}")
  set(text "#include <string_view>\n\nnamespace easyretry::app {\nextern const std::string_view kBuildInfo;\nconst std::string_view kBuildInfo = R\"json({\"version\": \"${VERSION}\", \"commit\": ${commit}, \"modified\": ${modified},\n\"components\": ${built}, \"left_out\": ${missing},\n\"libraries\": {${libraries}}, \"compiler\": \"${COMPILER}\"})json\";\n}  // namespace easyretry::app\n")
  if(EXISTS ${OUT})
    file(READ ${OUT} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${OUT} "${text}")
  endif()
endif()
