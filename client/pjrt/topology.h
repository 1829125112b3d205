// The devices of a daemon, described.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/pjrt/abi/topology.h"

namespace hlod::pjrt {

class Topology {
 public:
  explicit Topology(std::string version) : version_(std::move(version)) {}
  // The description belongs to the device.
  void Add(DeviceDescription& description) { descriptions_.push_back(&description); }

  const std::string& version() const { return version_; }
  const std::vector<DeviceDescription*>& descriptions() const { return descriptions_; }

 private:
  const std::string version_;
  std::vector<DeviceDescription*> descriptions_;
};

}  // namespace hlod::pjrt
