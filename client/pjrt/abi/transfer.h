// Arguments of the entries that fill buffers piece by piece.
#pragma once

#include "client/pjrt/abi/base.h"
#include "client/pjrt/abi/buffer.h"
#include "client/pjrt/abi/executable.h"

namespace hlod::pjrt::abi {

struct Client_DmaMap_Args : Args {
  Client* client;
  void* data;
  size_t size;
};

struct Client_DmaUnmap_Args : Args {
  Client* client;
  void* data;
};

struct AsyncHostToDeviceTransferManager_Destroy_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
};

struct AsyncHostToDeviceTransferManager_TransferData_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  const void* data;
  int64_t offset;
  int64_t transfer_size;
  bool is_last_transfer;
  Event* done_with_h2d_transfer;  // out
};

struct AsyncHostToDeviceTransferManager_RetrieveBuffer_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  Buffer* buffer_out;  // out
};

struct AsyncHostToDeviceTransferManager_Device_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  Device* device_out;  // out
};

struct AsyncHostToDeviceTransferManager_BufferCount_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  size_t buffer_count;  // out
};

struct AsyncHostToDeviceTransferManager_BufferSize_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  size_t buffer_size;  // out
};

struct AsyncHostToDeviceTransferManager_SetBufferError_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  ErrorCode error_code;
  const char* error_message;
  size_t error_message_size;
};

struct AsyncHostToDeviceTransferManager_AddMetadata_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  const NamedValue* transfer_metadata;
  size_t num_metadata;
};

struct AsyncHostToDeviceTransferManager_TransferLiteral_Args : Args {
  AsyncHostToDeviceTransferManager* transfer_manager;
  int buffer_index;
  const void* data;
  const int64_t* shape_dims;
  size_t shape_num_dims;
  BufferType shape_element_type;
  Buffer_MemoryLayout* shape_layout;
  Event* done_with_h2d_transfer;  // out
};

struct ShapeSpec : Args {
  const int64_t* dims;
  size_t num_dims;
  BufferType element_type;
};

struct Client_CreateBuffersForAsyncHostToDevice_Args : Args {
  Client* client;
  ShapeSpec* shape_specs;
  size_t num_shape_specs;
  Buffer_MemoryLayout** device_layouts;
  size_t num_device_layouts;
  Memory* memory;
  AsyncHostToDeviceTransferManager* transfer_manager;  // out
};

struct CopyToDeviceStream_Destroy_Args : Args {
  CopyToDeviceStream* stream;
};

struct CopyToDeviceStream_AddChunk_Args : Args {
  CopyToDeviceStream* stream;
  Chunk* chunk;
  Event* transfer_complete;  // out
};

struct CopyToDeviceStream_TotalBytes_Args : Args {
  CopyToDeviceStream* stream;
  int64_t total_bytes;  // out
};

struct CopyToDeviceStream_GranuleSize_Args : Args {
  CopyToDeviceStream* stream;
  int64_t granule_size_in_bytes;  // out
};

struct CopyToDeviceStream_CurrentBytes_Args : Args {
  CopyToDeviceStream* stream;
  int64_t current_bytes;  // out
};

}  // namespace hlod::pjrt::abi
