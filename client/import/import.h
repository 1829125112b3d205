// Modules of any form, StableHLO among them, as HLO modules; and HLO modules as StableHLO.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "common/hlo/module.h"

namespace hlod {

// The sizes of the entry's arguments, by their number: for those of unknown sizes (tensor<?x4xf32>), as
// jax.export writes symbolic shapes. The others have those of their types.
using ArgumentSizes = std::map<size_t, hlo::Dims>;

namespace stablehlo {

// The program as an HLO module, verified: its public function (or @main) is the entry. Errors name the
// operation, its place and what it is that HLO has no form for.
absl::StatusOr<std::unique_ptr<hlo::Module>> ToHlo(const Program& program, const ArgumentSizes& sizes = {});

// The module as the text of a StableHLO program, in MLIR's generic form. Its entry is @main; tuples of
// results are as many results, layouts are not kept. UNIMPLEMENTED naming the first instruction that
// StableHLO (with CHLO) has no operation for; an error of the verifier.
absl::StatusOr<std::string> FromHlo(const hlo::Module& module);

}  // namespace stablehlo

struct ReadOptions {
  // The module is to be run: fields of a proto that are not known, and not known to be cosmetic, are refused;
  // a program whose partitions differ in annotations alone has one, and one that says no number of them as
  // many as its mesh has devices.
  bool for_execution = false;
  ArgumentSizes sizes;  // Of a StableHLO program.
};

// A module in whatever form the bytes have: HLO proto (HloModuleProto, HloProto), HLO text, StableHLO text, a
// StableHLO artifact. Errors in a text begin with "line:column: ". Of StableHLO alone, the module is
// verified.
absl::StatusOr<std::unique_ptr<hlo::Module>> ReadModule(std::string_view bytes,
                                                        const ReadOptions& options = {});

}  // namespace hlod
