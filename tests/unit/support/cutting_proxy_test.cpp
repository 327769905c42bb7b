#include "support/cutting_proxy.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/eventually.h"
#include "support/plain_sql.h"
#include "support/test_database.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

class Wire {  // one end of a TCP connection
 public:
  explicit Wire(int socket) : socket_(socket) {}
  ~Wire() { close(socket_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  static std::unique_ptr<Wire> connect(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    auto wire = std::make_unique<Wire>(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(wire->socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return nullptr;
    return wire;
  }

  void say(const std::string& text) const { (void)!send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

  // Waits for this many bytes; fewer if the other side closes first.
  std::string hear(std::size_t bytes) const {
    std::string text(bytes, '\0');
    std::size_t heard = 0;
    for (ssize_t n = 0; heard < bytes && (n = recv(socket_, text.data() + heard, bytes - heard, 0)) > 0;) {
      heard += static_cast<std::size_t>(n);
    }
    text.resize(heard);
    return text;
  }
  std::string hear_all() const { return hear(1 << 20); }

  bool silent() const {
    pollfd readable{socket_, POLLIN, 0};
    return poll(&readable, 1, 0) == 0;
  }

 private:
  int socket_;
};

class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_, 8);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  std::unique_ptr<Wire> accept() const { return std::make_unique<Wire>(::accept(socket_, nullptr, nullptr)); }

 private:
  int socket_;
  int port_ = 0;
};

struct CuttingProxyTest : ::testing::Test {
  Listener listener;
  CuttingProxy proxy{listener.port()};
  std::unique_ptr<Wire> client = Wire::connect(proxy.port());
  std::unique_ptr<Wire> server = listener.accept();
};

TEST_F(CuttingProxyTest, ForwardsBothWays) {
  client->say("question");
  EXPECT_EQ(server->hear(8), "question");
  server->say("answer");
  EXPECT_EQ(client->hear(6), "answer");
}

TEST_F(CuttingProxyTest, ForwardsMoreThanItHolds) {
  const std::string much(8 << 20, 'x');
  std::thread talker{[&] { client->say(much); }};
  EXPECT_EQ(server->hear(much.size()).size(), much.size());
  talker.join();
}

TEST_F(CuttingProxyTest, PassesOnThatOneSideHasClosed) {
  client->say("last words");
  client.reset();
  EXPECT_EQ(server->hear_all(), "last words");
  server.reset();
  EXPECT_TRUE(eventually([&] { return proxy.open_connections() == 0; }));
}

TEST_F(CuttingProxyTest, CutsAllConnections) {
  proxy.cut_all();
  EXPECT_EQ(client->hear_all(), "");
  EXPECT_EQ(server->hear_all(), "");
  EXPECT_EQ(proxy.open_connections(), 0U);

  const auto next = Wire::connect(proxy.port());
  ASSERT_NE(next, nullptr);
  next->say("again");
  EXPECT_EQ(listener.accept()->hear(5), "again");
}

TEST_F(CuttingProxyTest, RefusesNewConnectionsAndKeepsTheOld) {
  proxy.refuse_new();
  EXPECT_EQ(Wire::connect(proxy.port()), nullptr);
  client->say("still here");
  EXPECT_EQ(server->hear(10), "still here");
  proxy.accept_new();
  EXPECT_NE(Wire::connect(proxy.port()), nullptr);
}

TEST_F(CuttingProxyTest, CutsAfterSoManyBytes) {
  proxy.cut_after(Direction::to_server, 4);
  client->say("commit");
  EXPECT_EQ(server->hear_all(), "comm");
  EXPECT_EQ(client->hear_all(), "");
}

TEST_F(CuttingProxyTest, CutsAfterSoManyBytesOfAReply) {
  proxy.cut_after(Direction::to_client, 3);
  client->say("commit");
  EXPECT_EQ(server->hear(6), "commit");
  server->say("committed");
  EXPECT_EQ(client->hear_all(), "com");
}

TEST_F(CuttingProxyTest, LosesTheReplyToARequestThatArrived) {
  proxy.lose_reply_to("COMMIT");
  client->say("INSERT");
  EXPECT_EQ(server->hear(6), "INSERT");
  server->say("ok");
  EXPECT_EQ(client->hear(2), "ok");

  client->say("COM");
  EXPECT_EQ(server->hear(3), "COM") << "what looks like it is no reason to hold it back";
  client->say("MIT");
  EXPECT_EQ(server->hear_all(), "MIT");
  server->say("done");
  EXPECT_TRUE(client->silent()) << "it must not hear of the cut before the server is through";
  server.reset();
  EXPECT_EQ(client->hear_all(), "");
  EXPECT_TRUE(eventually([&] { return proxy.lost_replies() == 1; }));
}

TEST_F(CuttingProxyTest, FreezesAndThaws) {
  proxy.freeze();
  client->say("hello");
  const auto late = Wire::connect(proxy.port());
  ASSERT_NE(late, nullptr) << "a black hole refuses nothing";
  late->say("me too");
  EXPECT_TRUE(server->silent());

  proxy.thaw();
  EXPECT_EQ(server->hear(5), "hello");
  EXPECT_EQ(listener.accept()->hear(6), "me too");
}

TEST_F(CuttingProxyTest, FreezesOneDirection) {
  proxy.freeze(Direction::to_client);
  client->say("hello");
  EXPECT_EQ(server->hear(5), "hello");
  server->say("who are you?");
  EXPECT_TRUE(client->silent());

  proxy.freeze(Direction::to_server);
  EXPECT_EQ(client->hear(12), "who are you?");
  client->say("me");
  EXPECT_TRUE(server->silent());

  proxy.thaw();
  EXPECT_EQ(server->hear(2), "me");
}

TEST_F(CuttingProxyTest, CanCutAFrozenConnection) {
  proxy.freeze();
  client->say("hello");
  proxy.cut_all();
  EXPECT_EQ(server->hear_all(), "");
}

TEST_F(CuttingProxyTest, DelaysEachWay) {
  proxy.set_latency(20ms);
  const auto start = std::chrono::steady_clock::now();
  client->say("ping");
  EXPECT_EQ(server->hear(4), "ping");
  server->say("pong");
  EXPECT_EQ(client->hear(4), "pong");
  EXPECT_GE(std::chrono::steady_clock::now() - start, 40ms);
}

TEST(CuttingProxy, ClosesWhenThereIsNoServer) {
  auto listener = std::make_unique<Listener>();
  CuttingProxy proxy{listener->port()};
  listener.reset();
  EXPECT_EQ(Wire::connect(proxy.port())->hear_all(), "");
}

// Of twenty connections with a request each: whose reply was lost.
std::vector<bool> losses(std::uint64_t seed) {
  const Listener listener;
  CuttingProxy proxy{listener.port(), seed};
  proxy.lose_replies(0.3);
  std::vector<bool> lost;
  for (int connection = 0; connection < 20; ++connection) {
    const auto client = Wire::connect(proxy.port());
    auto server = listener.accept();
    client->say("?");
    EXPECT_EQ(server->hear(1), "?");
    server->say("!");
    server.reset();
    lost.push_back(client->hear(1).empty());
  }
  return lost;
}

TEST(CuttingProxy, LosesTheSameRepliesForTheSameSeed) {
  const auto first = losses(7);
  EXPECT_EQ(losses(7), first);
  EXPECT_NE(losses(8), first);
}

std::string kind_name(const ::testing::TestParamInfo<ServerKind>& info) {
  return name_of(info.param);
}

// Against the real thing: the client sees a lost connection, and cannot know that its rows are in.
class LostCommit : public ::testing::TestWithParam<ServerKind> {};

INSTANTIATE_TEST_SUITE_P(Shared, LostCommit, ::testing::Values(ServerKind::postgres, ServerKind::mariadb), kind_name);

TEST_P(LostCommit, IsCommittedThoughTheClientSawALostConnection) {
  const int port = shared_server_port(GetParam());
  const TestDatabase database{GetParam()};
  CuttingProxy proxy{port};
  const auto direct = connect_plainly(GetParam(), port, database.name());
  const auto through = connect_plainly(GetParam(), proxy.port(), database.name());
  direct->run("CREATE TABLE t (n INT)");

  proxy.lose_reply_to("COMMIT");
  through->run("BEGIN");
  through->run("INSERT INTO t VALUES (1)");
  EXPECT_EQ(direct->run("SELECT count(*) FROM t"), "0");
  EXPECT_THROW(through->run("COMMIT"), SqlError);
  EXPECT_EQ(direct->run("SELECT count(*) FROM t"), "1");
}

TEST_P(LostCommit, IsNotCommittedIfItWasCutOnItsWay) {
  const int port = shared_server_port(GetParam());
  const TestDatabase database{GetParam()};
  CuttingProxy proxy{port};
  const auto direct = connect_plainly(GetParam(), port, database.name());
  const auto through = connect_plainly(GetParam(), proxy.port(), database.name());
  direct->run("CREATE TABLE t (n INT)");

  through->run("BEGIN");
  through->run("INSERT INTO t VALUES (1)");
  proxy.cut_after(Direction::to_server, 7);
  EXPECT_THROW(through->run("COMMIT"), SqlError);
  EXPECT_EQ(direct->run("SELECT count(*) FROM t"), "0");
}

}  // namespace
}  // namespace easyretry::test
