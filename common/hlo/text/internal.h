// What parser and printer of HLO text share: one table of attribute names for each alternative of Attributes,
// read both ways.
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

// An attribute that the IR models: its name, and the way between its text and a member of its alternative.
struct Field {
  std::string_view name;
  absl::Status (*parse)(Lexer&, Attributes&);
  // Appends the value's text; nothing when the attribute is left out because it says nothing.
  void (*print)(const Attributes&, std::string&);
  bool required = false;
  bool late = false;  // Prints behind the attributes that any instruction may have (CarriedField).
};
// In the order in which they print. Constants, parameters and the type of comparisons are the parser's and
// printer's own.
absl::Span<const Field> FieldsOf(Opcode opcode);

// What an instruction has whose text states no attributes.
Attributes DefaultAttributes(Opcode opcode);

// An attribute that any instruction may have and that the IR keeps in `unmodelled`, as fields of the proto. A
// parse function of null: the value is skipped.
struct CarriedField {
  std::string_view name;
  absl::Status (*parse)(Lexer&, xla::HloInstructionProto&);
  void (*print)(const xla::HloInstructionProto&, std::string&);
  bool early = false;  // Prints before the called computations.
};
absl::Span<const CarriedField> CarriedFields();

// Where a called computation is named. The table is searched by opcode, then by name.
struct CalleeField {
  std::string_view name;
  int index;  // Among the called computations; -1: a list of all of them.
};
// The names in printing order; the first that lists fits any number. For a conditional with a pred selector
// the list is not used.
absl::Span<const CalleeField> CalleesOf(Opcode opcode, bool pred_selector);

// f32[2,3]{1,0}. `nesting_max` bounds tuples.
absl::StatusOr<Shape> ReadShape(Lexer& lexer, int nesting_max);
// Whether a shape starts here, and not a name.
bool AtShape(Lexer& lexer);
// The elements of a literal of `shape`, in braces by dimension.
absl::StatusOr<Literal> ReadLiteral(Lexer& lexer, const Shape& shape, int64_t max_bytes);

absl::Status ReadSharding(Lexer& lexer, int nesting_max, xla::OpSharding& sharding);
// Nothing when there is no text for it.
std::string ShardingText(const xla::OpSharding& sharding);

absl::Status ReadMetadata(Lexer& lexer, xla::OpMetadata& metadata);
std::string MetadataText(const xla::OpMetadata& metadata);

// {a="b",c={"json":1}}
absl::Status ReadStringMap(Lexer& lexer, std::map<std::string, std::string>& map);
std::string StringMapText(const std::map<std::string, std::string>& map);

// {0, 1}: calls read() for each entry.
template <typename Read>
absl::Status ReadList(Lexer& lexer, std::string_view open, std::string_view close, Read read) {
  RETURN_IF_ERROR(lexer.Expect(open));
  if (lexer.Try(close)) return absl::OkStatus();
  do {
    RETURN_IF_ERROR(read());
  } while (lexer.Try(","));
  return lexer.Expect(close);
}
absl::StatusOr<Dims> ReadDims(Lexer& lexer);  // {0,1}
std::string DimsText(absl::Span<const int64_t> dims);

}  // namespace hlod::hlo::text
