// Makes a request's frame, and reads the answer.
#include "client/partition/partition.h"

#include <algorithm>
#include <utility>

#include "client/partition/interpreter.h"
#include "client/partition/worker.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"

namespace hlod::partition {
namespace {

using nlohmann::json;

// The time for sending and reading modules, beyond a request's own limit, which the worker keeps.
constexpr absl::Duration kMargin = absl::Seconds(30);

absl::Status ErrorOf(const json& header) {
  const std::string text = header.value("error", "The process that partitions programs gave no reason.");
  const std::string kind = header.value("kind", "failed");
  if (kind == "refused") return InvalidArgument("%s", text);
  if (kind == "late") return DeadlineExceeded("%s", text);
  return Aborted("%s", text);
}

// Appends the shardings of a value's `leaves`, which a tuple has one by one.
void AppendLeaves(const xla::OpSharding& sharding, size_t leaves, std::vector<std::string>& shardings) {
  if (sharding.type() != xla::OpSharding::TUPLE) {
    shardings.insert(shardings.end(), leaves, sharding.SerializeAsString());
    return;
  }
  for (const xla::OpSharding& leaf : sharding.tuple_shardings())
    shardings.push_back(leaf.SerializeAsString());
}

// Reads the shardings that the partitioner left in the module.
void TakeOpShardings(Partitioned& read) {
  xla::HloModuleProto rest;
  if (!rest.ParseFromString(read.module->config.unmodelled)) return;
  const hlo::Computation& entry = read.module->entry();
  const auto count =
      std::min(entry.parameters().size(), static_cast<size_t>(rest.spmd_parameters_shardings_size()));
  for (size_t i = 0; i < count; ++i) {
    AppendLeaves(rest.spmd_parameters_shardings(static_cast<int>(i)),
                 hlo::Leaves(entry[entry.parameters()[i]].shape()).size(), read.parameter_op_shardings);
  }
  AppendLeaves(rest.spmd_output_sharding(), read.result_shardings.size(), read.result_op_shardings);
}

// Reads the answer's fields. Throws json::exception if one is missing.
absl::StatusOr<Partitioned> Read(const Frame& answer) {
  const json& header = answer.header;
  Partitioned read{.devices = header.at("devices"),
                   .partitioner = header.at("partitioner"),
                   .has_shardings = header.at("annotated"),
                   .parameter_shardings = header.at("parameter_shardings"),
                   .result_shardings = header.at("result_shardings"),
                   .jaxlib = header.at("jaxlib"),
                   .cached = header.at("cached")};
  for (const json& axis : header.at("mesh"))
    read.mesh.axes.emplace_back(axis.at(0).get<std::string>(), axis.at(1).get<int64_t>());
  const size_t size = header.at("module_bytes");
  if (size > answer.body.size())
    return DataLoss("The process that partitions programs sent a part of a module.");
  read.serialized = answer.body.substr(0, size);
  ASSIGN_OR_RETURN(read.module, hlo::FromSerialized(read.serialized));
  TakeOpShardings(read);
  if (size < answer.body.size()) {
    ASSIGN_OR_RETURN(read.annotated, hlo::FromSerialized(std::string_view(answer.body).substr(size)));
  }
  return read;
}

}  // namespace

bool IsWanted() { return PartitioningIsOn(); }

absl::StatusOr<Partitioned> Partition(const Request& request) {
  Frame frame;
  frame.header = {{"partitioner", request.partitioner},
                  {"explain", request.annotated},
                  {"seconds", request.seconds},
                  {"mesh", nullptr},
                  {"devices", nullptr}};
  if (!request.shard.empty()) frame.header["shard"] = request.shard;
  if (!request.strategy.empty()) frame.header["strategy"] = request.strategy;
  if (request.devices > 0) frame.header["devices"] = request.devices;
  if (!request.mesh.axes.empty()) {
    json& mesh = frame.header["mesh"] = json::array();
    for (const auto& [name, size] : request.mesh.axes) mesh.push_back({name, size});
  }
  frame.body = request.program;
  ASSIGN_OR_RETURN(const Frame answer, SharedWorker().Ask(frame, absl::Seconds(request.seconds) + kMargin));
  try {
    if (!answer.header.value("ok", false)) return ErrorOf(answer.header);
    return Read(answer);
  } catch (const json::exception& error) {
    return DataLoss("The process that partitions programs sent an answer that cannot be read: %s",
                    error.what());
  }
}

}  // namespace hlod::partition
