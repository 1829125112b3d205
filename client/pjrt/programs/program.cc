// Reading and compiling programs.
#include "client/pjrt/programs/program.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/analysis/module/peak.h"
#include "client/pjrt/buffers/element_type.h"
#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/division/divide.h"
#include "client/pjrt/division/partition.h"
#include "client/runtime/observe/warnings.h"
#include "common/base/errors/status.h"
#include "common/base/sha256.h"
#include "common/hlo/flat_signature.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"

namespace hlod::pjrt {
namespace {

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

// Returns, per flat result, the flat argument that it aliases; -1 for none.
std::vector<int> AliasesOf(const hlo::Module& module) {
  const hlo::FlatSignature signature(module.entry());
  std::vector<int> aliases(signature.results.size(), -1);
  for (const hlo::InputOutputAlias& alias : module.config.input_output_alias) {
    const int result = signature.FindResult(alias.output_index);
    if (result >= 0)
      aliases[static_cast<size_t>(result)] =
          signature.FindArgument(alias.parameter_number, alias.parameter_index);
  }
  return aliases;
}

// Kinds that hlod does not have are taken for the default one: a device's memories are one.
MemoryKinds KindsOf(const std::vector<std::string>& stated, size_t count) {
  MemoryKinds kinds;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view kind = i < stated.size() ? std::string_view(stated[i]) : std::string_view();
    const auto* const found = std::find(std::begin(kMemoryKinds), std::end(kMemoryKinds), kind);
    const size_t id =
        found == std::end(kMemoryKinds) ? 0 : static_cast<size_t>(found - std::begin(kMemoryKinds));
    kinds.ids.push_back(id);
    kinds.names.push_back(kMemoryKinds[id].data());
    kinds.sizes.push_back(kMemoryKinds[id].size());
  }
  return kinds;
}

// Fills in the row-major layout where none is stated.
std::vector<DimensionOrder> OrdersOf(std::vector<DimensionOrder> stated, const std::vector<Shape>& shapes) {
  stated.resize(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (stated[i].size() != shapes[i].dims.size()) stated[i] = RowMajorOrder(shapes[i].dims.size());
  }
  return stated;
}

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
    program->argument_shardings_ = std::move(read.argument_shardings);
    program->result_shardings_ = std::move(read.result_shardings);
  }
  RETURN_IF_ERROR(ReplaceForeignCalls(read.module, program->foreign_calls_));
  read.module->config.replica_count = options.replicas;
  read.module->config.partition_count = options.partitions;
  program->module_ = std::move(read.module);
  program->needs_all_ = options.replicas * options.partitions > 1 && NeedsAllParticipants(*program->module_);
  program->code_ = std::string(code);
  program->format_ = std::string(format);
  ASSIGN_OR_RETURN(program->channels_, HostChannelsOf(*program->module_));
  program->options_ = std::move(options);
  program->Describe(read);
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
  for (const Shape& shape : program->argument_shapes_)
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

void CompiledProgram::Describe(const ReadProgram& read) {
  const hlo::FlatSignature signature(module_->entry());
  for (const hlo::FlatSignature::Leaf& leaf : signature.arguments) argument_shapes_.push_back(leaf.shape);
  for (const hlo::FlatSignature::Leaf& leaf : signature.results) result_shapes_.push_back(leaf.shape);
  donated_ = Donated(*module_);
  aliases_ = AliasesOf(*module_);
  assignment_ = SerializedAssignment(options_);
  for (const Shape& shape : result_shapes_) {
    output_types_.push_back(ToBufferType(shape.type));
    output_dims_.insert(output_dims_.end(), shape.dims.begin(), shape.dims.end());
    output_ranks_.push_back(shape.dims.size());
  }
  output_kinds_ = KindsOf(read.result_kinds, result_shapes_.size());
  parameter_kinds_ = KindsOf(read.argument_kinds, argument_shapes_.size());
  output_orders_ = OrdersOf(read.result_orders, result_shapes_);
  parameter_orders_ = OrdersOf(read.argument_orders, argument_shapes_);
}

absl::StatusOr<hlod::Executable> CompiledProgram::alone() const {
  if (options_.replicas * options_.partitions == 1) return runtime_;
  return alone_.Get(client_->runtime(), *module_);
}

const hlo::Dependences& CompiledProgram::dependences() const {
  std::call_once(analysed_, [&] { dependences_.emplace(*module_); });
  return *dependences_;
}

std::vector<Device*> CompiledProgram::devices() const {
  std::vector<Device*> devices;
  for (const int device : options_.devices) devices.push_back(client_->FindDevice(device));
  return devices;
}

}  // namespace hlod::pjrt
