// Files of tokens and of webhook secrets, as an editor may have left them.

#include <fstream>
#include <stdexcept>

#include "fuzz/pace.h"
#include "server/tokens.h"
#include "support/temp_folder.h"
#include "webhook/secrets_file.h"

using namespace easyretry;

namespace {

template <class Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (const std::runtime_error&) {
  } catch (const std::invalid_argument&) {
  }
}

void read_file(std::string_view text) {
  static const test::TempFolder folder;
  static const auto file = folder.path() / "file";
  std::filesystem::remove(file);
  std::ofstream{file} << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  read_or_refuse([] {
    server::Tokens tokens{file};
    for (const server::Token& token : tokens.all()) {
      fuzz::must(token.may(server::Right::view) || token.may(server::Right::work),
                 "a token that is taken may do something");
    }
  });
  read_or_refuse([] { webhook::SecretsFile{file}.current(); });
}

std::string plain(std::size_t size) {
  return fuzz::repeated("", "app# worker default " + std::string(64, '0') + "\n", "", size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_at_pace(fuzz::text_of(data, size), read_file, plain);
  return 0;
}
