#pragma once
// Shows the progress: redrawn in place on a terminal, one line per second elsewhere.

#include <iomanip>
#include <iostream>
#include <string>

#include <unistd.h>

#include <easyretry/easyretry.h>

#include "ledger.h"

class LiveView {
 public:
  // Stays visible on a terminal; elsewhere it is printed once.
  void note(std::string text) {
    note_ = std::move(text);
    if (!terminal_) std::cout << note_ << std::endl;
  }

  void draw(const Ledger& ledger, const easyretry::Stats& stats) {
    if (terminal_) {
      full(ledger, stats);
    } else if (++calls_ % 5 == 1) {
      line(ledger, stats);
    }
  }

  void end(const Ledger& ledger, const easyretry::Stats& stats) {
    if (terminal_) full(ledger, stats);
    line(ledger, stats);
  }

 private:
  void line(const Ledger& ledger, const easyretry::Stats& stats) {
    const auto s = ledger.summary();
    std::cout << "accepted " << s.accepted << "  open " << s.open() << "  paid " << s.paid << "  failed " << s.failed
              << "  retries " << stats.retried << std::endl;
  }

  void full(const Ledger& ledger, const easyretry::Stats& stats) {
    const auto s = ledger.summary();
    std::cout << "\x1b[H\x1b[2J\x1b[1mEasyRetry: orders against a flaky gateway\x1b[0m   (Ctrl-C stops, kill -9 loses "
                 "nothing)\n\n"
              << "  accepted " << std::setw(6) << s.accepted << "   paid   " << std::setw(6) << s.paid << "\n"
              << "  open     " << std::setw(6) << s.open() << "   failed " << std::setw(6) << s.failed << "\n\n"
              << "  attempts " << std::setw(6) << stats.claimed << "   retried " << std::setw(5) << stats.retried
              << "   running " << stats.running << "\n\n  " << bar(s) << "\n\n";
    if (!note_.empty()) std::cout << "  " << note_ << "\n\n";
    for (const auto& event : ledger.latest()) std::cout << "  " << event << "\n";
    std::cout << std::flush;
  }

  static std::string bar(const Ledger::Summary& s) {
    constexpr std::size_t kWidth = 50;
    if (s.accepted == 0) return {};
    const std::size_t paid = kWidth * s.paid / s.accepted;
    const std::size_t failed = kWidth * s.failed / s.accepted;
    return "\x1b[32m" + std::string(paid, '#') + "\x1b[31m" + std::string(failed, 'x') + "\x1b[0m" +
           std::string(kWidth - paid - failed, '.');
  }

  const bool terminal_ = isatty(STDOUT_FILENO) != 0;
  unsigned calls_ = 0;
  std::string note_;
};
