// A memory space of a device. The daemon has one memory per device; the spaces only record where the
// framework put a buffer.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/pjrt/abi/memory.h"

namespace hlod::pjrt {

// The kinds of memory of each device; the first is the default one. A kind's id is its index.
inline constexpr std::string_view kMemoryKinds[] = {"device", "pinned_host", "unpinned_host"};

class Memory {
 public:
  Memory(Device& device, int id, int kind);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  int id() const { return id_; }  // Unique among those of all devices.
  int kind_id() const { return kind_; }
  std::string_view kind() const { return kMemoryKinds[kind_]; }
  Device& device() const { return *device_; }
  Device* const* devices() const { return &device_; }
  const std::string& text() const { return text_; }

  // The framework's own data, by the address of its key. `destroy` is called with `data` when it is replaced,
  // or the framework's client ends; it may be null.
  void* GetData(const void* key);
  void SetData(const void* key, void* data, void (*destroy)(void* data));
  void DropData();

 private:
  struct Data {
    void* data;
    void (*destroy)(void* data);
  };

  const abi::MemoryFunctions* const functions_;  // Newer frameworks read this first word.
  Device* const device_;
  const int id_;
  const int kind_;
  const std::string text_;
  absl::Mutex mu_;
  std::map<const void*, Data> data_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::pjrt
