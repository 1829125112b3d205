// The devices that programs are compiled for: those of a daemon, or those that a daemon would have.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/pjrt/abi/topology.h"
#include "client/pjrt/devices/device.h"

namespace hlod::pjrt {

class Topology {
 public:
  // The topology of a client, to whose devices the descriptions belong.
  explicit Topology(std::string_view daemon);
  void Add(DeviceDescription& description) { descriptions_.push_back(&description); }

  // A topology without a daemon. The number of devices is that of the option "devices" (a number), or the
  // product in `name` or the option "topology": "8", "2x4". INVALID_ARGUMENT when no number is stated.
  static absl::StatusOr<std::unique_ptr<Topology>> Create(std::string_view name,
                                                          absl::Span<const abi::NamedValue> options);
  // Reads what Serialize wrote.
  static absl::StatusOr<std::unique_ptr<Topology>> Deserialize(std::string_view bytes);
  std::string Serialize() const;

  bool belongs_to_client() const { return own_.empty(); }
  const std::string& version() const { return version_; }
  const std::vector<DeviceDescription*>& descriptions() const { return descriptions_; }

 private:
  Topology(std::string version, std::string kind, int devices);

  const std::string version_;
  std::deque<DeviceDescription> own_;  // Empty for the topology of a client.
  std::vector<DeviceDescription*> descriptions_;
};

}  // namespace hlod::pjrt
