// Stores an order and the task that pays it in one transaction of MariaDB or MySQL: both exist, or neither does.
//
//   outbox_mysql HOST PORT USER PASSWORD DATABASE
#include <iostream>
#include <thread>

#include <mysql.h>

#include <easyretry/easyretry.h>

using namespace easyretry;
using namespace std::chrono_literals;

struct Place {
  std::string host, port, user, password, database;
  std::string url() const { return "mysql://" + user + ":" + password + "@" + host + ":" + port + "/" + database; }
};

// The application with its own database, which also has the engine's tables.
class Shop {
 public:
  explicit Shop(const Place& place) : db_(mysql_init(nullptr)) {
    mysql_optionsv(db_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(db_, place.host.c_str(), place.user.c_str(), place.password.c_str(), place.database.c_str(),
                           static_cast<unsigned>(std::stoi(place.port)), nullptr, 0) == nullptr) {
      throw std::runtime_error(mysql_error(db_));
    }
  }
  ~Shop() { mysql_close(db_); }
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  void run(const std::string& sql) {
    if (mysql_query(db_, sql.c_str()) != 0) throw std::runtime_error(mysql_error(db_));
  }
  std::string ask(const std::string& sql) {
    run(sql);
    MYSQL_RES* rows = mysql_store_result(db_);
    std::string answer = mysql_fetch_row(rows)[0];
    mysql_free_result(rows);
    return answer;
  }
  MYSQL* connection() const { return db_; }

 private:
  MYSQL* db_;
};

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: outbox_mysql HOST PORT USER PASSWORD DATABASE\n";
    return 2;
  }
  const Place place{argv[1], argv[2], argv[3], argv[4], argv[5]};
  Shop shop{place};
  shop.run("DROP TABLE IF EXISTS orders");
  shop.run("CREATE TABLE orders (id VARCHAR(20) PRIMARY KEY, state VARCHAR(20))");
  EngineOptions options;
  options.name_space = "outbox";
  Engine engine{place.url(), options};
  auto pay = engine.retryable("payment.pay", [](const std::string& order) { std::cout << order << " is paid\n"; });

  const auto place_order = [&](const std::string& id, bool in_stock) {
    shop.run("START TRANSACTION");
    shop.run("INSERT INTO orders VALUES ('" + id + "', 'placed')");
    const TaskId task = pay.submit(mysql_tx(shop.connection()), id);
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
