// Literals: their storage, comparison and conversion.
#include "common/hlo/literal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/hlo/elements/convert.h"

namespace hlod::hlo {
namespace {

constexpr int64_t kAlignment = 64;

void WalkLeaves(const Literal& literal, std::vector<const Literal*>& leaves) {
  if (!literal.shape().IsTuple()) {
    leaves.push_back(&literal);
    return;
  }
  for (const Literal& element : literal.elements()) WalkLeaves(element, leaves);
}

void DropLayouts(Shape& shape) {
  shape.layout.reset();
  for (Shape& element : shape.tuple) DropLayouts(element);
}

// Elements are converted through the wide type, a block at a time: one loop per source type and one per
// target type, instead of one per pair.
constexpr int64_t kBlock = 512;

template <typename From, typename W>
void Widen(const Literal& from, int64_t begin, int64_t count, W* out) {
  const From* in = from.data<From>().data() + begin;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<W>(in[i]);
}

template <typename To, typename W>
void Narrow(const W* in, int64_t begin, int64_t count, Literal& to) {
  To* out = to.data<To>().data() + begin;
  for (int64_t i = 0; i < count; ++i) out[i] = NarrowElement<To>(in[i]);
}

template <typename W>
void ConvertThrough(const Literal& from, void (*widen)(const Literal&, int64_t, int64_t, W*), Literal& to) {
  void (*narrow)(const W*, int64_t, int64_t, Literal&) = nullptr;
  VisitType(to.shape().type, [&]<typename To>() { narrow = &Narrow<To, W>; });
  W block[kBlock];
  for (int64_t begin = 0; begin < from.element_count(); begin += kBlock) {
    const int64_t count = std::min(kBlock, from.element_count() - begin);
    widen(from, begin, count, block);
    narrow(block, begin, count, to);
  }
}

}  // namespace

void Literal::Free::operator()(std::byte* p) const {
  if (owner == nullptr) std::free(p);
}

Literal Literal::Borrow(const Shape& shape, std::byte* data, std::shared_ptr<void> owner) {
  Literal literal;
  literal.shape_ = shape;
  DropLayouts(literal.shape_);
  literal.element_count_ = ElementCount(shape).value_or(0);
  literal.byte_size_ = literal.element_count_ * ByteWidth(shape.type);
  literal.storage_ = std::unique_ptr<std::byte[], Free>(data, Free{std::move(owner)});
  return literal;
}

std::byte* Literal::Allocate(int64_t bytes) {
  const int64_t allocated = AlignUp(std::max<int64_t>(bytes, 1), kAlignment);
  void* const memory = std::aligned_alloc(kAlignment, static_cast<size_t>(allocated));
  // Throws as operator new would; code that runs untrusted programs catches it.
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

void Literal::RequireCount(size_t given) const {
  if (given == static_cast<size_t>(element_count_)) return;
  const std::string text =
      absl::StrFormat("hlod: %d values were given for a literal of %s, which takes %d.\n", given,
                      ToStringNoLayout(shape_), element_count_);
  std::fputs(text.c_str(), stderr);
  std::abort();
}

Literal::Literal(const Shape& shape) : shape_(shape) {
  DropLayouts(shape_);
  if (shape_.IsTuple()) {
    elements_.reserve(shape_.tuple.size());
    for (const Shape& element : shape_.tuple) elements_.emplace_back(element);
  }
  if (!shape_.IsArray()) return;
  element_count_ = ElementCount(shape_).value_or(0);
  byte_size_ = element_count_ * ByteWidth(shape_.type);
  storage_.reset(Allocate(byte_size_));
  std::memset(storage_.get(), 0, static_cast<size_t>(byte_size_));
}

absl::StatusOr<Literal> Literal::Make(const Shape& shape, int64_t max_bytes) {
  RETURN_IF_ERROR(ValidateShape(shape));
  const std::optional<int64_t> bytes = ByteSize(shape);
  if (!bytes)
    return InvalidArgument("A literal of shape (%s) has no definite size.", ToStringNoLayout(shape));
  if (*bytes > max_bytes) {
    return ResourceExhausted("A literal of shape (%s) needs (%d) bytes, more than the limit (%d).",
                             ToStringNoLayout(shape), *bytes, max_bytes);
  }
  return Literal(shape);
}

Literal Literal::MakeTuple(std::vector<Literal> elements) {
  Literal literal;
  std::vector<Shape> shapes;
  for (const Literal& element : elements) shapes.push_back(element.shape());
  literal.shape_ = Shape::Tuple(std::move(shapes));
  literal.elements_ = std::move(elements);
  return literal;
}

Literal::Literal(const Literal& other)
    : shape_(other.shape_),
      element_count_(other.element_count_),
      byte_size_(other.byte_size_),
      elements_(other.elements_) {
  if (!other.storage_) return;
  storage_.reset(Allocate(byte_size_));
  std::memcpy(storage_.get(), other.storage_.get(), static_cast<size_t>(byte_size_));
}

Literal& Literal::operator=(const Literal& other) {
  if (this != &other) *this = Literal(other);
  return *this;
}

Literal& Literal::operator=(Literal&& other) noexcept {
  if (this == &other) return *this;
  shape_ = std::exchange(other.shape_, Shape());
  element_count_ = std::exchange(other.element_count_, 0);
  byte_size_ = std::exchange(other.byte_size_, 0);
  storage_ = std::move(other.storage_);
  elements_ = std::exchange(other.elements_, {});
  return *this;
}

std::vector<const Literal*> Literal::Leaves() const {
  std::vector<const Literal*> leaves;
  WalkLeaves(*this, leaves);
  return leaves;
}

bool operator==(const Literal& a, const Literal& b) {
  return Compatible(a.shape_, b.shape_) && a.byte_size_ == b.byte_size_ &&
         (a.byte_size_ == 0 ||
          std::memcmp(a.storage_.get(), b.storage_.get(), static_cast<size_t>(a.byte_size_)) == 0) &&
         a.elements_ == b.elements_;
}

double ElementAsDouble(const Literal& literal, int64_t index) {
  double value = 0;
  VisitType(literal.shape().type,
            [&]<typename T>() { value = ConvertElement<double>(literal.data<T>()[index]); });
  return value;
}

absl::StatusOr<Literal> Convert(const Literal& literal, PrimitiveType type) {
  if (!literal.shape().IsArray() || !IsArrayType(type)) {
    return InvalidArgument("A literal of shape (%s) is not converted to type (%s).",
                           ToStringNoLayout(literal.shape()), Name(type));
  }
  if (literal.shape().type == type) return literal;
  Shape shape = literal.shape();
  shape.type = type;
  ASSIGN_OR_RETURN(Literal result, Literal::Make(shape, INT64_MAX));
  VisitType(literal.shape().type,
            [&]<typename From>() { ConvertThrough<Wide<From>>(literal, &Widen<From, Wide<From>>, result); });
  return result;
}

}  // namespace hlod::hlo
