// The table of causes, and the rule by which PyTorch/XLA itself finds them (its debug_util.cpp).
#include "client/analysis/torch_xla/torch_xla_causes.h"

#include "absl/strings/str_replace.h"
#include "common/base/text/strings.h"

namespace hlod::analysis::torch_xla {
namespace {

enum CauseId {
#define HLOD_TORCH_XLA_CAUSE(id, text, is_break, advice) id,
#include "client/analysis/torch_xla/torch_xla_causes.inc"
#undef HLOD_TORCH_XLA_CAUSE
};
struct CauseRow {
  std::string_view text;
  bool is_break;
  std::string_view advice;
};
constexpr CauseRow kCauses[] = {
#define HLOD_TORCH_XLA_CAUSE(id, text, is_break, advice) {text, is_break, advice},
#include "client/analysis/torch_xla/torch_xla_causes.inc"
#undef HLOD_TORCH_XLA_CAUSE
};

Cause Make(CauseId id) {
  const CauseRow& row = kCauses[id];
  return {std::string(row.text), row.is_break, id == kDynamoExecute || id == kDynamoCompile,
          std::string(row.advice)};
}

bool Is(const std::vector<Frame>& frames, size_t depth, std::string_view function, std::string_view file) {
  return depth < frames.size() && frames[depth].function == function && frames[depth].at.file.ends_with(file);
}

}  // namespace

Cause CauseOf(std::string_view text) {
  const std::string today = absl::StrReplaceAll(ToAbsl(text), {{"mark_step", "torch_xla.sync"}});
  for (size_t id = 0; id < std::size(kCauses); ++id) {
    if (kCauses[id].text == today) return Make(static_cast<CauseId>(id));
  }
  return {.text = std::string(text)};
}

Cause CauseOf(const std::vector<Frame>& frames, bool dynamo) {
  if (dynamo || Is(frames, 0, "extract_graph_helper", "dynamo_bridge.py")) return Make(kDynamoCompile);
  if (!Is(frames, 0, "mark_step", "") && !Is(frames, 0, "sync", "torch_xla.py")) return Make(kValueRead);
  if (Is(frames, 1, "next", "parallel_loader.py")) return Make(kLoader);
  if (Is(frames, 1, "__exit__", "profiler.py")) return Make(kProfiler);
  if (Is(frames, 1, "extract_compiled_graph_helper", "dynamo_bridge.py") ||
      Is(frames, 1, "extract_internal", "dynamo_bridge.py"))
    return Make(kDynamoInput);
  if (Is(frames, 1, "_compile", "torch_xla.py")) return Make(kCompile);
  if (Is(frames, 1, "_clear_pending_ops_before_compile", "torch_xla.py")) return Make(kClearPending);
  return Make(kSync);
}

Frame UserFrame(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    const std::string& file = frame.at.file;
    bool installed = file.starts_with('<');
    for (const std::string_view part :
         {"/torch_xla/", "/torch/", "torch_xla.py", "/site-packages/", "/dist-packages/"})
      installed |= file.find(part) != file.npos;
    if (!installed) return frame;
  }
  return frames.empty() ? Frame() : frames.front();
}

}  // namespace hlod::analysis::torch_xla
