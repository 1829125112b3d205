// Finds definitions at the beginnings of lines.
#include "client/import/text/aliases.h"

namespace hlod::stablehlo::text {
namespace {

constexpr size_t kAlignmentDigits = 8;  // A resource begins with a little-endian u32.

}  // namespace

absl::Status Aliases::Find(Reader& reader) {
  const std::string_view text = reader.text();
  for (size_t line = 0; line < text.size(); line = std::min(text.find('\n', line), text.size() - 1) + 1) {
    const size_t at = text.find_first_not_of(" \t", line);
    if (at == std::string_view::npos) break;
    if (text.substr(at, 3) == "{-#") resources_at_ = at + 3;
    if (text[at] != '#' && text[at] != '!') continue;
    reader.Rewind(at);
    if (!reader.AtNameAfter(text[at])) continue;
    RETURN_IF_ERROR(reader.NameAfter(text[at], "a name").status());
    const std::string_view name = reader.TextFrom(at);
    if (!reader.Try("=")) continue;
    auto alias = std::make_unique<Alias>();
    alias->at = reader.position();
    if (!aliases_.try_emplace(name, std::move(alias)).second)
      return reader.ErrorAt(at, "the alias %s is defined twice", name);
  }
  reader.Rewind(0);
  return absl::OkStatus();
}

Alias* Aliases::Get(std::string_view name) {
  const auto found = aliases_.find(name);
  return found == aliases_.end() ? nullptr : found->second.get();
}

absl::StatusOr<std::string_view> Aliases::Resource(Reader& reader, std::string_view name, size_t at) {
  if (name == "__elided__") return reader.ErrorAt(at, "the constant is elided: its value is not in the text");
  if (resources_.empty() && resources_at_) {
    const size_t back = reader.position();
    reader.Rewind(*resources_at_);
    RETURN_IF_ERROR(ReadResources(reader));
    reader.Rewind(back);
  }
  const auto found = resources_.find(std::string(name));
  if (found == resources_.end()) return reader.ErrorAt(at, "the text has no resource \"%s\"", name);
  std::string_view digits = found->second;
  if (digits.substr(0, 2) != "0x" || digits.size() < 2 + kAlignmentDigits) {
    return reader.ErrorAt(at, "the resource \"%s\" must be \"0x\", an alignment and bytes", name);
  }
  digits.remove_prefix(2 + kAlignmentDigits);
  return digits;
}

absl::Status Aliases::ReadDialectResources(Reader& reader) {
  RETURN_IF_ERROR(reader.Expect("{"));
  while (!reader.Try("}")) {
    std::string name;
    if (reader.Peek() == '"') {
      ASSIGN_OR_RETURN(name, reader.String());
    } else {
      ASSIGN_OR_RETURN(name, reader.BareWord("the name of a resource, or '}'"));
    }
    RETURN_IF_ERROR(reader.Expect(":"));
    ASSIGN_OR_RETURN(const std::string_view value, reader.PlainString());
    resources_[name] = value;
    if (!reader.Try(",") && reader.Peek() != '}') return reader.Expected("',' or '}'");
  }
  return absl::OkStatus();
}

absl::Status Aliases::ReadResources(Reader& reader) {
  while (!reader.Try("#-}")) {
    ASSIGN_OR_RETURN(const std::string_view section,
                     reader.BareWord("dialect_resources, external_resources or '#-}'"));
    RETURN_IF_ERROR(reader.Expect(":"));
    if (section != "dialect_resources") {
      RETURN_IF_ERROR(reader.Balanced('{').status());
    } else {
      RETURN_IF_ERROR(reader.Expect("{"));
      while (!reader.Try("}")) {
        RETURN_IF_ERROR(reader.BareWord("the name of a dialect, or '}'").status());
        RETURN_IF_ERROR(reader.Expect(":"));
        RETURN_IF_ERROR(ReadDialectResources(reader));
        if (!reader.Try(",") && reader.Peek() != '}') return reader.Expected("',' or '}'");
      }
    }
    if (!reader.Try(",") && reader.Peek() != '#') return reader.Expected("',' or '#-}'");
  }
  return absl::OkStatus();
}

}  // namespace hlod::stablehlo::text
