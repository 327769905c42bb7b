#include "storage/store.h"

namespace easyretry::storage {

std::string to_string(const StoreInfo& info) {
  return "store " + info.url + ": an acknowledged task survives " + info.durability.words;
}

Result<InsertReply> Store::insert_within(const Transaction&, std::span<const NewTask>) {
  return fail(
      Errc::invalid_argument, "store.insert",
      info().url + " cannot join this transaction; a task can be stored with it only if both are in one database");
}

Result<IntakeReply> Store::take_in(const IntakeQuery&, const Convert&) {
  return fail(Errc::invalid_argument, "store.take_in",
              info().url + " has no inbox; use a store on PostgreSQL, MariaDB or MySQL");
}

Result<BeatReply> Store::beat(const Beat&) {
  return fail(Errc::invalid_argument, "store.beat", info().url + " is for a single instance");
}

Result<BeatReply> Store::members(std::string_view) {
  return fail(Errc::invalid_argument, "store.members", info().url + " is for a single instance");
}

Result<bool> Store::leave(std::string_view, std::string_view) {
  return false;
}

Result<std::vector<TableInfo>> Store::tables() {
  return fail(Errc::invalid_argument, "store.tables",
              info().url + " has no tables to show; use a store on PostgreSQL, MariaDB or MySQL");
}

Result<std::vector<SplitMove>> Store::split(const SplitRequest&) {
  return fail(Errc::invalid_argument, "store.split",
              info().url + " has no tables to split; use a store on PostgreSQL, MariaDB or MySQL with layout=hash(n)");
}

void Store::announce(const std::string&) {}

// NOLINTNEXTLINE(performance-unnecessary-value-param): those that have news keep it
std::unique_ptr<Listening> Store::listen(const std::string&, std::function<void()>) {
  return nullptr;
}

}  // namespace easyretry::storage
