// The safetensors format: eight bytes of length, a JSON header of names, types, shapes and ranges, the bytes.
#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "client/nn/tensor_file.h"
#include "hlod/nn/state_dict.h"

namespace hlod::nn {
namespace {

constexpr uint64_t kJsonBytesMax = 100 << 20;  // The limit of the reference implementation.

struct TypeName {
  PrimitiveType type;
  std::string_view name;
};
constexpr TypeName kTypes[] = {
    {kPred, "BOOL"},      {kU8, "U8"},   {kS8, "I8"},   {kU16, "U16"}, {kS16, "I16"},
    {kU32, "U32"},        {kS32, "I32"}, {kU64, "U64"}, {kS64, "I64"}, {kF16, "F16"},
    {kBF16, "BF16"},      {kF32, "F32"}, {kF64, "F64"}, {kC64, "C64"}, {kF8E4M3FN, "F8_E4M3"},
    {kF8E5M2, "F8_E5M2"},
};

PrimitiveType TypeNamed(std::string_view name) {
  for (const TypeName& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return kInvalid;
}

[[noreturn]] void Malformed(const std::string& path, std::string what, const Caller& caller) {
  throw Error(MakeError(ErrorKind::kCorrupt, absl::StrCat(path, " is not a safetensors file: ", what)),
              "load", caller);
}

// Returns the parsed header. Throws when an object in it has a name twice.
nlohmann::json ParsedHeader(const std::string& path, std::string_view header, const Caller& caller) {
  std::vector<std::set<std::string>> names;  // The names per open object, the outermost first.
  const auto check = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    switch (event) {
      case nlohmann::json::parse_event_t::object_start: names.emplace_back(); break;
      case nlohmann::json::parse_event_t::object_end: names.pop_back(); break;
      case nlohmann::json::parse_event_t::key:
        if (!names.back().insert(parsed.get<std::string>()).second)
          Malformed(path, absl::StrCat("it has the name ", parsed.get<std::string>(), " twice"), caller);
        break;
      default: break;
    }
    return true;
  };
  nlohmann::json json = nlohmann::json::parse(header, check);
  if (!json.is_object()) Malformed(path, "its header is not an object", caller);
  return json;
}

// Returns the numbers of a list. Throws when one is not whole, or negative.
std::vector<uint64_t> Counts(const std::string& path, const std::string& name, const nlohmann::json& entry,
                             const char* key, const Caller& caller) {
  std::vector<uint64_t> counts;
  for (const nlohmann::json& count : entry.at(key)) {
    if (!count.is_number_unsigned()) {
      // Not the text of a list or object: it may be so deep that writing it exhausts the stack.
      const std::string shown = count.is_structured() ? absl::StrCat("an ", count.type_name()) : count.dump();
      Malformed(path, absl::StrCat("the ", key, " of ", name, " has ", shown, ", which is not a count"),
                caller);
    }
    counts.push_back(count.get<uint64_t>());
  }
  return counts;
}

struct Range {
  uint64_t begin, end;
  std::string name;
  friend bool operator<(const Range& a, const Range& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  }
};

// Throws unless each byte of the data belongs to exactly one tensor.
void CheckRanges(const std::string& path, std::vector<Range> ranges, uint64_t data_bytes,
                 const Caller& caller) {
  std::sort(ranges.begin(), ranges.end());
  uint64_t covered = 0;
  for (const Range& range : ranges) {
    if (range.begin != covered) {
      Malformed(path,
                absl::StrCat("the range of ", range.name, " begins at ", range.begin,
                             range.begin < covered ? " within another's, which ends at "
                                                   : ", and the one before ends at ",
                             covered),
                caller);
    }
    covered = range.end;
  }
  if (covered != data_bytes) {
    Malformed(path, absl::StrCat("its tensors have ", covered, " bytes of its data of ", data_bytes), caller);
  }
}

}  // namespace

StateDict LoadSafetensors(const std::string& path, Caller caller) {
  const std::shared_ptr<const MappedFile> file = MappedFile::Open(path, caller);
  const std::string_view bytes = file->bytes();
  uint64_t header_bytes = 0;
  if (bytes.size() < sizeof(header_bytes)) Malformed(path, "it is shorter than 8 bytes", caller);
  std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
  if (header_bytes > kJsonBytesMax || header_bytes > bytes.size() - sizeof(header_bytes)) {
    Malformed(
        path,
        absl::StrCat("its header's length (", header_bytes, ") does not fit its ", bytes.size(), " bytes"),
        caller);
  }
  const std::string_view header = bytes.substr(sizeof(header_bytes), header_bytes);
  const uint64_t data_begin = sizeof(header_bytes) + header_bytes, data_bytes = bytes.size() - data_begin;
  StateDict tensors;
  try {
    const nlohmann::json json = ParsedHeader(path, header, caller);
    std::vector<Range> ranges;
    for (const auto& [name, entry] : json.items()) {
      if (name == "__metadata__") continue;
      const std::string type = entry.at("dtype").get<std::string>();
      const PrimitiveType element = TypeNamed(type);
      if (element == kInvalid)
        Malformed(path, absl::StrCat("the type (", type, ") of ", name, " is not known"), caller);
      Shape shape = Shape::Array(element, {});
      for (const uint64_t size : Counts(path, name, entry, "shape", caller))
        shape.dims.push_back(static_cast<int64_t>(size));
      const std::vector<uint64_t> offsets = Counts(path, name, entry, "data_offsets", caller);
      if (offsets.size() != 2) {
        Malformed(path, absl::StrCat(name, " has ", offsets.size(), " data_offsets, not 2"), caller);
      }
      const uint64_t begin = offsets[0], end = offsets[1];
      if (absl::Status valid = hlo::ValidateShape(shape); !valid.ok()) {
        Malformed(path, absl::StrCat(name, ": ", std::string(valid.message())), caller);
      }
      const auto expected = static_cast<uint64_t>(hlo::ByteSize(shape).value_or(-1));
      if (begin > end || end > data_bytes || end - begin != expected) {
        Malformed(path,
                  absl::StrCat("the range ", begin, " to ", end, " of ", name, " is not the ", expected,
                               " bytes of ", hlo::ToStringNoLayout(shape)),
                  caller);
      }
      ranges.push_back({begin, end, name});
      tensors[name] = FileTensor(
          shape,
          [file, shape, offset = data_begin + begin]() -> absl::StatusOr<Literal> {
            Literal literal(shape);
            std::memcpy(literal.bytes().data(), file->bytes().data() + offset, literal.bytes().size());
            return literal;
          },
          caller);
    }
    CheckRanges(path, std::move(ranges), data_bytes, caller);
  } catch (const nlohmann::json::exception& error) {
    Malformed(path, error.what(), caller);
  }
  return tensors;
}

void SaveSafetensors(const std::string& path, const StateDict& tensors, const ProgressCallback& progress,
                     Caller caller) {
  nlohmann::json header = nlohmann::json::object();
  Progress at;
  at.tensors_total = static_cast<int64_t>(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    std::string_view type;
    for (const TypeName& row : kTypes) {
      if (row.type == tensor.dtype()) type = row.name;
    }
    if (type.empty()) {
      throw Error(MakeError(ErrorKind::kArgument, absl::StrCat(name, ": the format has no name for ",
                                                               std::string(hlo::Name(tensor.dtype())))),
                  "save", caller);
    }
    const int64_t bytes = hlo::ByteSize(tensor.shape()).value_or(0);
    header[name] = {{"dtype", type},
                    {"shape", std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end())},
                    {"data_offsets", {at.bytes_total, at.bytes_total + bytes}}};
    at.bytes_total += bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    throw Error(MakeError(ErrorKind::kArgument, absl::StrCat("a name cannot be written: ", error.what())),
                "save", caller);
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // Aligns the elements.
  const uint64_t length = text.size();

  NewFile file(path, caller);
  file.Write(&length, sizeof(length));
  file.Write(text.data(), text.size());
  for (const auto& [name, tensor] : tensors) {
    const std::shared_ptr<const Literal> literal = ReadToSave(tensor, caller);
    file.Write(literal->bytes().data(), literal->bytes().size());
    ++at.tensors;
    at.bytes += static_cast<int64_t>(literal->bytes().size());
    at.name = name;
    if (progress) progress(at);
  }
  file.Commit();
}

}  // namespace hlod::nn
