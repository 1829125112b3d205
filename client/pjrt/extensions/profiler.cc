// The extension by which frameworks take profiles.
#include "client/pjrt/profiler/profiler.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/extensions/extensions.h"

namespace hlod::pjrt {
namespace {

void DestroyProfilerError(abi::Profiler_Error_Args* args) { delete args->error; }

void MessageOfProfilerError(abi::Profiler_Error_Message_Args* args) {
  args->message = args->error->message().data();
  args->message_size = args->error->message().size();
}

absl::Status CodeOfProfilerError(abi::Profiler_Error_Code_Args& args) {
  RETURN_IF_ERROR(Given(args.error, "error"));
  args.code = args.error->status().raw_code();
  return absl::OkStatus();
}

absl::Status CreateProfiler(abi::Profiler_Create_Args& args) {
  args.profiler = new Profiler;
  return absl::OkStatus();
}

absl::Status DestroyProfiler(abi::Profiler_Args& args) {
  delete args.profiler;
  return absl::OkStatus();
}

absl::Status StartProfiler(abi::Profiler_Args& args) {
  RETURN_IF_ERROR(Given(args.profiler, "profiler"));
  return args.profiler->Start();
}

absl::Status StopProfiler(abi::Profiler_Args& args) {
  RETURN_IF_ERROR(Given(args.profiler, "profiler"));
  return args.profiler->Stop();
}

// Frameworks call it without memory, and either read the profiler's or call again with memory of that size.
absl::Status CollectProfile(abi::Profiler_Collect_Args& args) {
  RETURN_IF_ERROR(Given(args.profiler, "profiler"));
  const std::string& bytes = args.profiler->bytes();
  if (args.buffer == nullptr) {
    args.buffer = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
  } else {
    std::memcpy(args.buffer, bytes.data(), std::min(bytes.size(), args.buffer_size));
  }
  args.buffer_size = bytes.size();
  return absl::OkStatus();
}

// Calls a function. Frameworks state wrong sizes of these structs, which have never grown.
template <typename Arguments>
Error* Call(const char* name, Arguments* args, absl::Status (*serve)(Arguments&)) {
  if (args == nullptr) return ToError(InvalidArgument("%s was called without arguments.", name));
  return ToError(Caught(name, [&] { return serve(*args); }));
}

}  // namespace

abi::Extension& ProfilerExtension() {
  static abi::ProfilerFunctions functions = {
      .struct_size = sizeof(abi::ProfilerFunctions),
      .unused = nullptr,
      .error_destroy = DestroyProfilerError,
      .error_message = MessageOfProfilerError,
      .error_code =
          [](auto* args) { return Call("PLUGIN_Profiler_Error_GetCode", args, CodeOfProfilerError); },
      .create = [](auto* args) { return Call("PLUGIN_Profiler_Create", args, CreateProfiler); },
      .destroy = [](auto* args) { return Call("PLUGIN_Profiler_Destroy", args, DestroyProfiler); },
      .start = [](auto* args) { return Call("PLUGIN_Profiler_Start", args, StartProfiler); },
      .stop = [](auto* args) { return Call("PLUGIN_Profiler_Stop", args, StopProfiler); },
      .collect = [](auto* args) { return Call("PLUGIN_Profiler_CollectData", args, CollectProfile); },
  };
  static abi::ProfilerExtension extension = {
      .base = {sizeof(abi::ProfilerExtension), abi::kProfiler, nullptr},
      .functions = &functions,
      .trace_context = 0,
  };
  return extension.base;
}

}  // namespace hlod::pjrt
