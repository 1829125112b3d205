// libhlod has no code of its own: it is the rooms that it is linked from.
namespace hlod {
extern const char kLibraryName[];
const char kLibraryName[] = "libhlod";
}  // namespace hlod
