// Reads and checks what the command line states of a program.
#include "client/cli/run/run_program.h"

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/run/run_arguments.h"
#include "common/base/errors/status.h"
#include "common/hlo/elements/npy.h"
#include "common/hlo/literal.h"

namespace hlod::cli {
namespace {

// Returns the integers in the first bytes of a file when it holds a small array of integers, else nullopt.
std::optional<std::vector<int64_t>> SmallIntegers(const hlo::NpyHeader& header, const std::string& start,
                                                  const std::string& path) {
  for (const hlo::PrimitiveType type :
       {hlo::kS8, hlo::kS16, hlo::kS32, hlo::kS64, hlo::kU8, hlo::kU16, hlo::kU32}) {
    if (header.dtype != hlo::NpyDtype(type)) continue;
    const absl::StatusOr<Literal> literal = hlo::ParseNpy(start, Shape::Array(type, header.dims), path);
    if (!literal.ok()) return std::nullopt;  // The array is longer than these bytes, or malformed.
    std::vector<int64_t> numbers;
    hlo::VisitType(type, [&]<typename T>() {
      if constexpr (std::is_integral_v<T>)
        numbers.assign(literal->data<T>().begin(), literal->data<T>().end());
    });
    return numbers;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<ReadOptions> ReadOptionsOf(const RunOptions& options) {
  ASSIGN_OR_RETURN(ReadOptions read, ParseReadOptions(options.stablehlo));
  read.for_execution = true;
  ASSIGN_OR_RETURN(const auto files, AssignFiles(options.arguments, SIZE_MAX, SIZE_MAX, 0));
  for (const auto& [index, path] : files) {
    std::ifstream file(path, std::ios::binary);
    std::string start(1 << 16, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<size_t>(file.gcount()));
    const absl::StatusOr<hlo::NpyHeader> header = hlo::ParseNpyHeader(start, path);
    if (!header.ok()) continue;
    read.sizes.try_emplace(index, header->dims);
    if (std::optional<std::vector<int64_t>> numbers = SmallIntegers(*header, start, path))
      read.numbers.try_emplace(index, *std::move(numbers));
  }
  return read;
}

absl::Status CheckSizes(const Module& module, const RunOptions& options) {
  ASSIGN_OR_RETURN(const ReadOptions given, ParseReadOptions(options.stablehlo));
  const absl::Span<const hlo::NodeId> parameters = module.entry().parameters();
  for (const auto& [index, dims] : given.sizes) {
    const Shape* shape = index < parameters.size() ? &module.entry()[parameters[index]].shape() : nullptr;
    if (shape != nullptr && shape->dims == dims) continue;
    return UsageError(
        absl::StrFormat("--size %d=%s: argument %d of the program %s.", index, absl::StrJoin(dims, ","),
                        index, shape == nullptr ? "does not exist" : "is " + hlo::ToStringNoLayout(*shape)));
  }
  return absl::OkStatus();
}

absl::Status CheckDevices(const Client& client, const Module& module, const Executable& executable) {
  const int participants = executable.participant_count();
  if (participants <= client.device_count()) return absl::OkStatus();
  return FailedPrecondition(
      "%s needs %d devices (num_replicas %d x num_partitions %d), but the daemon has %d (hlod --devices).",
      module.name(), participants, executable.replica_count(), executable.partition_count(),
      client.device_count());
}

absl::Status CheckArguments(const Client& client, const Module& module, const Executable& executable) {
  if (executable.participant_count() > 1) return absl::OkStatus();
  const int64_t most = client.limits().buffer_bytes_max;
  const absl::Span<const hlo::NodeId> parameters = module.entry().parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Shape& shape = module.entry()[parameters[i]].shape();
    const std::optional<int64_t> bytes = hlo::ByteSize(shape);
    if (!shape.IsArray() || (bytes.has_value() && *bytes <= most)) continue;
    return ResourceExhausted(
        "Argument %d of %s, %s, has %s bytes; limit buffer_bytes_max is %d (hlod --buffer-bytes-max).", i,
        module.name(), hlo::ToStringNoLayout(shape), bytes.has_value() ? absl::StrCat(*bytes) : "over 2^63",
        most);
  }
  return absl::OkStatus();
}

}  // namespace hlod::cli
