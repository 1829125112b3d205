// Names a machine by its kernel's boot, and the part of it in which an abstract name is known by the network
// namespace.
#include "client/runtime/cluster/private_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/base/text/strings.h"
#include "common/rpc/secret.h"

namespace hlod::runtime {

PrivatePlace PlaceOnThisMachine() {
  const rpc::Secret secret = rpc::Secret::Random();
  PrivatePlace place;
  place.address = absl::StrCat(
      "unix:@hlod-", absl::BytesToHexString(ToAbsl(std::string_view(secret.bytes()).substr(0, 16))));
  const absl::StatusOr<std::string> boot = ReadFile("/proc/sys/kernel/random/boot_id");
  struct stat network = {};
  if (stat("/proc/self/ns/net", &network) != 0) network = {};
  place.machine = absl::StrCat(boot.ok() ? absl::StripAsciiWhitespace(*boot) : "", "/", network.st_ino,
                               "/user-", geteuid());
  return place;
}

std::string WriteCoordinator(const PrivatePlace& place) {
  return absl::StrCat(place.address, " ", place.machine);
}

absl::StatusOr<std::string> CoordinatorFor(const PrivatePlace& place, const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  const bool is_private = words.size() == 2 && absl::StartsWith(words[0], "unix:@");
  if (is_private && words[1] == place.machine) return words[0];
  return FailedPrecondition(
      "This process is to have a private daemon, and process 0 has %s. Private daemons meet only if all "
      "processes are of one user on one machine; else start daemons that form a cluster (hlod --cluster) and "
      "give each process the address of its own (HLOD_ADDRESS).",
      is_private ? "one on another machine, in another network namespace, or of another user"
                 : "a daemon that was running");
}

}  // namespace hlod::runtime
