#include "nacos/connection.h"

#include <condition_variable>
#include <deque>
#include <fstream>
#include <future>
#include <mutex>
#include <set>
#include <sstream>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include "nacos/server_address.h"
#include "nacos/wire.pb.h"

namespace easyretry::nacos {
namespace {

using Stub = grpc::TemplatedGenericStub<wire::Payload, wire::Payload>;

constexpr int kMostBytes = 10 * 1024 * 1024;     // the server's own limit
constexpr int kKeepaliveMillis = 6 * 60 * 1000;  // the server tolerates a ping every five minutes
constexpr int kKeepaliveTimeoutMillis = 20 * 1000;

std::string content_of(const std::string& file) {
  if (file.empty()) return {};
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const ClientOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials(
      {content_of(options.tls->ca_file), content_of(options.tls->key_file), content_of(options.tls->certificate_file)});
}

std::shared_ptr<grpc::Channel> make_channel(const ServerAddress& server, const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  // Otherwise channels to the same server would share a TCP connection, and with it their identity.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(kMostBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMillis);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMillis);
  if (options.tls && !options.tls->server_name.empty()) arguments.SetSslTargetNameOverride(options.tls->server_name);
  return grpc::CreateCustomChannel(grpc_target(server), channel_credentials(options), arguments);
}

wire::Payload payload_of(const Message& message, const std::string& client_ip) {
  wire::Payload payload;
  payload.mutable_metadata()->set_type(message.type);
  payload.mutable_metadata()->set_client_ip(client_ip);
  payload.mutable_metadata()->mutable_headers()->insert(message.headers.begin(), message.headers.end());
  payload.mutable_body()->set_value(message.body);
  return payload;
}

Message message_of(const wire::Payload& payload) {
  return {payload.metadata().type(),
          payload.body().value(),
          {payload.metadata().headers().begin(), payload.metadata().headers().end()}};
}

// Counts the gRPC operations that hold the channel. They release it on gRPC's own threads. The last release joins those
// threads, so it must not happen on one of them: ~Connection() waits until no operation is left.
class ChannelUsers {
 public:
  void wait_for_none() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return count_ == 0; });
  }

  class Guard {
   public:
    explicit Guard(std::shared_ptr<ChannelUsers> users) : users_(std::move(users)) { users_->add(1); }
    ~Guard() { users_->add(-1); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    const std::shared_ptr<ChannelUsers> users_;
  };

 private:
  void add(int change) {
    const std::lock_guard lock{mutex_};
    count_ += change;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;  // guarded by mutex_
};

// Keeps itself alive until gRPC has called OnDone.
class Stream final : public grpc::ClientBidiReactor<wire::Payload, wire::Payload>,
                     public std::enable_shared_from_this<Stream> {
 public:
  Stream(StreamListener listener, const std::shared_ptr<ChannelUsers>& users)
      : user_(users), listener_(std::move(listener)) {}

  void open(Stub& stub) {
    self_ = shared_from_this();
    stub.PrepareBidiStreamingCall(&context_, "/BiRequestStream/requestBiStream", {}, this);
    AddHold();  // for writes, which are started by other threads
    StartRead(&incoming_);
    StartCall();
  }

  void send(wire::Payload payload) {
    const std::lock_guard lock{write_mutex_};
    if (ended_) return;
    outgoing_.push_back(std::move(payload));
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }

  void close() {
    {
      const std::lock_guard lock{listener_mutex_};
      listener_ = {};
    }
    context_.TryCancel();
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) {
      {
        const std::lock_guard lock{write_mutex_};
        ended_ = true;
      }
      RemoveHold();
      return;
    }
    {
      const std::lock_guard lock{listener_mutex_};
      if (listener_.on_message) listener_.on_message(message_of(incoming_));
    }
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock{write_mutex_};
    outgoing_.pop_front();
    if (ok && !ended_ && !outgoing_.empty()) StartWrite(&outgoing_.front());
  }

  void OnDone(const grpc::Status& status) override {
    {
      const std::lock_guard lock{listener_mutex_};
      if (listener_.on_end) {
        listener_.on_end(status.ok() ? "the server ended the stream" : status.error_message());
      }
    }
    self_.reset();
  }

  const ChannelUsers::Guard user_;  // declared before the context, which holds the channel
  grpc::ClientContext context_;
  wire::Payload incoming_;
  std::shared_ptr<Stream> self_;

  std::mutex write_mutex_;
  // Guarded by write_mutex_
  std::deque<wire::Payload> outgoing_;  // the first is being written
  bool ended_ = false;

  std::mutex listener_mutex_;  // held while the listener is called
  StreamListener listener_;    // guarded by listener_mutex_
};

struct Call {
  explicit Call(const std::shared_ptr<ChannelUsers>& users) : user(users) {}

  const ChannelUsers::Guard user;  // declared before the context, which holds the channel
  grpc::ClientContext context;
  wire::Payload request;
  wire::Payload reply;
  std::promise<grpc::Status> done;
};

Error error_of(const grpc::Status& status, const Message& request) {
  return {Errc::in_doubt, "nacos." + request.type, "no answer: " + status.error_message()};
}

}  // namespace

struct Connection::Impl {
  Impl(const ServerAddress& server, const ClientOptions& options)
      : client_ip(options.client_ip.empty() ? local_ip_towards(server) : options.client_ip),
        stub(make_channel(server, options)) {}

  bool enter(const std::shared_ptr<Call>& call) {
    const std::lock_guard lock{mutex};
    return !closed && calls.insert(call).second;
  }

  void leave(const std::shared_ptr<Call>& call) {
    const std::lock_guard lock{mutex};
    calls.erase(call);
  }

  // Fixed after construction
  const std::string client_ip;
  Stub stub;
  const std::shared_ptr<ChannelUsers> users = std::make_shared<ChannelUsers>();

  std::mutex mutex;
  // Guarded by mutex
  bool closed = false;
  std::set<std::shared_ptr<Call>> calls;
  std::shared_ptr<Stream> stream;
};

Connection::Connection(const ServerAddress& server, const ClientOptions& options)
    : impl_(std::make_unique<Impl>(server, options)) {}

Connection::~Connection() {
  close();
  impl_->users->wait_for_none();
}

Result<Message> Connection::call(const Message& request, Millis timeout) {
  auto call = std::make_shared<Call>(impl_->users);
  call->context.set_deadline(std::chrono::system_clock::now() + timeout);
  call->request = payload_of(request, impl_->client_ip);
  if (!impl_->enter(call)) return fail(Errc::unavailable, "nacos." + request.type, "the connection was closed");
  impl_->stub.UnaryCall(&call->context, "/Request/request", {}, &call->request, &call->reply,
                        [call](grpc::Status status) { call->done.set_value(std::move(status)); });
  const grpc::Status status = call->done.get_future().get();
  impl_->leave(call);
  if (!status.ok()) return tl::make_unexpected(error_of(status, request));
  return message_of(call->reply);
}

void Connection::open_stream(StreamListener listener) {
  auto stream = std::make_shared<Stream>(std::move(listener), impl_->users);
  {
    const std::lock_guard lock{impl_->mutex};
    if (impl_->closed) return;
    impl_->stream = stream;
    stream->open(impl_->stub);
  }
}

void Connection::send(const Message& message) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock{impl_->mutex};
    stream = impl_->stream;
  }
  if (stream) stream->send(payload_of(message, impl_->client_ip));
}

void Connection::close() {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock{impl_->mutex};
    impl_->closed = true;
    for (const auto& call : impl_->calls) call->context.TryCancel();
    stream = std::move(impl_->stream);
  }
  if (stream) stream->close();
}

}  // namespace easyretry::nacos
