// A daemon's parts of launches that do nothing, for tests of the machine that gives them orders.
#pragma once

#include "server/fabric/work.h"

namespace hlod::fabric {

struct NoWork : Work {
  void Prepare(const v1::PrepareLaunch&, uint64_t) override {}
  void Release(const v1::LaunchId&, const absl::Status&) override {}
  void Start(const v1::LaunchId&) override {}
  void Cancel(const v1::LaunchId&, const absl::Status&) override {}
  void OnOver(uint64_t, bool, const absl::Status&) override {}
  void OnOfferRefused(uint64_t, uint64_t, const v1::LaunchId&, const absl::Status&) override {}
};

}  // namespace hlod::fabric
