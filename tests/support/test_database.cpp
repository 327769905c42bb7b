#include "support/test_database.h"

#include <atomic>
#include <chrono>
#include <cstdio>

#include <unistd.h>

#include "support/plain_redis.h"
#include "support/plain_sql.h"

namespace easyretry::test {
namespace {

// Its advisory lock marks a database as taken. It ends with the connection, however this process ends.
class PostgresHold {
 public:
  PostgresHold() : connection_(connect_plainly(ServerKind::postgres, port_)) {
    const std::string number =
        connection_->run("SELECT n FROM generate_series(1, 200) n WHERE pg_try_advisory_lock(n) LIMIT 1");
    if (number.empty()) throw SqlError("all databases for tests are taken");
    name_ = "easyretry_" + number;
    if (connection_->run("SELECT 1 FROM pg_database WHERE datname = '" + name_ + "'").empty()) {
      connection_->run("CREATE DATABASE " + name_);
    } else {
      empty();
    }
  }

  const std::string& name() const { return name_; }

 private:
  // The process that had it before may have died during a statement. Autovacuum may also be at work there; we may not
  // end it, and it gives way by itself.
  void empty() {
    connection_->run("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE datname = '" + name_ +
                     "' AND usename = current_user");
    connect_plainly(ServerKind::postgres, port_, name_)->run("DROP OWNED BY CURRENT_USER CASCADE");
  }

  const int port_ = shared_server_port(ServerKind::postgres);
  std::unique_ptr<PlainSql> connection_;
  std::string name_;
};

class MariadbHold {
 public:
  MariadbHold() {
    run("DROP DATABASE IF EXISTS " + name_);  // left by a dead process with our number
    run("CREATE DATABASE " + name_);
  }
  ~MariadbHold() {
    try {
      run("DROP DATABASE " + name_);
    } catch (const SqlError& e) {
      std::fprintf(stderr, "%s stays: %s\n", name_.c_str(), e.what());
    }
  }
  MariadbHold(const MariadbHold&) = delete;
  MariadbHold& operator=(const MariadbHold&) = delete;

  const std::string& name() const { return name_; }

 private:
  static std::string new_name() {
    static std::atomic<int> number{0};
    return "easyretry_" + std::to_string(getpid()) + "_" + std::to_string(++number);
  }
  static void run(const std::string& statement) {
    connect_plainly(ServerKind::mariadb, shared_server_port(ServerKind::mariadb))->run(statement);
  }

  const std::string name_ = new_name();
};

// Takes the 10,000 numbered databases of Redis in turn, and empties each before and after its use.
class RedisHold {
 public:
  RedisHold() {
    PlainRedis first{port_};
    number_ = 1 + std::stoll(first.run({"INCR", "databases"})) % 9'999;
    PlainRedis{port_, name()}.run({"FLUSHDB"});
  }
  ~RedisHold() {
    try {
      PlainRedis{port_, name()}.run({"FLUSHDB"});
    } catch (const SqlError& e) {
      std::fprintf(stderr, "%s stays: %s\n", name().c_str(), e.what());
    }
  }
  RedisHold(const RedisHold&) = delete;
  RedisHold& operator=(const RedisHold&) = delete;

  std::string name() const { return std::to_string(number_); }

 private:
  const int port_ = shared_server_port(ServerKind::redis);
  long long number_ = 0;
};

// A cluster has one database, so each test has a prefix. Its keys are removed with the cluster.
class RedisClusterHold {
 public:
  std::string name() const { return name_; }

 private:
  static std::string new_name() {
    static std::atomic<int> number{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return "t" + std::to_string(getpid()) + "_" + std::to_string(now.count()) + "_" + std::to_string(++number);
  }

  const std::string name_ = new_name();
};

}  // namespace

TestDatabase::TestDatabase(ServerKind kind) : kind_(kind) {
  const auto keep = [this](auto hold) {
    name_ = hold->name();
    hold_ = hold;
  };
  switch (kind) {
    case ServerKind::postgres: keep(std::make_shared<PostgresHold>()); break;
    case ServerKind::mariadb: keep(std::make_shared<MariadbHold>()); break;
    case ServerKind::redis: keep(std::make_shared<RedisHold>()); break;
    case ServerKind::redis_cluster: keep(std::make_shared<RedisClusterHold>()); break;
  }
}

}  // namespace easyretry::test
