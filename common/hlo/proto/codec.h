// Converts modules and literals to and from XLA's HloModuleProto (proto/xla/hlo.proto, wire-compatible with
// XLA's own).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo {

struct DecodeOptions {
  // True when the module is to be run: an unknown field of an instruction, unless it is known to be cosmetic,
  // is then UNIMPLEMENTED, with its number, since ignoring it could change results. Tools that only pass a
  // module on leave it false.
  bool for_execution = false;
  int64_t literal_bytes_max = int64_t{1} << 31;  // The limit on the bytes of one constant.
  // The limits of FromSerialized, checked before anything is allocated. Beyond them it returns an error of
  // kind limit.
  int64_t instructions_max = INT64_MAX;  // In all computations together.
  int64_t parse_bytes_max = INT64_MAX;   // The estimated memory of the parsed message.
  // Called now and then while instructions are decoded; an error ends the decoding and is returned.
  std::function<absl::Status()> interrupted;
};

// Decodes a module from its proto. Only the low 32 bits of ids are used; old spellings (legacy comparisons,
// one rank-1 start index) are upgraded; fields that the IR does not model are kept in `unmodelled`, and
// ToProto writes them again. INVALID_ARGUMENT names the instruction and field; UNIMPLEMENTED names the opcode
// or field that this build does not know. Does not verify shapes: see Verify.
absl::StatusOr<std::unique_ptr<Module>> FromProto(const xla::HloModuleProto& proto,
                                                  const DecodeOptions& options = {});

// Decodes a module from serialized bytes: a raw HloModuleProto, or an HloProto or HloSnapshot that holds one.
// INVALID_ARGUMENT for other bytes.
absl::StatusOr<std::unique_ptr<Module>> FromSerialized(std::string_view bytes,
                                                       const DecodeOptions& options = {});

// Encodes the module as XLA writes it: callees first, names and ids unique in the module, program shapes and
// entry layout filled in.
xla::HloModuleProto ToProto(const Module& module);
// Encodes the module as deterministic bytes: equal modules have equal bytes in this build.
std::string Serialize(const Module& module);

xla::ShapeProto ToProto(const Shape& shape);
absl::StatusOr<Shape> FromProto(const xla::ShapeProto& proto);
// Decodes a literal. Array data in the layout order of the proto's shape is brought into row-major order.
absl::StatusOr<Literal> FromProto(const xla::LiteralProto& proto, int64_t max_bytes = int64_t{1} << 31);
xla::LiteralProto ToProto(const Literal& literal);

}  // namespace hlod::hlo
