// Modules of any form, StableHLO among them, as HLO modules; and HLO modules as StableHLO.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "common/hlo/module.h"

namespace hlod {

// The sizes of the entry's arguments, by their number: for those of unknown sizes (tensor<?x4xf32>), as
// jax.export writes symbolic shapes. The others have those of their types.
using ArgumentSizes = std::map<size_t, hlo::Dims>;
// The elements of arguments of integers, by their number: in a program with unknown sizes, what they say
// (tensor<2xi64> of a dynamic_reshape) is fixed by them. The arguments stay.
using ArgumentNumbers = std::map<size_t, std::vector<int64_t>>;

struct ReadOptions {
  // The module is to be run: fields of a proto that are not known, and not known to be cosmetic, are refused;
  // a program whose partitions differ in annotations alone has one, and one that says no number of them as
  // many as its mesh has devices.
  bool for_execution = false;
  // The module is to be differentiated: special functions of StableHLO are under rules of differentiation that
  // have the operations' names ("chlo.lgamma", common/hlo/own_derivative.h).
  bool with_rules = false;
  // Of a StableHLO program.
  ArgumentSizes sizes;
  ArgumentNumbers numbers;
  std::string entry;  // The function that is the entry, without its @; empty: @main, or the only public one.
};

namespace stablehlo {

// The program as an HLO module, verified. Errors name the operation, its place and what it is that HLO has no
// form for.
absl::StatusOr<std::unique_ptr<hlo::Module>> ToHlo(const Program& program, const ReadOptions& options = {});

// The module as the text of a StableHLO program, in MLIR's generic form. Its entry is @main; tuples of
// results are as many results, layouts are not kept. UNIMPLEMENTED naming the first instruction that
// StableHLO (with CHLO) has no operation for; an error of the verifier.
absl::StatusOr<std::string> FromHlo(const hlo::Module& module);

}  // namespace stablehlo

// A module in whatever form the bytes have: HLO proto (HloModuleProto, HloProto), HLO text, StableHLO text, a
// StableHLO artifact, what Exported.serialize() of jax.export gives. Errors in a text begin with
// "line:column: ". Of StableHLO alone, the module is verified.
absl::StatusOr<std::unique_ptr<hlo::Module>> ReadModule(std::string_view bytes,
                                                        const ReadOptions& options = {});

}  // namespace hlod
