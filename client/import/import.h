// StableHLO into HLO modules.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "common/hlo/module.h"

namespace hlod::stablehlo {

struct ConvertOptions {
  // The shapes of the entry's arguments, for a program with unknown dimensions (tensor<?xf32>); empty: those
  // of its types.
  std::vector<Type> arguments;
};

// The program as an HLO module, verified: its public function (or @main) is the entry. Errors name the
// operation, its place and what it is that HLO has no form for.
absl::StatusOr<std::unique_ptr<hlo::Module>> ToHlo(const Program& program,
                                                   const ConvertOptions& options = {});

}  // namespace hlod::stablehlo

namespace hlod {

// A module in whatever form the bytes have: HLO proto (HloModuleProto, HloProto), HLO text, StableHLO text.
// UNIMPLEMENTED for StableHLO's bytecode.
absl::StatusOr<std::unique_ptr<hlo::Module>> ReadModule(std::string_view bytes);

}  // namespace hlod
