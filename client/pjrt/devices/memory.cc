// Memory spaces, and the entries about them.
#include "client/pjrt/devices/memory.h"

#include <utility>

#include "client/pjrt/devices/device.h"
#include "client/pjrt/entry.h"
#include "common/base/text/strings.h"

namespace hlod::pjrt {
namespace {

const abi::MemoryFunctions& MemoryTable() {
  static const abi::MemoryFunctions functions = [] {
    abi::MemoryFunctions table = {};
    table.struct_size = sizeof(table);
    table.instance_struct_size = sizeof(Memory);
    table.get_user_data = [](Memory* memory, const void* key) { return memory->GetData(key); };
    table.set_user_data = [](Memory* memory, const void* key, void* data, void (*destroy)(void*)) {
      memory->SetData(key, data, destroy);
    };
    return table;
  }();
  return functions;
}

}  // namespace

Memory::Memory(Device& device, int id, int kind)
    : functions_(&MemoryTable()),
      device_(&device),
      id_(id),
      kind_(kind),
      text_(absl::StrCat("hlod:", device.ordinal(), " ", ToAbsl(kMemoryKinds[kind]))) {}

Memory::~Memory() { DropData(); }

void Memory::DropData() {
  std::map<const void*, Data> dropped;
  {
    absl::MutexLock lock(&mu_);
    dropped.swap(data_);
  }
  for (const auto& [key, entry] : dropped) {
    if (entry.destroy != nullptr) entry.destroy(entry.data);
  }
}

void* Memory::GetData(const void* key) {
  absl::MutexLock lock(&mu_);
  const auto found = data_.find(key);
  return found == data_.end() ? nullptr : found->second.data;
}

void Memory::SetData(const void* key, void* data, void (*destroy)(void*)) {
  Data old = {nullptr, nullptr};
  {
    absl::MutexLock lock(&mu_);
    old = std::exchange(data_[key], Data{data, destroy});
  }
  if (old.destroy != nullptr) old.destroy(old.data);
}

absl::Status Serve(abi::Memory_Id_Args& args) {
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  args.id = args.memory->id();
  return absl::OkStatus();
}

absl::Status Serve(abi::Memory_Kind_Args& args) {
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  args.kind = args.memory->kind().data();
  args.kind_size = args.memory->kind().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Memory_Kind_Id_Args& args) {
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  args.kind_id = args.memory->kind_id();
  return absl::OkStatus();
}

absl::Status Serve(abi::Memory_DebugString_Args& args) {
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  args.debug_string = args.memory->text().data();
  args.debug_string_size = args.memory->text().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Memory_ToString_Args& args) {
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  args.to_string = args.memory->text().data();
  args.to_string_size = args.memory->text().size();
  return absl::OkStatus();
}

absl::Status Serve(abi::Memory_AddressableByDevices_Args& args) {
  RETURN_IF_ERROR(Given(args.memory, "memory"));
  args.devices = args.memory->devices();
  args.num_devices = 1;
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
