// Reads the signature of a module, with the layouts and kinds that the program states.
#include "client/pjrt/programs/program_signature.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "client/pjrt/buffers/element_type.h"
#include "client/pjrt/devices/memory.h"
#include "common/hlo/flat_signature.h"

namespace hlod::pjrt {
namespace {

// Returns, per flat argument, true when the module lets a program consume it.
std::vector<bool> Donated(const hlo::Module& module) {
  const hlo::FlatSignature signature(module.entry());
  std::vector<bool> donated(signature.arguments.size(), false);
  const auto mark = [&](int64_t parameter, const hlo::Dims& index) {
    const int argument = signature.FindArgument(parameter, index);
    if (argument >= 0) donated[static_cast<size_t>(argument)] = true;
  };
  for (const hlo::InputOutputAlias& alias : module.config.input_output_alias)
    mark(alias.parameter_number, alias.parameter_index);
  for (const hlo::BufferDonor& donor : module.config.buffer_donors)
    mark(donor.parameter_number, donor.parameter_index);
  return donated;
}

// Returns, per flat result, the flat argument that it aliases; -1 for none.
std::vector<int> AliasesOf(const hlo::Module& module) {
  const hlo::FlatSignature signature(module.entry());
  std::vector<int> aliases(signature.results.size(), -1);
  for (const hlo::InputOutputAlias& alias : module.config.input_output_alias) {
    const int result = signature.FindResult(alias.output_index);
    if (result >= 0)
      aliases[static_cast<size_t>(result)] =
          signature.FindArgument(alias.parameter_number, alias.parameter_index);
  }
  return aliases;
}

// Kinds that hlod does not have are taken for the default one: a device's memories are one.
MemoryKinds KindsOf(const std::vector<std::string>& stated, size_t count) {
  MemoryKinds kinds;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view kind = i < stated.size() ? std::string_view(stated[i]) : std::string_view();
    const auto* const found = std::find(std::begin(kMemoryKinds), std::end(kMemoryKinds), kind);
    const size_t id =
        found == std::end(kMemoryKinds) ? 0 : static_cast<size_t>(found - std::begin(kMemoryKinds));
    kinds.ids.push_back(id);
    kinds.names.push_back(kMemoryKinds[id].data());
    kinds.sizes.push_back(kMemoryKinds[id].size());
  }
  return kinds;
}

// Fills in the row-major layout where none is stated.
std::vector<DimensionOrder> OrdersOf(std::vector<DimensionOrder> stated, const std::vector<Shape>& shapes) {
  stated.resize(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (stated[i].size() != shapes[i].dims.size()) stated[i] = RowMajorOrder(shapes[i].dims.size());
  }
  return stated;
}

}  // namespace

ProgramSignature SignatureOf(const hlo::Module& module, ReadProgram read) {
  ProgramSignature made;
  const hlo::FlatSignature signature(module.entry());
  for (const hlo::FlatSignature::Leaf& leaf : signature.arguments) made.argument_shapes.push_back(leaf.shape);
  for (const hlo::FlatSignature::Leaf& leaf : signature.results) made.result_shapes.push_back(leaf.shape);
  made.donated = Donated(module);
  made.aliases = AliasesOf(module);
  for (const Shape& shape : made.result_shapes) {
    made.output_types.push_back(ToBufferType(shape.type));
    made.output_dims.insert(made.output_dims.end(), shape.dims.begin(), shape.dims.end());
    made.output_ranks.push_back(shape.dims.size());
  }
  made.output_kinds = KindsOf(read.result_kinds, made.result_shapes.size());
  made.parameter_kinds = KindsOf(read.argument_kinds, made.argument_shapes.size());
  made.output_orders = OrdersOf(std::move(read.result_orders), made.result_shapes);
  made.parameter_orders = OrdersOf(std::move(read.argument_orders), made.argument_shapes);
  made.argument_shardings = std::move(read.argument_shardings);
  made.result_shardings = std::move(read.result_shardings);
  return made;
}

}  // namespace hlod::pjrt
