// The functions that handlers call.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "client/pjrt/ffi/call.h"
#include "client/pjrt/ffi/errors.h"
#include "client/pjrt/ffi/registry.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt::ffi {
namespace {

Error* CreateError(Error_Create_Args* args) {
  return new Error(
      absl::Status(static_cast<absl::StatusCode>(args->code), args->message == nullptr ? "" : args->message));
}

Error* RegisterHandler(Handler_Register_Args* args) {
  const std::string_view platform(args->platform.data, args->platform.size);
  return Make(Register({args->name.data, args->name.size}, args->handlers, /*is_own=*/platform == "hlod"));
}

// The host has no streams.
Error* GetStream(Stream_Get_Args* args) {
  args->stream = nullptr;
  return nullptr;
}

Error* RegisterTypeOf(Type_Register_Args* args) {
  const absl::StatusOr<int64_t> id =
      RegisterType({args->name.data, args->name.size}, args->type_id->type_id,
                   args->type_info == nullptr ? nullptr : args->type_info->deleter);
  if (id.ok()) args->type_id->type_id = *id;
  return Make(id.status());
}

Error* GetData(ExecutionContext_Get_Args* args) {
  const absl::StatusOr<void*> data = args->context->Data(args->type_id->type_id);
  if (data.ok()) args->data = *data;
  return Make(data.status());
}

Error* SetState(State_Set_Args* args) {
  return Make(args->context->SetState(args->stage, args->type_id->type_id, args->state));
}

Error* GetState(State_Get_Args* args) {
  const absl::StatusOr<void*> state = args->context->State(args->stage, args->type_id->type_id);
  if (state.ok()) args->state = *state;
  return Make(state.status());
}

// A handler's arrays are in this process, and so is its scratch memory.
Error* Allocate(DeviceMemory_Allocate_Args* args) {
  const size_t alignment = std::max(args->alignment, sizeof(void*));
  if (posix_memalign(&args->data, alignment, std::max<size_t>(args->size, 1)) == 0) return nullptr;
  return Make(ResourceExhausted("No memory of %d bytes for a foreign function.", args->size));
}

Error* Free(DeviceMemory_Free_Args* args) {
  std::free(args->data);
  return nullptr;
}

// Tasks run at once: a handler that waits for one finds it done.
Error* Schedule(ThreadPool_Schedule_Args* args) {
  args->task(args->data);
  return nullptr;
}

Error* CountThreads(ThreadPool_NumThreads_Args* args) {
  *args->num_threads = std::max<int64_t>(1, std::thread::hardware_concurrency());
  return nullptr;
}

Error* NoFutures() { return Make(Unimplemented("hlod does not have XLA_FFI_Future.")); }

Error* GetRunId(RunId_Get_Args* args) {
  args->run_id = args->context->run_id();
  return nullptr;
}

Error* GetDevice(DeviceOrdinal_Get_Args* args) {
  args->device_ordinal = args->context->device();
  return nullptr;
}

Api MakeFunctions() {
  Api api = {};
  api.struct_size = sizeof(api);
  api.version.struct_size = sizeof(api.version);
  api.version.major_version = kMajorVersion;
  api.version.minor_version = kMinorVersion;
  api.error_create = CreateError;
  api.error_get_message = [](Error_GetMessage_Args* args) { args->message = args->error->message().c_str(); };
  api.error_destroy = [](Error_Destroy_Args* args) { delete args->error; };
  api.handler_register = RegisterHandler;
  api.stream_get = GetStream;
  api.type_register = RegisterTypeOf;
  api.context_get = GetData;
  api.state_set = SetState;
  api.state_get = GetState;
  api.memory_allocate = Allocate;
  api.memory_free = Free;
  api.thread_pool_schedule = Schedule;
  api.thread_pool_size = CountThreads;
  api.future_create = [](Future_Create_Args*) { return NoFutures(); };
  api.future_set_available = [](Future_SetAvailable_Args*) { return NoFutures(); };
  api.future_set_error = [](Future_SetError_Args*) { return NoFutures(); };
  api.run_id_get = GetRunId;
  api.device_ordinal_get = GetDevice;
  return api;
}

}  // namespace

const Api& FunctionsForHandlers() {
  static const Api api = MakeFunctions();
  return api;
}

}  // namespace hlod::pjrt::ffi
