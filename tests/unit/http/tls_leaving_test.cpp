// Clients that leave before their answer, over TLS.

#include <atomic>

#include <openssl/ssl.h>

#include "support/certificates.h"
#include "unit/http/server_fixture.h"

namespace easyretry::http {
namespace {

// Blocking, and trusts every certificate.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port) : wire_(port) {
    SSL_set_fd(tls_, wire_.descriptor());
    if (SSL_connect(tls_) != 1) throw std::runtime_error("no TLS with the server");
  }
  ~TlsClient() {
    SSL_free(tls_);
    SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  void send(std::string_view text) { SSL_write(tls_, text.data(), static_cast<int>(text.size())); }
  // Libraries do this before they close the socket.
  void say_goodbye() { SSL_shutdown(tls_); }
  RawClient& wire() { return wire_; }
  // Everything until the other side closes, or this many bytes.
  std::string bytes(std::size_t most) {
    std::string all(most, '\0');
    std::size_t have = 0;
    while (have < most) {
      const int count = SSL_read(tls_, all.data() + have, static_cast<int>(most - have));
      if (count <= 0) break;
      have += static_cast<std::size_t>(count);
    }
    return all.substr(0, have);
  }
  std::string answer_ending_with(std::string_view end) {
    std::string all;
    while (!all.ends_with(end)) {
      const std::string next = bytes(1);
      if (next.empty()) break;
      all += next;
    }
    return all;
  }

 private:
  RawClient wire_;
  SSL_CTX* const context_ = SSL_CTX_new(TLS_client_method());
  SSL* const tls_ = SSL_new(context_);
};

struct TlsLeaving : ServerTest {
  void SetUp() override {
    server.emplace(ServerOptions{.certificate = made.file("here.crt"), .private_key = made.file("here.key")},
                   [this](Request request, Respond respond) {
                     if (request.target.path != "/later") return respond({.body = request.target.path});
                     request.when_gone([this] { ++gone; });
                     answer_later(std::move(respond));
                   });
    client.emplace(server->port());
  }
  void ask_for_later() {
    client->send(get("/later"));
    wait_until_one_is_waiting();
  }
  bool is_noticed() const {
    return test::eventually([&] { return gone == 1; });
  }

  const test::Certificates made;
  std::atomic<int> gone{0};  // clients that left before /later was answered
  std::optional<TlsClient> client;
};

TEST_F(TlsLeaving, AClientThatSaysGoodbyeAndClosesIsNoticed) {
  ask_for_later();
  EXPECT_EQ(gone, 0);
  client->say_goodbye();
  client.reset();
  EXPECT_TRUE(is_noticed());
}

TEST_F(TlsLeaving, AClientThatOnlySaysGoodbyeIsNoticedAndCanStillReadItsAnswer) {
  ask_for_later();
  client->say_goodbye();
  ASSERT_TRUE(is_noticed());
  later.front()({.body = "what there was"});
  EXPECT_THAT(client->answer_ending_with("was"), EndsWith("what there was"));
}

TEST_F(TlsLeaving, AClientThatOnlyEndsTheConnectionIsNoticedAndCanStillReadItsAnswer) {
  ask_for_later();
  client->wire().no_more();
  ASSERT_TRUE(is_noticed());
  later.front()({.body = "what there was"});
  EXPECT_THAT(client->answer_ending_with("was"), EndsWith("what there was"));
}

TEST_F(TlsLeaving, AClientThatBreaksOffIsNoticed) {
  ask_for_later();
  client->wire().break_off();
  client.reset();
  EXPECT_TRUE(is_noticed());
}

TEST_F(TlsLeaving, AClientThatSendsTheNextRequestHasNotLeftUntilItDoes) {
  ask_for_later();
  client->send(get("/next"));
  later.front()({.body = "first"});
  EXPECT_THAT(client->answer_ending_with("first"), EndsWith("first"));
  EXPECT_THAT(client->answer_ending_with("/next"), EndsWith("/next"));
  EXPECT_EQ(gone, 0);

  later.clear();
  ask_for_later();
  client->send(get("/next"));
  client->say_goodbye();
  EXPECT_TRUE(is_noticed());
}

TEST_F(TlsLeaving, AConnectionGoesOnAfterAnAnswerThatTookLong) {
  for (const char* body : {"one", "two", "three"}) {
    ask_for_later();
    later.front()({.body = body});
    EXPECT_THAT(client->answer_ending_with(body), EndsWith(body));
    later.clear();
  }
  client->send(get("/next"));
  EXPECT_THAT(client->answer_ending_with("/next"), EndsWith("/next"));
  EXPECT_EQ(gone, 0);
}

}  // namespace
}  // namespace easyretry::http
