// Tables of functions beside the main one, in a chain.
#pragma once

#include "client/pjrt/abi/extensions.h"

namespace hlod::pjrt {

// Returns the first element of the chain.
abi::Extension* Extensions();

// The elements of the chain.
abi::Extension& ForeignFunctionsExtension();
abi::Extension& LayoutsExtension();
abi::Extension& ProfilerExtension();
abi::Extension& ShardingsExtension();
abi::Extension& MemoryDescriptionsExtension();

}  // namespace hlod::pjrt
