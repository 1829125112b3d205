// Counted references to values, storages and tensors. The count is inside the object, so that a tensor is a
// single pointer.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace hlod::lazy {

// A base that counts its references. T has `static void Destroy(T*)`.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void AddRef() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Adds the first reference of an object that no other thread can see yet, which needs no exchange.
  void AddFirstRef() { references_.store(1, std::memory_order_relaxed); }
  // Drops a reference and returns true if it was the last. The only reference cannot be copied meanwhile, so
  // dropping it needs no atomic exchange.
  bool DropRef() {
    if (references_.load(std::memory_order_acquire) == 1) return true;
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  uint32_t references() const { return references_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint32_t> references_{0};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && object_->DropRef()) T::Destroy(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Returns the first reference of a new object.
  static Ref First(T* object) {
    object->AddFirstRef();
    Ref first;
    first.object_ = object;
    return first;
  }
  // Returns the object and releases the reference without dropping it.
  T* Leak() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>::First(new T(std::forward<Args>(args)...));
}

}  // namespace hlod::lazy
