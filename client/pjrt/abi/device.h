// Arguments of the entries about devices and their descriptions.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt::abi {

struct DeviceDescription_Id_Args : Args {
  DeviceDescription* device_description;
  int id;  // out
};

struct DeviceDescription_ProcessIndex_Args : Args {
  DeviceDescription* device_description;
  int process_index;  // out
};

struct DeviceDescription_Attributes_Args : Args {
  DeviceDescription* device_description;
  size_t num_attributes;         // out
  const NamedValue* attributes;  // out
};

struct DeviceDescription_Kind_Args : Args {
  DeviceDescription* device_description;
  const char* device_kind;  // out
  size_t device_kind_size;  // out
};

struct DeviceDescription_DebugString_Args : Args {
  DeviceDescription* device_description;
  const char* debug_string;  // out
  size_t debug_string_size;  // out
};

struct DeviceDescription_ToString_Args : Args {
  DeviceDescription* device_description;
  const char* to_string;  // out
  size_t to_string_size;  // out
};

struct Device_GetDescription_Args : Args {
  Device* device;
  DeviceDescription* device_description;  // out
};

struct Device_IsAddressable_Args : Args {
  Device* device;
  bool is_addressable;  // out
};

struct Device_LocalHardwareId_Args : Args {
  Device* device;
  int local_hardware_id;  // out
};

struct Device_AddressableMemories_Args : Args {
  Device* device;
  Memory* const* memories;  // out
  size_t num_memories;      // out
};

struct Device_DefaultMemory_Args : Args {
  Device* device;
  Memory* memory;  // out
};

struct Device_MemoryStats_Args : Args {
  Device* device;
  int64_t bytes_in_use;                  // out
  int64_t peak_bytes_in_use;             // out
  bool peak_bytes_in_use_is_set;         // out
  int64_t num_allocs;                    // out
  bool num_allocs_is_set;                // out
  int64_t largest_alloc_size;            // out
  bool largest_alloc_size_is_set;        // out
  int64_t bytes_limit;                   // out
  bool bytes_limit_is_set;               // out
  int64_t bytes_reserved;                // out
  bool bytes_reserved_is_set;            // out
  int64_t peak_bytes_reserved;           // out
  bool peak_bytes_reserved_is_set;       // out
  int64_t bytes_reservable_limit;        // out
  bool bytes_reservable_limit_is_set;    // out
  int64_t largest_free_block_bytes;      // out
  bool largest_free_block_bytes_is_set;  // out
  int64_t pool_bytes;                    // out
  bool pool_bytes_is_set;                // out
  int64_t peak_pool_bytes;               // out
  bool peak_pool_bytes_is_set;           // out
  int64_t peak_allocated_bytes;          // out
  bool peak_allocated_bytes_is_set;      // out
};

struct Device_ClearMemoryStats_Args : Args {
  Device* device;
};

struct Device_PoisonExecution_Args : Args {
  Device* device;
  int32_t launch_id;
  ErrorCode error_code;
  const char* error_message;
  size_t error_message_size;
  bool poisoned;  // out
  const NamedValue* payload;
  size_t num_payload;
};

struct Device_GetAttributes_Args : Args {
  Device* device;
  const NamedValue* attributes;                                      // out
  size_t num_attributes;                                             // out
  Device_Attributes* device_attributes;                              // out
  void (*attributes_deleter)(Device_Attributes* device_attributes);  // out
};

struct Device_CreateAsyncTrackingEvent_Args : Args {
  Device* device;
  const char* description;
  size_t description_size;
  AsyncTrackingEvent* event;  // out
};

struct AsyncTrackingEvent_Destroy_Args : Args {
  AsyncTrackingEvent* event;
};

}  // namespace hlod::pjrt::abi
