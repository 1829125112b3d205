// HLO text, the form that people read and write. Parser and printer round-trip.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

struct ParseOptions {
  int nesting_max = 64;  // The limit on the nesting of tuples, literals and inline computations.
  int64_t literal_bytes_max = int64_t{1} << 31;  // The limit on the bytes of one constant.
};

// Parses a module from HLO text, with or without header, ENTRY, sigils and signatures. Forward references and
// the legacy long operand form are accepted. INVALID_ARGUMENT "line:column: ..." shows the text found and the
// text expected; UNIMPLEMENTED for an opcode or attribute that this build does not know. Elided constants
// ("{...}") are refused. Shapes are not checked: see Verify.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(std::string_view text, const ParseOptions& options = {});
absl::StatusOr<Shape> ParseShape(std::string_view text);
// Parses "{ {1, 2}, {3, 4} }" for `shape`.
absl::StatusOr<Literal> ParseLiteral(std::string_view text, const Shape& shape);

struct PrintOptions {
  bool metadata = true;
  bool layouts = true;
  // When false, constants over 10 elements print as {...}, which the parser refuses.
  bool large_constants = true;
};

// Prints XLA's short parsable form: no %, operand names only, attributes in XLA's order, metadata last.
std::string ToText(const Module& module, const PrintOptions& options = {});
// Prints one instruction on one line.
std::string ToText(Instruction instruction, const Module& module, const PrintOptions& options = {});
// Prints "{ {1, 2}, {3, 4} }", or a scalar's value alone; floats parse back to the same bits.
std::string ToText(const Literal& literal);

}  // namespace hlod::hlo
