#pragma once
// The version of the library that an application is compiled against.
//
//   #if EASYRETRY_VERSION_MINOR >= 2 …
//
// Before 1.0, a new minor version may change the interface; a new patch does not.

// CMakeLists.txt checks that these are the version of the project.
#define EASYRETRY_VERSION "0.1.0"
#define EASYRETRY_VERSION_MAJOR 0
#define EASYRETRY_VERSION_MINOR 1
#define EASYRETRY_VERSION_PATCH 0
