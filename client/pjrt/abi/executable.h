// Arguments of the entries that compile and run programs.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt::abi {

struct Chunk;
// Takes a value that a running program sends to the host. It owns the chunk.
using SendCallback = Error* (*)(Chunk* chunk, Error* (**callback_error)(ErrorCode, const char*, size_t),
                                size_t total_size_in_bytes, bool done, void* user_arg);
// Writes a value for a running program to the stream, which it takes over.
using RecvCallback = void (*)(CopyToDeviceStream* stream, void* user_arg);
using HloOutputCallback = void (*)(int64_t replica_id, int64_t partition_id, const void* data,
                                   const int64_t* shape_dims, size_t shape_num_dims,
                                   BufferType shape_element_type, int64_t operand_index, void* user_arg);

struct Program : Args {
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
};

struct Client_Compile_Args : Args {
  Client* client;
  const Program* program;
  const char* compile_options;
  size_t compile_options_size;
  LoadedExecutable* executable;  // out
};

struct Client_Load_Args : Args {
  Client* client;
  Executable* executable;
  const char* compile_options;
  size_t compile_options_size;
  LoadedExecutable* loaded_executable;  // out
};

struct ExecuteContext_Create_Args : Args {
  ExecuteContext* context;  // out
};

struct ExecuteContext_Destroy_Args : Args {
  ExecuteContext* context;
};

struct Executable_Destroy_Args : Args {
  Executable* executable;
};

struct LoadedExecutable_Destroy_Args : Args {
  LoadedExecutable* executable;
};

struct LoadedExecutable_GetExecutable_Args : Args {
  LoadedExecutable* loaded_executable;
  Executable* executable;  // out
};

struct LoadedExecutable_GetDeviceAssignment_Args : Args {
  LoadedExecutable* executable;
  const char* serialized_bytes;  // out
  size_t serialized_bytes_size;  // out
  DeviceAssignmentSerialized* serialized_device_assignment;
  void (*serialized_device_assignment_deleter)(DeviceAssignmentSerialized* da);  // out
};

struct Executable_Name_Args : Args {
  Executable* executable;
  const char* executable_name;  // out
  size_t executable_name_size;  // out
};

struct Executable_NumReplicas_Args : Args {
  Executable* executable;
  size_t num_replicas;  // out
};

struct Executable_NumPartitions_Args : Args {
  Executable* executable;
  size_t num_partitions;  // out
};

struct LogicalDeviceIds {
  int replica;
  int partition;
};

struct LoadedExecutable_AddressableDevices_Args : Args {
  LoadedExecutable* executable;
  Device* const* addressable_devices;  // out
  size_t num_addressable_devices;      // out
};

struct LoadedExecutable_AddressableDeviceLogicalIds_Args : Args {
  LoadedExecutable* executable;
  LogicalDeviceIds* addressable_device_logical_ids;  // out
  size_t num_addressable_device_logical_ids;         // out
};

struct Executable_OptimizedProgram_Args : Args {
  Executable* executable;
  Program* program;  // out
};

struct LoadedExecutable_Delete_Args : Args {
  LoadedExecutable* executable;
};

struct LoadedExecutable_IsDeleted_Args : Args {
  LoadedExecutable* executable;
  bool is_deleted;  // out
};

struct Chunk {
  void* data;
  size_t size;
  void (*deleter)(void* data, void* deleter_arg);
  void* deleter_arg;
};

struct SendCallbackInfo {
  int64_t channel_id;
  void* user_arg;
  SendCallback send_callback;
};

struct RecvCallbackInfo {
  int64_t channel_id;
  void* user_arg;
  RecvCallback recv_callback;
};

struct HloOutputCallbackInfo {
  void* user_arg;
  HloOutputCallback callback;
  int64_t callback_id;
  size_t num_operands;
};

struct ExecuteOptions : Args {
  SendCallbackInfo** send_callbacks;
  RecvCallbackInfo** recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  ExecuteContext* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
  MultiSlice_Config* multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  HloOutputCallbackInfo* hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
};

struct LoadedExecutable_Execute_Args : Args {
  LoadedExecutable* executable;
  ExecuteOptions* options;
  Buffer* const* const* argument_lists;
  size_t num_devices;
  size_t num_args;
  Buffer** const* output_lists;
  Event** device_complete_events;
  Device* execute_device;
};

struct Executable_NumOutputs_Args : Args {
  Executable* executable;
  size_t num_outputs;  // out
};

struct Executable_SizeOfGeneratedCodeInBytes_Args : Args {
  Executable* executable;
  int64_t size_in_bytes;  // out
};

struct Executable_Fingerprint_Args : Args {
  Executable* executable;
  const char* executable_fingerprint;  // out
  size_t executable_fingerprint_size;  // out
};

struct Executable_GetCostAnalysis_Args : Args {
  Executable* executable;
  size_t num_properties;         // out
  const NamedValue* properties;  // out
};

struct Executable_GetCompiledMemoryStats_Args : Args {
  Executable* executable;
  int64_t generated_code_size_in_bytes;       // out
  int64_t argument_size_in_bytes;             // out
  int64_t output_size_in_bytes;               // out
  int64_t alias_size_in_bytes;                // out
  int64_t temp_size_in_bytes;                 // out
  int64_t host_generated_code_size_in_bytes;  // out
  int64_t host_argument_size_in_bytes;        // out
  int64_t host_output_size_in_bytes;          // out
  int64_t host_alias_size_in_bytes;           // out
  int64_t host_temp_size_in_bytes;            // out
  int64_t peak_memory_in_bytes;               // out
  int64_t total_size_in_bytes;                // out
  int64_t total_allocation_bytes;             // out
  int64_t indefinite_allocations;             // out
  int64_t peak_unpadded_heap_bytes;           // out
};

struct Executable_OutputElementTypes_Args : Args {
  Executable* executable;
  BufferType* output_types;  // out
  size_t num_output_types;   // out
};

struct Executable_OutputDimensions_Args : Args {
  Executable* executable;
  size_t num_outputs;
  const int64_t* dims;      // out
  const size_t* dim_sizes;  // out
};

struct Executable_ParameterMemoryKinds_Args : Args {
  Executable* executable;
  size_t num_parameters;
  const char* const* memory_kinds;  // out
  const size_t* memory_kind_sizes;  // out
};

struct Executable_OutputMemoryKinds_Args : Args {
  Executable* executable;
  size_t num_outputs;
  const char* const* memory_kinds;  // out
  const size_t* memory_kind_sizes;  // out
};

struct Executable_Serialize_Args : Args {
  const Executable* executable;
  const char* serialized_bytes;  // out
  size_t serialized_bytes_size;  // out
  SerializedExecutable* serialized_executable;
  void (*serialized_executable_deleter)(SerializedExecutable* exec);  // out
};

struct Executable_GetCompileOptions_Args : Args {
  Executable* executable;
  const char* serialized_bytes;  // out
  size_t serialized_bytes_size;  // out
  SerializedCompileOptions* serialized_compile_options;
  void (*serialized_compile_options_deleter)(SerializedCompileOptions* options);  // out
};

struct LoadOptions {
  size_t struct_size;
  const int32_t* computation_origin;
  size_t computation_origin_size;
  MultiSlice_Config* multi_slice_config;
};

struct Executable_DeserializeAndLoad_Args : Args {
  Client* client;
  const char* serialized_executable;
  size_t serialized_executable_size;
  LoadedExecutable* loaded_executable;  // out
  const char* overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size;
  LoadOptions* load_options;
};

struct LoadedExecutable_Fingerprint_Args : Args {
  LoadedExecutable* executable;
  const char* executable_fingerprint;  // out
  size_t executable_fingerprint_size;  // out
};

}  // namespace hlod::pjrt::abi
