// Converts modules of any form, StableHLO among them, to HLO modules; and HLO modules to StableHLO.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"
#include "common/hlo/module.h"

namespace hlod {

// Sizes of the entry's arguments, by argument number, for types with unknown sizes (tensor<?x4xf32>), which
// is how jax.export writes symbolic shapes. The other arguments have the sizes of their types.
using ArgumentSizes = std::map<size_t, hlo::Dims>;
// Elements of integer arguments, by argument number. In a program with unknown sizes they fix the sizes that
// depend on them (the tensor<2xi64> of a dynamic_reshape). The arguments remain parameters.
using ArgumentNumbers = std::map<size_t, std::vector<int64_t>>;

struct ReadOptions {
  // True when the module is to be run. Fields of a proto that are unknown, and not known to be cosmetic, are
  // refused; a program whose partitions differ in annotations alone gets one partition; and one that states
  // no number of partitions gets the number of devices of its mesh.
  bool for_execution = false;
  // True when the module is to be differentiated: StableHLO's special functions become calls with
  // differentiation rules that have the operations' names ("chlo.lgamma", common/hlo/own_derivative.h).
  bool with_rules = false;
  // The next three apply to StableHLO programs.
  ArgumentSizes sizes;
  ArgumentNumbers numbers;
  std::string entry;  // The entry function, without its @; empty: @main, or the only public one.
};

namespace stablehlo {

// Converts the program to an HLO module, verified. Errors name the operation, its location, and the feature
// that HLO has no form for.
absl::StatusOr<std::unique_ptr<hlo::Module>> ToHlo(const Program& program, const ReadOptions& options = {});

// Returns the module as the text of a StableHLO program, in MLIR's generic form. Its entry is @main; tuple
// results become several results, layouts are dropped. Returns UNIMPLEMENTED, naming the first instruction
// that StableHLO (with CHLO) has no operation for, or an error of the verifier.
absl::StatusOr<std::string> FromHlo(const hlo::Module& module);

}  // namespace stablehlo

// Reads a module from bytes of any form: HLO proto (HloModuleProto, HloProto), HLO text, StableHLO text, a
// StableHLO artifact, the result of jax.export's Exported.serialize(). Errors in a text begin with
// "line:column: ". Only modules from StableHLO are verified.
absl::StatusOr<std::unique_ptr<hlo::Module>> ReadModule(std::string_view bytes,
                                                        const ReadOptions& options = {});

}  // namespace hlod
