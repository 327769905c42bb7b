#include "storage/sqlite/network_filesystem.h"

#include <algorithm>
#include <array>

namespace easyretry::storage::sqlite {
namespace {

struct Known {
  std::uint32_t magic;
  std::string_view name;
};

// From linux/magic.h where it has them, else from the file systems' own sources.
constexpr std::array kKnown{
    Known{0x00006969, "NFS"},      Known{0x0000517B, "SMB"},    Known{0xFF534D42, "CIFS"},
    Known{0xFE534D42, "SMB"},      Known{0x01021997, "9P"},     Known{0x65735546, "FUSE"},
    Known{0x00C36400, "Ceph"},     Known{0x5346414F, "AFS"},    Known{0x6B414653, "AFS"},
    Known{0x0BD00BD0, "Lustre"},   Known{0x73757245, "Coda"},   Known{0x0000564C, "NCP"},
    Known{0x01161970, "GFS2"},     Known{0x7461636F, "OCFS2"},  Known{0x47504653, "GPFS"},
    Known{0x20030528, "OrangeFS"}, Known{0x19830326, "BeeGFS"}, Known{0x786F4256, "vboxsf"},
    Known{0xBACBACBC, "vmhgfs"},
};

}  // namespace

std::string_view network_filesystem(std::uint32_t magic) {
  const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.magic == magic; });
  return found == kKnown.end() ? std::string_view{} : found->name;
}

}  // namespace easyretry::storage::sqlite
