// Reads any bytes as a module of any format: what is accepted and verified is estimated, and written as
// StableHLO, without a run. Sizes may be extreme there, because nothing is allocated for them.
#include <cstdint>
#include <optional>
#include <string_view>

#include "client/analysis/check/module_check.h"
#include "client/analysis/mesh/mesh_check.h"
#include "client/analysis/module/chips/chips.h"
#include "client/import/import.h"
#include "common/hlo/inference/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hlod;
  static const auto chips = analysis::KnownChips();
  static const auto target = analysis::ParseTarget("v5e:8", *chips);
  const auto module = ReadModule({reinterpret_cast<const char*>(data), size});
  if (!module.ok() || !hlo::Verify(**module).ok()) return 0;
  constexpr int64_t kInstructionsMax = 2000;  // A larger module takes as long as hundreds of others.
  if ((*module)->instruction_count() > kInstructionsMax) return 0;
  std::optional<analysis::Target> targets[] = {std::nullopt, std::nullopt};
  if (target.ok()) targets[1] = *target;
  for (const std::optional<analysis::Target>& chosen : targets) {
    const auto report = analysis::CheckModule(**module, chosen, {});
    if (report.ok()) (void)analysis::ToText(*report);
    const auto mesh =
        analysis::CheckMesh(**module, nullptr, {.axes = {{"data", 2}, {"model", 4}}}, chosen, {});
    if (mesh.ok()) (void)analysis::ToText(*mesh);
  }
  const auto text = stablehlo::FromHlo(**module);
  if (text.ok()) ReadModule(*text).status().IgnoreError();
  return 0;
}
