// The binary interface of PJRT plugins (the PJRT C API, major version 0), declared from its description: the
// names and order of the fields are the interface's, this text is ours. Each entry takes a struct of
// arguments and results that begins with Args; a field marked "out" is a result. `struct_size` says how much
// of the struct the caller knows: structs have only ever grown at their ends.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlod::pjrt {

// The interface's opaque handles.
class AliasRight;
class AsyncTrackingEvent;
class Buffer;
class Client;
class CopyToDeviceStream;
class Device;
class DeviceDescription;
class Error;
class Event;
class Executable;
class ExecuteContext;
class HostToDeviceTransfers;
class LoadedExecutable;
class Memory;
class Topology;

}  // namespace hlod::pjrt

namespace hlod::pjrt::abi {

using AsyncHostToDeviceTransferManager = HostToDeviceTransfers;
using FulfillAliasBufferCallback = AliasRight;
using TopologyDescription = Topology;
// Holders of bytes that an entry returns; the caller gives them to the deleter that comes with them.
struct SerializedExecutable;
struct SerializedCompileOptions;
struct SerializedTopology;
struct DeviceAssignmentSerialized;
struct Device_Attributes;
struct MultiSlice_Config;

enum class ErrorCode : int {};   // The numbers of absl::StatusCode.
enum class BufferType : int {};  // client/pjrt/buffers/element_type.h
enum class NamedValueType : int { kString, kInt64, kInt64List, kFloat, kBool };
enum class ProcessState : int {};
enum class LayoutType : int { kTiled, kStrides };
// Says how long the host's memory of an upload stays as it is.
enum class HostBufferSemantics : int {
  kImmutableOnlyDuringCall,
  kImmutableUntilTransferCompletes,
  kImmutableZeroCopy,
  kMutableZeroCopy
};

// An element of a chain of extensions, which `type` distinguishes.
struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};

struct Args {
  size_t struct_size;
  Extension* extension_start;
};

// An option or an attribute.
struct NamedValue : Args {
  const char* name;
  size_t name_size;
  NamedValueType type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;  // A string's length, a list's number of elements, else 1.
};

}  // namespace hlod::pjrt::abi
