// Shared by the parser and the printer of HLO text: one table of attribute names per alternative of
// Attributes, used in both directions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/module.h"
#include "common/hlo/text/lexer.h"
#include "common/hlo/text/text.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo::text {

// An attribute that the IR models: its name, and the conversions between its text and a member of its
// alternative.
struct Field {
  std::string_view name;
  absl::Status (*parse)(Lexer&, Attributes&);
  // Appends the value's text, or no text when the attribute has its default value and is left out.
  void (*print)(const Attributes&, std::string&);
  bool required = false;
  bool late = false;  // Prints behind the attributes that any instruction may have (CarriedField).
};
// Returns the attributes in printing order. Parser and printer handle constants, parameters and the type of
// comparisons themselves.
absl::Span<const Field> FieldsOf(Opcode opcode);

// Returns the attributes of an instruction whose text states none.
Attributes DefaultAttributes(Opcode opcode);

// An attribute that any instruction may have and that the IR keeps in `unmodelled`, as fields of the proto. A
// null parse function skips the value.
struct CarriedField {
  std::string_view name;
  absl::Status (*parse)(Lexer&, xla::HloInstructionProto&);
  void (*print)(const xla::HloInstructionProto&, std::string&);
  bool early = false;  // Prints before the called computations.
};
absl::Span<const CarriedField> CarriedFields();
// Returns those that only custom calls have: what a library's convolution computes.
absl::Span<const CarriedField> CustomCallFields();

// The name of a called computation in the text. The table is searched by opcode, then by name.
struct CalleeField {
  std::string_view name;
  int index;  // The index among the called computations; -1 for a list of all of them.
};
// Returns the names in printing order. The first name of a list accepts any number of computations; the list
// is not used for a conditional with a pred selector.
absl::Span<const CalleeField> CalleesOf(Opcode opcode, bool pred_selector);

// Reads f32[2,3]{1,0}. `nesting_max` bounds tuples.
absl::StatusOr<Shape> ReadShape(Lexer& lexer, int nesting_max);
// Returns true when a shape starts here, and not a name.
bool AtShape(Lexer& lexer);
// Reads the elements of a literal of `shape`, in braces by dimension.
absl::StatusOr<Literal> ReadLiteral(Lexer& lexer, const Shape& shape, int64_t max_bytes);

absl::Status ReadSharding(Lexer& lexer, int nesting_max, xla::OpSharding& sharding);
// Returns the text of a sharding; empty when it has no text form.
std::string ShardingText(const xla::OpSharding& sharding);

absl::Status ReadMetadata(Lexer& lexer, xla::OpMetadata& metadata);
std::string MetadataText(const xla::OpMetadata& metadata);

// Reads {a="b",c={"json":1}}.
absl::Status ReadStringMap(Lexer& lexer, std::map<std::string, std::string>& map);
std::string StringMapText(const std::map<std::string, std::string>& map);

// Reads {0, 1}, and calls read() for each entry.
template <typename Read>
absl::Status ReadList(Lexer& lexer, std::string_view open, std::string_view close, Read read) {
  RETURN_IF_ERROR(lexer.Expect(open));
  if (lexer.Try(close)) return absl::OkStatus();
  do {
    RETURN_IF_ERROR(read());
  } while (lexer.Try(","));
  return lexer.Expect(close);
}
absl::StatusOr<Dims> ReadDims(Lexer& lexer);  // Reads {0,1}.
std::string DimsText(absl::Span<const int64_t> dims);

}  // namespace hlod::hlo::text
