// Arguments of the entries about buffers and the layouts of their elements.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt::abi {

struct Buffer_MemoryLayout_Tiled : Args {
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t num_tiles;
};

struct Buffer_MemoryLayout_Strides : Args {
  const int64_t* byte_strides;
  size_t num_byte_strides;
};

struct Buffer_MemoryLayout : Args {
  union {
    Buffer_MemoryLayout_Tiled tiled;
    Buffer_MemoryLayout_Strides strides;
  };
  LayoutType type;
};

struct Client_CreateUninitializedBuffer_Args : Args {
  Client* client;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  BufferType shape_element_type;
  Buffer_MemoryLayout* shape_layout;
  Device* device;
  Memory* memory;
  Buffer* buffer;  // out
};

struct Client_CreateErrorBuffer_Args : Args {
  Client* client;
  ErrorCode error_code;
  const char* error_message;
  size_t error_message_size;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  BufferType shape_element_type;
  Buffer_MemoryLayout* shape_layout;
  Memory* memory;
  Buffer* buffer;  // out
  const NamedValue* payload;
  size_t num_payload;
};

struct Client_CreateAliasBuffer_Args : Args {
  Client* client;
  Memory* memory;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  BufferType shape_element_type;
  Buffer_MemoryLayout* shape_layout;
  Buffer* alias_buffer;                                 // out
  FulfillAliasBufferCallback* fulfill_alias_buffer_cb;  // out
};

struct Client_FulfillAliasBuffer_Args : Args {
  Client* client;
  Buffer* buffer;
  ErrorCode status_code;
  const char* error_message;
  size_t error_message_size;
  FulfillAliasBufferCallback* fulfill_alias_buffer_cb;
};

struct Client_BufferFromHostBuffer_Args : Args {
  Client* client;
  const void* data;
  BufferType type;
  const int64_t* dims;
  size_t num_dims;
  const int64_t* byte_strides;
  size_t num_byte_strides;
  HostBufferSemantics host_buffer_semantics;
  Device* device;
  Memory* memory;
  Buffer_MemoryLayout* device_layout;
  Event* done_with_host_buffer;  // out
  Buffer* buffer;                // out
};

struct Client_CreateViewOfDeviceBuffer_Args : Args {
  Client* client;
  void* device_buffer_ptr;
  const int64_t* dims;
  size_t num_dims;
  BufferType element_type;
  Buffer_MemoryLayout* layout;
  Device* device;
  void (*on_delete_callback)(void* device_buffer_ptr, void* user_arg);
  void* on_delete_callback_arg;
  intptr_t stream;
  Buffer* buffer;  // out
  Memory* memory;
};

struct Buffer_Destroy_Args : Args {
  Buffer* buffer;
};

struct Buffer_ElementType_Args : Args {
  Buffer* buffer;
  BufferType type;  // out
};

struct Buffer_Dimensions_Args : Args {
  Buffer* buffer;
  const int64_t* dims;  // out
  size_t num_dims;      // out
};

struct Buffer_UnpaddedDimensions_Args : Args {
  Buffer* buffer;
  const int64_t* unpadded_dims;  // out
  size_t num_dims;               // out
};

struct Buffer_DynamicDimensionIndices_Args : Args {
  Buffer* buffer;
  const size_t* dynamic_dim_indices;  // out
  size_t num_dynamic_dims;            // out
};

struct Buffer_GetMemoryLayout_Args : Args {
  Buffer* buffer;
  Buffer_MemoryLayout layout;  // out
};

struct Buffer_ToHostBuffer_Args : Args {
  Buffer* src;
  Buffer_MemoryLayout* host_layout;
  void* dst;
  size_t dst_size;
  Event* event;  // out
};

struct Buffer_OnDeviceSizeInBytes_Args : Args {
  Buffer* buffer;
  size_t on_device_size_in_bytes;  // out
};

struct Buffer_Delete_Args : Args {
  Buffer* buffer;
};

struct Buffer_IsDeleted_Args : Args {
  Buffer* buffer;
  bool is_deleted;  // out
};

struct Buffer_CopyRawToHost_Args : Args {
  Buffer* buffer;
  void* dst;
  int64_t offset;
  int64_t transfer_size;
  Event* event;  // out
};

struct Buffer_CopyRawToHostFuture_Callback_Args {
  size_t struct_size;
  void* callback_data;
  ErrorCode error_code;
  const char* error_message;
  size_t error_message_size;
  void* dst;
};

struct Buffer_CopyRawToHostFuture_Args : Args {
  Buffer* buffer;
  int64_t offset;
  int64_t transfer_size;
  Event* event;                                                                   // out
  void* callback_data;                                                            // out
  void (*future_ready_callback)(Buffer_CopyRawToHostFuture_Callback_Args* args);  // out
};

struct Buffer_CopyToDevice_Args : Args {
  Buffer* buffer;
  Device* dst_device;
  Buffer* dst_buffer;  // out
};

struct Buffer_CopyToMemory_Args : Args {
  Buffer* buffer;
  Memory* dst_memory;
  Buffer* dst_buffer;  // out
};

struct Buffer_Bitcast_Args : Args {
  Buffer* buffer;
  BufferType element_type;
  const int64_t* dims;
  size_t num_dims;
  Buffer_MemoryLayout* device_layout;
  Buffer* out_buffer;  // out
};

struct Buffer_IsOnCpu_Args : Args {
  Buffer* buffer;
  bool is_on_cpu;  // out
};

struct Buffer_Device_Args : Args {
  Buffer* buffer;
  Device* device;  // out
};

struct Buffer_Memory_Args : Args {
  Buffer* buffer;
  Memory* memory;  // out
};

struct Buffer_ReadyEvent_Args : Args {
  Buffer* buffer;
  Event* event;  // out
};

struct Buffer_UnsafePointer_Args : Args {
  Buffer* buffer;
  uintptr_t buffer_pointer;  // out
};

struct Buffer_IncreaseExternalReferenceCount_Args : Args {
  Buffer* buffer;
};

struct Buffer_DecreaseExternalReferenceCount_Args : Args {
  Buffer* buffer;
};

struct Buffer_OpaqueDeviceMemoryDataPointer_Args : Args {
  Buffer* buffer;
  void* device_memory_ptr;  // out
};

struct Buffer_DonateWithControlDependency_Callback_Args {
  size_t struct_size;
  void* callback_data;
  ErrorCode error_code;
  const char* error_message;
  size_t error_message_size;
};

struct Buffer_DonateWithControlDependency_Args : Args {
  Buffer* buffer;
  void* callback_data;                                                                        // out
  void (*dependency_ready_callback)(Buffer_DonateWithControlDependency_Callback_Args* args);  // out
  Buffer* out_buffer;                                                                         // out
};

}  // namespace hlod::pjrt::abi
