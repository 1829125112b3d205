// Reads the result of jax.export's Exported.serialize(): a StableHLO artifact with a description of its
// arguments.
//
// The resulting program takes the function's own arguments, all of them in the order of its flattened tree:
// the number of the platform becomes a constant, tokens are created inside, and arguments that JAX dropped
// because they are unused are added again.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "client/import/exported/flatbuffer.h"
#include "client/import/program/operation.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod::stablehlo {
namespace {

using exported::Flatbuffer;
using exported::Table;

// Fields of the schema's table Exported, by number.
enum Field {
  kInAvals = 3,
  kPlatforms = 9,
  kModule = 13,
  kCallingConvention = 14,
  kKeptArguments = 15,
  kUniqueAvals = 19,
  kInAvalIndices = 22,
};
// Fields of the schema's table AbstractValue, by number.
enum AvalField { kShape = 1, kDtype = 2 };

// The supported versions of JAX's calling convention; others may have other arguments.
constexpr int kConventionMin = 9, kConventionMax = 10;
// The platform whose lowering is run when the file has several.
constexpr std::string_view kPlatform = "cpu";
constexpr std::string_view kPlatformIndex = "_platform_index";

// The schema's DType numbers. Keys of random numbers are their u32 words; a float0, which has no values, is a
// pred.
constexpr hlo::PrimitiveType kTypes[] = {
    hlo::kPred,     hlo::kS8,         hlo::kS16,      hlo::kS32,        hlo::kS64,  hlo::kU8,
    hlo::kU16,      hlo::kU32,        hlo::kU64,      hlo::kF16,        hlo::kF32,  hlo::kF64,
    hlo::kC64,      hlo::kC128,       hlo::kBF16,     hlo::kS4,         hlo::kU4,   hlo::kF8E4M3B11FNUZ,
    hlo::kF8E4M3FN, hlo::kF8E4M3FNUZ, hlo::kF8E5M2,   hlo::kF8E5M2FNUZ, hlo::kPred, hlo::kF8E4M3,
    hlo::kF8E3M4,   hlo::kF8E8M0FNU,  hlo::kF4E2M1FN, hlo::kU32,        hlo::kU32,  hlo::kU32};
constexpr int kKeyOfThreefry = 27, kKeyOfRbg = 28, kKeyOfUnsafeRbg = 29;

// Returns the type of an argument as JAX writes it: f32[b,3]. Sizes that are not numbers are unknown.
absl::StatusOr<Type> TypeOf(const Table& aval) {
  const auto dtype = aval.Number<int8_t>(kDtype);
  if (dtype < 0 || static_cast<size_t>(dtype) >= std::size(kTypes))
    return InvalidArgument("An argument has the element type (%d); expected a number below (%d).", dtype,
                           std::size(kTypes));
  Type type{.type = kTypes[dtype]};
  const size_t rank = aval.Count(kShape);
  if (rank > static_cast<size_t>(hlo::kMaxRank))
    return InvalidArgument("An argument has (%d) dimensions; the limit is (%d).", rank, hlo::kMaxRank);
  for (size_t d = 0; d < rank; ++d) {
    constexpr size_t kDigitsMax = 19;
    const std::string_view text = aval.BytesOf(kShape, d);
    int64_t size = 0;
    const bool known = text.size() <= kDigitsMax && absl::SimpleAtoi(ToAbsl(text), &size) && size >= 0;
    type.dims.push_back(known ? size : hlo::kUnboundedSize);
  }
  if (dtype == kKeyOfThreefry) type.dims.push_back(2);
  if (dtype == kKeyOfRbg || dtype == kKeyOfUnsafeRbg) type.dims.push_back(4);
  if (std::ranges::count(type.dims, hlo::kUnboundedSize) > 0) {
    for (const int64_t size : type.dims) type.dynamic.push_back(size == hlo::kUnboundedSize);
  }
  RETURN_IF_ERROR(hlo::ValidateShape(type));
  return type;
}

// Returns the types of the function's arguments in the order of its flattened tree. Newer files refer to a
// table of distinct types.
absl::StatusOr<std::vector<Type>> ArgumentsOf(Flatbuffer& buffer, const Table& root) {
  std::vector<Table> avals;
  const std::vector<uint32_t> indices = root.Numbers<uint32_t>(kInAvalIndices);
  const size_t unique = root.Count(kUniqueAvals), count = root.Count(kInAvals);
  if (!indices.empty()) {
    for (const uint32_t index : indices) {
      if (index >= unique)
        return InvalidArgument("An argument has the type (%d), but there are only (%d) types.", index,
                               unique);
      avals.push_back(root.ChildOf(kUniqueAvals, index));
    }
  } else {
    for (size_t i = 0; i < count; ++i) avals.push_back(root.ChildOf(kInAvals, i));
  }
  std::vector<Type> types;
  for (const Table& aval : avals) {
    RETURN_IF_ERROR(buffer.status());
    ASSIGN_OR_RETURN(types.emplace_back(), TypeOf(aval));
  }
  RETURN_IF_ERROR(buffer.status());
  return types;
}

// Rewrites the entry function, argument by argument.
class Entry {
 public:
  Entry(Program& program, Function& function)
      : program_(program), function_(function), block_(function.body.blocks[0]) {
    function_.argument_attributes.resize(function_.type.inputs.size());
  }

  size_t arguments() const { return function_.type.inputs.size(); }
  const Type& type(size_t i) const { return function_.type.inputs[i]; }
  bool IsPlatformIndex(size_t i) const {
    const Attribute* const name = Find(function_.argument_attributes[i], "jax.global_constant");
    const auto* const text = name == nullptr ? nullptr : std::get_if<std::string>(&name->value);
    return text != nullptr && *text == kPlatformIndex;
  }

  // Replaces argument `i` by the result of an operation.
  void Replace(size_t i, std::string operation, AttributeMap attributes) {
    Operation made{
        .name = std::move(operation), .results = {block_.arguments[i]}, .attributes = std::move(attributes)};
    block_.operations.insert(block_.operations.begin(), std::move(made));
    block_.arguments.erase(block_.arguments.begin() + static_cast<ptrdiff_t>(i));
    function_.type.inputs.erase(function_.type.inputs.begin() + static_cast<ptrdiff_t>(i));
    function_.argument_attributes.erase(function_.argument_attributes.begin() + static_cast<ptrdiff_t>(i));
  }
  // Makes the function take arguments of these types. `kept` holds the positions of the arguments that it
  // takes already.
  void Distribution(const std::vector<Type>& types, const std::vector<uint16_t>& kept) {
    std::vector<Value> arguments;
    std::vector<AttributeMap> attributes(types.size());
    for (const Type& type : types) arguments.push_back({.id = program_.values++, .type = type});
    for (size_t i = 0; i < kept.size(); ++i) {
      arguments[kept[i]] = std::move(block_.arguments[i]);
      attributes[kept[i]] = std::move(function_.argument_attributes[i]);
    }
    function_.type.inputs.clear();
    for (const Value& argument : arguments) function_.type.inputs.push_back(argument.type);
    block_.arguments = std::move(arguments);
    function_.argument_attributes = std::move(attributes);
  }
  // Drops the tokens that it returns, which are its first results, and renumbers the results in aliases.
  absl::Status DropReturnedTokens() {
    const auto tokens = static_cast<size_t>(std::ranges::find_if_not(function_.type.results, &Type::IsToken) -
                                            function_.type.results.begin());
    Operation& end = block_.operations.back();
    if (tokens == 0 || end.operands.size() < tokens) return absl::OkStatus();
    end.operands.erase(end.operands.begin(), end.operands.begin() + static_cast<ptrdiff_t>(tokens));
    auto& results = function_.type.results;
    results.erase(results.begin(), results.begin() + static_cast<ptrdiff_t>(tokens));
    if (function_.result_attributes.size() >= tokens) {
      function_.result_attributes.erase(function_.result_attributes.begin(),
                                        function_.result_attributes.begin() + static_cast<ptrdiff_t>(tokens));
    }
    for (AttributeMap& attributes : function_.argument_attributes) {
      const auto alias = attributes.find("tf.aliasing_output");
      if (alias == attributes.end()) continue;
      auto* const output = std::get_if<int64_t>(&alias->second.value);
      if (output == nullptr || *output < static_cast<int64_t>(tokens))
        return InvalidArgument("An argument's tf.aliasing_output names a token.");
      *output -= static_cast<int64_t>(tokens);
    }
    return absl::OkStatus();
  }

 private:
  Program& program_;
  Function& function_;
  Block& block_;
};

// Returns the index of kPlatform among the platforms that the program is lowered for.
absl::StatusOr<int32_t> PlatformNumber(const Table& root) {
  // The file determines the number of platforms and the lengths of their names: the error bounds both.
  constexpr size_t kPlatformsMax = 64, kNameBytesMax = 64;
  if (root.Count(kPlatforms) > kPlatformsMax)
    return InvalidArgument("It names %d platforms; the limit is %d.", root.Count(kPlatforms), kPlatformsMax);
  std::vector<std::string_view> platforms;
  for (size_t i = 0; i < root.Count(kPlatforms); ++i)
    platforms.push_back(root.BytesOf(kPlatforms, i).substr(0, kNameBytesMax));
  const auto found = std::ranges::find(platforms, kPlatform);
  if (found != platforms.end()) return static_cast<int32_t>(found - platforms.begin());
  return Unimplemented(
      "It is lowered for the platforms %s; expected %s among them.",
      absl::StrJoin(platforms, ", ", [](std::string* out, std::string_view name) { *out += name; }),
      kPlatform);
}

absl::Status TakeOwnArguments(const Table& root, const std::vector<Type>& types, Program& program) {
  const auto main = std::ranges::find(program.functions, "main", &Function::name);
  if (main == program.functions.end() || !main->has_body())
    return InvalidArgument("Its module has no function @main.");
  Entry entry(program, *main);
  for (size_t i = 0; i < entry.arguments();) {
    if (entry.IsPlatformIndex(i)) {
      ASSIGN_OR_RETURN(const int32_t number, PlatformNumber(root));
      if (entry.type(i) != Type::Scalar(hlo::kS32))
        return InvalidArgument("The argument for the platform's number is %s; expected an s32 scalar.",
                               hlo::ToStringNoLayout(entry.type(i)));
      program.branches_are_known = true;
      entry.Replace(i, "stablehlo.constant", {{"value", {hlo::Literal::Scalar(number)}}});
    } else if (entry.type(i).IsToken()) {
      entry.Replace(i, "stablehlo.create_token", {});
    } else {
      ++i;
    }
  }
  RETURN_IF_ERROR(entry.DropReturnedTokens());
  const std::vector<uint16_t> kept = root.Numbers<uint16_t>(kKeptArguments);
  if (kept.size() != entry.arguments()) {
    return InvalidArgument("It keeps (%d) arguments of the function, but its module takes (%d).", kept.size(),
                           entry.arguments());
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] >= types.size() || (i > 0 && kept[i] <= kept[i - 1]))
      return InvalidArgument("It keeps argument (%d) of (%d), which is out of order or range.", kept[i],
                             types.size());
  }
  entry.Distribution(types, kept);
  return absl::OkStatus();
}

}  // namespace

bool IsExported(std::string_view bytes) {
  Flatbuffer buffer(bytes);
  const Table root = buffer.Root();
  return buffer.status().ok() && IsBytecode(root.Bytes(kModule)) && buffer.status().ok();
}

absl::StatusOr<Program> ParseExported(std::string_view bytes) {
  Flatbuffer buffer(bytes);
  const Table root = buffer.Root();
  const auto convention = root.Number<uint16_t>(kCallingConvention);
  RETURN_IF_ERROR(buffer.status());
  if (convention < kConventionMin || convention > kConventionMax) {
    return Unimplemented("It is exported with the calling convention (%d); expected (%d) to (%d).",
                         convention, kConventionMin, kConventionMax);
  }
  ASSIGN_OR_RETURN(const std::vector<Type> types, ArgumentsOf(buffer, root));
  ASSIGN_OR_RETURN(Program program, ParseBytecode(root.Bytes(kModule)));
  RETURN_IF_ERROR(TakeOwnArguments(root, types, program));
  RETURN_IF_ERROR(buffer.status());
  return program;
}

}  // namespace hlod::stablehlo
