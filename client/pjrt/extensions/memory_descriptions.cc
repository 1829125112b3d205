// The extension about the memories of a device that need not be there.
#include <string_view>

#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/extensions/extensions.h"

namespace hlod::pjrt {

// A kind of memory; its id is its place among kMemoryKinds.
class MemoryDescription {
 public:
  constexpr explicit MemoryDescription(int id) : id_(id) {}
  int id() const { return id_; }
  std::string_view kind() const { return kMemoryKinds[id_]; }

 private:
  int id_;
};

namespace {

absl::Status DescriptionsOf(abi::MemoryDescriptions_Args& args) {
  static constexpr MemoryDescription kDescriptions[] = {MemoryDescription(0), MemoryDescription(1),
                                                        MemoryDescription(2)};
  static constexpr const MemoryDescription* kPointers[] = {&kDescriptions[0], &kDescriptions[1],
                                                           &kDescriptions[2]};
  static_assert(std::size(kPointers) == std::size(kMemoryKinds));
  args.memory_descriptions = kPointers;
  args.num_memory_descriptions = std::size(kPointers);
  args.default_memory_index = 0;
  return absl::OkStatus();
}

absl::Status KindOf(abi::MemoryDescription_Kind_Args& args) {
  RETURN_IF_ERROR(Given(args.memory_description, "memory_description"));
  args.kind = args.memory_description->kind().data();
  args.kind_size = args.memory_description->kind().size();
  args.kind_id = args.memory_description->id();
  return absl::OkStatus();
}

}  // namespace

abi::Extension& MemoryDescriptionsExtension() {
  static abi::MemoryDescriptionsExtension extension = {
      .base = {sizeof(abi::MemoryDescriptionsExtension), abi::kMemoryDescriptions, nullptr},
      .of_device = HLOD_PJRT_CALL("PJRT_DeviceDescription_MemoryDescriptions", DescriptionsOf),
      .kind = HLOD_PJRT_CALL("PJRT_MemoryDescription_Kind", KindOf),
  };
  return extension.base;
}

abi::Extension* Extensions() {
  static abi::Extension* const first = [] {
    abi::Extension* chain = nullptr;
    for (abi::Extension* const extension :
         {&LayoutsExtension(), &ShardingsExtension(), &MemoryDescriptionsExtension(),
          &ForeignFunctionsExtension(), &ProfilerExtension()}) {
      extension->next = chain;
      chain = extension;
    }
    return chain;
  }();
  return first;
}

}  // namespace hlod::pjrt
