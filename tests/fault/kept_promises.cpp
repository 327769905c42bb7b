#include "fault/kept_promises.h"

#include <iostream>

#include <gtest/gtest.h>

#include "storage/open.h"
#include "storage/sqlite/connection.h"

namespace easyretry::fault {
namespace {

void add_keys(storage::Store& store, bool finished, std::set<std::string>& keys) {
  storage::TaskQuery query;
  query.name_space = "default";
  query.finished = finished;
  query.limit = 5000;
  while (true) {
    const auto page = store.list(query).value();
    for (const auto& record : page) keys.insert(record.info.key);
    if (page.size() < query.limit) return;
    query.after = page.back().info.id;
  }
}

}  // namespace

std::size_t acknowledged(Crew& crew) {
  std::size_t count = 0;
  for (const JournalEvent& event : crew.events()) count += event.what == "ack" ? 1 : 0;
  return count;
}

void expect_all_acknowledged_in(const std::string& url, Crew& crew) {
  std::set<std::string> there;
  const auto store = storage::open_store(url, system_clock());
  add_keys(*store, false, there);
  add_keys(*store, true, there);
  std::size_t acks = 0;
  std::size_t gone = 0;
  std::string first;
  for (const JournalEvent& event : crew.events()) {
    if (event.what != "ack") continue;
    ++acks;
    if (there.contains(event.subject)) continue;
    if (++gone == 1)
      first = "the first of them is " + event.subject + ", acknowledged as number " + std::to_string(acks);
  }
  EXPECT_EQ(gone, 0U) << "of " << acks << " that were acknowledged; " << first;
  std::cout << acks << " acknowledged, " << gone << " gone\n";
  storage::sqlite::Connection db{url.substr(7), storage::sqlite::Connection::Mode::read};
  EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
}

}  // namespace easyretry::fault
