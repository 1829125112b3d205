// The table of functions that a plugin gives to a framework.
#pragma once

#include "client/pjrt/abi/buffer.h"
#include "client/pjrt/abi/client.h"
#include "client/pjrt/abi/device.h"
#include "client/pjrt/abi/error.h"
#include "client/pjrt/abi/event.h"
#include "client/pjrt/abi/executable.h"
#include "client/pjrt/abi/memory.h"
#include "client/pjrt/abi/topology.h"
#include "client/pjrt/abi/transfer.h"

namespace hlod::pjrt::abi {

struct ApiVersion : Args {
  int major_version;
  int minor_version;
};

// The version with which the entries below came to be complete.
inline constexpr int kMajorVersion = 0, kMinorVersion = 112;

struct Api : Args {
  ApiVersion version;
#define HLOD_PJRT_ENTRY(name) pjrt::Error* (*name)(name##_Args * args);
#define HLOD_PJRT_MISSING(name) HLOD_PJRT_ENTRY(name)
#define HLOD_PJRT_VOID(name) void (*name)(name##_Args * args);
#include "client/pjrt/abi/entries.inc"
#undef HLOD_PJRT_ENTRY
#undef HLOD_PJRT_MISSING
#undef HLOD_PJRT_VOID
};

}  // namespace hlod::pjrt::abi
