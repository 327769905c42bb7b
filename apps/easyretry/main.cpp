// easyretry: one program, one file per command.

#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "bench/bench_command.h"

int main(int argc, char** argv) {
  CLI::App app{"EasyRetry: a failed call is remembered and tried again until it succeeds or its policy gives up."};
  app.set_version_flag("--version", EASYRETRY_VERSION);
  app.require_subcommand(1);
  easyretry::app::add_bench_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::cerr << "easyretry: " << e.what() << "\n";
    return 1;
  }
  return 0;
}
