// Small programs on single devices that cut and join arrays, and copies between the devices.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/runtime/mesh/shards.h"
#include "common/hlo/builder.h"
#include "hlod/runtime/client.h"

namespace hlod::runtime {

// Joins pieces that form a grid of `counts`, given in row-major order.
hlo::Op Joined(hlo::Builder& b, std::vector<hlo::Op> pieces, const Dims& counts);

// Compiles a program and runs it on one device. Results of placeholders are placeholders.
absl::StatusOr<std::vector<Buffer>> RunOn(int device, const std::shared_ptr<Session>& session,
                                          const Module& module, absl::Span<const Argument> arguments,
                                          const Caller& caller);

// Divides a divided array in another way: each device gets the pieces of its new part from the devices that
// have them, and no device holds the whole array.
absl::StatusOr<Placed> Redivide(const Shards& from, const Division& to, const Caller& caller);

}  // namespace hlod::runtime
