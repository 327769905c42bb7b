# The compile options of all our targets, in one place.
add_library(easyretry_warnings INTERFACE)
target_compile_options(easyretry_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
option(EASYRETRY_WERROR "Treat warnings as errors" OFF)
if(EASYRETRY_WERROR)
  target_compile_options(easyretry_warnings INTERFACE -Werror)
endif()
