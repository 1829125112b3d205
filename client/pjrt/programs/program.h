// A compiled program, which its handles share.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pjrt/callbacks/host_channels.h"
#include "client/pjrt/compile/compile_options.h"
#include "client/pjrt/devices/device.h"
#include "client/pjrt/division/alone.h"
#include "client/pjrt/ffi/foreign_calls.h"
#include "client/pjrt/programs/program_signature.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/module.h"
#include "hlod/runtime/executable.h"

namespace hlod::pjrt {

// Constant after Compile.
class CompiledProgram {
 public:
  // Reads a program in one of the interface's formats ("mlir": StableHLO as bytecode or text, "hlo":
  // HloModuleProto), has the daemon compile it, and waits for the result.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(Client& client, std::string_view code,
                                                                        std::string_view format,
                                                                        CompileOptions options);
  // Does the same without a daemon, for `devices` devices: checks the program and estimates its needs. The
  // program must be loaded before it can run.
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
  const ProgramSignature& signature() const { return signature_; }
  const std::string& fingerprint() const { return fingerprint_; }
  const std::string& assignment() const { return assignment_; }
  // Returns the devices of its participants, in order, also those that other processes run.
  std::vector<Device*> devices() const;

  const HostChannels& channels() const { return channels_; }
  const std::vector<ForeignCall>& foreign_calls() const { return foreign_calls_; }

  // Returns which results depend on which arguments; analysed at the first call.
  const hlo::Dependences& dependences() const;
  // Returns the operations of a run; counted at the first call.
  double flops() const;

  // Returns the program in the form that Deserialize reads.
  std::string Serialize() const;
  // Returns the program as XLA's HloModuleProtoWithConfig.
  std::string WithConfig() const;

 private:
  CompiledProgram() = default;
  static absl::StatusOr<std::shared_ptr<CompiledProgram>> Read(int devices, std::string_view code,
                                                               std::string_view format,
                                                               CompileOptions options);

  std::shared_ptr<Client> client_;  // Null when the program is only estimated.
  CompileOptions options_;
  std::string code_, format_;  // The program and its format, as the framework passed them.
  std::unique_ptr<hlo::Module> module_;
  hlod::Executable runtime_;
  bool needs_all_ = false;
  mutable AloneProgram alone_;
  Caller line_;
  ProgramSignature signature_;
  CompileResult figures_;
  std::string fingerprint_, assignment_;
  HostChannels channels_;
  std::vector<ForeignCall> foreign_calls_;
  mutable std::once_flag analysed_, counted_;
  mutable std::optional<hlo::Dependences> dependences_;
  mutable double flops_ = 0;
};

// Reads what Serialize wrote, and compiles it. `options` replaces the program's own unless it is empty.
absl::StatusOr<std::shared_ptr<const CompiledProgram>> Deserialize(Client& client, std::string_view bytes,
                                                                   std::string_view options);

}  // namespace hlod::pjrt
