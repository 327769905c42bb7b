#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

using storage::SeriesPart;

TEST_P(DurableStore, SavedSeriesOutliveTheProcess) {
  const SeriesPart first{3, R"({"from":1,"until":2})"};
  const SeriesPart second{11, std::string(100'000, 'x')};
  const SeriesPart newer{3, R"({"from":7,"until":9,"lines":["ü"]})"};
  EXPECT_THAT(must(store().saved_series("shop")), IsEmpty());
  for (const SeriesPart& part : {second, first, newer}) EXPECT_TRUE(must(store().save_series("shop", part)));
  EXPECT_TRUE(must(store().save_series("bank", first)));
  reopen();
  EXPECT_THAT(must(store().saved_series("shop")), ElementsAre(newer, second)) << "by number, each once";
  EXPECT_THAT(must(store().saved_series("bank")), ElementsAre(first));
  EXPECT_THAT(must(store().saved_series("another")), IsEmpty());
}

}  // namespace
}  // namespace easyretry::test
