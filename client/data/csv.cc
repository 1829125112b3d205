// Numbers in CSV files, as RFC 4180 writes them: "a field, quoted", with "" for a quote.
#include <algorithm>
#include <limits>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/nn/tensor_file.h"
#include "client/tensor/value/throw.h"
#include "hlod/nn/data.h"

namespace hlod::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void Refuse(ErrorKind kind, std::string text, const Caller& caller) {
  lazy::Throw(kind, std::move(text), "dataset", caller);
}

// Returns the fields of a line, without spaces around them and without quotes.
std::vector<std::string> FieldsOf(std::string_view line, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == delimiter && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  for (std::string& field : fields) absl::StripAsciiWhitespace(&field);
  return fields;
}

// Collects the elements of one array as they are read, as numbers of the type's own kind.
struct Reading {
  CsvArray array;
  std::vector<size_t> places;  // The positions of the array's columns in a line.
  std::vector<double> floats = {};
  std::vector<int64_t> integers = {};

  bool is_float() const { return array.type == kF32 || array.type == kF64; }

  // Adds an element. Returns false when the text is not a number of the type.
  bool Add(const std::string& text) {
    if (is_float()) return absl::SimpleAtod(text, &floats.emplace_back());
    int64_t value = 0;
    if (!absl::SimpleAtoi(text, &value)) return false;
    integers.push_back(value);
    using Narrow = std::numeric_limits<int32_t>;
    return array.type == kS64 || (value >= Narrow::min() && value <= Narrow::max());
  }

  template <typename T, typename From>
  static Literal Filled(PrimitiveType type, Dims dims, const std::vector<From>& from) {
    Literal literal(Shape::Array(type, std::move(dims)));
    std::ranges::transform(from, literal.data<T>().begin(), [](From value) { return static_cast<T>(value); });
    return literal;
  }
  Literal Finish() const {
    const auto columns = static_cast<int64_t>(places.size());
    Dims dims = {static_cast<int64_t>(floats.size() + integers.size()) / columns};
    if (columns > 1) dims.push_back(columns);
    switch (array.type) {
      case kF32: return Filled<float>(kF32, dims, floats);
      case kF64: return Filled<double>(kF64, dims, floats);
      case kS32: return Filled<int32_t>(kS32, dims, integers);
      default: return Filled<int64_t>(kS64, dims, integers);
    }
  }
};

std::vector<Reading> ReadingsOf(const std::string& path, const std::vector<std::string>& columns,
                                const CsvOptions& options, const Caller& caller) {
  std::vector<CsvArray> arrays = options.arrays;
  if (arrays.empty()) {
    for (const std::string& column : columns) arrays.push_back({column, {column}});
  }
  std::vector<Reading> readings;
  for (const CsvArray& array : arrays) {
    Reading reading{array, {}};
    if (array.columns.empty() || (!reading.is_float() && array.type != kS32 && array.type != kS64)) {
      Refuse(
          ErrorKind::kArgument,
          absl::StrCat("array ", array.name, " is of ", array.columns.size(), " columns and type ",
                       std::string(hlo::Name(array.type)), ": it has columns, and is f32, f64, s32 or s64"),
          caller);
    }
    for (const std::string& column : array.columns) {
      const auto found = std::ranges::find(columns, column);
      if (found == columns.end()) {
        Refuse(ErrorKind::kArgument,
               absl::StrCat(path, " has no column ", column, "; it has ", absl::StrJoin(columns, ", ")),
               caller);
      }
      reading.places.push_back(static_cast<size_t>(found - columns.begin()));
    }
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace

Dataset Dataset::FromCsv(const std::string& path, const CsvOptions& options, Caller caller) {
  const auto file = nn::MappedFile::Open(path, caller);
  std::string_view rest = file->bytes();
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  std::vector<std::string> columns;
  std::vector<Reading> readings;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string place = absl::StrCat(path, ":", number);
    if (absl::StripAsciiWhitespace(absl::string_view(line.data(), line.size())).empty()) continue;
    const std::vector<std::string> fields = FieldsOf(line, options.delimiter);
    if (columns.empty()) {
      columns = fields;
      for (size_t i = 0; i < fields.size() && !options.header; ++i) columns[i] = absl::StrCat(i);
      readings = ReadingsOf(path, columns, options, caller);
      if (options.header) continue;
    }
    if (fields.size() != columns.size()) {
      Refuse(ErrorKind::kCorrupt,
             absl::StrCat(place, " has ", fields.size(), " fields, and the first line ", columns.size()),
             caller);
    }
    for (Reading& reading : readings) {
      for (const size_t column : reading.places) {
        if (reading.Add(fields[column])) continue;
        Refuse(ErrorKind::kCorrupt,
               absl::StrCat(place, ": \"", fields[column].substr(0, 100), "\" of column ", columns[column],
                            " is not a number of type ", std::string(hlo::Name(reading.array.type))),
               caller);
      }
    }
  }
  if (columns.empty()) Refuse(ErrorKind::kCorrupt, path + " has no lines", caller);
  std::vector<Array> arrays;
  for (const Reading& reading : readings) {
    auto literal = std::make_shared<const Literal>(reading.Finish());
    arrays.push_back({reading.array.name, literal->shape(), literal->bytes().data(), literal, path});
  }
  return Dataset(std::move(arrays), caller);
}

}  // namespace hlod::data
