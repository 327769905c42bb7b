#include "alert/courier.h"

#include <algorithm>

#include <pthread.h>

#include "alert/words.h"

namespace easyretry::alert {
namespace {

constexpr Millis kLastMoments{3000};

// A channel must not end the program; what it throws is memory that has run out, or OpenSSL failing.
Told sent(Channel& channel, const Message& message, const std::string& id, const std::stop_token& stop) {
  try {
    return channel.send(message, id, stop);
  } catch (const std::exception& e) {
    return {.worth_retrying = true, .why = e.what()};
  }
}

}  // namespace

Courier::Courier(std::string name, std::unique_ptr<Channel> channel, Desk& desk, LogSink log, Pauses pauses)
    : name_(std::move(name)),
      channel_(std::move(channel)),
      desk_(desk),
      log_(std::move(log)),
      pauses_(pauses),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Courier::~Courier() {
  stop();
  thread_.join();
}

void Courier::stop() {
  if (alarm_.joinable()) return;
  thread_.request_stop();
  alarm_ = std::jthread{[this](const std::stop_token& done) {
    if (desk_.sleep(kLastMoments, done)) over_.request_stop();
  }};
}

void Courier::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "er-alert");
  while (const auto message = desk_.next(name_, stop)) deliver(*message, stop);
  while (const auto message = desk_.last(name_)) deliver(*message, stop);
}

void Courier::deliver(const Message& message, const std::stop_token& stop) {
  const std::string id = new_message_id();
  Told told = sent(*channel_, message, id, over_.get_token());
  std::size_t tries = 1;
  for (const Millis pause : pauses_.between) {
    if (told.arrived || !told.worth_retrying || stop.stop_requested()) break;
    desk_.sleep(std::clamp(told.retry_after.value_or(pause), pause, pauses_.longest), stop);
    told = sent(*channel_, message, id, over_.get_token());
    ++tries;
  }
  count(message, told, tries);
}

void Courier::count(const Message& message, const Told& told, std::size_t tries) {
  if (told.arrived) {
    ++delivered_;
    return;
  }
  ++failed_;
  log_(LogLevel::warning, "alerts: channel " + name_ + " did not accept \"" + headline(message) + "\" after " +
                              std::to_string(tries) + (tries == 1 ? " try: " : " tries: ") + told.why);
}

}  // namespace easyretry::alert
