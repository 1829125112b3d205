// Applies one limit to all code that computes.
#include "server/engine/contraction/cpu_features.h"

#include <cstdlib>

#include "common/base/errors/status.h"
#include "common/base/system/cpu_limit.h"
#include "server/engine/contraction/onednn.h"

namespace hlod::engine {
namespace {

// The names of a level in the libraries.
struct LibraryNames {
  dnnl::cpu_isa onednn;
  const char* openblas;  // The first processor in OpenBLAS's list that has exactly this level.
};
LibraryNames NamesOf(CpuLevel level) {
  switch (level) {
    case CpuLevel::kBaseline: return {dnnl::cpu_isa::sse41, "Prescott"};
    case CpuLevel::kAvx2: return {dnnl::cpu_isa::avx2, "Haswell"};
    case CpuLevel::kAvx512: break;
  }
  return {dnnl::cpu_isa::avx512_core, "SkylakeX"};
}

struct OneDnnFeature {
  const char* name;
  std::vector<dnnl::cpu_isa> sets;  // The feature is in use if oneDNN has any of these.
};

}  // namespace

absl::Status LimitCpuFeatures(std::string_view limit) {
  ASSIGN_OR_RETURN(const std::optional<CpuLevel> level, ParseCpuLimit(limit, ProcessorCpuLevel()));
  LimitCpu(level);
  if (!level.has_value()) return absl::OkStatus();
  const LibraryNames names = NamesOf(*level);
  // OpenBLAS reads the variable when it is loaded, which happens with the first program with linear algebra.
  setenv("OPENBLAS_CORETYPE", names.openblas, /*replace=*/0);
  if (dnnl::set_max_cpu_isa(names.onednn) != dnnl::status::success)
    return FailedPrecondition("oneDNN has computed already, and does not take a limit any more");
  return absl::OkStatus();
}

std::vector<std::string> CpuFeatures() {
  std::vector<std::string> features = {std::string(Name(BestCpuLevel()))};
  if (UsesCpuExtension(CpuExtension::kF16c)) features.emplace_back("f16c");
  if (UsesCpuExtension(CpuExtension::kVpopcntdq)) features.emplace_back("vpopcntdq");
  const OneDnnFeature of_onednn[] = {
      {"vnni", {dnnl::cpu_isa::avx512_core_vnni, dnnl::cpu_isa::avx2_vnni}},
      {"bf16", {dnnl::cpu_isa::avx512_core_bf16}},
      {"amx", {dnnl::cpu_isa::avx512_core_amx}},
  };
  for (const OneDnnFeature& feature : of_onednn) {
    for (const dnnl::cpu_isa set : feature.sets) {
      if (!OneDnnHas(set)) continue;
      features.emplace_back(feature.name);
      break;
    }
  }
  return features;
}

}  // namespace hlod::engine
