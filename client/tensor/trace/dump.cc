// Lowers and dumps what is recorded, without running it.
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/program/canonical.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/thread_traces.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"
#include "common/hlo/text/text.h"
#include "hlod/ops/creation.h"
#include "hlod/tensor/trace.h"

namespace hlod {
namespace {

using lazy::NodeId;

// The nodes that the tensors depend on, copied into a separate trace, so that dumping does not change an open
// trace.
struct Copied {
  std::unique_ptr<lazy::Trace> graph;
  lazy::Canonical canonical;
};

Copied Copy(absl::Span<const Tensor> tensors, const Caller& caller) {
  Copied copied;
  if (tensors.empty())
    lazy::Throw(ErrorKind::kArgument, "the list of tensors to dump is empty", "dump", caller);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) continue;
    lazy::Throw(ErrorKind::kArgument, absl::StrCat("tensor ", i, " of ", tensors.size(), " is undefined"),
                "dump", caller);
  }
  const lazy::Place place = tensors[0].impl()->value().place;
  // A real trace copies the nodes of other traces instead of taking their values as parameters.
  copied.graph = std::make_unique<lazy::Trace>(place, lazy::Trace::Kind::kReal);
  std::vector<NodeId> outputs;
  for (const Tensor& tensor : tensors) {
    if (!(tensor.impl()->value().place == place)) {
      lazy::Throw(ErrorKind::kArgument, "the tensors are on several devices", "dump", caller);
    }
    // A detached tensor is used instead, because NodeOf() caches a view's node, and the tensor's cache
    // belongs to its own trace.
    Tensor view = tensor.Detach();
    outputs.push_back(lazy::NodeOf(*copied.graph, *view.impl()));
  }
  copied.canonical = lazy::Canonicalise(*copied.graph, outputs);
  return copied;
}

std::string NodeName(NodeId node) { return absl::StrCat("%", node); }

std::string ParameterText(const lazy::Parameter& parameter) {
  if (parameter.literal != nullptr) return absl::StrCat("number ", hlo::ToText(*parameter.literal));
  const lazy::Value& value = *parameter.value;
  return absl::StrCat(value.IsPlaceholder() ? "placeholder" : "data", ", tensor ", value.id, ", made at ",
                      lazy::LineText(value.origin));
}

// Writes a line per instruction: "%3 = f32[2,3] dot(%1, %2)  # einsum (model.cc:11)".
std::string ToTraceText(const Copied& copied) {
  std::string text;
  const hlo::Computation& computation = *copied.canonical.computation;
  for (NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    absl::StrAppend(&text, NodeName(node), " = ", hlo::ToStringNoLayout(instruction.shape()), " ",
                    ToAbsl(hlo::Name(instruction.opcode())));
    const NodeId recorded = copied.canonical.nodes[node];
    if (const lazy::Parameter* parameter = copied.graph->ParameterAt(recorded)) {
      absl::StrAppend(&text, "  # ", ParameterText(*parameter), "\n");
      continue;
    }
    if (instruction.opcode() == hlo::kConstant) {
      const bool large = instruction.literal().element_count() > 8;
      absl::StrAppend(&text, "(", large ? "..." : hlo::ToText(instruction.literal()), ")");
    } else {
      absl::StrAppend(&text, "(",
                      absl::StrJoin(instruction.operands(), ", ",
                                    [](std::string* out, NodeId id) { *out += NodeName(id); }),
                      ")");
    }
    const lazy::OriginRow& row = copied.graph->origin(recorded);
    absl::StrAppend(&text, "  # ", row.operation, " (", lazy::LineText(row.caller), ")\n");
  }
  absl::StrAppend(&text, "return ",
                  absl::StrJoin(copied.canonical.outputs, ", ",
                                [](std::string* out, NodeId id) { *out += NodeName(id); }),
                  "\n");
  return text;
}

std::string ToDot(const Copied& copied) {
  std::string text = "digraph trace {\n  node [shape=box, fontname=monospace];\n";
  const hlo::Computation& computation = *copied.canonical.computation;
  for (NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    const lazy::Parameter* parameter = copied.graph->ParameterAt(copied.canonical.nodes[node]);
    const bool placeholder = parameter != nullptr && parameter->value && parameter->value->IsPlaceholder();
    absl::StrAppend(&text, "  n", node, " [label=\"", ToAbsl(hlo::Name(instruction.opcode())), "\\n",
                    hlo::ToStringNoLayout(instruction.shape()), "\"",
                    parameter == nullptr ? ""
                    : placeholder        ? ", style=dashed"
                                         : ", style=filled",
                    "];\n");
    for (const NodeId operand : instruction.operands()) {
      absl::StrAppend(&text, "  n", operand, " -> n", node, ";\n");
    }
  }
  for (size_t i = 0; i < copied.canonical.outputs.size(); ++i) {
    absl::StrAppend(&text, "  out", i, " [label=\"output ", i, "\", shape=plaintext];\n  n",
                    copied.canonical.outputs[i], " -> out", i, ";\n");
  }
  return text + "}\n";
}

}  // namespace

std::unique_ptr<Module> Lower(absl::Span<const Tensor> tensors, std::vector<Tensor>* arguments,
                              Caller caller) {
  const lazy::TraceLock lock;
  const Copied copied = Copy(tensors, caller);
  if (arguments != nullptr) {
    for (const uint32_t number : copied.canonical.parameters) {
      const lazy::Parameter& parameter = copied.graph->parameters()[number];
      arguments->push_back(parameter.value ? lazy::MakeTensor(parameter.value)
                                           : FromLiteral(*parameter.literal));
    }
  }
  return lazy::MakeModule("trace", *copied.graph, copied.canonical, {});
}

std::string Dump(absl::Span<const Tensor> tensors, DumpFormat form, Caller caller) {
  const lazy::TraceLock lock;
  const Copied copied = Copy(tensors, caller);
  switch (form) {
    case DumpFormat::kText: return ToTraceText(copied);
    case DumpFormat::kHlo:
      return hlo::ToText(*lazy::MakeModule("trace", *copied.graph, copied.canonical, {}));
    case DumpFormat::kDot: return ToDot(copied);
  }
  return "";
}

}  // namespace hlod
