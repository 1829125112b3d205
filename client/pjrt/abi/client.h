// Arguments of the entries about the plugin and its clients.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt::abi {

// Makes an error in a callback of the framework.
using CallbackError = Error* (*)(ErrorCode code, const char* message, size_t message_size);
using KeyValueDeleter = void (*)(char* value);
struct KeyValueGetCallback_Args;
struct KeyValueTryGetCallback_Args;
struct KeyValuePutCallback_Args;
using KeyValueGetCallback = Error* (*)(KeyValueGetCallback_Args* args);
using KeyValueTryGetCallback = Error* (*)(KeyValueTryGetCallback_Args* args);
using KeyValuePutCallback = Error* (*)(KeyValuePutCallback_Args* args);

struct Plugin_Initialize_Args : Args {};

struct Plugin_Attributes_Args : Args {
  const NamedValue* attributes;  // out
  size_t num_attributes;         // out
};

struct KeyValueGetCallback_Args : Args {
  const char* key;
  size_t key_size;
  int timeout_in_ms;
  CallbackError* callback_error;
  void* user_arg;
  char* value;                             // out
  size_t value_size;                       // out
  KeyValueDeleter value_deleter_callback;  // out
};

struct KeyValueTryGetCallback_Args : Args {
  const char* key;
  size_t key_size;
  CallbackError* callback_error;
  void* user_arg;
  char* value;                             // out
  size_t value_size;                       // out
  KeyValueDeleter value_deleter_callback;  // out
};

struct KeyValuePutCallback_Args : Args {
  const char* key;
  size_t key_size;
  const char* value;
  size_t value_size;
  CallbackError* callback_error;
  void* user_arg;
};

struct Client_Create_Args : Args {
  const NamedValue* create_options;
  size_t num_options;
  KeyValueGetCallback kv_get_callback;
  void* kv_get_user_arg;
  KeyValuePutCallback kv_put_callback;
  void* kv_put_user_arg;
  Client* client;  // out
  KeyValueTryGetCallback kv_try_get_callback;
  void* kv_try_get_user_arg;
};

struct Client_Destroy_Args : Args {
  Client* client;
};

struct Client_PlatformName_Args : Args {
  Client* client;
  const char* platform_name;  // out
  size_t platform_name_size;  // out
};

struct Client_ProcessIndex_Args : Args {
  Client* client;
  int process_index;  // out
};

struct Client_PlatformVersion_Args : Args {
  Client* client;
  const char* platform_version;  // out
  size_t platform_version_size;  // out
};

struct Client_TopologyDescription_Args : Args {
  Client* client;
  TopologyDescription* topology;  // out
};

struct Client_Devices_Args : Args {
  Client* client;
  Device* const* devices;  // out
  size_t num_devices;      // out
};

struct Client_AddressableDevices_Args : Args {
  Client* client;
  Device* const* addressable_devices;  // out
  size_t num_addressable_devices;      // out
};

struct Client_LookupDevice_Args : Args {
  Client* client;
  int id;
  Device* device;  // out
};

struct Client_LookupAddressableDevice_Args : Args {
  Client* client;
  int local_hardware_id;
  Device* addressable_device;  // out
};

struct ProcessInfo {
  size_t struct_size;
  int task_id;
  uint64_t incarnation_id;
  ProcessState state;
  int error_code;
  const char* error_message;
  size_t error_message_size;
};

struct Client_UpdateGlobalProcessInfo_Args : Args {
  Client* client;
  ProcessInfo* process_infos;
  size_t num_process_infos;
};

struct Client_AddressableMemories_Args : Args {
  Client* client;
  Memory* const* addressable_memories;  // out
  size_t num_addressable_memories;      // out
};

struct Client_DefaultDeviceAssignment_Args : Args {
  Client* client;
  int num_replicas;
  int num_partitions;
  size_t default_assignment_size;
  int* default_assignment;
};

}  // namespace hlod::pjrt::abi
