// Neighbours are visited breadth first, upwards to operands and downwards to the user, until none is taken.
#include "client/analysis/module/memory/library_kernels.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "client/analysis/module/memory/cpu_library.h"

namespace hlod::analysis {
namespace {

using hlo::NodeId;

class LibraryKernels {
 public:
  LibraryKernels(const hlo::Module& module, KernelGraph& graph)
      : module_(module),
        graph_(graph),
        library_(graph.computation().size(), false),
        taken_(graph.computation().size(), false),
        visited_in_(graph.computation().size(), 0) {}

  std::vector<bool> Form() {
    for (NodeId node = graph_.computation().size(); node-- > 0;) {
      if (taken_[node] || !StartsLibraryKernel(module_, graph_.computation()[node])) continue;
      taken_[node] = library_[node] = true;
      if (graph_.computation()[node].opcode() == hlo::kDot) continue;  // A product begins alone.
      NodeId kernel = node;
      while (Grow(kernel)) {
      }
    }
    return std::move(library_);
  }

 private:
  enum class Towards { kOperands, kUser };
  struct Neighbour {
    NodeId node;
    Towards towards;
  };

  // Adds what could be taken next to `frontier`: operands of `node` that only `kernel` and it read, and its
  // only user.
  void AddNeighbours(NodeId kernel, NodeId node, bool up, bool down, std::deque<Neighbour>& frontier) {
    for (const NodeId operand : up ? graph_.reads(node) : std::vector<NodeId>()) {
      const bool own = std::ranges::all_of(graph_.users(operand),
                                           [&](NodeId user) { return user == kernel || user == node; });
      if (own && IsFree(operand) && Visit(operand)) frontier.push_back({operand, Towards::kOperands});
    }
    if (!down || graph_.users(node).size() != 1) return;
    const NodeId user = graph_.users(node)[0];
    if (IsFree(user) && Visit(user)) frontier.push_back({user, Towards::kUser});
  }

  // Kernels of the library join, too.
  bool IsFree(NodeId node) const { return !taken_[node] || library_[node]; }
  bool Visit(NodeId node) { return std::exchange(visited_in_[node], round_) != round_; }

  // Takes the neighbours that the library can compute, and their neighbours. Returns true when there were
  // any.
  bool Grow(NodeId& kernel) {
    ++round_;
    Visit(kernel);
    std::deque<Neighbour> frontier;
    AddNeighbours(kernel, kernel, /*up=*/true, /*down=*/true, frontier);
    bool changed = false;
    for (; !frontier.empty(); frontier.pop_front()) {
      const auto [node, towards] = frontier.front();
      const bool up = towards == Towards::kOperands;
      if (!library_[node]) {
        if (!IsOfCpuLibrary(module_, graph_.computation()[node])) continue;
        taken_[node] = true;
        AddNeighbours(kernel, node, up, !up, frontier);
      }
      changed = true;
      if (up) {
        graph_.FuseOperand(kernel, node);
        library_[node] = false;
      } else {
        graph_.FuseIntoUser(kernel, node);
        library_[kernel] = false;
        library_[node] = true;
        kernel = node;
      }
    }
    return changed;
  }

  const hlo::Module& module_;
  KernelGraph& graph_;
  std::vector<bool> library_, taken_;  // By instruction.
  std::vector<uint32_t> visited_in_;   // By instruction, the last round that visited it.
  uint32_t round_ = 0;
};

}  // namespace

std::vector<bool> FormLibraryKernels(const hlo::Module& module, KernelGraph& graph) {
  return LibraryKernels(module, graph).Form();
}

}  // namespace hlod::analysis
