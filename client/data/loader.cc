// An epoch: its order of examples, and the thread that makes its batches ahead of the loop.
#include <algorithm>
#include <deque>
#include <exception>
#include <numeric>
#include <random>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/tensor/value/throw.h"
#include "hlod/nn/data.h"

namespace hlod::data {
namespace {

// Returns the order of the examples, shuffled by Fisher and Yates. The standard library's generators return
// the same numbers everywhere; its distributions do not.
std::vector<int64_t> OrderOf(int64_t examples, const LoaderOptions& options, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(examples));
  std::iota(order.begin(), order.end(), 0);
  if (!options.shuffle) return order;
  const auto half = [](uint64_t number, int shift) { return static_cast<uint32_t>(number >> shift); };
  const auto number = static_cast<uint64_t>(epoch);
  std::seed_seq seeds = {half(options.seed, 0), half(options.seed, 32), half(number, 0), half(number, 32)};
  std::mt19937_64 random(seeds);
  for (size_t i = order.size(); i > 1; --i) {
    const auto below = static_cast<size_t>((static_cast<unsigned __int128>(random()) * i) >> 64);
    std::swap(order[i - 1], order[below]);
  }
  return order;
}

int64_t BatchesOf(int64_t examples, const LoaderOptions& options) {
  return options.drop_last ? examples / options.batch_size
                           : examples / options.batch_size + (examples % options.batch_size != 0);
}

}  // namespace

class DataLoader::Epoch {
 public:
  Epoch(const Dataset& dataset, const LoaderOptions& options, int64_t number, const Caller& caller)
      : dataset_(dataset),
        options_(options),
        caller_(caller),
        order_(OrderOf(dataset.size(), options, number)),
        batches_(BatchesOf(dataset.size(), options)) {
    if (options_.prefetch > 0 && batches_ > 0) thread_ = std::thread([this] { MakeAll(); });
  }
  ~Epoch() {
    {
      const absl::MutexLock lock(&mu_);
      stopped_ = true;
    }
    if (thread_.joinable()) thread_.join();
  }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

  // Returns the next batch; nullopt after the last. Throws what making it threw.
  std::optional<Batch> Next() {
    if (taken_ == batches_) return std::nullopt;
    const int64_t next = taken_++;
    if (!thread_.joinable()) return Make(next);
    const absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(
        +[](Epoch* epoch) {
          epoch->mu_.AssertHeld();
          return !epoch->waiting_.empty() || epoch->failure_ != nullptr;
        },
        this));
    if (waiting_.empty()) {
      taken_ = batches_;  // The thread has ended.
      std::rethrow_exception(failure_);
    }
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    return batch;
  }

 private:
  Batch Make(int64_t number) const {
    const int64_t begin = number * options_.batch_size;
    const int64_t count = std::min(options_.batch_size, dataset_.size() - begin);
    return dataset_.Get(
        absl::MakeConstSpan(order_).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)),
        options_.device, caller_);
  }

  bool HasRoom() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return stopped_ || static_cast<int64_t>(waiting_.size()) < options_.prefetch;
  }

  void MakeAll() {
    for (int64_t number = 0; number < batches_; ++number) {
      {
        const absl::MutexLock lock(&mu_);
        mu_.Await(absl::Condition(this, &Epoch::HasRoom));
        if (stopped_) return;
      }
      try {
        Batch batch = Make(number);
        const absl::MutexLock lock(&mu_);
        waiting_.push_back(std::move(batch));
      } catch (...) {
        const absl::MutexLock lock(&mu_);
        failure_ = std::current_exception();
        return;
      }
    }
  }

  const Dataset dataset_;
  const LoaderOptions options_;
  const Caller caller_;
  const std::vector<int64_t> order_;
  const int64_t batches_;
  int64_t taken_ = 0;
  absl::Mutex mu_;
  std::deque<Batch> waiting_ ABSL_GUARDED_BY(mu_);
  std::exception_ptr failure_ ABSL_GUARDED_BY(mu_);
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

DataLoader::DataLoader(Dataset dataset, LoaderOptions options, Caller caller)
    : dataset_(std::move(dataset)), options_(std::move(options)), caller_(caller) {
  if (options_.batch_size >= 1 && options_.prefetch >= 0) return;
  lazy::Throw(ErrorKind::kArgument,
              absl::StrCat("batch_size (", options_.batch_size, ") is at least 1, and prefetch (",
                           options_.prefetch, ") at least 0"),
              "data_loader", caller);
}

int64_t DataLoader::size() const { return BatchesOf(dataset_.size(), options_); }

DataLoader::Iterator DataLoader::begin() {
  return Iterator(std::make_shared<Epoch>(dataset_, options_, epoch_++, caller_));
}

DataLoader::Iterator::Iterator(std::shared_ptr<Epoch> epoch)
    : epoch_(std::move(epoch)), batch_(epoch_->Next()) {}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  batch_.reset();
  batch_ = epoch_->Next();
  return *this;
}

}  // namespace hlod::data
