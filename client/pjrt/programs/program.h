// A compiled program, which its handles share.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pjrt/abi/executable.h"
#include "client/pjrt/callbacks/host_channels.h"
#include "client/pjrt/compile/compile_options.h"
#include "client/pjrt/compile/read_program.h"
#include "client/pjrt/devices/device.h"
#include "client/pjrt/division/alone.h"
#include "client/pjrt/ffi/foreign_calls.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/module.h"
#include "hlod/runtime/executable.h"

namespace hlod::pjrt {

// The kinds of memory of arguments or results: ids, and names in the interface's form.
struct MemoryKinds {
  std::vector<size_t> ids;
  std::vector<const char*> names;
  std::vector<size_t> sizes;
};

// Constant after Compile. Its vectors of pointers point into itself.
class CompiledProgram {
 public:
  // Reads a program in one of the interface's formats ("mlir": StableHLO as bytecode or text, "hlo":
  // HloModuleProto), has the daemon compile it, and waits for the result.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(Client& client, std::string_view code,
                                                                        std::string_view format,
                                                                        CompileOptions options);
  // The same without a daemon, for as many devices: the program is checked, and its needs are estimated. It
  // cannot be run before it is loaded.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Estimate(int devices, std::string_view code,
                                                                         std::string_view format,
                                                                         CompileOptions options);
  // Compiles an estimated program for a client. `options` replaces the program's own unless it is empty.
  absl::StatusOr<std::shared_ptr<const CompiledProgram>> Load(Client& client, std::string_view options) const;

  // REQUIRES: the program was not estimated.
  Client& client() const { return *client_; }
  const CompileOptions& options() const { return options_; }
  const hlo::Module& module() const { return *module_; }
  const hlod::Executable& runtime() const { return runtime_; }
  // True when its participants can only be run together.
  bool needs_all() const { return needs_all_; }
  // Returns the program of one participant, which runs without the others. See AloneProgram.
  absl::StatusOr<hlod::Executable> alone() const;
  // The line of the user's program for which it was compiled.
  const Caller& line() const { return line_; }
  const CompileResult& figures() const { return figures_; }
  const std::vector<Shape>& argument_shapes() const { return argument_shapes_; }
  const std::vector<Shape>& result_shapes() const { return result_shapes_; }
  const std::string& fingerprint() const { return fingerprint_; }
  const std::string& assignment() const { return assignment_; }
  std::vector<Device*> devices() const;

  const HostChannels& channels() const { return channels_; }
  const std::vector<ForeignCall>& foreign_calls() const { return foreign_calls_; }

  // Per argument: true when the program may consume it.
  const std::vector<bool>& donated() const { return donated_; }
  // Per result: the argument whose memory it takes over when that is consumed; -1 for none.
  const std::vector<int>& aliases() const { return aliases_; }

  const std::vector<abi::BufferType>& output_types() const { return output_types_; }
  // The dimensions of all outputs, one output after another.
  const std::vector<int64_t>& output_dims() const { return output_dims_; }
  const std::vector<size_t>& output_ranks() const { return output_ranks_; }
  const MemoryKinds& output_kinds() const { return output_kinds_; }
  const MemoryKinds& parameter_kinds() const { return parameter_kinds_; }
  // The layouts of the flat arguments and results.
  const std::vector<DimensionOrder>& parameter_orders() const { return parameter_orders_; }
  const std::vector<DimensionOrder>& output_orders() const { return output_orders_; }
  // Serialized OpShardings, one per flat argument and result; empty for a program of one partition.
  const std::vector<std::string>& argument_shardings() const { return argument_shardings_; }
  const std::vector<std::string>& result_shardings() const { return result_shardings_; }

  // Returns which results depend on which arguments; analysed at the first call.
  const hlo::Dependences& dependences() const;

  // The program in a form that DeserializeAndLoad takes.
  std::string Serialize() const;
  // XLA's HloModuleProtoWithConfig of the program.
  std::string WithConfig() const;

 private:
  CompiledProgram() = default;
  static absl::StatusOr<std::shared_ptr<CompiledProgram>> Read(int devices, std::string_view code,
                                                               std::string_view format,
                                                               CompileOptions options);
  void Describe(const ReadProgram& read);

  std::shared_ptr<Client> client_;  // Null when the program is only estimated.
  CompileOptions options_;
  std::string code_, format_;  // The program and its format, as the framework passed them.
  std::unique_ptr<hlo::Module> module_;
  hlod::Executable runtime_;
  bool needs_all_ = false;
  mutable AloneProgram alone_;
  Caller line_;
  std::vector<Shape> argument_shapes_, result_shapes_;  // Flat.
  CompileResult figures_;
  std::string fingerprint_, assignment_;
  HostChannels channels_;
  std::vector<ForeignCall> foreign_calls_;
  std::vector<bool> donated_;
  std::vector<int> aliases_;
  std::vector<abi::BufferType> output_types_;
  std::vector<int64_t> output_dims_;
  std::vector<size_t> output_ranks_;
  MemoryKinds output_kinds_, parameter_kinds_;
  std::vector<DimensionOrder> parameter_orders_, output_orders_;
  std::vector<std::string> argument_shardings_, result_shardings_;
  mutable std::once_flag analysed_;
  mutable std::optional<hlo::Dependences> dependences_;
};

// Reads what Serialize wrote, and compiles it. `options` replaces the program's own unless it is empty.
absl::StatusOr<std::shared_ptr<const CompiledProgram>> Deserialize(Client& client, std::string_view bytes,
                                                                   std::string_view options);

}  // namespace hlod::pjrt
