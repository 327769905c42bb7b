#pragma once
// What an instance is called: host, process and something random, so that a restarted one is not taken for its former
// self.

#include <string>
#include <string_view>

namespace easyretry::cluster {

std::string make_node();

// It ran on the host of `self` and its process is no more: whoever was killed and started again need not wait until its
// former self is taken for dead. Where two hosts have one name this may be wrong, and costs some reading in vain.
bool died_here(std::string_view node, std::string_view self);

}  // namespace easyretry::cluster
