#pragma once
// The data and the answers of the fake Nacos, without the network. For one thread at a time.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace easyretry::test {

struct FakeAnswer {
  std::string type;
  nlohmann::json body;
};

FakeAnswer fake_failure(const std::string& type, int code);

class FakeServices {
 public:
  using Send = std::function<void(const std::string& type, const nlohmann::json& body)>;

  void join(const std::string& peer, const std::string& module, Send send);
  void leave(const std::string& peer);
  void leave_all(const std::function<bool(const std::string& peer)>& which);
  bool knows(const std::string& peer) const { return clients_.contains(peer); }
  std::size_t clients() const { return clients_.size(); }

  FakeAnswer answer(const std::string& peer, const std::string& type, const nlohmann::json& body);

  void send_to_all(const std::string& type, const nlohmann::json& body);
  void set_config(const std::string& data_id, const std::string& content);
  void remove_config(const std::string& data_id);
  std::string config(const std::string& data_id) const;
  nlohmann::json hosts(const std::string& service) const;
  std::vector<std::string> instances(const std::string& service) const;

  bool hold_pushes = false;

 private:
  struct Client {
    std::string module;
    Send send;
    std::map<std::string, nlohmann::json> instances{};  // by service
    std::set<std::string> subscribed{};
    std::set<std::string> listening{};
  };

  nlohmann::json naming_answer(Client& client, const std::string& type, const nlohmann::json& body);
  nlohmann::json config_answer(Client& client, const std::string& type, const nlohmann::json& body);
  nlohmann::json listen(Client& client, const nlohmann::json& body);
  nlohmann::json service_info(const std::string& service);
  std::string md5_of(const std::string& data_id) const;
  void push(const std::string& service);
  void push_config(const std::string& data_id);
  void send(Client& client, const std::string& type, nlohmann::json body);

  std::map<std::string, Client> clients_;  // by peer
  std::map<std::string, std::string> configs_;
  int last_request_ = 0;
  std::int64_t clock_ = 1'700'000'000'000;
};

}  // namespace easyretry::test
