#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/temp_folder.h"

namespace easyretry::test {

// An authority and the certificates it has signed: a server called nacos.test, one called 127.0.0.1, and a client.
class Certificates {
 public:
  Certificates() {
    const std::string key = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 ";
    run(key + "-subj /CN=authority -keyout ca.key -out ca.crt");
    const std::string by_ca = " -addext basicConstraints=critical,CA:FALSE -CA ca.crt -CAkey ca.key ";
    run(key + "-subj /CN=nacos.test -addext subjectAltName=DNS:nacos.test" + by_ca +
        "-keyout server.key -out server.crt");
    run(key + "-subj /CN=here -addext subjectAltName=IP:127.0.0.1" + by_ca + "-keyout here.key -out here.crt");
    run(key + "-subj /CN=client" + by_ca + "-keyout client.key -out client.crt");
  }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string text(const std::string& name) const {
    std::ifstream in{file(name)};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  void run(const std::string& command) {
    const std::string whole = "cd " + folder_.path().string() + " && " + command + " 2>/dev/null";
    if (std::system(whole.c_str()) != 0) throw std::runtime_error("failed: " + whole);
  }

  TempFolder folder_;
};

}  // namespace easyretry::test
