#include "config/watch.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace easyretry {
namespace {

using testing::HasSubstr;

class ConfigWatchTest : public testing::Test {
 protected:
  void write(std::string_view text) { std::ofstream{file, std::ios::trunc} << text; }

  // "nothing", "workers N", or the error.
  std::string step() {
    const auto news = watch.step();
    if (!news) return "nothing";
    return *news ? "workers " + std::to_string((*news)->engine.workers) : news->error().what();
  }

  std::filesystem::path first_file() {
    write("workers: 1\n");
    return file;
  }

  test::TempFolder folder;
  std::filesystem::path file = folder.path() / "easyretry.yaml";
  ConfigWatch watch{first_file(), {}};
};

TEST_F(ConfigWatchTest, BeginsWithTheFileAndNoNews) {
  EXPECT_EQ(watch.current().engine.workers, 1);
  EXPECT_EQ(step(), "nothing");
  EXPECT_EQ(step(), "nothing");
}

TEST_F(ConfigWatchTest, TellsAChangeOnceWhenTwoStepsHaveSeenIt) {
  write("workers: 2\n");
  EXPECT_EQ(step(), "nothing");
  EXPECT_EQ(watch.current().engine.workers, 1);
  EXPECT_EQ(step(), "workers 2");
  EXPECT_EQ(watch.current().engine.workers, 2);
  EXPECT_EQ(step(), "nothing");
}

TEST_F(ConfigWatchTest, NoticesAChangeThatKeepsSizeAndTime) {
  const auto time = std::filesystem::last_write_time(file);
  write("workers: 3\n");
  std::filesystem::last_write_time(file, time);
  step();
  EXPECT_EQ(step(), "workers 3");
}

TEST_F(ConfigWatchTest, ATouchedFileIsNoNews) {
  write("workers: 1\n");
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() + std::chrono::hours{1});
  EXPECT_EQ(step(), "nothing");
  EXPECT_EQ(step(), "nothing");
}

TEST_F(ConfigWatchTest, NoticesAFileThatIsReplacedByRenaming) {
  const auto other = folder.path() / "other";
  std::ofstream{other} << "workers: 4\n";
  std::filesystem::rename(other, file);
  step();
  EXPECT_EQ(step(), "workers 4");
}

TEST_F(ConfigWatchTest, NoticesThatALinkPointsToAnotherFile) {
  std::filesystem::remove(file);
  std::ofstream{folder.path() / "v2"} << "workers: 5\n";
  std::filesystem::create_symlink(folder.path() / "v2", file);
  step();
  EXPECT_EQ(step(), "workers 5");
}

TEST_F(ConfigWatchTest, AMomentWithoutTheFileIsNoNews) {
  std::filesystem::remove(file);
  EXPECT_EQ(step(), "nothing");
  write("workers: 1\n");
  EXPECT_EQ(step(), "nothing");
  EXPECT_EQ(step(), "nothing");
}

TEST_F(ConfigWatchTest, AMissingFileIsReportedOnceAndTheOldOneStaysInEffect) {
  std::filesystem::remove(file);
  step();
  EXPECT_THAT(step(), HasSubstr("cannot be read: No such file or directory"));
  EXPECT_EQ(step(), "nothing");
  EXPECT_EQ(watch.current().engine.workers, 1);
  write("workers: 1\n");
  step();
  EXPECT_EQ(step(), "workers 1");
}

TEST_F(ConfigWatchTest, AFileThatIsStillBeingWrittenIsLeftAlone) {
  write("workers: 2");
  EXPECT_EQ(step(), "nothing");
  write("workers: 24");
  EXPECT_EQ(step(), "nothing");
  write("workers: 24\nnamespace: a\n");
  EXPECT_EQ(step(), "nothing");
  EXPECT_EQ(step(), "workers 24");
}

TEST_F(ConfigWatchTest, AnInvalidFileIsReportedOnceAndTheOldOneStaysInEffect) {
  write("workers: none\n");
  step();
  EXPECT_THAT(step(), HasSubstr("easyretry.yaml:1:10: workers: \"none\" is not a whole number"));
  EXPECT_EQ(step(), "nothing");
  EXPECT_EQ(watch.current().engine.workers, 1);
}

TEST_F(ConfigWatchTest, AFileThatIsRightAgainIsNewsEvenIfItIsTheOldOne) {
  write("workers: none\n");
  step();
  step();
  write("workers: 1\n");
  step();
  EXPECT_EQ(step(), "workers 1");
}

TEST_F(ConfigWatchTest, AnEmptiedFileIsNotTakenForAllDefaults) {
  write("");
  step();
  EXPECT_THAT(step(), HasSubstr("is empty now; write {} to use all defaults"));
  EXPECT_EQ(watch.current().engine.workers, 1);
  write("{}\n");
  step();
  EXPECT_EQ(step(), "workers 8");
}

TEST_F(ConfigWatchTest, TheEnvironmentWinsAfterEveryChange) {
  ConfigWatch other{file, {{"EASYRETRY_NAMESPACE", "mine"}}};
  write("workers: 2\nnamespace: theirs\n");
  other.step();
  EXPECT_EQ((*other.step())->engine.name_space, "mine");
}

TEST_F(ConfigWatchTest, RefusesToBeginWithAWrongFile) {
  write("workers: none\n");
  EXPECT_THROW((ConfigWatch{file, {}}), ConfigError);
  EXPECT_THROW((ConfigWatch{folder.path() / "none", {}}), ConfigError);
}

}  // namespace
}  // namespace easyretry
