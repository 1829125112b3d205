// Reading and compiling programs.
#include "client/pjrt/programs/program.h"

#include <algorithm>
#include <utility>

#include "client/import/import.h"
#include "client/pjrt/buffers/element_type.h"
#include "client/pjrt/client.h"
#include "common/base/errors/status.h"
#include "common/hlo/flat_signature.h"
#include "common/hlo/proto/codec.h"

namespace hlod::pjrt {
namespace {

absl::StatusOr<std::unique_ptr<hlo::Module>> ReadProgram(std::string_view code, std::string_view format) {
  if (format == "mlir" || format == "hlo") return ReadModule(code, {.for_execution = true});
  return InvalidArgument("The program's format is \"%s\"; hlod takes \"mlir\" (StableHLO) and \"hlo\".",
                         format);
}

// Sets how many participants run the module.
absl::Status SetParticipants(hlo::Module& module, const CompileOptions& options) {
  const bool annotated = options.partitions > 1 && module.config.partition_count != options.partitions;
  if (annotated) {
    return Unimplemented(
        "%s is divided into %d partitions by sharding annotations alone, which hlod does not do. Programs "
        "that "
        "divide their work themselves (shard_map, pmap) run on several devices.",
        module.name(), options.partitions);
  }
  module.config.replica_count = options.replicas;
  module.config.partition_count = options.partitions;
  return absl::OkStatus();
}

// Returns, per flat argument, true when the module lets a program consume it.
std::vector<bool> Donated(const hlo::Module& module) {
  const hlo::FlatSignature signature(module.entry());
  std::vector<bool> donated(signature.arguments.size(), false);
  const auto mark = [&](int64_t parameter, const hlo::Dims& index) {
    const int argument = signature.FindArgument(parameter, index);
    if (argument >= 0) donated[static_cast<size_t>(argument)] = true;
  };
  for (const hlo::InputOutputAlias& alias : module.config.input_output_alias)
    mark(alias.parameter_number, alias.parameter_index);
  for (const hlo::BufferDonor& donor : module.config.buffer_donors)
    mark(donor.parameter_number, donor.parameter_index);
  return donated;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::Compile(Client& client,
                                                                                std::string_view code,
                                                                                std::string_view format,
                                                                                CompileOptions options) {
  for (const int device : options.devices) {
    if (client.FindDevice(device) == nullptr) {
      return InvalidArgument("The device assignment names device %d; the daemon has %d.", device,
                             client.devices().size());
    }
  }
  const std::shared_ptr<CompiledProgram> program(new CompiledProgram(client));
  ASSIGN_OR_RETURN(program->module_, ReadProgram(code, format));
  RETURN_IF_ERROR(SetParticipants(*program->module_, options));
  ASSIGN_OR_RETURN(program->channels_, HostChannelsOf(*program->module_));
  program->options_ = std::move(options);
  ASSIGN_OR_RETURN(program->runtime_,
                   client.runtime().Compile(*program->module_, {.describe = true}, Caller{}));
  // The framework expects errors of the program here, not where its results are used.
  ASSIGN_OR_RETURN(program->figures_, program->runtime_.Describe(Caller{}));
  program->Describe();
  return program;
}

void CompiledProgram::Describe() {
  donated_ = Donated(*module_);
  assignment_ = SerializedAssignment(options_);
  fingerprint_ = figures_.digest;
  for (const Shape& shape : runtime_.result_shapes()) {
    output_types_.push_back(ToBufferType(shape.type));
    output_dims_.insert(output_dims_.end(), shape.dims.begin(), shape.dims.end());
    output_ranks_.push_back(shape.dims.size());
  }
  output_kinds_.assign(runtime_.result_shapes().size(), kMemoryKinds[0].data());
  output_kind_sizes_.assign(runtime_.result_shapes().size(), kMemoryKinds[0].size());
  parameter_kinds_.assign(runtime_.argument_shapes().size(), kMemoryKinds[0].data());
  parameter_kind_sizes_.assign(runtime_.argument_shapes().size(), kMemoryKinds[0].size());
}

std::vector<Device*> CompiledProgram::devices() const {
  std::vector<Device*> devices;
  for (const int device : options_.devices) devices.push_back(client_.FindDevice(device));
  return devices;
}

}  // namespace hlod::pjrt
