// The operands of a contraction, prepared for its product.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "common/base/errors/status.h"
#include "server/engine/movement/copy_nd.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {

// The preparation of an operand: conversion to the type of the computation, then packing, each only if it is
// needed.
struct Side {
  ConvertFunction convert = nullptr;
  int64_t count = 0;
  int from_width = 0, width = 0;  // The bytes per element before and after the conversion.
  std::optional<CopyNd> copy;
  int64_t convert_offset = 0, copy_offset = 0;  // Offsets in the scratch.

  // Reserves scratch from `bytes` on, and returns the new end.
  int64_t Reserve(int64_t bytes) {
    const int64_t size = ScratchAlign(count * width);
    if (convert != nullptr) {
      convert_offset = bytes;
      bytes += size;
    }
    if (copy) {
      copy_offset = bytes;
      bytes += size;
    }
    return bytes;
  }
  absl::StatusOr<const std::byte*> Prepare(const std::byte* operand, const StepContext& context) const {
    if (convert != nullptr) {
      std::byte* converted = context.scratch + convert_offset;
      RETURN_IF_ERROR(ConvertParallel(convert, operand, from_width, converted, width, count, context));
      operand = converted;
    }
    if (copy) {
      std::byte* packed = context.scratch + copy_offset;
      RETURN_IF_ERROR(copy->Run(operand, packed, context));
      operand = packed;
    }
    return operand;
  }
};

}  // namespace hlod::engine
