// The computation of a part of one operand of a reduction among participants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// Makes what MakePartProgram in collective.h makes, for operand number `operand` of an all-reduce or a
// reduce-scatter.
absl::StatusOr<std::unique_ptr<Module>> MakeOperandPartProgram(const Module& module, Instruction instruction,
                                                               uint32_t operand, size_t size,
                                                               int64_t elements);

}  // namespace hlod::hlo
