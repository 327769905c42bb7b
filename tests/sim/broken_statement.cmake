# cmake -DFOLDER=… -DOUT=… -DROOM=storage/sqlite -DSTATEMENT=claim -DTEXT=" AND …" -P: writes OUT/statements.cpp, as embed_sql does,
# but without TEXT in that statement.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/sql_files.cmake)

file(READ ${OUT}/statements.cpp all)
string(FIND "${all}" "const Statement ${STATEMENT}{" at)
string(SUBSTRING "${all}" 0 ${at} before)
string(SUBSTRING "${all}" ${at} -1 rest)
string(FIND "${rest}" "\n" end)
string(SUBSTRING "${rest}" 0 ${end} whole)
string(SUBSTRING "${rest}" ${end} -1 after)
string(REPLACE "${TEXT}" "" broken "${whole}")
if(broken STREQUAL whole)
  message(FATAL_ERROR "the statement ${STATEMENT} does not contain \"${TEXT}\"")
endif()
file(WRITE ${OUT}/statements.cpp "${before}${broken}${after}")
