// Writes HLO as the text of a StableHLO program.
#include "absl/strings/str_cat.h"
#include "client/import/import.h"
#include "client/import/program/attribute_text.h"
#include "client/import/write/writer.h"
#include "common/base/errors/status.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::stablehlo {

absl::StatusOr<std::string> FromHlo(const hlo::Module& module) {
  RETURN_IF_ERROR(hlo::Verify(module));
  AttributeMap attributes;
  attributes["mhlo.num_partitions"] = {.value = module.config.partition_count, .type = hlo::kS32};
  attributes["mhlo.num_replicas"] = {.value = module.config.replica_count, .type = hlo::kS32};
  write::AddFrontendAttributes(module.config.frontend_attributes, attributes);
  std::string text =
      absl::StrCat("module @", write::Identifier(module.name()), " attributes ", TextOf(attributes), " {\n");
  write::Writer writer(module, text);
  RETURN_IF_ERROR(writer.WriteAll());
  text += "}\n";
  return text;
}

}  // namespace hlod::stablehlo
