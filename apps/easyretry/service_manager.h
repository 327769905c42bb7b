#pragma once
// systemd, or another service manager that speaks its protocols: sd_notify(3), sd_watchdog_enabled(3),
// sd_listen_fds(3). They are environment variables and datagrams, so no library of systemd is needed. Without a service
// manager, the functions do nothing.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::app {

// Sends a state such as "READY=1", for a service with Type=notify.
void notify_service_manager(std::string_view state);

// How long to wait between two checks of the daemon; the service manager gets "WATCHDOG=1" after each successful one.
// A quarter of WatchdogSec=, so that one check may take as long as this and fail, and the next is still in time.
// nullopt: the service manager does not watch this process.
std::optional<Millis> watchdog_interval();

// A socket that is already listening: connections wait in it while the daemon restarts.
struct PassedSocket {
  int descriptor = -1;
  std::string address{};  // "127.0.0.1:7077"
};

// The socket of a .socket unit. Throws std::runtime_error if more than one was passed, or one that is not for TCP.
std::optional<PassedSocket> passed_socket();

}  // namespace easyretry::app
