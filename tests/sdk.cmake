# The SDKs in Go and Node: their own tests, those with a daemon, and all faults of the conformance suite. Included with
# EASYRETRY_LANGUAGES_TESTS. Go downloads nothing: the module needs the standard library only.
set(sdks ${PROJECT_SOURCE_DIR}/sdk)
set(go_offline ${CMAKE_COMMAND} -E env GOTOOLCHAIN=local GOPROXY=off)
set(go_programs ${PROJECT_BINARY_DIR}/sdk-go)
add_test(NAME sdk_go_unit COMMAND ${go_offline} go test -race ./... WORKING_DIRECTORY ${sdks}/go)
add_test(NAME sdk_go_vet COMMAND ${go_offline} go vet -tags e2e ./... WORKING_DIRECTORY ${sdks}/go)
add_test(NAME sdk_go_format COMMAND gofmt -l . WORKING_DIRECTORY ${sdks}/go)
set_tests_properties(sdk_go_format PROPERTIES FAIL_REGULAR_EXPRESSION ".")
add_test(NAME sdk_go_build COMMAND ${go_offline} go build -o ${go_programs}/ ./subject ./bench WORKING_DIRECTORY ${sdks}/go)
set_tests_properties(sdk_go_build PROPERTIES FIXTURES_SETUP sdk_go_programs)
add_test(NAME sdk_node_unit COMMAND npm test WORKING_DIRECTORY ${sdks}/node)
set(sdk_tests sdk_go_unit sdk_go_vet sdk_go_build sdk_node_unit)

# The types are checked with the compiler of the dashboard, if that is installed.
set(type_compiler ${PROJECT_SOURCE_DIR}/web/node_modules/typescript/bin/tsc)
if(EXISTS ${type_compiler})
  add_test(NAME sdk_node_types COMMAND node ${type_compiler} --noEmit --strict --target es2022 --module nodenext
    --lib es2022,dom test/types.ts WORKING_DIRECTORY ${sdks}/node)
  list(APPEND sdk_tests sdk_node_types)
else()
  message(STATUS "Left out: the types of the Node SDK, because the packages of web are not installed")
endif()

foreach(language go node)
  add_test(NAME sdk_${language}_e2e COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/e2e/sdk_test.py
    $<TARGET_FILE:easyretry_program> ${sdks}/${language} ${language})
  list(APPEND sdk_tests sdk_${language}_e2e)
endforeach()
set_tests_properties(${sdk_tests} PROPERTIES TIMEOUT 600)

set(conform Python3::Interpreter ${sdks}/conformance/conform.py --program $<TARGET_FILE:easyretry_program> --)
add_test(NAME sdk_go_conformance COMMAND ${conform} ${go_programs}/subject)
add_test(NAME sdk_node_conformance COMMAND ${conform} node ${sdks}/node/test/subject.mjs)
set_tests_properties(sdk_go_conformance sdk_node_conformance PROPERTIES TIMEOUT 1800)

# They show that the benchmark still runs. The rate of a debug build means nothing.
set(bench Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/sdk.py $<TARGET_FILE:easyretry_program> --tasks 2000 --no-goals)
add_test(NAME sdk_go_bench_runs COMMAND ${bench} --language go)
add_test(NAME sdk_node_bench_runs COMMAND ${bench} --language node)
set_tests_properties(sdk_go_bench_runs sdk_node_bench_runs PROPERTIES TIMEOUT 300)
set_tests_properties(sdk_go_conformance PROPERTIES FIXTURES_REQUIRED sdk_go_programs)
