// The entries that ask about a program.
#include "client/pjrt/programs/executable.h"

#include <cstring>
#include <string>

#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"

namespace hlod::pjrt {

namespace {

ListOfBytes BytesOf(const std::vector<std::string>& strings) {
  ListOfBytes list;
  for (const std::string& string : strings) {
    list.data.push_back(string.data());
    list.sizes.push_back(string.size());
  }
  return list;
}

}  // namespace

Executable::Executable(std::shared_ptr<const CompiledProgram> program) : program_(std::move(program)) {
  for (const DimensionOrder& order : program_->signature().output_orders)
    output_layouts_.push_back(&layouts_.emplace_back(order));
  for (const DimensionOrder& order : program_->signature().parameter_orders)
    parameter_layouts_.push_back(&layouts_.emplace_back(order));
  argument_shardings_ = BytesOf(program_->signature().argument_shardings);
  result_shardings_ = BytesOf(program_->signature().result_shardings);
}

absl::Status Serve(abi::Executable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_Name_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  const std::string& name = args.executable->program()->module().name();
  args.executable_name = name.data();
  args.executable_name_size = name.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_NumReplicas_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.num_replicas = static_cast<size_t>(args.executable->program()->options().replicas);
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_NumPartitions_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.num_partitions = static_cast<size_t>(args.executable->program()->options().partitions);
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_NumOutputs_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.num_outputs = args.executable->program()->signature().output_types.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_OutputElementTypes_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  // The interface's field is not const; frameworks only read.
  args.output_types =
      const_cast<abi::BufferType*>(args.executable->program()->signature().output_types.data());
  args.num_output_types = args.executable->program()->signature().output_types.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_OutputDimensions_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.num_outputs = args.executable->program()->signature().output_types.size();
  args.dims = args.executable->program()->signature().output_dims.data();
  args.dim_sizes = args.executable->program()->signature().output_ranks.data();
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_OutputMemoryKinds_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  const CompiledProgram& program = *args.executable->program();
  args.num_outputs = program.signature().output_kinds.names.size();
  args.memory_kinds = program.signature().output_kinds.names.data();
  args.memory_kind_sizes = program.signature().output_kinds.sizes.data();
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_ParameterMemoryKinds_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  const CompiledProgram& program = *args.executable->program();
  args.num_parameters = program.signature().parameter_kinds.names.size();
  args.memory_kinds = program.signature().parameter_kinds.names.data();
  args.memory_kind_sizes = program.signature().parameter_kinds.sizes.data();
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_SizeOfGeneratedCodeInBytes_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.size_in_bytes = 0;  // Machine code stays in the daemon, which does not tell its size.
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_Fingerprint_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  const std::string& fingerprint = args.executable->program()->fingerprint();
  args.executable_fingerprint = fingerprint.data();
  args.executable_fingerprint_size = fingerprint.size();
  return absl::OkStatus();
}

// Called twice: without memory for the size, then with memory of that size.
absl::Status Serve(abi::Executable_OptimizedProgram_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  RETURN_IF_ERROR(Given(args.program, "program"));
  static constexpr std::string_view kFormat = "hlo_with_config";
  args.program->format = kFormat.data();
  args.program->format_size = kFormat.size();
  const std::string bytes = args.executable->program()->WithConfig();
  if (args.program->code == nullptr) {
    args.program->code_size = bytes.size();
    return absl::OkStatus();
  }
  if (args.program->code_size < bytes.size())
    return InvalidArgument("code_size is %d; the program has %d bytes.", args.program->code_size,
                           bytes.size());
  std::memcpy(args.program->code, bytes.data(), bytes.size());
  args.program->code_size = bytes.size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_GetCompiledMemoryStats_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  const CompileResult& figures = args.executable->program()->figures();
  abi::Executable_GetCompiledMemoryStats_Args stats = {};  // The caller's struct need not be clear.
  stats.executable = args.executable;
  args = stats;
  args.argument_size_in_bytes = figures.argument_bytes;
  // The daemon counts what is not an argument's memory; the interface wants all results.
  for (const Shape& shape : args.executable->program()->signature().result_shapes)
    args.output_size_in_bytes += hlo::ByteSize(shape).value_or(0);
  args.alias_size_in_bytes = figures.alias_bytes;
  args.temp_size_in_bytes = figures.temporary_bytes;
  args.peak_memory_in_bytes =
      figures.argument_bytes + args.output_size_in_bytes - figures.alias_bytes + figures.temporary_bytes;
  args.total_size_in_bytes = args.peak_memory_in_bytes;
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
