// Stores an order and the task that pays it in one SQLite transaction: both exist, or neither does.
#include <iostream>
#include <thread>

#include <sqlite3.h>

#include <easyretry/easyretry.h>

#include "temp_folder.h"

using namespace easyretry;
using namespace std::chrono_literals;

// The application with its own database, which the engine shares.
class Shop {
 public:
  explicit Shop(const std::filesystem::path& file) {
    sqlite3_open(file.c_str(), &db_);
    sqlite3_busy_timeout(db_, 5000);  // the engine writes to this file, too
  }
  ~Shop() { sqlite3_close(db_); }
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  void run(const std::string& sql) {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(db_));
    }
  }
  std::string ask(const std::string& sql) {
    std::string answer;
    const auto keep = [](void* into, int, char** values, char**) {
      *static_cast<std::string*>(into) = values[0];
      return 0;
    };
    sqlite3_exec(db_, sql.c_str(), keep, &answer, nullptr);
    return answer;
  }
  sqlite3* connection() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

int main() {
  const TempFolder folder;
  const auto file = folder.path / "shop.db";
  Shop shop{file};
  shop.run("CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT)");
  Engine engine{"sqlite:" + file.string() + "?shared=yes"};
  auto pay = engine.retryable("payment.pay", [](const std::string& order) { std::cout << order << " is paid\n"; });

  const auto place_order = [&](const std::string& id, bool in_stock) {
    shop.run("BEGIN IMMEDIATE");
    shop.run("INSERT INTO orders VALUES ('" + id + "', 'placed')");
    const TaskId task = pay.submit(sqlite_tx(shop.connection()), id);
    shop.run(in_stock ? "COMMIT" : "ROLLBACK");
    return task;
  };
  const auto look_at = [&](const std::string& id, TaskId task) {
    std::cout << id << ": orders " << shop.ask("SELECT count(*) FROM orders WHERE id = '" + id + "'") << ", tasks "
              << (engine.find(task) ? 1 : 0) << "\n";
  };

  const TaskId committed = place_order("order-42", true);
  const TaskId rolled_back = place_order("order-43", false);
  look_at("order-42", committed);
  look_at("order-43", rolled_back);

  engine.start();
  while (engine.stats().succeeded < 1) std::this_thread::sleep_for(1ms);
  std::cout << to_string(*engine.find(committed)->outcome) << "\n";
}

// Prints:
// order-42: orders 1, tasks 1
// order-43: orders 0, tasks 0
// order-42 is paid
// succeeded
