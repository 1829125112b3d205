// Parses modules from HLO text: header, tables of stack frames, computations.
#include "common/base/text/strings.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/text/internal.h"
#include "common/hlo/text/parser_internal.h"
#include "common/hlo/text/stack_frames.h"
#include "google/protobuf/stubs/common.h"

namespace hlod::hlo {
namespace {

using absl::OkStatus;
using absl::Status;

// Skips (p0: f32[8], p1: s32[]) -> f32[8], which repeats the parameters and the root.
Status SkipSignature(Lexer& lexer, const ParseOptions& options) {
  RETURN_IF_ERROR(text::ReadList(lexer, "(", ")", [&]() -> Status {
    ASSIGN_OR_RETURN(const std::string_view name, lexer.Name());
    // A name may contain ':', so the ':' after a parameter's name was read with it.
    if (name.empty() || name.back() != ':') RETURN_IF_ERROR(lexer.Expect(":"));
    return text::ReadShape(lexer, options.nesting_max).status();
  }));
  RETURN_IF_ERROR(lexer.Expect("->"));
  return text::ReadShape(lexer, options.nesting_max).status();
}

Status ReadComputation(Lexer& lexer, const ParseOptions& options, Tables& tables,
                       text::ParsedModule& parsed) {
  const bool is_entry = lexer.TryWord("ENTRY");
  lexer.SkipBlanks();
  text::ParsedComputation computation;
  computation.at = lexer.position();
  ASSIGN_OR_RETURN(computation.name, lexer.Name());
  if (lexer.Peek() == '(') RETURN_IF_ERROR(SkipSignature(lexer, options));
  RETURN_IF_ERROR(lexer.Expect("{"));
  RETURN_IF_ERROR(text::ReadBody(lexer, options, 0, tables, parsed, computation));
  if (lexer.Try(",")) {
    if (!lexer.TryWord("execution_thread")) return lexer.Expected("execution_thread");
    RETURN_IF_ERROR(lexer.Expect("="));
    ASSIGN_OR_RETURN(computation.execution_thread, lexer.QuotedUtf8());
    if (computation.execution_thread == "main") computation.execution_thread.clear();
  }
  const auto index = static_cast<uint32_t>(parsed.computations.size());
  if (is_entry && parsed.entry) return lexer.ErrorAt(computation.at, "there is another ENTRY");
  if (is_entry) parsed.entry = index;
  parsed.named.push_back(index);
  parsed.computations.push_back(std::move(computation));
  return OkStatus();
}

// Returns true when an instruction comes next, and not a computation: it begins with a shape or has a '='. A
// computation may have the name of a type, too.
bool AtInstruction(Lexer& lexer, const ParseOptions& options) {
  lexer.SkipBlanks();
  const size_t at = lexer.position();
  bool found = text::AtShape(lexer) && text::ReadShape(lexer, options.nesting_max).ok() && lexer.AtName();
  if (!found) {
    lexer.Rewind(at);
    lexer.TryWord("ROOT");
    found = lexer.Name().ok() && lexer.Peek() == '=';
  }
  lexer.Rewind(at);
  return found;
}

absl::Status ReadInstruction(Lexer& lexer, const ParseOptions& options, Tables& tables,
                             text::ParsedModule& parsed) {
  text::ParsedComputation computation;
  computation.name = "entry";
  RETURN_IF_ERROR(text::ReadAlone(lexer, options, tables, parsed, computation));
  if (!lexer.AtEnd()) return lexer.Expected("the end of a text that is one instruction");
  parsed.named.push_back(static_cast<uint32_t>(parsed.computations.size()));
  parsed.computations.push_back(std::move(computation));
  return OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ParseModule(std::string_view text, const ParseOptions& options) {
  if (text.size() > INT32_MAX)
    return InvalidArgument("The text has %d bytes; the limit is %d.", text.size(), INT32_MAX);
  if (!google::protobuf::internal::IsStructurallyValidUTF8(text.data(), static_cast<int>(text.size()))) {
    return InvalidArgument("The text is not UTF-8.");
  }
  Lexer lexer(text);
  auto module = std::make_unique<Module>("module");
  text::ParsedModule parsed;
  xla::HloModuleProto rest;
  if (lexer.TryWord("HloModule")) {
    RETURN_IF_ERROR(text::ReadHeader(lexer, options, *module));
  } else if (AtInstruction(lexer, options)) {
    RETURN_IF_ERROR(ReadInstruction(lexer, options, module->tables(), parsed));
  }
  while (!lexer.AtEnd()) {
    ASSIGN_OR_RETURN(const bool section, text::TryStackFrames(lexer, *rest.mutable_stack_frame_index()));
    if (!section) RETURN_IF_ERROR(ReadComputation(lexer, options, module->tables(), parsed));
  }
  if (parsed.named.empty()) return lexer.Expected("a computation");
  RETURN_IF_ERROR(text::Assemble(lexer, parsed, *module));
  if (rest.stack_frame_index().ByteSizeLong() != 0)
    module->config.unmodelled = codec::SerializeDeterministic(rest);
  return module;
}

}  // namespace hlod::hlo
