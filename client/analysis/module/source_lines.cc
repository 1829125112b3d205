// Reads the table of stack frames once, from the fields of the module that have no place in the IR.
#include "client/analysis/module/source_lines.h"

#include "absl/strings/str_cat.h"
#include "common/base/errors/error.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::analysis {
namespace {

// Returns the row with an id, which counts from 1; null when a table from outside names a row that does not
// exist.
template <typename Rows>
const auto* Row(const Rows& rows, int id) {
  return id >= 1 && id <= static_cast<int>(rows.size()) ? &rows[id - 1] : nullptr;
}

}  // namespace

std::string ToString(const SourceLine& line) {
  return line.file.empty() ? std::string() : absl::StrCat(line.file, ":", line.line);
}

std::string ShortText(const SourceLine& line) {
  return line.file.empty() ? std::string() : ToString(Origin{line.file, line.line, ""});
}

SourceLines::SourceLines(const hlo::Module& module) {
  xla::HloModuleProto rest;
  if (module.config.unmodelled.empty() || !rest.ParseFromString(module.config.unmodelled)) return;
  const xla::StackFrameIndexProto& table = rest.stack_frame_index();
  for (const auto& frame : table.stack_frames()) {
    SourceLine& line = frames_.emplace_back();
    const auto* const location = Row(table.file_locations(), frame.file_location_id());
    if (location == nullptr) continue;
    const std::string* const file = Row(table.file_names(), location->file_name_id());
    if (file != nullptr) line = {*file, location->line()};
  }
}

SourceLine SourceLines::Of(const hlo::Notes& notes) const {
  if (!notes.metadata.source_file.empty())
    return {notes.metadata.source_file, static_cast<int>(notes.metadata.source_line)};
  xla::HloInstructionProto rest;
  if (frames_.empty() || notes.unmodelled.empty() || !rest.ParseFromString(notes.unmodelled)) return {};
  const SourceLine* const frame = Row(frames_, rest.metadata().stack_frame_id());
  return frame == nullptr ? SourceLine() : *frame;
}

}  // namespace hlod::analysis
