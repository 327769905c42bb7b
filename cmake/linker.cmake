# gold, which is part of binutils, links these programs in less than half the time of ld.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold EASYRETRY_HAS_GOLD)
if(EASYRETRY_HAS_GOLD)
  add_link_options(-fuse-ld=gold)
endif()
