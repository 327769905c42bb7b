# The Java SDK: its own tests with a real daemon, then the faults of the conformance suite. Needs a JDK from 17 on and Maven,
# which downloads its plugins the first time.
find_program(EASYRETRY_MVN mvn)
find_program(EASYRETRY_JAVA java)
set(java_sdk ${PROJECT_SOURCE_DIR}/sdk/java)
set(java_build ${PROJECT_BINARY_DIR}/java)
set(java_maven ${EASYRETRY_MVN} -q -B -f ${java_sdk}/pom.xml -Dbuild.root=${java_build})
if(EASYRETRY_MVN AND EASYRETRY_JAVA AND NOT EASYRETRY_JAVA_READY)
  execute_process(COMMAND ${java_maven} verify -Dtest=JsonTest -Dsurefire.failIfNoSpecifiedTests=false RESULT_VARIABLE java_failed OUTPUT_VARIABLE java_said
    ERROR_VARIABLE java_said TIMEOUT 600)
  if(NOT java_failed)
    set(EASYRETRY_JAVA_READY ON CACHE INTERNAL "Maven has all that it needs")
  endif()
endif()
if(EASYRETRY_JAVA_READY)
  add_test(NAME sdk_java COMMAND ${java_maven} -o verify)
  set_tests_properties(sdk_java PROPERTIES TIMEOUT 900 FIXTURES_SETUP sdk_java
    ENVIRONMENT EASYRETRY_PROGRAM=$<TARGET_FILE:easyretry_program>)
  set(java_client ${java_build}/easyretry-client)
  add_test(NAME sdk_java_conformance
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/sdk/conformance/conform.py --program $<TARGET_FILE:easyretry_program> --
      ${EASYRETRY_JAVA} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp ${java_client}/classes:${java_client}/test-classes easyretry.Subject)
  set_tests_properties(sdk_java_conformance PROPERTIES TIMEOUT 1800 FIXTURES_REQUIRED sdk_java)
  add_test(NAME sdk_java_bench_runs
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bench/sdk.py $<TARGET_FILE:easyretry_program> --tasks 2000 --no-goals --
      ${EASYRETRY_JAVA} -cp ${java_client}/classes:${java_client}/test-classes easyretry.BenchWorker)
  set_tests_properties(sdk_java_bench_runs PROPERTIES TIMEOUT 300 FIXTURES_REQUIRED sdk_java)
else()
  # Who asks for languages must not believe that all of them were tested.
  message(FATAL_ERROR "EASYRETRY_LANGUAGES_TESTS: no JDK from 17 on, no Maven, or Maven cannot download. tools/languages says what is "
    "missing. ${java_said}")
endif()
