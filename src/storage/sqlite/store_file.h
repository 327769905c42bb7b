#pragma once
// Whether a path can hold our database, judged without changing anything. What speaks against it is thrown as
// StoreError with the path and the remedy.

#include <filesystem>
#include <string>

namespace easyretry::storage::sqlite {

// The path to use: absolute and free of symbolic links, so that two names of one file share one lock.
std::filesystem::path checked_place(const std::filesystem::path& path);

// "EzRt" in the header of every database of ours alone.
inline constexpr int kApplicationId = 0x457A5274;

// Reads the first bytes only: refuses what is not a SQLite database and, unless it is to be shared, what is another
// application's.
void check_ownership(const std::filesystem::path& path, bool shared);
std::string not_ours(const std::string& path);  // the words for the latter

}  // namespace easyretry::storage::sqlite
