// Follows the checksums of logs that SQLite has written.

#include <fstream>
#include <iterator>

#include "storage/sqlite/wal.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

class WalChainTest : public SqliteTest {
 protected:
  std::vector<std::byte> log_bytes() const {
    std::ifstream stream{file().string() + "-wal", std::ios::binary};
    std::vector<std::byte> bytes;
    for (auto c = std::istreambuf_iterator<char>{stream}; c != std::istreambuf_iterator<char>{}; ++c) {
      bytes.push_back(static_cast<std::byte>(*c));
    }
    return bytes;
  }
  static LogEnd follow(const std::vector<std::byte>& bytes) {
    auto chain = WalChain::begin(bytes);
    if (!chain) return {};
    for (std::size_t at = WalChain::kHeader; at + chain->frame_size() <= bytes.size(); at += chain->frame_size()) {
      if (!chain->add(std::span{bytes}.subspan(at, chain->frame_size()))) break;
    }
    return chain->end();
  }
};

TEST_F(WalChainTest, EndsWhereSqliteSaysThatItEnds) {
  for (const char* const page_size : {"512", "4096", "65536"}) {
    const auto other = file().string() + page_size;
    Connection db{other, Connection::Mode::create};
    db.run("PRAGMA page_size = " + std::string{page_size} + "; PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
    for (int i = 0; i < 20; ++i) db.run("INSERT INTO t VALUES (randomblob(3000))");
    std::filesystem::copy_file(other + "-wal", file().string() + "-wal",
                               std::filesystem::copy_options::overwrite_existing);
    const auto end = log_end(db);
    ASSERT_TRUE(end);
    EXPECT_GE(end->frames, 20U);
    EXPECT_EQ(follow(log_bytes()), *end) << page_size;
  }
}

TEST_F(WalChainTest, EndsAtTheFirstByteThatIsAnother) {
  open();
  for (int i = 0; i < 5; ++i) insert(a_task());
  auto bytes = log_bytes();
  const std::uint32_t frames = follow(bytes).frames;
  ASSERT_GT(frames, 3U);
  const std::size_t frame = WalChain::begin(bytes)->frame_size();
  bytes[WalChain::kHeader + 2 * frame + frame / 2] ^= std::byte{1};
  EXPECT_EQ(follow(bytes).frames, 2U);
  bytes[9] ^= std::byte{1};
  EXPECT_EQ(follow(bytes).frames, 0U) << "the header itself";
}

}  // namespace
}  // namespace easyretry::storage::sqlite
