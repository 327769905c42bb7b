# How programs of tests are built and registered. Included by CMakeLists.txt.

# An option EASYRETRY_<name>_TESTS, for tests that cannot run everywhere. It is on by default if the script succeeds.
function(test_if_it_works name about needs script)
  if(NOT DEFINED EASYRETRY_${name}_TESTS)
    execute_process(COMMAND sh -c "PATH=$PATH:/usr/sbin:/sbin; ${script}"
      WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      message(STATUS "Not among the tests: those with ${about} (they need ${needs})")
      set(works OFF)
    else()
      set(works ON)
    endif()
  endif()
  option(EASYRETRY_${name}_TESTS "Test with ${about}; needs ${needs}" ${works})
endfunction()

# discover_claims(TARGET [BY case|suite|parameter] [FIXTURE servers…] [FILTER gtest_filter] [FLEET] [ALONE]): registers the
# tests of the program with ctest: one process for each case (the default), for each suite, or for each suite and
# parameter; see support/discover.py. If only some tests of a program need servers, it is discovered twice, with two
# filters. FLEET: many processes whose promises are about time; fewer tests run beside it. ALONE: no other test runs at the
# same time.
set(discover ${CMAKE_CURRENT_SOURCE_DIR}/support/discover.py)
function(discover_claims target)
  cmake_parse_arguments(PARSE_ARGV 1 claims "ALONE;FLEET" "BY;FIXTURE;FILTER" "")
  set(options)
  if(claims_ALONE)
    list(APPEND options --property RUN_SERIAL TRUE)
  endif()
  if(claims_FLEET)
    list(APPEND options --property PROCESSORS 2)
  endif()
  if(claims_FIXTURE)
    list(APPEND options --property FIXTURES_REQUIRED ${claims_FIXTURE} --property ENVIRONMENT TEST_SERVERS_STARTED=1)
  endif()
  if(claims_FILTER)
    list(APPEND options "--filter=${claims_FILTER}")
  endif()
  if(claims_BY)
    list(APPEND options --property TIMEOUT 900)  # the longest takes 60 seconds, and ten times as long with a sanitizer
  else()
    set(claims_BY case)
    list(APPEND options --property TIMEOUT 600)
  endif()
  get_property(discovered TARGET ${target} PROPERTY discovered)
  set_property(TARGET ${target} APPEND PROPERTY discovered one)
  list(LENGTH discovered number)
  set(tests ${CMAKE_CURRENT_BINARY_DIR}/${target}_tests_${number}.cmake)
  if(NOT EXISTS ${tests})
    file(WRITE ${tests} "add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\n")
  endif()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${tests})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${discover})
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM BYPRODUCTS ${tests}
    COMMAND Python3::Interpreter ${discover} $<TARGET_FILE:${target}> --by ${claims_BY} --output ${tests} ${options})
endfunction()

# add_claims(NAME FOLDER LIBRARY… [BY …] [FIXTURE …] [FILTER …]): a gtest program from all .cpp files below FOLDER.
function(add_claims name folder)
  cmake_parse_arguments(PARSE_ARGV 2 claims "" "BY;FIXTURE;FILTER" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}
    ${RAPIDCHECK_INCLUDE})
  target_link_libraries(${name} PRIVATE easyretry_warnings ${claims_UNPARSED_ARGUMENTS} GTest::gmock GTest::gtest
    GTest::gtest_main ${RAPIDCHECK_LIBRARY})
  target_precompile_headers(${name} REUSE_FROM headers_of_tests)
  compile_together(${name})
  discover_claims(${name} BY ${claims_BY} FIXTURE ${claims_FIXTURE} FILTER ${claims_FILTER})
endfunction()
