#include "fake_nacos/fake_nacos.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include <grpcpp/grpcpp.h>

#include "fake_nacos/fake_http_naming.h"
#include "fake_nacos/fake_services.h"
#include "fake_nacos/service.grpc.pb.h"

namespace easyretry::test {
namespace {

using nlohmann::json;
using Stream = grpc::ServerReaderWriter<Payload, Payload>;

Payload payload(const FakeAnswer& answer) {
  Payload result;
  result.mutable_metadata()->set_type(answer.type);
  result.mutable_body()->set_value(answer.body.dump());
  return result;
}

std::shared_ptr<grpc::ServerCredentials> credentials(const FakeNacosOptions& options) {
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions ssl{options.client_ca.empty()
                                            ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                            : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY};
  ssl.pem_root_certs = options.client_ca;
  ssl.pem_key_cert_pairs = {{options.key, options.certificate}};
  return grpc::SslServerCredentials(ssl);
}

}  // namespace

class FakeNacos::Impl final : public Request::Service, public BiRequestStream::Service {
  const FakeNacosOptions options_;

 public:
  explicit Impl(FakeNacosOptions options) : options_(std::move(options)) {
    start();
    if (!options_.http.empty()) start_http();
  }
  ~Impl() override { stop(); }

  void start_http() {
    const auto answer_http = [this](const FakeHttp::Seen& asked) {
      const std::lock_guard lock{mutex};
      by_http.push_back(asked.method + " " + asked.path);
      http_naming.token = token;
      return http_naming.answer(asked);
    };
    http_ = std::make_unique<FakeHttp>(answer_http, http_port_);
    http_port_ = http_->port();
  }
  void stop_http() { http_.reset(); }

  void start() {
    grpc::ServerBuilder builder;
    int chosen = 0;
    builder.AddListeningPort(options_.ip + ":" + std::to_string(port_), credentials(options_), &chosen);
    builder.RegisterService(static_cast<Request::Service*>(this));
    builder.RegisterService(static_cast<BiRequestStream::Service*>(this));
    server_ = builder.BuildAndStart();
    if (!server_ || chosen == 0) throw std::runtime_error("the fake Nacos cannot listen");
    port_ = chosen;
  }

  void stop() {
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  grpc::Status request(grpc::ServerContext* context, const Payload* in, Payload* out) override {
    std::unique_lock lock{mutex};
    note(*context, *in);
    const std::string type = in->metadata().type();
    if (ignored[type] > 0) {
      --ignored[type];
      while (!context->IsCancelled()) never_.wait_for(lock, std::chrono::milliseconds{5});
      return grpc::Status::CANCELLED;
    }
    *out = payload(answer(context->peer(), type, *in));
    return grpc::Status::OK;
  }

  grpc::Status requestBiStream(grpc::ServerContext* context, Stream* stream) override {
    const std::string peer = context->peer();  // read it now: it is unknown after the stream has ended
    for (Payload in; stream->Read(&in);) {
      const std::lock_guard lock{mutex};
      note(*context, in);
      if (in.metadata().type() != "ConnectionSetupRequest") continue;
      if (end_new_streams) return grpc::Status::OK;
      if (!leave_unconfirmed) set_up(*context, *stream, json::parse(in.body().value()));
    }
    const std::lock_guard lock{mutex};
    services.leave(peer);
    open.erase(peer);
    return grpc::Status::OK;
  }

  nacos::ServerAddress address() const {
    return {.host = options_.ip, .port = http_port_ != 0 ? http_port_ : nacos::kHttpPort, .grpc_port = port_};
  }

  std::mutex mutex;
  // Guarded by mutex
  bool starting = false, end_new_streams = false, leave_unconfirmed = false;
  std::string token;
  std::map<std::string, std::vector<int>> planned;  // codes of the next answers, by type
  std::map<std::string, int> ignored;               // how many, by type
  std::vector<Seen> seen;
  std::map<std::string, grpc::ServerContext*> open;  // by peer
  FakeServices services;
  FakeHttpNaming http_naming{services, options_.http};
  std::vector<std::string> by_http;

 private:
  void note(const grpc::ServerContext& context, const Payload& in) {
    const auto& headers = in.metadata().headers();
    seen.push_back({context.peer(), in.metadata().type(), in.body().value(), {headers.begin(), headers.end()}});
  }

  void set_up(grpc::ServerContext& context, Stream& stream, const json& setup) {
    const auto send = [&stream](const std::string& type, const json& body) { stream.Write(payload({type, body})); };
    open[context.peer()] = &context;
    services.join(context.peer(), setup.at("labels").value("module", ""), send);
    if (options_.confirms && setup.contains("abilityTable"))
      send("SetupAckRequest", {{"abilityTable", json::object()}});
  }

  FakeAnswer answer(const std::string& peer, const std::string& type, const Payload& in) {
    if (type == "ServerCheckRequest") return server_check(peer);
    if (auto& codes = planned[type]; !codes.empty()) {
      const int code = codes.back();
      codes.pop_back();
      return fake_failure(type, code);
    }
    const auto given = in.metadata().headers().find("accessToken");
    const bool known = given != in.metadata().headers().end() && given->second == token;
    if (!token.empty() && !known && type != "HealthCheckRequest") return fake_failure(type, 403);
    return services.answer(peer, type, json::parse(in.body().value()));
  }

  FakeAnswer server_check(const std::string& peer) const {
    if (starting) return fake_failure("ServerCheckRequest", 300);
    json body{{"resultCode", 200}, {"connectionId", peer}};
    if (options_.confirms) body["supportAbilityNegotiation"] = true;
    return {"ServerCheckResponse", body};
  }

  int port_ = 0;
  int http_port_ = 0;
  std::condition_variable never_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<FakeHttp> http_;
};

FakeNacos::FakeNacos(FakeNacosOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
FakeNacos::~FakeNacos() = default;

nacos::ServerAddress FakeNacos::address() const {
  return impl_->address();
}

void FakeNacos::stop() {
  impl_->stop();
}

void FakeNacos::start() {
  impl_->start();
}

void FakeNacos::stop_http() {
  impl_->stop_http();
}

void FakeNacos::start_http() {
  impl_->start_http();
}

void FakeNacos::forget_http() {
  const std::lock_guard lock{impl_->mutex};
  impl_->http_naming.forget_instances();
}

std::vector<std::string> FakeNacos::seen_by_http() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->by_http;
}

void FakeNacos::be_starting(bool starting) {
  const std::lock_guard lock{impl_->mutex};
  impl_->starting = starting;
}

void FakeNacos::end_new_streams(bool end) {
  const std::lock_guard lock{impl_->mutex};
  impl_->end_new_streams = end;
}

void FakeNacos::leave_unconfirmed(bool unconfirmed) {
  const std::lock_guard lock{impl_->mutex};
  impl_->leave_unconfirmed = unconfirmed;
}

void FakeNacos::want_token(std::string token) {
  const std::lock_guard lock{impl_->mutex};
  impl_->token = std::move(token);
}

void FakeNacos::hold_pushes(bool hold) {
  const std::lock_guard lock{impl_->mutex};
  impl_->services.hold_pushes = hold;
}

void FakeNacos::answer_with(const std::string& type, int code, int times) {
  const std::lock_guard lock{impl_->mutex};
  impl_->planned[type].assign(static_cast<std::size_t>(times), code);
}

void FakeNacos::ignore(const std::string& type, int times) {
  const std::lock_guard lock{impl_->mutex};
  impl_->ignored[type] = times;
}

void FakeNacos::send(const std::string& type, const std::string& body) {
  const std::lock_guard lock{impl_->mutex};
  impl_->services.send_to_all(type, json::parse(body));
}

void FakeNacos::end_streams() {
  const std::lock_guard lock{impl_->mutex};
  for (const auto& [peer, context] : impl_->open) context->TryCancel();
}

void FakeNacos::forget_clients() {
  const std::lock_guard lock{impl_->mutex};
  for (const auto& [peer, context] : impl_->open) impl_->services.leave(peer);
}

void FakeNacos::set_config(const std::string& data_id, const std::string& content) {
  const std::lock_guard lock{impl_->mutex};
  impl_->services.set_config(data_id, content);
}

void FakeNacos::remove_config(const std::string& data_id) {
  const std::lock_guard lock{impl_->mutex};
  impl_->services.remove_config(data_id);
}

std::vector<FakeNacos::Seen> FakeNacos::seen(const std::string& type) const {
  const std::lock_guard lock{impl_->mutex};
  std::vector<Seen> found;
  for (const Seen& one : impl_->seen) {
    if (one.type == type) found.push_back(one);
  }
  return found;
}

std::size_t FakeNacos::clients() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->services.clients();
}

std::vector<std::string> FakeNacos::instances(const std::string& service) const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->services.instances("public/DEFAULT_GROUP/" + service);
}

std::string FakeNacos::config(const std::string& data_id) const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->services.config(data_id);
}

}  // namespace easyretry::test
