// The entry that estimates what a program costs.
#include <memory>
#include <string_view>

#include "client/analysis/module/cost.h"
#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/named_value.h"
#include "client/pjrt/programs/executable.h"

namespace hlod::pjrt {
namespace {

abi::NamedValue FloatValue(std::string_view name, double value) {
  abi::NamedValue named = Named(name, abi::NamedValueType::kFloat);
  named.float_value = static_cast<float>(value);
  return named;
}

}  // namespace

absl::Status Serve(abi::Executable_GetCostAnalysis_Args& args) {
  RETURN_IF_ERROR(Given(args.executable, "executable"));
  const std::vector<abi::NamedValue>& properties = args.executable->cost([](const hlo::Module& module) {
    const analysis::Cost cost = analysis::CostOf(module).once;  // As XLA counts: a loop's body once.
    return std::vector<abi::NamedValue>{FloatValue("flops", cost.flops),
                                        FloatValue("transcendentals", cost.transcendentals),
                                        FloatValue("bytes accessed", cost.bytes)};
  });
  args.properties = properties.data();
  args.num_properties = properties.size();
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
