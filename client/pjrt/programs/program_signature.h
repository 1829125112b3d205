// The flat arguments and results of a program, as the interface describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/pjrt/abi/executable.h"
#include "client/pjrt/compile/read_program.h"
#include "common/hlo/module.h"
#include "common/hlo/shape.h"

namespace hlod::pjrt {

// The kinds of memory of arguments or results: ids, and names in the interface's form.
struct MemoryKinds {
  std::vector<size_t> ids;
  std::vector<const char*> names;
  std::vector<size_t> sizes;
};

struct ProgramSignature {
  std::vector<hlo::Shape> argument_shapes, result_shapes;
  std::vector<bool> donated;  // True for each argument that the program may consume.
  // The argument whose memory each result takes over when the argument is consumed; -1 for none.
  std::vector<int> aliases;
  std::vector<abi::BufferType> output_types;
  std::vector<int64_t> output_dims;  // The dimensions of all outputs, one output after another.
  std::vector<size_t> output_ranks;
  MemoryKinds output_kinds, parameter_kinds;
  std::vector<DimensionOrder> parameter_orders, output_orders;  // The layouts.
  // Serialized OpShardings; empty for a program of one partition.
  std::vector<std::string> argument_shardings, result_shardings;
};

// Returns the signature of a module that was read.
ProgramSignature SignatureOf(const hlo::Module& module, ReadProgram read);

}  // namespace hlod::pjrt
