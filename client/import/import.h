// StableHLO into HLO modules.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "common/hlo/module.h"

namespace hlod::stablehlo {

// The program as an HLO module, verified: its public function (or @main) is the entry. Errors name the
// operation, its place and what it is that HLO has no form for.
absl::StatusOr<std::unique_ptr<hlo::Module>> ToHlo(const Program& program);

}  // namespace hlod::stablehlo

namespace hlod {

// A module in whatever form the bytes have: HLO proto (HloModuleProto, HloProto), HLO text, StableHLO text, a
// StableHLO artifact.
absl::StatusOr<std::unique_ptr<hlo::Module>> ReadModule(std::string_view bytes);

}  // namespace hlod
