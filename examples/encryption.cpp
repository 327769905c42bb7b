// Encrypted arguments: what the table contains, and how to change the key while tasks wait.
#include <iostream>

#include <sqlite3.h>

#include <easyretry/testing.h>

#include "temp_folder.h"

using namespace easyretry;

// The arguments as a reader of the database sees them.
void print_table(const std::filesystem::path& file) {
  sqlite3* db = nullptr;
  sqlite3_open(file.c_str(), &db);
  const auto print = [](void*, int, char** columns, char**) {
    const std::string arguments = columns[0];
    const bool readable = arguments.find("4111") != std::string::npos;
    std::cout << "  " << (readable ? arguments : arguments.substr(0, arguments.find("\"data\"")) + "\"data\":…}")
              << "\n";
    return 0;
  };
  sqlite3_exec(db, "SELECT params_json FROM retry_task ORDER BY id", print, nullptr, nullptr);
  sqlite3_close(db);
}

int main() {
  const TempFolder folder;
  const auto file = folder.path / "retry.db";
  // In an application: EncryptionKey::from_file("2026-11", "/etc/shop/retry-2026-11.key")
  const auto november = EncryptionKey::from_hex("2026-11", std::string(62, '1') + "aa");
  const auto may = EncryptionKey::from_hex("2027-05", std::string(62, '2') + "bb");

  const auto run_release = [&](const Encryption& encryption, const std::string& card, bool run) {
    testing::ManualEngine engine{EngineOptions{.encryption = encryption, .log = nullptr}, "sqlite:" + file.string()};
    auto charge =
        engine.retryable("charge", [](const std::string& number) { std::cout << "  charge " << number << "\n"; });
    charge.on_final_failure([](const Failure& failure, const TaskInfo&) {
      std::cout << "  " << to_string(failure.outcome) << ": " << failure.message.substr(0, failure.message.find(';'))
                << "\n";
    });
    charge.submit(card);
    print_table(file);
    if (run) engine.run_due();
  };

  std::cout << "without a key\n";
  run_release({}, "4111-1", false);
  std::cout << "with one: new tasks are sealed, old ones stay readable\n";
  run_release({.current = "2026-11", .keys = {november}}, "4111-2", false);
  std::cout << "with a new one beside it: each task is opened with its own\n";
  run_release({.current = "2027-05", .keys = {november, may}}, "4111-3", true);

  std::cout << "a key that is taken away too early\n";
  run_release({.current = "2026-11", .keys = {november}}, "4111-4", false);
  run_release({.current = "2027-05", .keys = {may}}, "4111-5", true);
}

// Prints:
// without a key
//   ["4111-1"]
// with one: new tasks are sealed, old ones stay readable
//   ["4111-1"]
//   {"$sealed":1,"key":"2026-11","data":…}
// with a new one beside it: each task is opened with its own
//   ["4111-1"]
//   {"$sealed":1,"key":"2026-11","data":…}
//   {"$sealed":1,"key":"2027-05","data":…}
//   charge 4111-1
//   charge 4111-2
//   charge 4111-3
// a key that is taken away too early
//   {"$sealed":1,"key":"2026-11","data":…}
//   {"$sealed":1,"key":"2026-11","data":…}
//   {"$sealed":1,"key":"2027-05","data":…}
//   charge 4111-5
//   parked: the stored arguments: sealed with the key "2026-11", which is missing
