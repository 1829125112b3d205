// Parses the formats of the table forms.inc and reads operations by them.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "client/import/text/attributes/attributes.h"
#include "client/import/text/forms.h"
#include "client/import/text/kinds.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

enum class PieceKind : uint8_t {
  kLiteral,
  kOperands,
  kDictionary,
  kAttribute,
  kRegion,
  kTypes,
  kBegin,
  kEnd
};
struct Piece {
  PieceKind kind;
  std::string_view text;  // The literal; an attribute's name; or the rule of types, without its ':'.
  ReadKind read = nullptr;
  bool has_default = false;
};
using Format = std::vector<Piece>;

Piece PieceOf(std::string_view word) {
  if (word == "operands") return {PieceKind::kOperands, word};
  if (word == "attr-dict") return {PieceKind::kDictionary, word};
  if (word == "region") return {PieceKind::kRegion, word};
  if (word == "?(") return {PieceKind::kBegin, word};
  if (word == ")?") return {PieceKind::kEnd, word};
  if (word.size() > 1 && word[0] == ':') return {PieceKind::kTypes, word.substr(1)};
  if (word[0] != '$') return {PieceKind::kLiteral, word};
  const size_t colon = word.find(':');
  std::string_view kind = word.substr(colon + 1);
  const bool has_default = kind.ends_with('?');
  if (has_default) kind.remove_suffix(1);
  return {PieceKind::kAttribute, word.substr(1, colon - 1), FindKind(kind), has_default};
}

const absl::flat_hash_map<std::string_view, Format>& Formats() {
  static const auto* const formats = [] {
    auto* made = new absl::flat_hash_map<std::string_view, Format>;
    const std::pair<std::string_view, std::string_view> rows[] = {
#define HLOD_FORM(operation, format) {operation, format},
#include "client/import/text/forms.inc"
#undef HLOD_FORM
    };
    for (const auto& [operation, format] : rows) {
      Format& pieces = (*made)[operation];
      for (const absl::string_view word : absl::StrSplit(ToAbsl(format), ' '))
        pieces.push_back(PieceOf(FromAbsl(word)));
    }
    return made;
  }();
  return *formats;
}

bool TryLiteral(Reader& reader, std::string_view text) {
  return absl::ascii_isalpha(text[0]) ? reader.TryKeyword(text) : reader.Try(text);
}

// Returns true when the optional group that begins at piece `begin` is present, which its first pieces show.
bool IsThere(Reader& reader, const Format& format, size_t begin) {
  const size_t back = reader.position();
  bool is_there = format[begin + 1].kind != PieceKind::kTypes || reader.Peek() == ':';
  for (size_t i = begin + 1; is_there && format[i].kind == PieceKind::kLiteral; ++i)
    is_there = TryLiteral(reader, format[i].text);
  reader.Rewind(back);
  return is_there;
}

// Returns the piece that ends the group. Attributes in it that have defaults get them.
absl::StatusOr<size_t> SkipGroup(Source& source, PartialOperation& draft, const Format& format,
                                 size_t begin) {
  size_t i = begin + 1;
  for (; format[i].kind != PieceKind::kEnd; ++i) {
    if (!format[i].has_default) continue;
    Attribute none{.value = Integers(), .type = hlo::kS64};
    RETURN_IF_ERROR(Put(source, draft.operation.name, format[i].text, std::move(none), draft.at,
                        draft.operation.attributes));
  }
  return i;
}

// Reads ": types" by a rule and sets the types of operands and results.
absl::Status ReadTypesByRule(Source& source, PartialOperation& draft, std::string_view rule) {
  Reader& reader = source.reader;
  const size_t operands = draft.operation.operands.size();
  if (rule == "value") {
    const Attribute& value = draft.operation.attributes.find("value")->second;
    const auto* const splat = std::get_if<Splat>(&value.value);
    return SetResults(source, draft,
                      {splat != nullptr ? splat->type : std::get<hlo::Literal>(value.value).shape()});
  }
  RETURN_IF_ERROR(reader.Expect(":"));
  if (rule == "functional" || (reader.Peek() == '(' && rule != "arrow")) return ReadSignature(source, draft);
  const size_t at = (reader.SkipBlanks(), reader.position());
  ASSIGN_OR_RETURN(std::vector<Type> types, ReadTypes(source));
  if (rule == "arrow") {
    // MHLO writes one type for all.
    if (types.size() == 1 && reader.Peek() != '-') {
      draft.operand_types.assign(operands, types[0]);
      return SetResults(source, draft, std::move(types));
    }
    RETURN_IF_ERROR(reader.Expect("->"));
    draft.operand_types = std::move(types);
    ASSIGN_OR_RETURN(std::vector<Type> results, ReadResultTypes(source));
    return SetResults(source, draft, std::move(results));
  }
  const size_t expected = rule == "types" || rule == "operands" ? operands : rule == "select" ? 2 : 1;
  if (types.size() != expected) {
    return reader.ErrorAt(at, "expected %d types for %s, found %d", expected, draft.operation.name,
                          types.size());
  }
  if (rule == "same") draft.operand_types.assign(operands, types[0]);
  if (rule == "types" || rule == "operands") draft.operand_types = types;
  if (rule == "select") {
    if (operands != 3)
      return reader.ErrorAt(at, "expected 3 operands of %s, found %d", draft.operation.name, operands);
    draft.operand_types = {types[0], types[1], types[1]};
    types.erase(types.begin());
  }
  return SetResults(source, draft, rule == "operands" ? std::vector<Type>() : std::move(types));
}

// Reads "(%a: type, ...) {operations}".
absl::Status ReadRegionWithArguments(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("("));
  std::vector<ArgumentName> arguments;
  while (!reader.Try(")")) {
    if (!arguments.empty()) RETURN_IF_ERROR(reader.Expect(","));
    ASSIGN_OR_RETURN(ArgumentName argument, ReadArgument(source));
    arguments.push_back(std::move(argument));
  }
  ASSIGN_OR_RETURN(Region region, ReadRegion(source, Sight::kShadows, arguments));
  draft.operation.regions.push_back(std::move(region));
  return absl::OkStatus();
}

absl::Status ReadPiece(Source& source, PartialOperation& draft, const Piece& piece) {
  Reader& reader = source.reader;
  switch (piece.kind) {
    case PieceKind::kLiteral:
      if (TryLiteral(reader, piece.text)) return absl::OkStatus();
      return reader.Expected(absl::StrCat("'", ToAbsl(piece.text), "' of ", draft.operation.name));
    case PieceKind::kOperands: return ReadOperands(source, draft);
    case PieceKind::kDictionary:
      if (reader.Peek() != '{') return absl::OkStatus();
      return ReadAttributeMap(source, draft.operation.name, draft.operation.attributes);
    case PieceKind::kAttribute: return piece.read(source, piece.text, draft);
    case PieceKind::kRegion: return ReadRegionWithArguments(source, draft);
    case PieceKind::kTypes: return ReadTypesByRule(source, draft, piece.text);
    default: return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<bool> ReadByFormat(Source& source, PartialOperation& draft) {
  const auto found = Formats().find(draft.operation.name);
  if (found == Formats().end()) return false;
  const Format& format = found->second;
  bool has_types = false;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i].kind == PieceKind::kBegin && !IsThere(source.reader, format, i)) {
      ASSIGN_OR_RETURN(i, SkipGroup(source, draft, format, i));
      continue;
    }
    RETURN_IF_ERROR(ReadPiece(source, draft, format[i]));
    has_types = has_types || format[i].kind == PieceKind::kTypes;
  }
  if (!has_types) RETURN_IF_ERROR(SetResults(source, draft, {}));
  return true;
}

}  // namespace hlod::stablehlo::text
