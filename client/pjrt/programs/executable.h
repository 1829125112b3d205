// Compiled programs as the framework holds them.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "client/pjrt/buffers/memory_layout.h"
#include "client/pjrt/programs/program.h"

namespace hlod::pjrt {

// Strings in the interface's form; they belong to the program.
struct ListOfBytes {
  std::vector<const char*> data;
  std::vector<size_t> sizes;
};

// A program without devices; it outlives the loaded one that it came from.
class Executable {
 public:
  explicit Executable(std::shared_ptr<const CompiledProgram> program);
  const std::shared_ptr<const CompiledProgram>& program() const { return program_; }

  std::vector<MemoryLayout*>& output_layouts() { return output_layouts_; }
  std::vector<MemoryLayout*>& parameter_layouts() { return parameter_layouts_; }

  const ListOfBytes& argument_shardings() const { return argument_shardings_; }
  const ListOfBytes& result_shardings() const { return result_shardings_; }

  // Returns the properties of its cost, which `estimate` finds the first time.
  template <typename Estimate>
  const std::vector<abi::NamedValue>& cost(Estimate estimate) {
    std::call_once(estimated_, [&] { cost_ = estimate(program_->module()); });
    return cost_;
  }

 private:
  const std::shared_ptr<const CompiledProgram> program_;
  std::deque<MemoryLayout> layouts_;
  std::vector<MemoryLayout*> output_layouts_, parameter_layouts_;
  ListOfBytes argument_shardings_, result_shardings_;
  std::once_flag estimated_;
  std::vector<abi::NamedValue> cost_;
};

// A program with its devices.
class LoadedExecutable {
 public:
  explicit LoadedExecutable(std::shared_ptr<const CompiledProgram> program);
  const std::shared_ptr<const CompiledProgram>& program() const { return program_; }
  // The devices of those of its participants that this process runs, in order. Empty for a portable program.
  const std::vector<Device*>& devices() const { return devices_; }
  const std::vector<abi::LogicalDeviceIds>& logical_ids() const { return logical_ids_; }

  void Delete() { deleted_ = true; }
  bool IsDeleted() const { return deleted_; }

 private:
  const std::shared_ptr<const CompiledProgram> program_;
  std::vector<Device*> devices_;
  std::vector<abi::LogicalDeviceIds> logical_ids_;
  std::atomic<bool> deleted_ = false;
};

}  // namespace hlod::pjrt
