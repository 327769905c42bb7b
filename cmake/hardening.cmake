# Options that make memory errors harder to exploit. The linker options are in every build, so that the tests of each build check
# them. The compiler options need an optimised build. Distributions define their own _FORTIFY_SOURCE, and a second definition is
# a warning.
include(CheckPIESupported)
check_pie_supported()
add_link_options(LINKER:-z,relro,-z,now)
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
