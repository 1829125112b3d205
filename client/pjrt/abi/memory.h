// Arguments of the entries about memory spaces.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt::abi {

struct Memory_Id_Args : Args {
  Memory* memory;
  int id;  // out
};

struct Memory_Kind_Args : Args {
  Memory* memory;
  const char* kind;  // out
  size_t kind_size;  // out
};

struct Memory_Kind_Id_Args : Args {
  Memory* memory;
  int kind_id;  // out
};

struct Memory_DebugString_Args : Args {
  Memory* memory;
  const char* debug_string;  // out
  size_t debug_string_size;  // out
};

struct Memory_ToString_Args : Args {
  Memory* memory;
  const char* to_string;  // out
  size_t to_string_size;  // out
};

struct Memory_AddressableByDevices_Args : Args {
  Memory* memory;
  Device* const* devices;  // out
  size_t num_devices;      // out
};

// The table that the first word of a memory space points at. The framework keeps data of its own with a
// memory space, under keys.
struct MemoryFunctions : Args {
  size_t instance_struct_size;
  void* (*get_user_data)(Memory* memory, const void* key);
  void (*set_user_data)(Memory* memory, const void* key, void* data, void (*destroy)(void* data));
};

}  // namespace hlod::pjrt::abi
