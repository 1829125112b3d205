// The binary interface of XLA's typed foreign functions (the FFI C API, version 0.3), declared from its
// description: a framework's users compile handlers against it. The names and order of the fields are the
// interface's, this text is ours. A field marked "out" is a result.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlod::pjrt::ffi {

// The interface's opaque handles.
class Error;
class Future;
class Context;

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int kMetadataExtension = 1;

// Begins every struct.
struct Base {
  size_t struct_size;
  Extension* extension_start;
};

struct ApiVersion : Base {
  int major_version;
  int minor_version;
};
inline constexpr int kMajorVersion = 0, kMinorVersion = 3;

struct ByteSpan {
  const char* data;
  size_t size;
};

// An array. `dtype` has XLA's numbers of element types.
struct Buffer : Base {
  int dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
};

inline constexpr int kBufferValue = 1;  // The only type of arguments and results.
struct Values : Base {
  int64_t size;
  int* types;
  void** values;
};

enum class AttributeType : int { kArray = 1, kDictionary, kScalar, kString };
struct Scalar {
  int dtype;
  void* value;
};
struct Array {
  int dtype;
  size_t size;
  void* data;
};
// A dictionary: that of a call, or one within another.
struct Attributes : Base {
  int64_t size;
  AttributeType* types;
  ByteSpan** names;
  void** values;
};

enum class Stage : int { kInstantiate, kPrepare, kInitialize, kExecute };

struct TypeId {
  int64_t type_id;
};
struct TypeInfo : Base {
  void (*deleter)(void* object);
};

struct Metadata {
  size_t struct_size;
  ApiVersion api_version;  // out
  uint32_t traits;         // out
  TypeId state_type_id;    // out
};
struct MetadataExtension : Extension {
  Metadata* metadata;
};

struct Api;
struct CallFrame : Base {
  const Api* api;
  Context* context;
  Stage stage;
  Values arguments, results;
  Attributes attributes;
  Future* future;  // out
};
// The sizes to state, which handlers compare with their own: those of the fields that the interface had
// first.
inline constexpr size_t kFrameSize = sizeof(CallFrame) - sizeof(Future*);
inline constexpr size_t kMetadataSize = sizeof(size_t) + sizeof(ApiVersion) + sizeof(uint32_t);
static_assert(kFrameSize == 168 && kMetadataSize == 36);
using Handler = Error*(CallFrame* frame);
// The functions of the stages of a call; only `execute` is required.
struct Handlers {
  Handler* instantiate;
  Handler* prepare;
  Handler* initialize;
  Handler* execute;
};

struct Error_Create_Args : Base {
  const char* message;
  int code;
};
struct Error_GetMessage_Args : Base {
  Error* error;
  const char* message;  // out
};
struct Error_Destroy_Args : Base {
  Error* error;
};
struct Handler_Register_Args : Base {
  ByteSpan name, platform;
  Handlers handlers;
  uint32_t traits;
};
struct Stream_Get_Args : Base {
  Context* context;
  void* stream;  // out
};
struct Type_Register_Args : Base {
  ByteSpan name;
  TypeId* type_id;  // 0 for a new one.
  const TypeInfo* type_info;
};
struct ExecutionContext_Get_Args : Base {
  Context* context;
  TypeId* type_id;
  void* data;  // out
};
struct State_Set_Args : Base {
  Context* context;
  Stage stage;
  TypeId* type_id;
  void* state;
};
struct State_Get_Args : Base {
  Context* context;
  Stage stage;
  TypeId* type_id;
  void* state;  // out
};
struct DeviceMemory_Allocate_Args : Base {
  Context* context;
  size_t size;
  size_t alignment;
  void* data;  // out
};
struct DeviceMemory_Free_Args : Base {
  Context* context;
  size_t size;
  void* data;
};
using Task = void(void* data);
struct ThreadPool_Schedule_Args : Base {
  Context* context;
  Task* task;
  void* data;
};
struct ThreadPool_NumThreads_Args : Base {
  Context* context;
  int64_t* num_threads;  // out
};
struct Future_Create_Args : Base {
  Future* future;  // out
};
struct Future_SetAvailable_Args : Base {
  Future* future;
};
struct Future_SetError_Args : Base {
  Future* future;
  Error* error;
};
struct RunId_Get_Args : Base {
  Context* context;
  int64_t run_id;  // out
};
struct DeviceOrdinal_Get_Args : Base {
  Context* context;
  int32_t device_ordinal;  // out
};

// The functions that a handler may call.
struct Api : Base {
  ApiVersion version;
  const void* internal;
  Error* (*error_create)(Error_Create_Args*);
  void (*error_get_message)(Error_GetMessage_Args*);
  void (*error_destroy)(Error_Destroy_Args*);
  Error* (*handler_register)(Handler_Register_Args*);
  Error* (*stream_get)(Stream_Get_Args*);
  Error* (*type_register)(Type_Register_Args*);
  Error* (*context_get)(ExecutionContext_Get_Args*);
  Error* (*state_set)(State_Set_Args*);
  Error* (*state_get)(State_Get_Args*);
  Error* (*memory_allocate)(DeviceMemory_Allocate_Args*);
  Error* (*memory_free)(DeviceMemory_Free_Args*);
  Error* (*thread_pool_schedule)(ThreadPool_Schedule_Args*);
  Error* (*thread_pool_size)(ThreadPool_NumThreads_Args*);
  Error* (*future_create)(Future_Create_Args*);
  Error* (*future_set_available)(Future_SetAvailable_Args*);
  Error* (*future_set_error)(Future_SetError_Args*);
  Error* (*run_id_get)(RunId_Get_Args*);
  Error* (*device_ordinal_get)(DeviceOrdinal_Get_Args*);
};

}  // namespace hlod::pjrt::ffi
