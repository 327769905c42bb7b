#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "command_line.h"
#include "commands.h"
#include "printing/terminal.h"
#include "server/tokens.h"

namespace easyretry::app {
namespace {

struct TokenOptions {
  std::string file = "easyretry.tokens";
  std::string name;
  std::string role = "viewer";
  std::string name_space = "default";
};

void create(const TokenOptions& options) {
  server::Tokens tokens{options.file};
  const std::string secret = server::new_secret();
  tokens.add({options.name, options.role, options.name_space, server::hash_of(secret)});
  fmt::print("{}\n", secret);
  fmt::print(stderr, "This is the only time it is shown: {} keeps a hash.\n", options.file);
}

void list(const TokenOptions& options) {
  fmt::print("{:<24} {:<20} {}\n", "name", "role", "namespace");
  for (const server::Token& token : server::Tokens{options.file}.all()) {
    fmt::print("{:<24} {:<20} {}\n", printable(token.name), token.role, printable(token.name_space));
  }
}

void revoke(const TokenOptions& options) {
  if (!server::Tokens{options.file}.remove(options.name)) {
    throw std::invalid_argument("there is no token named " + options.name + " in " + options.file);
  }
  fmt::print("{} was revoked\n", options.name);
}

}  // namespace

void add_token_command(CLI::App& app) {
  auto* command = app.add_subcommand("token", "Creates, lists and revokes the tokens of the API");
  command->require_subcommand(1);
  auto options = std::make_shared<TokenOptions>();
  command->add_option("--tokens", options->file, "File with the hashes of the tokens")->capture_default_str();

  auto* create_command = command->add_subcommand("create", "Prints a new token");
  create_command->add_option("name", options->name, "Who uses it")->required();
  auto* role = create_command->add_option("--role", options->role, "Its rights; +payloads may follow");
  one_of(role, {"viewer", "submitter", "worker", "application", "operator", "admin"}, "+payloads")
      ->capture_default_str();
  create_command->add_option("--namespace", options->name_space, "The namespace it is for, or * for all")
      ->capture_default_str();
  create_command->callback([options] { create(*options); });

  command->add_subcommand("list", "Lists the tokens")->callback([options] { list(*options); });

  auto* revoke_command = command->add_subcommand("revoke", "Revokes a token");
  revoke_command->add_option("name", options->name, "Whose")->required();
  revoke_command->callback([options] { revoke(*options); });
}

}  // namespace easyretry::app
