#pragma once
// Parts that a build may leave out: PostgreSQL, Nacos, YAML and others (docs/building.md lists them).
//
// The core does not need a part, but calls the one that is there, through a function that only the part defines:
//
//   extern "C" EASYRETRY_OPTIONAL const Backend* easyretry_postgres_backend();
//
// The reference is weak: in a program without the part, the address of the function is null. The target of the part
// makes the linker take the definition from its archive (ENTRY in cmake/room.cmake). A list to which parts add
// themselves would do the same, but code that runs before main() adds too late for a global engine.

#include <string>
#include <string_view>

#define EASYRETRY_OPTIONAL [[gnu::weak]]

namespace easyretry::base {

// Says that this program was built without `what`, and how to get it: as a part of the build and as a component of
// CMake's find_package, both called `part`.
std::string missing_part(std::string_view what, std::string_view part);

}  // namespace easyretry::base
