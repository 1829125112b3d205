// The entries that make programs, load them, and ask about loaded ones.
#include <memory>
#include <string>
#include <utility>

#include "client/pjrt/call_location.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/programs/bytes.h"
#include "client/pjrt/programs/executable.h"

namespace hlod::pjrt {

LoadedExecutable::LoadedExecutable(std::shared_ptr<const CompiledProgram> program)
    : program_(std::move(program)) {
  const int partitions = program_->options().partitions;
  const std::vector<Device*> devices = program_->devices();
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i]->is_addressable()) continue;
    const int participant = static_cast<int>(i);
    devices_.push_back(devices[i]);
    logical_ids_.push_back({participant / partitions, participant % partitions});
  }
}

namespace {

// Reads the options of a compilation, and checks that its program is stated.
template <typename Arguments>
absl::StatusOr<CompileOptions> OptionsFrom(const Arguments& args) {
  RETURN_IF_ERROR(Given(args.program, "program"));
  RETURN_IF_ERROR(Given(args.program->code, "program.code"));
  RETURN_IF_ERROR(Given(args.program->format, "program.format"));
  if (args.compile_options_size > 0) RETURN_IF_ERROR(Given(args.compile_options, "compile_options"));
  return ReadCompileOptions({args.compile_options, args.compile_options_size});
}

}  // namespace

absl::Status Serve(abi::Compile_Args& args) {
  RETURN_IF_ERROR(Given(args.topology, "topology"));
  ASSIGN_OR_RETURN(CompileOptions options, OptionsFrom(args));
  const std::string_view code(args.program->code, args.program->code_size);
  const std::string_view format(args.program->format, args.program->format_size);
  const int devices = static_cast<int>(args.topology->descriptions().size());
  ASSIGN_OR_RETURN(std::shared_ptr<const CompiledProgram> program,
                   args.client != nullptr && &args.client->topology() == args.topology
                       ? CompiledProgram::Compile(*args.client, code, format, std::move(options))
                       : CompiledProgram::Estimate(devices, code, format, std::move(options)));
  args.executable = new Executable(std::move(program));
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_Load_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  if (args.compile_options_size > 0) RETURN_IF_ERROR(Given(args.compile_options, "compile_options"));
  ASSIGN_OR_RETURN(
      std::shared_ptr<const CompiledProgram> program,
      args.executable->program()->Load(*args.client, {args.compile_options, args.compile_options_size}));
  args.loaded_executable = new LoadedExecutable(std::move(program));
  return absl::OkStatus();
}

absl::Status Serve(abi::Client_Compile_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.client, "client"));
  ASSIGN_OR_RETURN(CompileOptions options, OptionsFrom(args));
  ASSIGN_OR_RETURN(
      std::shared_ptr<const CompiledProgram> program,
      CompiledProgram::Compile(*args.client, {args.program->code, args.program->code_size},
                               {args.program->format, args.program->format_size}, std::move(options)));
  args.executable = new LoadedExecutable(std::move(program));
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_Serialize_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  ReturnBytes(args.executable->program()->Serialize(), &args.serialized_bytes, &args.serialized_bytes_size,
              &args.serialized_executable, &args.serialized_executable_deleter);
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_GetCompileOptions_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  ReturnBytes(args.executable->program()->options().serialized, &args.serialized_bytes,
              &args.serialized_bytes_size, &args.serialized_compile_options,
              &args.serialized_compile_options_deleter);
  return absl::OkStatus();
}

absl::Status Serve(abi::Executable_DeserializeAndLoad_Args& args) {
  const LineScope line(FoundLine());
  RETURN_IF_ERROR(Given(args.client, "client"));
  RETURN_IF_ERROR(Given(args.serialized_executable, "serialized_executable"));
  const std::string_view options = args.overridden_serialized_compile_options == nullptr
                                       ? std::string_view()
                                       : std::string_view(args.overridden_serialized_compile_options,
                                                          args.overridden_serialized_compile_options_size);
  ASSIGN_OR_RETURN(
      std::shared_ptr<const CompiledProgram> program,
      Deserialize(*args.client, {args.serialized_executable, args.serialized_executable_size}, options));
  args.loaded_executable = new LoadedExecutable(std::move(program));
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_Destroy_Args& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_GetExecutable_Args& args) {
  RETURN_IF_ERROR(Given(args.loaded_executable, "loaded_executable"));
  args.executable = new Executable(args.loaded_executable->program());
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_AddressableDevices_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.addressable_devices = args.executable->devices().data();
  args.num_addressable_devices = args.executable->devices().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_AddressableDeviceLogicalIds_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  // The interface's field is not const; frameworks only read.
  args.addressable_device_logical_ids =
      const_cast<abi::LogicalDeviceIds*>(args.executable->logical_ids().data());
  args.num_addressable_device_logical_ids = args.executable->logical_ids().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_GetDeviceAssignment_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  ReturnBytes(args.executable->program()->assignment(), &args.serialized_bytes, &args.serialized_bytes_size,
              &args.serialized_device_assignment, &args.serialized_device_assignment_deleter);
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_Delete_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.executable->Delete();
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_IsDeleted_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  args.is_deleted = args.executable->IsDeleted();
  return absl::OkStatus();
}

absl::Status Serve(abi::LoadedExecutable_Fingerprint_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  const std::string& fingerprint = args.executable->program()->fingerprint();
  args.executable_fingerprint = fingerprint.data();
  args.executable_fingerprint_size = fingerprint.size();
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
