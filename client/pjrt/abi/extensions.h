// The extensions of the interface that hlod has. Each begins with its place in the chain.
#pragma once

#include "client/pjrt/abi/base.h"

namespace hlod::pjrt {
class MemoryLayout;
class MemoryDescription;
}  // namespace hlod::pjrt

namespace hlod::pjrt::abi {

enum ExtensionType { kLayouts = 4, kMemoryDescriptions = 6, kShardings = 19 };

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

}  // namespace hlod::pjrt::abi
