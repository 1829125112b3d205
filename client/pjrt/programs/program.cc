// Reading and compiling programs.
#include "client/pjrt/programs/program.h"

#include <utility>

#include "client/analysis/module/cost.h"
#include "client/analysis/module/peak.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/division/divide.h"
#include "client/pjrt/division/partition.h"
#include "client/runtime/observe/warnings.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"

namespace hlod::pjrt {
namespace {

// Warns once per program, or once for all programs when none can be divided.
void WarnOfWhole(const std::string& name, const absl::Status& reason) {
  const bool no_partitioner = absl::IsFailedPrecondition(reason);
  runtime::Warn(absl::StrFormat("%s computed whole on each device, because %s cannot be divided: %s",
                                no_partitioner ? "Programs for several devices are" : name + " is",
                                no_partitioner ? "they" : "it", reason.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<CompiledProgram>> CompiledProgram::Read(int devices, std::string_view code,
                                                                       std::string_view format,
                                                                       CompileOptions options) {
  for (const int device : options.devices) {
    if (device < 0 || device >= devices)
      return InvalidArgument("The device assignment names device %d; there are %d.", device, devices);
  }
  std::shared_ptr<CompiledProgram> program(new CompiledProgram);
  ASSIGN_OR_RETURN(ReadProgram read, ReadProgramFrom(code, format));
  if (options.partitions > 1) {
    absl::StatusOr<bool> divided = false;
    if (options.replicas == 1) divided = DivideByXla(read, code, options.partitions);
    if (!divided.ok()) WarnOfWhole(read.module->name(), divided.status());
    if (!divided.value_or(false)) RETURN_IF_ERROR(Partition(read, options.partitions));
  } else {
    read.argument_shardings.clear();
    read.result_shardings.clear();
  }
  RETURN_IF_ERROR(ReplaceForeignCalls(read.module, program->foreign_calls_));
  read.module->config.replica_count = options.replicas;
  read.module->config.partition_count = options.partitions;
  program->module_ = std::move(read.module);
  program->needs_all_ = options.replicas * options.partitions > 1 && NeedsAllParticipants(*program->module_);
  program->code_ = std::string(code);
  program->format_ = std::string(format);
  ASSIGN_OR_RETURN(program->channels_, HostChannelsOf(*program->module_));
  program->assignment_ = SerializedAssignment(options);
  program->options_ = std::move(options);
  program->signature_ = SignatureOf(*program->module_, std::move(read));
  return program;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::Compile(Client& client,
                                                                                std::string_view code,
                                                                                std::string_view format,
                                                                                CompileOptions options) {
  ASSIGN_OR_RETURN(const std::shared_ptr<CompiledProgram> program,
                   Read(static_cast<int>(client.devices().size()), code, format, std::move(options)));
  program->client_ = client.shared_from_this();
  program->line_ = CurrentLine();
  ASSIGN_OR_RETURN(program->runtime_,
                   client.runtime().Compile(*program->module_, {.describe = true}, CompileLine()));
  // The framework expects errors of the program here, not where its results are used.
  ASSIGN_OR_RETURN(program->figures_, program->runtime_.Describe(CompileLine()));
  program->fingerprint_ = program->figures_.digest;
  return program;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::Estimate(int devices,
                                                                                 std::string_view code,
                                                                                 std::string_view format,
                                                                                 CompileOptions options) {
  ASSIGN_OR_RETURN(const std::shared_ptr<CompiledProgram> program,
                   Read(devices, code, format, std::move(options)));
  const hlo::Module& module = *program->module_;
  RETURN_IF_ERROR(hlo::Verify(module));
  ASSIGN_OR_RETURN(const analysis::Peak peak, analysis::PeakOf(module));
  for (const Shape& shape : program->signature_.argument_shapes)
    program->figures_.argument_bytes += hlo::ByteSize(shape).value_or(0);
  program->figures_.alias_bytes = peak.aliased;
  program->figures_.temporary_bytes = peak.temporaries;
  program->fingerprint_ = ToHex(Sha256(hlo::Serialize(module)));
  return program;
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::Load(Client& client,
                                                                             std::string_view options) const {
  ASSIGN_OR_RETURN(CompileOptions read, ReadCompileOptions(options.empty() ? options_.serialized : options));
  return Compile(client, code_, format_, std::move(read));
}

absl::StatusOr<hlod::Executable> CompiledProgram::alone() const {
  if (options_.replicas * options_.partitions == 1) return runtime_;
  return alone_.Get(client_->runtime(), *module_);
}

const hlo::Dependences& CompiledProgram::dependences() const {
  std::call_once(analysed_, [&] { dependences_.emplace(*module_); });
  return *dependences_;
}

double CompiledProgram::flops() const {
  std::call_once(counted_, [&] { flops_ = analysis::CostOf(*module_).total.flops; });
  return flops_;
}

std::vector<Device*> CompiledProgram::devices() const {
  std::vector<Device*> devices;
  for (const int device : options_.devices) devices.push_back(client_->FindDevice(device));
  return devices;
}

}  // namespace hlod::pjrt
