// The extensions of the interface that hlod has. Each begins with its place in the chain.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt {
class MemoryLayout;
class MemoryDescription;
class Profiler;
}  // namespace hlod::pjrt

namespace hlod::pjrt::ffi {
struct TypeInfo;
}  // namespace hlod::pjrt::ffi

namespace hlod::pjrt::abi {

enum ExtensionType {
  kProfiler = 1,
  kLayouts = 4,
  kForeignFunctions = 5,
  kMemoryDescriptions = 6,
  kShardings = 19
};

struct SerializedLayout;

struct Layouts_Destroy_Args : Args {
  MemoryLayout* layout;
};
struct Layouts_Serialize_Args : Args {
  MemoryLayout* layout;
  const char* serialized_bytes;                          // out
  size_t serialized_bytes_size;                          // out
  SerializedLayout* serialized_layout;                   // out
  void (*serialized_layout_deleter)(SerializedLayout*);  // out
};
struct Layouts_ClientDefault_Args : Args {
  Client* client;
  BufferType type;
  const int64_t* dims;
  size_t num_dims;
  MemoryLayout* layout;  // out
};
struct Layouts_OfBuffer_Args : Args {
  Buffer* buffer;
  MemoryLayout* layout;  // out
};
struct Layouts_TopologyDefault_Args : Args {
  TopologyDescription* topology;
  BufferType type;
  const int64_t* dims;
  size_t num_dims;
  MemoryLayout* layout;  // out
};
struct Layouts_OfProgram_Args : Args {
  Executable* executable;
  size_t num_layouts;      // out
  MemoryLayout** layouts;  // out: the program's own
};
struct LayoutsExtension {
  Extension base;
  Error* (*destroy)(Layouts_Destroy_Args* args);
  Error* (*serialize)(Layouts_Serialize_Args* args);
  Error* (*client_default)(Layouts_ClientDefault_Args* args);
  Error* (*of_buffer)(Layouts_OfBuffer_Args* args);
  Error* (*topology_default)(Layouts_TopologyDefault_Args* args);
  Error* (*of_outputs)(Layouts_OfProgram_Args* args);
  Error* (*of_parameters)(Layouts_OfProgram_Args* args);
};

// Serialized OpShardings; null when the program has none.
struct Shardings_Args : Args {
  Executable* executable;
  size_t num_shardings;          // out
  const char* const* shardings;  // out
  const size_t* sharding_sizes;  // out
};
struct ShardingsExtension {
  Extension base;
  Error* (*of_parameters)(Shardings_Args* args);
  Error* (*of_outputs)(Shardings_Args* args);
};

struct MemoryDescriptions_Args : Args {
  DeviceDescription* device_description;
  const MemoryDescription* const* memory_descriptions;  // out
  size_t num_memory_descriptions;                       // out
  size_t default_memory_index;                          // out
};
struct MemoryDescription_Kind_Args : Args {
  const MemoryDescription* memory_description;
  const char* kind;  // out
  size_t kind_size;  // out
  int kind_id;       // out
};
struct MemoryDescriptionsExtension {
  Extension base;
  Error* (*of_device)(MemoryDescriptions_Args* args);
  Error* (*kind)(MemoryDescription_Kind_Args* args);
};

// The structs of the profiler's functions have no place for extensions.
struct Profiler_Error_Args {
  size_t struct_size;
  void* unused;
  Error* error;
};
struct Profiler_Error_Message_Args {
  size_t struct_size;
  void* unused;
  const Error* error;
  const char* message;  // out
  size_t message_size;  // out
};
struct Profiler_Error_Code_Args {
  size_t struct_size;
  void* unused;
  const Error* error;
  int code;  // out
};
struct Profiler_Create_Args {
  size_t struct_size;
  const char* options;
  size_t options_size;
  Profiler* profiler;  // out
};
struct Profiler_Args {
  size_t struct_size;
  Profiler* profiler;
};
struct Profiler_Collect_Args {
  size_t struct_size;
  Profiler* profiler;
  uint8_t* buffer;     // out, unless the caller gives memory
  size_t buffer_size;  // out
};
struct ProfilerFunctions {
  size_t struct_size;
  void* unused;
  void (*error_destroy)(Profiler_Error_Args* args);
  void (*error_message)(Profiler_Error_Message_Args* args);
  Error* (*error_code)(Profiler_Error_Code_Args* args);
  Error* (*create)(Profiler_Create_Args* args);
  Error* (*destroy)(Profiler_Args* args);
  Error* (*start)(Profiler_Args* args);
  Error* (*stop)(Profiler_Args* args);
  Error* (*collect)(Profiler_Collect_Args* args);
};
struct ProfilerExtension {
  Extension base;
  ProfilerFunctions* functions;
  int64_t trace_context;
};

struct ForeignFunctions_TypeRegister_Args : Args {
  const char* type_name;
  size_t type_name_size;
  int64_t type_id;  // 0 for a new one; out
  const ffi::TypeInfo* type_info;
};
struct ForeignFunctions_UserDataAdd_Args : Args {
  ExecuteContext* context;
  int64_t type_id;
  void* data;
};
// Without a place for extensions.
struct ForeignFunctions_Register_Args {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  void* handler;  // A function that executes.
  const char* platform_name;
  size_t platform_name_size;
  uint32_t traits;
};
struct ForeignFunctionsExtension {
  Extension base;
  Error* (*type_register)(ForeignFunctions_TypeRegister_Args* args);
  Error* (*user_data_add)(ForeignFunctions_UserDataAdd_Args* args);
  Error* (*register_handler)(ForeignFunctions_Register_Args* args);
};

}  // namespace hlod::pjrt::abi
