#pragma once

#include <chrono>
#include <string>

#include <easyretry/config.h>
#include <easyretry/event.h>

#include "alert/message.h"
#include "alert/rules.h"

namespace easyretry::alert {

using namespace std::chrono_literals;

// The manually stepped time begins here.
inline constexpr Instant kStart{1h};

inline AlertsConfig config_with(const AlertRule& rule) {
  AlertsConfig config;
  for (const std::string& channel : rule.channels) config.channels.try_emplace(channel);
  config.rules["rule"] = rule;
  return config;
}

inline Event event_of(EventKind kind, std::string handler = "pay", int id = 1) {
  Event event;
  event.kind = kind;
  event.task.id = static_cast<TaskId>(id);
  event.task.name_space = "default";
  event.task.handler = std::move(handler);
  event.task.key = "order-" + std::to_string(id);
  event.task.last_error = "503 from the bank";
  return event;
}

inline Message failures() {
  return {.kind = Kind::final_failure,
          .rule = "payments",
          .name_space = "shop",
          .handler = "pay",
          .count = 3,
          .within = 125s,
          .samples = {{"101", "order-1", "503"}, {"102", "order-2", "timed out"}}};
}

}  // namespace easyretry::alert
