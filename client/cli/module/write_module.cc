// The forms of a module, by the extensions of their files.
#include "client/cli/module/write_module.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/import/import.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/base/text/strings.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod::cli {
namespace {

// A form of a module, by the extension of its file.
struct Form {
  std::string_view extension, name;
  absl::StatusOr<std::string> (*write)(const Module&);
};
absl::StatusOr<std::string> AsText(const Module& module) { return hlo::ToText(module); }
absl::StatusOr<std::string> AsProto(const Module& module) { return hlo::Serialize(module); }
constexpr Form kForms[] = {{".hlo", "HLO text", AsText},
                           {".txt", "HLO text", AsText},
                           {".pb", "HLO proto", AsProto},
                           {".mlir", "StableHLO text", stablehlo::FromHlo}};

absl::StatusOr<const Form*> FormOf(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension();
  for (const Form& form : kForms) {
    if (form.extension == extension) return &form;
  }
  if (extension == ".mlirbc")
    return UsageError(
        absl::StrCat(path, ": artifacts can be read but not written; write .mlir, .hlo or .pb."));
  return UsageError(
      absl::StrCat(path,
                   ": its extension is not a known form; .hlo and .txt are HLO text, .pb is an HLO proto, "
                   ".mlir is StableHLO text."));
}

}  // namespace

absl::Status CheckExtension(const std::string& path) { return FormOf(path).status(); }

absl::StatusOr<int64_t> WriteModule(const Module& module, const std::string& name, const std::string& path) {
  ASSIGN_OR_RETURN(const Form* const form, FormOf(path));
  absl::StatusOr<std::string> bytes = form->write(module);
  if (!bytes.ok())
    return Annotate(std::move(bytes).status(), absl::StrCat("writing ", name, " as ", ToAbsl(form->name)));
  RETURN_IF_ERROR(WriteFile(path, *bytes));
  return static_cast<int64_t>(bytes->size());
}

}  // namespace hlod::cli
