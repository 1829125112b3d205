// The function table, and the one symbol that the library exports.
#include "client/pjrt/abi/api.h"

#include "client/pjrt/entry.h"
#include "client/pjrt/extensions/extensions.h"

namespace hlod::pjrt {
namespace {

abi::Api MakeApi() {
  abi::Api api = {};
  api.struct_size = sizeof(api);
  api.extension_start = Extensions();
  api.version.struct_size = sizeof(api.version);
  api.version.major_version = abi::kMajorVersion;
  api.version.minor_version = abi::kMinorVersion;
#define HLOD_PJRT_ENTRY(name)                                                             \
  api.name = [](abi::name##_Args* args) {                                                 \
    return Enter<abi::name##_Args>("PJRT_" #name, args,                                   \
                                   [](abi::name##_Args& whole) { return Serve(whole); }); \
  };
#define HLOD_PJRT_MISSING(name) \
  api.name = [](abi::name##_Args*) { return ToError(Unimplemented("hlod does not have PJRT_" #name ".")); };
#define HLOD_PJRT_VOID(name) api.name = [](abi::name##_Args* args) { Answer(args); };
#include "client/pjrt/abi/entries.inc"
#undef HLOD_PJRT_ENTRY
#undef HLOD_PJRT_MISSING
#undef HLOD_PJRT_VOID
  return api;
}

}  // namespace
}  // namespace hlod::pjrt

extern "C" __attribute__((visibility("default"))) const hlod::pjrt::abi::Api* GetPjrtApi() {
  static const hlod::pjrt::abi::Api api = hlod::pjrt::MakeApi();
  return &api;
}
