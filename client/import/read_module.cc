// Distinguishes the forms of a module.
#include <algorithm>
#include <string>
#include <utility>

#include "client/import/import.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/shardy.h"
#include "common/hlo/text/text.h"

namespace hlod {
namespace {

using ModuleOr = absl::StatusOr<std::unique_ptr<hlo::Module>>;

// Returns true when the bytes are text. A proto starts with a field tag and soon has control bytes; text
// starts with a word and has none but blanks.
bool LooksLikeText(std::string_view bytes) {
  return std::none_of(
      bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes.size(), 256)),
      [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r'; });
}

ModuleOr Converted(const absl::StatusOr<stablehlo::Program>& program, const ReadOptions& options) {
  if (!program.ok()) return program.status();
  return stablehlo::ToHlo(*program, options);
}

// Returns an HLO module, or an error if `entry` is not empty and not the name of its entry.
ModuleOr WithEntry(ModuleOr module, const std::string& entry) {
  if (!module.ok() || entry.empty() || entry == (*module)->entry().name()) return module;
  return InvalidArgument(
      "The entry %s cannot be chosen: an HLO module has one entry, here %s; a StableHLO program may have several.",
      entry, (*module)->entry().name());
}

ModuleOr Read(std::string_view bytes, const ReadOptions& options) {
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return InvalidArgument(
        "It is empty; an HLO module (a serialized HloModuleProto or HloProto, or text) or a StableHLO "
        "program (text, or an artifact) is needed.");
  }
  if (stablehlo::IsExported(bytes)) return Converted(stablehlo::ParseExported(bytes), options);
  if (stablehlo::IsBytecode(bytes)) return Converted(stablehlo::ParseBytecode(bytes), options);
  if (!LooksLikeText(bytes)) {
    return WithEntry(hlo::FromSerialized(bytes, {.for_execution = options.for_execution}), options.entry);
  }
  if (stablehlo::IsStablehloText(bytes)) return Converted(stablehlo::ParseText(bytes), options);
  return WithEntry(hlo::ParseModule(bytes), options.entry);
}

}  // namespace

ModuleOr ReadModule(std::string_view bytes, const ReadOptions& options) {
  ModuleOr module = Read(bytes, options);
  if (module.ok() && options.for_execution)
    (*module)->config.partition_count = hlo::PartitionsToRun(**module);
  return module.ok() ? std::move(module) : AsProgramError(module.status());
}

}  // namespace hlod
