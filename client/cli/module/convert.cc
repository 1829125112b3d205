// hloctl convert and check-module: writes modules in other forms, and checks whether they are well-formed.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands.h"
#include "client/cli/module/load_module.h"
#include "client/cli/module/write_module.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "common/base/text/printable.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::cli {
namespace {

// Returns a signature such as "(f32[2], s32[]) -> f32[2]".
std::string Signature(const hlo::ProgramShape& shape) {
  const std::string parameters = absl::StrJoin(
      shape.parameters, ", ",
      [](std::string* out, const Shape& parameter) { out->append(hlo::ToStringNoLayout(parameter)); });
  return absl::StrCat("(", parameters, ") -> ", hlo::ToStringNoLayout(shape.result));
}

Json Described(const Module& module) {
  const hlo::ProgramShape shape = module.entry().program_shape();
  Json parameters = Json::array();
  for (const Shape& parameter : shape.parameters) parameters.push_back(hlo::ToStringNoLayout(parameter));
  return {{"module", module.name()},
          {"computations", module.computation_count()},
          {"instructions", module.instruction_count()},
          {"parameters", std::move(parameters)},
          {"result", hlo::ToStringNoLayout(shape.result)}};
}

}  // namespace

absl::Status Convert(const CommonOptions& common, const ConvertOptions& options) {
  RETURN_IF_ERROR(CheckExtension(options.output));
  ASSIGN_OR_RETURN(const ReadOptions read, ParseReadOptions(options.stablehlo));
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadModule(options.input, read));
  ASSIGN_OR_RETURN(const int64_t bytes, WriteModule(*module, options.input, options.output));
  if (common.json) {
    Json json = Described(*module);
    json["file"] = options.output;
    json["bytes"] = bytes;
    Show(Dump(json) + "\n");
  }
  return absl::OkStatus();
}

absl::Status CheckForm(const CommonOptions& common, const CheckFormOptions& options) {
  ASSIGN_OR_RETURN(const ReadOptions read, ParseReadOptions(options.stablehlo));
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, LoadModule(options.module, read));
  if (absl::Status status = hlo::Verify(*module); !status.ok()) {
    return Annotate(std::move(status), absl::StrCat("checking ", options.module));
  }
  if (common.json) {
    Show(Dump(Described(*module)) + "\n");
  } else {
    std::printf("%s: %s, %u computations, %lld instructions, %s\n", Printable(options.module).c_str(),
                Printable(module->name()).c_str(), module->computation_count(),
                static_cast<long long>(module->instruction_count()),
                Signature(module->entry().program_shape()).c_str());
  }
  return absl::OkStatus();
}

}  // namespace hlod::cli
