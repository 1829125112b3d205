// Partitions a program by its shardings: the module that each device of a mesh runs. XLA's own partitioner
// does it, the one in jaxlib, in a worker process that is started when it is first needed and shared by the
// whole process (`python3 -m hlod.partition`).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/partition/mesh.h"
#include "common/hlo/module.h"

namespace hlod::partition {

struct Request {
  // The bytes of the program: HLO (proto or text) or StableHLO (text, bytecode, an artifact).
  std::string program;
  // The mesh; empty: that of the program's shardings. Shardy's shardings allow other sizes of their axes.
  hlo::Mesh mesh;
  int64_t devices = 0;               // The number of devices when there is no mesh; 0: the program's.
  std::string partitioner = "auto";  // "shardy", "gspmd", or the one whose shardings the program has.
  bool annotated = false;            // True to get the annotated module, too.
  // Rules that replace the shardings of arguments, "REGEX=SPEC" over their names, and a strategy for all of
  // them ("data", "fsdp", "tensor", ...; empty: none); hlod.partitioning.rules has both.
  std::vector<std::string> shard;
  std::string strategy;
  double seconds = 300;              // The limit on the time.
};

struct Partitioned {
  std::unique_ptr<hlo::Module> module;     // The module of each device. Not verified.
  std::unique_ptr<hlo::Module> annotated;  // The whole arrays with their shardings; null unless requested.
  std::string serialized;                  // `module` as XLA wrote it, a HloModuleProto.
  hlo::Mesh mesh;
  int64_t devices = 1;
  std::string partitioner;
  bool has_shardings = false;  // False: each device computes the whole program.
  // The shardings as HLO text: "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".
  std::vector<std::string> parameter_shardings, result_shardings;
  // The same as serialized OpShardings, in which a replicated one is empty.
  std::vector<std::string> parameter_op_shardings, result_op_shardings;
  std::string jaxlib;   // The version of jaxlib.
  bool cached = false;  // True when it came from the cache on disk.
};

// Returns false when the environment asks that programs run undivided (HLOD_PARTITION=0).
bool IsWanted();

// Partitions a program. Blocks; calls from several threads wait for one another. Errors are sentences:
// FAILED_PRECONDITION when there is no worker (python3 or jaxlib is missing; it says what to install),
// INVALID_ARGUMENT when the program or the mesh is refused, DEADLINE_EXCEEDED when the time was over, ABORTED
// when jaxlib or the worker crashed. After any of them the next call works.
//
// The interpreter is $HLOD_PYTHON, else that of $VIRTUAL_ENV, else python3. The package hlod is the one
// beside the program or library that this is linked into, else the interpreter's own.
absl::StatusOr<Partitioned> Partition(const Request& request);

}  // namespace hlod::partition
