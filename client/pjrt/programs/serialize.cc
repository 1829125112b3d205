// Programs as bytes.
#include <cstring>
#include <utility>

#include "client/pjrt/client.h"
#include "client/pjrt/programs/program.h"
#include "client/pjrt/programs/wire.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"

namespace hlod::pjrt {
namespace {

// The beginning of every serialized program; the number changes with the format.
constexpr std::string_view kMagic = "hlod program 1\n";

void AppendField(std::string& bytes, std::string_view field) {
  const uint64_t size = field.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(field);
}

// Takes a field from the front of `bytes`.
absl::StatusOr<std::string_view> TakeField(std::string_view& bytes) {
  uint64_t size = 0;
  if (bytes.size() < sizeof(size)) return InvalidArgument("The serialized program is cut short.");
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes.remove_prefix(sizeof(size));
  if (bytes.size() < size) return InvalidArgument("The serialized program is cut short.");
  const std::string_view field = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return field;
}

// States the shardings of a partitioned program, whose own shapes are those of the parts. Frameworks that know
// no extension of the interface (PyTorch/XLA) read them here; a partitioner that divided the program may have
// stated them before.
void AddShardings(const CompiledProgram& program, xla::HloModuleProto& module) {
  if (program.options().partitions == 1) return;
  module.clear_spmd_parameters_shardings();
  module.clear_spmd_output_sharding();
  for (const std::string& sharding : program.signature().argument_shardings)
    module.add_spmd_parameters_shardings()->ParseFromString(sharding);
  const std::vector<std::string>& results = program.signature().result_shardings;
  xla::OpSharding& stated = *module.mutable_spmd_output_sharding();
  if (!program.module().entry().root().shape().IsTuple()) {
    stated.ParseFromString(results[0]);
    return;
  }
  stated.set_type(xla::OpSharding::TUPLE);
  for (const std::string& sharding : results) stated.add_tuple_shardings()->ParseFromString(sharding);
}

}  // namespace

std::string CompiledProgram::Serialize() const {
  std::string bytes(kMagic);
  AppendField(bytes, options_.serialized);
  AppendField(bytes, format_);
  AppendField(bytes, code_);
  return bytes;
}

// HloModuleProtoWithConfig is {1: the module, 2: its HloModuleConfigProto}; of the latter {1: the layouts of
// the entry, 4: the number of replicas, 5: of partitions}.
std::string CompiledProgram::WithConfig() const {
  xla::HloModuleProto module = hlo::ToProto(*module_);
  AddShardings(*this, module);
  std::string config, bytes;
  AppendBytesField(config, 1, module.host_program_shape().SerializeAsString());
  AppendNumberField(config, 4, options_.replicas);
  AppendNumberField(config, 5, options_.partitions);
  AppendBytesField(bytes, 1, module.SerializeAsString());
  AppendBytesField(bytes, 2, config);
  return bytes;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> Deserialize(Client& client, std::string_view bytes,
                                                                   std::string_view options) {
  if (!bytes.starts_with(kMagic))
    return InvalidArgument("The serialized program was not written by this version of hlod.");
  bytes.remove_prefix(kMagic.size());
  ASSIGN_OR_RETURN(const std::string_view own_options, TakeField(bytes));
  ASSIGN_OR_RETURN(const std::string_view format, TakeField(bytes));
  ASSIGN_OR_RETURN(const std::string_view code, TakeField(bytes));
  ASSIGN_OR_RETURN(CompileOptions read, ReadCompileOptions(options.empty() ? own_options : options));
  return CompiledProgram::Compile(client, code, format, std::move(read));
}

}  // namespace hlod::pjrt
