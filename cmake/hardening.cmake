# What makes a mistake in memory harder to use. The linker's part is in every build, so that tests of any of them see it; the
# compiler's needs one that optimises. Distributions have a _FORTIFY_SOURCE of their own, and to define it twice is a warning.
include(CheckPIESupported)
check_pie_supported()
add_link_options(LINKER:-z,relro,-z,now)
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
