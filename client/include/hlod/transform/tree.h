// Trees of tensors: a Tensor, or a std::vector, map, tuple, pair, array, optional or plain struct of trees.
// Members that are numbers, enumerations or text are static: they belong to the tree's structure. Transforms
// (hlod/transform/transform.h) take and return trees; errors name a leaf by its path.
#pragma once

#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {
namespace tree {

// The path of a part of a tree. It lives on the stack of the function that walks the tree.
struct Path {
  const Path* parent = nullptr;
  std::string_view name = {};
  size_t index = 0;

  std::string Text() const;  // "argument 0[3].1"
};

// A placeholder that converts to any type, used to count the members of a struct.
struct AnyMember {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Members>
constexpr size_t MemberCount() {
  if constexpr (sizeof...(Members) > 16) {
    return 17;
  } else if constexpr (requires { T{Members{}..., AnyMember{}}; }) {
    return MemberCount<T, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

// Returns the members of a plain struct, by structured bindings.
template <typename T>
auto Members(T& t) {
  constexpr size_t kCount = MemberCount<std::remove_const_t<T>>();
  static_assert(kCount <= 16, "A struct that is a tree has at most 16 members; nest them.");
  if constexpr (kCount == 0) {
    return std::tie();
  } else if constexpr (kCount == 1) {
    auto& [a] = t;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = t;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = t;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = t;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = t;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = t;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = t;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = t;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = t;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (kCount == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (kCount == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (kCount == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T, typename A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;
template <typename T>
inline constexpr bool kIsMap = false;
template <typename K, typename T, typename C, typename A>
inline constexpr bool kIsMap<std::map<K, T, C, A>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};
template <typename T>
concept Static = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;
template <typename T>
inline constexpr bool kUnsupported = false;

inline std::string KeyText(const std::string& key) { return key; }
template <typename K>
std::string KeyText(const K& key) {
  return std::to_string(key);
}

// Walks a tree: calls visitor.Leaf(tensor, path) for tensors, and visitor.Node(text) for the structure around
// them and for static values as text.
template <typename T, typename V>
void Walk(T& t, const Path& path, V& visitor) {
  using Bare = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Bare, Tensor>) {
    visitor.Leaf(t, path);
  } else if constexpr (std::is_same_v<Bare, std::string>) {
    visitor.Node("\"" + t + "\"");
  } else if constexpr (std::is_enum_v<Bare>) {
    visitor.Node(std::to_string(static_cast<long long>(t)) + ";");
  } else if constexpr (std::is_floating_point_v<Bare>) {
    char text[40];
    std::snprintf(text, sizeof text, "%a;", static_cast<double>(t));
    visitor.Node(text);
  } else if constexpr (Static<Bare>) {
    visitor.Node(std::to_string(t) + ";");
  } else if constexpr (kIsVector<Bare>) {
    visitor.Node("[" + std::to_string(t.size()) + ":");
    for (size_t i = 0; i < t.size(); ++i) Walk(t[i], Path{&path, "[", i}, visitor);
  } else if constexpr (kIsMap<Bare>) {
    visitor.Node("{" + std::to_string(t.size()) + ":");
    for (auto& [key, value] : t) {
      const std::string text = KeyText(key);
      visitor.Node("\"" + text + "\"");
      Walk(value, Path{&path, text, 0}, visitor);
    }
  } else if constexpr (kIsOptional<Bare>) {
    visitor.Node(t.has_value() ? "!" : "?");
    if (t.has_value()) Walk(*t, path, visitor);
  } else if constexpr (TupleLike<Bare>) {
    std::apply(
        [&](auto&... members) {
          size_t i = 0;
          (Walk(members, Path{&path, ".", i++}, visitor), ...);
        },
        t);
  } else if constexpr (std::is_aggregate_v<Bare>) {
    std::apply(
        [&](auto&... members) {
          size_t i = 0;
          (Walk(members, Path{&path, ".", i++}, visitor), ...);
        },
        Members(t));
  } else {
    static_assert(kUnsupported<T>,
                  "A tree is a Tensor, or a vector, map, tuple, array, optional or plain struct of trees.");
  }
}

}  // namespace tree

// A tensor of a tree, and its path.
struct TreeLeaf {
  Tensor tensor;
  std::string path;
};

// The tensors of a tree, in order, and the rest of it as text: trees of the same structure have equal texts.
struct Flattened {
  std::vector<Tensor> leaves;
  std::string structure;
};

namespace tree {

struct Flattener {
  Flattened result;
  void Leaf(const Tensor& tensor, const Path&) {
    result.structure += tensor.defined() ? 'T' : 'U';
    if (tensor.defined()) result.leaves.push_back(tensor);
  }
  void Node(std::string_view text) { result.structure += text; }
};
struct Collector {
  std::vector<Tensor> leaves;
  void Leaf(const Tensor& tensor, const Path&) { leaves.push_back(tensor); }
  void Node(std::string_view) {}
};
struct PathCollector {
  std::vector<std::string> paths;
  void Leaf(const Tensor& tensor, const Path& path) {
    if (tensor.defined()) paths.push_back(path.Text());
  }
  void Node(std::string_view) {}
};
struct Replacer {
  const std::vector<Tensor>& leaves;
  bool all;  // True to visit undefined tensors, too.
  size_t next = 0;
  void Leaf(Tensor& tensor, const Path&) {
    if (!all && !tensor.defined()) return;
    if (next < leaves.size()) tensor = leaves[next];
    ++next;
  }
  void Node(std::string_view) {}
};
// Throws Error (kind argument) when a tree needs another number of leaves than it gets.
void CheckLeafCount(size_t taken, size_t given, const Caller& caller);

}  // namespace tree

// Returns the defined tensors; undefined ones belong to the structure.
template <typename T>
Flattened Flatten(const T& t) {
  tree::Flattener flattener;
  tree::Walk(t, tree::Path{}, flattener);
  return std::move(flattener.result);
}
template <typename T>
std::vector<Tensor> Leaves(const T& t) {
  return Flatten(t).leaves;
}
// Returns all tensors in order, including undefined ones.
template <typename T>
std::vector<Tensor> AllLeaves(const T& t) {
  tree::Collector collector;
  tree::Walk(t, tree::Path{}, collector);
  return std::move(collector.leaves);
}
// Returns the path of each leaf, such as "[0].1", after `root`.
template <typename T>
std::vector<std::string> LeafPaths(const T& t, std::string_view root = {}) {
  tree::PathCollector collector;
  tree::Walk(t, tree::Path{nullptr, root, 0}, collector);
  return std::move(collector.paths);
}
// Returns the tree with its tensors replaced by others, in order. Throws Error when their number differs from
// that of its defined tensors.
template <typename T>
T WithLeaves(T t, const std::vector<Tensor>& leaves, Caller caller = Caller::Here()) {
  tree::Replacer replacer{leaves, false};
  tree::Walk(t, tree::Path{}, replacer);
  tree::CheckLeafCount(replacer.next, leaves.size(), caller);
  return t;
}
// Like WithLeaves, but leaves may be undefined on both sides: `leaves` has one tensor per tensor of
// AllLeaves().
template <typename T>
T WithAllLeaves(T t, const std::vector<Tensor>& leaves, Caller caller = Caller::Here()) {
  tree::Replacer replacer{leaves, true};
  tree::Walk(t, tree::Path{}, replacer);
  tree::CheckLeafCount(replacer.next, leaves.size(), caller);
  return t;
}

namespace tree {
// Throws Error when the structures differ, naming the first leaf that only one of them has.
void CheckSame(const Flattened& a, const std::vector<std::string>& a_paths, const Flattened& b,
               const std::vector<std::string>& b_paths, const Caller& caller);
}  // namespace tree

// Returns a tree like the first one with f(leaf, leaf of the next tree, ...) as leaves. The trees must have
// the same structure.
//   params = MapTree([&](const Tensor& p, const Tensor& g) { return p - 0.1 * g; }, params, grads);
template <typename F, typename T, typename... Others>
T MapTree(F f, const T& t, const Others&... others) {
  const Flattened flat = Flatten(t);
  const auto check = [&](const auto& other) {
    const Flattened other_flat = Flatten(other);
    if (other_flat.structure != flat.structure) {
      tree::CheckSame(flat, LeafPaths(t), other_flat, LeafPaths(other), Caller{});
    }
    return other_flat.leaves;
  };
  const std::array<std::vector<Tensor>, sizeof...(Others)> rest = {check(others)...};
  std::vector<Tensor> results;
  for (size_t i = 0; i < flat.leaves.size(); ++i) {
    results.push_back([&]<size_t... I>(std::index_sequence<I...>) {
      return f(flat.leaves[i], rest[I][i]...);
    }(std::index_sequence_for<Others...>()));
  }
  return WithLeaves(t, results);
}

}  // namespace hlod
