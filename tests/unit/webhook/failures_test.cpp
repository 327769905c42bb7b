// The errors if there is no answer, and whether the handler may have run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "unit/webhook/raw_server.h"
#include "unit/webhook/support.h"

namespace easyretry::webhook {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Failures : public testing::Test {
 protected:
  // The error; expects that there is no answer.
  std::string said(Call call, Errc code) {
    const CallResult heard = hear(caller, std::move(call));
    if (heard) return words(heard);
    EXPECT_EQ(to_string(heard.error().code), to_string(code)) << heard.error().detail;
    return heard.error().detail;
  }

  HandlerServer server;
  Caller caller{loopback_allowed()};
};

// A reserved port on which nothing listens.
class SilentPort {
 public:
  SilentPort() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~SilentPort() {
    for (const int socket : {socket_, clients_[0], clients_[1]}) ::close(socket);
  }
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;

  // From now on the kernel does not answer connection attempts: one connection waits to be accepted, and the backlog is
  // full.
  void be_full() {
    ::listen(socket_, 0);
    for (const int client : clients_) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(port_);
      ::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  const int socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  const std::array<int, 2> clients_{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
                                    ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
  std::uint16_t port_ = 0;
};

TEST_F(Failures, ToConnectNameTheServer) {
  const SilentPort nobody;
  EXPECT_THAT(said({.url = nobody.url() + "pay?token=s3cret"}, Errc::unavailable),
              AllOf(HasSubstr("could not connect to 127.0.0.1:"), HasSubstr("Connection refused"), HasSubstr("/***: "),
                    Not(HasSubstr("s3cret"))));
}

TEST_F(Failures, ForLackOfFileDescriptorsSaySo) {
  ASSERT_TRUE(hear(caller, {.url = server.url()}));
  const SilentPort other;
  const int free = ::dup(0);
  ::close(free);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{static_cast<rlim_t>(free), before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const std::string text = said({.url = other.url()}, Errc::unavailable);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(text, HasSubstr("Too many open files"));
}

TEST_F(Failures, ToConnectInTimeLeaveNothingInDoubt) {
  SilentPort full;
  full.be_full();
  CallerOptions hasty = loopback_allowed();
  hasty.connect_within = 100ms;
  Caller other{hasty};
  const CallResult heard = hear(other, {.url = full.url()});
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, Errc::unavailable);
  EXPECT_THAT(heard.error().detail, AllOf(HasSubstr("no connection to 127.0.0.1:"), HasSubstr("within 100ms")));
  EXPECT_THAT(said({.url = full.url(), .timeout = 100ms}, Errc::unavailable),
              AllOf(HasSubstr("timed out after 100ms"), HasSubstr("there was no connection to 127.0.0.1:")));
}

TEST_F(Failures, ToAnswerInTimeAreInDoubt) {
  EXPECT_THAT(said({.url = server.url("/later"), .timeout = 100ms}, Errc::in_doubt),
              AllOf(HasSubstr("timed out after 100ms"), HasSubstr("the request was sent, and no answer had arrived")));
}

TEST_F(Failures, InTheMiddleOfARequestAreInDoubt) {
  RawServer dying{[](const Wire& wire) { wire.hear(); }};
  EXPECT_THAT(said({.url = dying.url(), .body = std::string(20'000'000, 'x')}, Errc::in_doubt),
              HasSubstr("ended before the answer was complete"));
}

TEST_F(Failures, InTheMiddleOfAnAnswerSayHowMuchCame) {
  RawServer dying{[](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
  }};
  EXPECT_THAT(said({.url = dying.url()}, Errc::in_doubt),
              AllOf(HasSubstr("ended before the answer was complete"), HasSubstr("10 bytes of it arrived")));
}

TEST_F(Failures, InTheMiddleOfAChunkAreNoAnswer) {
  RawServer dying{[](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
  }};
  EXPECT_THAT(said({.url = dying.url()}, Errc::in_doubt), HasSubstr("ended before the answer was complete"));
}

TEST_F(Failures, OfASlowAnswerSayHowMuchCame) {
  std::promise<void> end;
  RawServer slow{[&](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
    end.get_future().wait();
  }};
  EXPECT_THAT(said({.url = slow.url(), .timeout = 300ms}, Errc::in_doubt),
              AllOf(HasSubstr("timed out"), HasSubstr("10 bytes of an answer had arrived")));
  end.set_value();
}

TEST_F(Failures, OfAConnectionThatEndsSilentlyAreInDoubt) {
  RawServer mute{[](const Wire& wire) { wire.hear(); }};
  EXPECT_THAT(said({.url = mute.url()}, Errc::in_doubt), HasSubstr("ended before the answer was complete (0 bytes"));
}

TEST_F(Failures, ToSpeakHttpAreReported) {
  RawServer ssh{[](const Wire& wire) { wire.say("SSH-2.0-OpenSSH_9.2\r\n"); }};
  EXPECT_THAT(said({.url = ssh.url()}, Errc::in_doubt), HasSubstr("the answer is not HTTP/1.1"));
  RawServer odd{[](const Wire& wire) {
    wire.hear();
    wire.say("HTTP/1.1 nonsense\r\n\r\n");
  }};
  EXPECT_THAT(said({.url = odd.url()}, Errc::in_doubt), HasSubstr("the answer is not HTTP/1.1"));
}

// A request that the handler may have seen is sent only once per attempt.
TEST_F(Failures, AreNotRetriedSilently) {
  RawServer mute{[](const Wire& wire) { wire.hear(); }};
  said({.url = mute.url()}, Errc::in_doubt);
  EXPECT_EQ(mute.connections(), 1);
}

// The server may have been about to close the connection, or the handler may have died with the call.
TEST_F(Failures, OfAKeptConnectionThatEndsSilentlyAreInDoubtAndNotRetriedSilentlyEither) {
  std::atomic<int> calls{0};
  RawServer forgetful{[&](const Wire& wire) {
    const auto take_call = [&] {
      wire.hear();
      if (!wire.hear().empty()) ++calls;
    };
    take_call();
    wire.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    take_call();
  }};
  const Call pay{.url = forgetful.url(), .body = "pay\r\n\r\n"};
  ASSERT_TRUE(hear(caller, pay));
  EXPECT_THAT(said(pay, Errc::in_doubt), HasSubstr("was closed without an answer; the call may have arrived"));
  EXPECT_EQ(calls, 2);
}

TEST_F(Failures, OfInvalidCallsSendNothing) {
  const std::string url = server.url();
  EXPECT_THAT(said({.url = "ftp://h.example/"}, Errc::invalid_argument), HasSubstr("neither http:// nor https://"));
  EXPECT_THAT(said({.url = "https://joe:s3cret@h.example/"}, Errc::invalid_argument), Not(HasSubstr("s3cret")));
  EXPECT_THAT(said({.url = url, .headers = {{"x-key", "a\r\nx-admin: yes"}}}, Errc::invalid_argument),
              HasSubstr("contains a line break"));
  EXPECT_THAT(said({.url = url, .headers = {{"Content-Length", "5"}}}, Errc::invalid_argument),
              HasSubstr("must not be set"));
  for (const Millis timeout : {Millis{0}, Millis{-1}, Millis::min(), Millis::max(), Millis{25h}}) {
    EXPECT_THAT(said({.url = url, .timeout = timeout}, Errc::invalid_argument), HasSubstr("at most 24 hours"));
  }
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(Failures, ToFindAHostSayItsName) {
  EXPECT_THAT(said({.url = "http://no..host/"}, Errc::invalid_argument), HasSubstr("no host that can be called"));
  CallerOptions options = loopback_allowed();
  options.look_up = [](const std::string& host) { return look_up_here(host + ".."); };  // so that the test needs no DNS
  Caller lost{options};
  const CallResult heard = hear(lost, {.url = "http://nowhere.example/"});
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, Errc::unavailable);
  EXPECT_THAT(heard.error().detail, AllOf(HasSubstr("http://nowhere.example/: "), HasSubstr("nowhere.example")));
}

TEST(Options, ThatAreInvalidAreRefused) {
  const auto refusal = [](auto change) -> std::string {
    CallerOptions options;
    change(options);
    try {
      Caller{options};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal([](auto& options) { options.most_calls = 0; }), HasSubstr("most_calls"));
  EXPECT_THAT(refusal([](auto& options) { options.most_per_server = 0; }), HasSubstr("most_per_server"));
  EXPECT_THAT(refusal([](auto& options) { options.connect_within = 0ms; }), HasSubstr("connect_within"));
  EXPECT_THAT(refusal([](auto& options) { options.most_calls = 1'000'001; }), HasSubstr("most_calls"));
  EXPECT_THAT(refusal([](auto& options) { options.connect_within = Millis::max(); }), HasSubstr("connect_within"));
  EXPECT_THAT(refusal([](auto& options) { options.keep_idle = -1ms; }), HasSubstr("keep_idle"));
  EXPECT_THAT(refusal([](auto& options) { options.keep_idle = Millis::max(); }), HasSubstr("keep_idle"));
  EXPECT_THAT(refusal([](auto& options) { options.look_up = nullptr; }), HasSubstr("look_up"));
  EXPECT_THAT(refusal([](auto& options) { options.ca_file = "/nowhere.pem"; }), HasSubstr("ca_file /nowhere.pem"));
  EXPECT_THAT(refusal([](auto& options) { options.ca_file = "/dev/null"; }), HasSubstr("no readable PEM certificates"));
}

}  // namespace
}  // namespace easyretry::webhook
