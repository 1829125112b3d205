// One function reads rows of text; another reads rows of numbers, whose keys are the names of the proto's
// fields.
#include "common/hlo/text/stack_frames.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/text/strings.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace hlod::hlo::text {
namespace {

using absl::Status;

Status ReadFields(Lexer& lexer, google::protobuf::Message& row) {
  RETURN_IF_ERROR(lexer.Expect("{"));
  while (!lexer.Try("}")) {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(const std::string_view key, lexer.Name());
    RETURN_IF_ERROR(lexer.Expect("="));
    ASSIGN_OR_RETURN(const int64_t value, lexer.Integer());
    const auto* const field = row.GetDescriptor()->FindFieldByName(std::string(key));
    if (field == nullptr) continue;  // A field of a newer writer.
    if (value != static_cast<int32_t>(value))
      return lexer.ErrorAt(at, "%s is %d, which does not fit 32 bits", key, value);
    row.GetReflection()->SetInt32(&row, field, static_cast<int32_t>(value));
    lexer.Try(",");
  }
  return absl::OkStatus();
}

// Calls `read` for each numbered row.
template <typename Read>
Status ReadRows(Lexer& lexer, Read read) {
  for (int64_t next = 1; lexer.Peek() >= '0' && lexer.Peek() <= '9'; ++next) {
    const size_t at = lexer.position();
    ASSIGN_OR_RETURN(const int64_t number, lexer.Integer());
    if (number != next)
      return lexer.ErrorAt(at, "row %d of a table stands where row %d belongs", number, next);
    RETURN_IF_ERROR(read());
  }
  return absl::OkStatus();
}

Status ReadNames(Lexer& lexer, google::protobuf::RepeatedPtrField<std::string>& names) {
  return ReadRows(lexer, [&]() -> Status {
    ASSIGN_OR_RETURN(*names.Add(), lexer.QuotedUtf8());
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<bool> TryStackFrames(Lexer& lexer, xla::StackFrameIndexProto& index) {
  const size_t start = lexer.position();
  for (const std::string_view section : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (!lexer.TryWord(section)) continue;
    if (lexer.Peek() == '{' || lexer.Peek() == '(') break;  // A computation with that name.
    if (section == "FileNames") RETURN_IF_ERROR(ReadNames(lexer, *index.mutable_file_names()));
    if (section == "FunctionNames") RETURN_IF_ERROR(ReadNames(lexer, *index.mutable_function_names()));
    if (section == "FileLocations")
      RETURN_IF_ERROR(ReadRows(lexer, [&] { return ReadFields(lexer, *index.add_file_locations()); }));
    if (section == "StackFrames") {
      RETURN_IF_ERROR(ReadRows(lexer, [&]() -> Status {
        auto& frame = *index.add_stack_frames();
        RETURN_IF_ERROR(ReadFields(lexer, frame));
        // In the text, parents are numbered from 1, and 1 means none.
        frame.set_parent_frame_id(std::max(0, frame.parent_frame_id() - 1));
        return absl::OkStatus();
      }));
    }
    return true;
  }
  lexer.Rewind(start);
  return false;
}

std::string StackFramesText(const xla::StackFrameIndexProto& index) {
  std::string out;
  int row = 0;
  const auto table = [&](const char* name) {
    absl::StrAppend(&out, "\n", name, "\n");
    row = 0;
  };
  if (index.ByteSizeLong() == 0) return out;
  table("FileNames");
  for (const std::string& name : index.file_names())
    absl::StrAppend(&out, ++row, " ", ToAbsl(QuotedText(name)), "\n");
  table("FunctionNames");
  for (const std::string& name : index.function_names())
    absl::StrAppend(&out, ++row, " ", ToAbsl(QuotedText(name)), "\n");
  table("FileLocations");
  for (const auto& at : index.file_locations()) {
    absl::StrAppend(&out, ++row, " {file_name_id=", at.file_name_id(),
                    " function_name_id=", at.function_name_id(), " line=", at.line(),
                    " end_line=", at.end_line(), " column=", at.column(), " end_column=", at.end_column(),
                    "}\n");
  }
  table("StackFrames");
  for (const auto& frame : index.stack_frames()) {
    absl::StrAppend(&out, ++row, " {file_location_id=", frame.file_location_id(),
                    " parent_frame_id=", frame.parent_frame_id() + 1, "}\n");
  }
  return out + "\n";
}

}  // namespace hlod::hlo::text
