// HLO text: the form people read and write; parser and printer round-trip.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

struct ParseOptions {
  int nesting_max = 64;                          // Of tuples, literals and inline computations.
  int64_t literal_bytes_max = int64_t{1} << 31;  // In one constant.
};

// A module from HLO text: with or without header, ENTRY, sigils, signatures; forward references allowed;
// legacy long operand form accepted. INVALID_ARGUMENT "line:column: ..." naming what was met and what is
// allowed; UNIMPLEMENTED for an opcode or attribute that this build does not know. Elided constants ("{...}")
// are refused. Shapes are as written: see Verify.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(std::string_view text, const ParseOptions& options = {});
absl::StatusOr<Shape> ParseShape(std::string_view text);
// "{ {1, 2}, {3, 4} }" for `shape`.
absl::StatusOr<Literal> ParseLiteral(std::string_view text, const Shape& shape);

struct PrintOptions {
  bool metadata = true;
  bool layouts = true;
  bool large_constants = true;  // false: constants over 10 elements print as {...}, which the parser refuses.
};

// XLA's short parsable form: no %, operand names only, attributes in XLA's order, metadata last.
std::string ToText(const Module& module, const PrintOptions& options = {});
// One instruction on one line.
std::string ToText(Instruction instruction, const Module& module, const PrintOptions& options = {});
// "{ {1, 2}, {3, 4} }", a scalar as it is; floats so that they parse back to the same bits.
std::string ToText(const Literal& literal);

}  // namespace hlod::hlo
