#pragma once

#include <cstdint>
#include <string>

#include <easyretry/options.h>

#include "http/http_server.h"

namespace easyretry::server {

// Writes a line to the log for each request that was refused (info) or that the server failed to serve (error), with
// the id in its answer; on request also for all others (debug). For one thread.
//
// Anyone who can connect can make requests that are refused. To keep such a client from filling the disk, at most 20
// refusals a second get a line, and as many errors. The next line is preceded by the number of those left out.
class RequestLog {
 public:
  static constexpr int kMostASecond = 20;

  RequestLog(LogSink log, bool every_request, const Clock& clock);

  void note(const http::Answered& request);

 private:
  struct Allowance {
    std::int64_t second = 0;
    int lines = 0;
    int left_out = 0;
  };

  void note_problem(LogLevel level, Allowance& allowance, const http::Answered& request);

  const LogSink log_;
  const bool every_request_;
  const Clock& clock_;
  Allowance refusals_;
  Allowance errors_;
};

}  // namespace easyretry::server
