#include "storage/postgres/news_connection.h"

#include <poll.h>

namespace easyretry::storage::postgres {

NewsConnection::NewsConnection(const std::string& settings)
    : handle_(PQconnectStart(settings.c_str())), events_(POLLOUT) {
  if (PQstatus(handle_.get()) == CONNECTION_BAD) stage_ = Stage::lost;
}

void NewsConnection::go_on() {
  if (stage_ == Stage::connecting) {
    go_on_connecting();
  } else if (stage_ != Stage::lost) {
    go_on_talking();
  }
}

void NewsConnection::go_on_connecting() {
  switch (PQconnectPoll(handle_.get())) {
    case PGRES_POLLING_WRITING: events_ = POLLOUT; break;
    case PGRES_POLLING_OK:
      PQsetnonblocking(handle_.get(), 1);
      stage_ = Stage::idle;
      [[fallthrough]];
    case PGRES_POLLING_READING: events_ = POLLIN; break;
    default: stage_ = Stage::lost;
  }
}

void NewsConnection::go_on_talking() {
  if (PQconsumeInput(handle_.get()) == 0) return void(stage_ = Stage::lost);
  bool refused = !flush();
  while (stage_ == Stage::busy && PQisBusy(handle_.get()) == 0) {
    PGresult* result = PQgetResult(handle_.get());
    if (result == nullptr) stage_ = Stage::idle;
    refused |= result != nullptr && PQresultStatus(result) == PGRES_FATAL_ERROR;
    PQclear(result);
  }
  if (refused || PQstatus(handle_.get()) == CONNECTION_BAD) stage_ = Stage::lost;
}

bool NewsConnection::flush() {
  const int unsent = PQflush(handle_.get());
  events_ = unsent == 1 ? POLLIN | POLLOUT : POLLIN;
  return unsent >= 0;
}

void NewsConnection::send(const std::string& statement) {
  const bool sent = PQsendQuery(handle_.get(), statement.c_str()) == 1 && flush();
  stage_ = sent ? Stage::busy : Stage::lost;
}

std::string NewsConnection::notification(const std::string& space) const {
  char* const literal = PQescapeLiteral(handle_.get(), space.data(), space.size());
  const std::string text = literal == nullptr ? "''" : literal;
  PQfreemem(literal);
  return std::string{"SELECT pg_notify('"} + kNewsChannel + "', " + text + ");";
}

std::vector<std::string> NewsConnection::take_news() {
  std::vector<std::string> spaces;
  while (PGnotify* const news = PQnotifies(handle_.get())) {
    if (news->be_pid != PQbackendPID(handle_.get())) spaces.emplace_back(news->extra);
    PQfreemem(news);
  }
  return spaces;
}

}  // namespace easyretry::storage::postgres
