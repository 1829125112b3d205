// Arguments of the entries about topologies, and of compilation for one.
#pragma once

#include "client/pjrt/abi/base.h"
#include "client/pjrt/abi/buffer.h"
#include "client/pjrt/abi/executable.h"

namespace hlod::pjrt::abi {

struct TopologyDescription_Create_Args : Args {
  const char* topology_name;
  size_t topology_name_size;
  const NamedValue* create_options;
  size_t num_options;
  TopologyDescription* topology;  // out
};

struct TopologyDescription_Destroy_Args : Args {
  TopologyDescription* topology;
};

struct TopologyDescription_PlatformVersion_Args : Args {
  TopologyDescription* topology;
  const char* platform_version;  // out
  size_t platform_version_size;  // out
};

struct TopologyDescription_PlatformName_Args : Args {
  const TopologyDescription* topology;
  const char* platform_name;  // out
  size_t platform_name_size;  // out
};

struct TopologyDescription_GetDeviceDescriptions_Args : Args {
  const TopologyDescription* topology;
  DeviceDescription* const* descriptions;  // out
  size_t num_descriptions;                 // out
};

struct TopologyDescription_Serialize_Args : Args {
  TopologyDescription* topology;
  const char* serialized_bytes;                                                  // out
  size_t serialized_bytes_size;                                                  // out
  SerializedTopology* serialized_topology;                                       // out
  void (*serialized_topology_deleter)(SerializedTopology* serialized_topology);  // out
};

struct TopologyDescription_Deserialize_Args : Args {
  const char* serialized_topology;
  size_t serialized_topology_size;
  TopologyDescription* topology;  // out
};

struct TopologyDescription_Attributes_Args : Args {
  TopologyDescription* topology;
  const NamedValue* attributes;  // out
  size_t num_attributes;         // out
};

struct TopologyDescription_Fingerprint_Args : Args {
  const TopologyDescription* topology;
  uint64_t fingerprint;  // out
};

struct TopologyDescription_MakeCanonicalShapeForMemorySpace_Args : Args {
  const TopologyDescription* topology;
  int memory_space_kind_id;
  const int64_t* dims;
  size_t num_dims;
  BufferType element_type;
  const Buffer_MemoryLayout* layout;
  const char* serialized_shape;                   // out
  size_t serialized_shape_size;                   // out
  void (*serialized_shape_deleter)(const char*);  // out
};

struct TopologyDescription_GetMemorySpaceKindIds_Args : Args {
  const TopologyDescription* topology;
  const int* memory_space_kind_ids;  // out
  size_t num_memory_space_kind_ids;  // out
};

struct Compile_Args : Args {
  const TopologyDescription* topology;
  const Program* program;
  const char* compile_options;
  size_t compile_options_size;
  Client* client;
  Executable* executable;  // out
};

}  // namespace hlod::pjrt::abi
