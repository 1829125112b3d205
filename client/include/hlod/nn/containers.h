// Modules that hold lists of submodules: torch.nn.ModuleList and ModuleDict. They own them, and cannot be
// called themselves.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hlod/nn/module.h"
#include "hlod/runtime/caller.h"

namespace hlod::nn {

// A list of submodules named "0", "1", and so on. All have the type M, or any type when M is Module.
//
//   nn::ModuleList<nn::Linear> layers{*this, "layers"};
//   for (int64_t i = 0; i < 3; ++i) layers.Append(64, 64);
//   for (const nn::Linear& layer : layers) x = Relu(layer(x));
template <typename M = Module>
class ModuleList : public Module {
 public:
  using Module::Module;

  // Makes T(*this, "<place>", arguments...) behind the others. Its errors name no line: none is known here.
  template <typename T = M, typename... Args>
  T& Append(Args&&... args) {
    const CallerScope scope(Caller{});
    auto part = std::make_unique<T>(*this, PartName(std::to_string(parts_.size()), Caller{}),
                                    std::forward<Args>(args)...);
    T& made = *part;
    parts_.push_back(std::move(part));
    return made;
  }
  // Destroys the last part.
  void Pop(Caller caller = Caller::Here()) {
    if (parts_.empty()) Refuse("an empty list has nothing to remove", "module_list", caller);
    parts_.pop_back();
  }

  int64_t size() const { return static_cast<int64_t>(parts_.size()); }
  // The part at `place`, counted from the end when negative. Throws for a place that does not exist; Get also
  // throws when the part is not a T.
  M& operator[](IndexNumber place) const { return At(place.value(), place.caller()); }
  template <typename T>
  T& Get(int64_t place, Caller caller = Caller::Here()) const {
    T* const part = dynamic_cast<T*>(&At(place, caller));
    if (part == nullptr) {
      Refuse("part " + std::to_string(place) + " is of another type", "module_list", caller);
    }
    return *part;
  }

  class Iterator {
   public:
    explicit Iterator(const std::unique_ptr<M>* at) : at_(at) {}
    M& operator*() const { return **at_; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator&) const = default;

   private:
    const std::unique_ptr<M>* at_;
  };
  Iterator begin() const { return Iterator(parts_.data()); }
  Iterator end() const { return Iterator(parts_.data() + parts_.size()); }

 private:
  M& At(int64_t place, const Caller& caller) const {
    const int64_t from_start = place < 0 ? place + size() : place;
    if (from_start < 0 || from_start >= size()) {
      Refuse("place " + std::to_string(place) + " is not one of " + std::to_string(size()), "module_list",
             caller);
    }
    return *parts_[static_cast<size_t>(from_start)];
  }
  std::vector<std::unique_ptr<M>> parts_;
};

// Submodules by key, in the order in which they were added. A key must not be empty or contain a dot.
//
//   nn::ModuleDict<nn::Linear> heads{*this, "heads"};
//   heads.Add("policy", 64, 10);
//   const Tensor logits = heads.Get("policy")(x);
template <typename M = Module>
class ModuleDict : public Module {
 public:
  using Module::Module;

  // Makes T(*this, key, arguments...). Throws when the key is taken.
  template <typename T = M, typename... Args>
  T& Add(const PartName& key, Args&&... args) {
    const CallerScope scope(key.caller());
    auto part = std::make_unique<T>(*this, key, std::forward<Args>(args)...);
    T& made = *part;
    parts_.emplace_back(key.name(), std::move(part));
    return made;
  }
  // Destroys the part with that key. Throws when there is none.
  void Pop(const std::string& key, Caller caller = Caller::Here()) {
    Get(key, caller);
    std::erase_if(parts_, [&](const auto& part) { return part.first == key; });
  }

  int64_t size() const { return static_cast<int64_t>(parts_.size()); }
  bool Contains(const std::string& key) const { return Find(key) != nullptr; }
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, part] : parts_) keys.push_back(key);
    return keys;
  }
  // Throws for a key that does not exist, and for a part that is not a T.
  template <typename T = M>
  T& Get(const std::string& key, Caller caller = Caller::Here()) const {
    M* const found = Find(key);
    if (found == nullptr) Refuse("there is no part named " + key, "module_dict", caller);
    T* const part = dynamic_cast<T*>(found);
    if (part == nullptr) Refuse("part " + key + " is of another type", "module_dict", caller);
    return *part;
  }

 private:
  M* Find(const std::string& key) const {
    for (const auto& [name, part] : parts_) {
      if (name == key) return part.get();
    }
    return nullptr;
  }
  std::vector<std::pair<std::string, std::unique_ptr<M>>> parts_;
};

}  // namespace hlod::nn
