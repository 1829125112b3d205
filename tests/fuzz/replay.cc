// A fuzz target without libFuzzer: runs every file of the seeds, and mutations of each that are the same in
// every run.
//
//   TARGET_fuzz MUTATIONS EXTENSION,EXTENSION... FOLDER...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                                                unsigned int seed);

namespace {

namespace fs = std::filesystem;

constexpr size_t kMutatedBytesMax = 64 << 10;  // Mutations of larger files take long and find little.

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the files in an order that does not depend on the file system.
std::vector<fs::path> Seeds(const std::string& extensions, int folders, char** folder) {
  std::vector<fs::path> seeds;
  for (int i = 0; i < folders; ++i) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder[i])) {
      const std::string extension = entry.path().extension().string();
      if (entry.is_regular_file() && !extension.empty() &&
          ("," + extensions + ",").find("," + extension.substr(1) + ",") != std::string::npos)
        seeds.push_back(entry.path());
    }
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

void Mutate(std::string& bytes, std::mt19937& random) {
  if (bytes.empty()) return;
  const auto place = [&] { return random() % bytes.size(); };
  for (uint32_t edits = 1 + random() % 3; edits > 0 && !bytes.empty(); --edits) {
    const size_t at = place(), length = std::min<size_t>(1 + random() % 16, bytes.size() - at);
    switch (random() % 6) {
      case 0: bytes[at] = static_cast<char>(random()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8); break;
      case 2: bytes.erase(at, length); break;
      case 3: bytes.insert(place(), bytes.substr(at, length)); break;
      case 4: bytes.resize(at); break;
      default: bytes[at] = "\0\x7f\x80\xff(){}[]-9,=%"[random() % 15]; break;
    }
  }
}

// Changes the bytes as the target does that has a mutator; every fourth time as all others do.
void MutateByTarget(std::string& bytes, std::mt19937& random) {
  if (LLVMFuzzerCustomMutator == nullptr || random() % 4 == 0) return Mutate(bytes, random);
  const size_t size = bytes.size();
  bytes.resize(kMutatedBytesMax);
  bytes.resize(LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size(),
                                       static_cast<unsigned int>(random())));
}

void Run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MUTATIONS EXTENSION,EXTENSION... FOLDER...\n", argv[0]);
    return 2;
  }
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  const int mutations = std::atoi(argv[1]);
  const std::vector<fs::path> seeds = Seeds(argv[2], argc - 3, argv + 3);
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds\n", argv[0]);
    return 1;
  }
  std::set<std::string> seen;
  for (size_t i = 0; i < seeds.size(); ++i) {
    const std::string seed = Read(seeds[i]);
    if (!seen.insert(seed).second) continue;  // Packed cases have their StableHLO in two places.
    // After a crash, the last line printed is the seed's name.
    std::fprintf(stderr, "%s\n", seeds[i].c_str());
    Run(seed);
    if (seed.size() > kMutatedBytesMax) continue;
    std::mt19937 random(static_cast<uint32_t>(i));
    for (int m = 0; m < mutations; ++m) {
      std::string mutated = seed;
      MutateByTarget(mutated, random);
      // After a crash, this file has the mutation.
      std::ofstream("last_input", std::ios::binary | std::ios::trunc) << mutated;
      Run(mutated);
    }
  }
  std::remove("last_input");
  std::printf("%zu seeds, %d mutations each\n", seeds.size(), mutations);
}
