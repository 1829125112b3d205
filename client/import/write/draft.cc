// Builds attributes from numbers and words; finds rows by opcode.
#include "client/import/write/draft.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/text/strings.h"

namespace hlod::stablehlo::write {

const Row* FindRow(hlo::Opcode opcode) {
  static const auto* const rows = [] {
    auto* made = new std::array<const Row*, hlo::kOpcodeCount>{};
    for (const absl::Span<const Row> file :
         {ElementwiseRows(), MovementRows(), ContractionRows(), ReductionRows(), DeviceRows()}) {
      for (const Row& row : file) (*made)[static_cast<size_t>(row.opcode)] = &row;
    }
    return made;
  }();
  return (*rows)[static_cast<size_t>(opcode)];
}

Attribute Number(int64_t value, hlo::PrimitiveType type) { return {.value = value, .type = type}; }

Attribute Numbers(absl::Span<const int64_t> values) {
  return {.value = Integers(values.begin(), values.end()), .type = hlo::kS64};
}

Attribute Bool(bool value) { return {.value = value}; }

Attribute Enum(std::string_view kind, std::string_view word) {
  return {Word{absl::StrCat("#stablehlo<", ToAbsl(kind), " ", ToAbsl(word), ">")}};
}

Attribute Rows(const std::vector<hlo::Dims>& rows) {
  const auto count = static_cast<int64_t>(rows.size());
  size_t width = 0;
  for (const hlo::Dims& row : rows) width = std::max(width, row.size());
  hlo::Literal literal(hlo::Shape::Array(hlo::kS64, {count, static_cast<int64_t>(width)}));
  auto out = literal.data<int64_t>().begin();
  for (const hlo::Dims& row : rows)
    out = std::fill_n(std::copy(row.begin(), row.end(), out), width - row.size(), -1);
  return {std::move(literal)};
}

Structure& Structure::Field(std::string_view name, absl::Span<const int64_t> values) {
  if (values.empty()) return *this;
  return Field(name, absl::StrCat("[", absl::StrJoin(values, ", "), "]"));
}

Structure& Structure::Field(std::string_view name, std::string_view text) {
  absl::StrAppend(&fields_, fields_.empty() ? "" : ", ", ToAbsl(name), " = ", ToAbsl(text));
  return *this;
}

Attribute Structure::Done() const { return {Word{absl::StrCat("#", name_, "<", fields_, ">")}}; }

}  // namespace hlod::stablehlo::write
