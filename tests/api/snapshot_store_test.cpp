// What a program outside sees of a folder of snapshots.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "support/snapshot_samples.h"
#include "swarmkv/error.h"
#include "swarmkv/snapshot.h"

namespace swarmkv {
namespace {

using internal::some_about;
using internal::some_state;
using internal::some_tokens;

struct SnapshotStoreTest : testing::Test {
  internal::TemporaryFolder parent;
  SnapshotStore store{parent / "store"};

  internal::SavedSnapshot save(std::uint32_t document, std::size_t state_bytes = 1000) const {
    return internal::SnapshotFolder(store.folder())
        .save(some_about(), some_tokens(7, document), some_state(state_bytes, document));
  }
  static void set_last_used(const std::string& path, std::time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  static ErrorCode code_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::kInternal;
  }
};

TEST_F(SnapshotStoreTest, ShowsWhatStandsInTheHeader) {
  const auto saved = save(1);
  set_last_used(saved.path, 1'767'225'600);

  const SnapshotInfo info = store.show(saved.name.substr(0, 8));

  EXPECT_EQ(info.name, saved.name);
  EXPECT_EQ(info.path, saved.path);
  EXPECT_EQ(info.format_version, 1);
  EXPECT_EQ(info.model_name, "small");
  EXPECT_EQ(info.model_fingerprint, some_about().identity.model_fingerprint);
  EXPECT_EQ(info.arch, "llama");
  EXPECT_EQ(info.cache_type_k, "f16");
  EXPECT_EQ(info.cache_type_v, "f16");
  EXPECT_EQ(info.engine, "llama.cpp 0c1e570");
  EXPECT_EQ(info.document, "contract");
  EXPECT_EQ(info.n_tokens, 7);
  EXPECT_EQ(info.token_digest.substr(0, 16), saved.name.substr(0, 16));
  EXPECT_EQ(info.token_digest.size(), 32u);
  EXPECT_TRUE(info.deterministic);
  EXPECT_EQ(info.size_bytes, saved.size_bytes);
  EXPECT_EQ(info.state_bytes, 1000u);
  EXPECT_EQ(info.created_at, "2025-11-30T10:53:20Z");
  EXPECT_EQ(info.last_used_at, "2026-01-01T00:00:00Z");
  EXPECT_FALSE(info.in_use);
  EXPECT_EQ(info.problem, "");
}

TEST_F(SnapshotStoreTest, ListsTheLastUsedFirstAndSaysWhatIsWrong) {
  const auto old = save(1), fresh = save(2), damaged = save(3);
  set_last_used(old.path, 1'000'000'000);
  set_last_used(damaged.path, 900'000'000);
  auto bytes = internal::read_file_bytes(damaged.path);
  bytes[60] = static_cast<std::uint8_t>(bytes[60] ^ 1);
  internal::write_file(damaged.path, bytes);
  set_last_used(damaged.path, 900'000'000);

  const auto infos = store.list();

  ASSERT_EQ(infos.size(), 3u);
  EXPECT_EQ(infos[0].name, fresh.name);
  EXPECT_EQ(infos[1].name, old.name);
  EXPECT_EQ(infos[1].problem, "");
  EXPECT_EQ(infos[2].name, damaged.name);
  EXPECT_EQ(infos[2].problem.rfind("header checksum: ", 0), 0u) << infos[2].problem;
  EXPECT_EQ(infos[2].size_bytes, damaged.size_bytes);
  EXPECT_EQ(code_of([&] { (void)store.show(damaged.name); }), ErrorCode::kCorrupt);
}

TEST_F(SnapshotStoreTest, OnlyWhatPruneWouldRemoveIsCalledDamaged) {
  const auto damaged = save(1), newer = save(2), sound = save(3), aside = save(4);
  internal::write_file(damaged.path, {1, 2, 3});
  auto bytes = internal::read_file_bytes(newer.path);
  bytes[internal::kAtVersion] = internal::kSnapshotVersion + 1;
  internal::write_file(newer.path, bytes);
  ASSERT_TRUE(internal::SnapshotFolder(store.folder()).set_aside(aside.name));

  std::vector<std::string> called, removed;
  for (const SnapshotInfo& info : store.list()) {
    if (info.damaged) called.push_back(info.name);
    EXPECT_EQ(info.problem.empty(), info.name == sound.name) << info.problem;
  }
  for (const SnapshotInfo& info : store.prune(UINT64_MAX)) removed.push_back(info.name);
  std::sort(called.begin(), called.end());
  std::sort(removed.begin(), removed.end());

  EXPECT_EQ(called.size(), 2u);
  EXPECT_EQ(called, removed);
}

TEST_F(SnapshotStoreTest, OfAFileThatWasSetAsideItSaysWhy) {
  const auto by_state = save(1), by_header = save(2), by_engine = save(3);
  const internal::SnapshotFolder folder(store.folder());
  auto bytes = internal::read_file_bytes(by_state.path);
  bytes.back() = static_cast<std::uint8_t>(bytes.back() ^ 1);
  internal::write_file(by_state.path, bytes);
  internal::write_file(by_header.path, {'S', 'W'});
  for (const auto& saved : {by_state, by_header, by_engine}) {
    ASSERT_TRUE(folder.set_aside(saved.name));
    EXPECT_TRUE(is_snapshot(saved.path + ".damaged"));
  }

  const SnapshotInfo state = inspect_snapshot(by_state.path + ".damaged");
  const SnapshotInfo header = inspect_snapshot(by_header.path + ".damaged");
  const SnapshotInfo engine = inspect_snapshot(by_engine.path + ".damaged");

  EXPECT_EQ(state.problem.rfind("was found damaged and set aside: state checksum: ", 0), 0u)
      << state.problem;
  EXPECT_EQ(state.n_tokens, 7) << "its header is sound";
  EXPECT_EQ(header.problem.rfind("was found damaged and set aside: header size: ", 0), 0u)
      << header.problem;
  EXPECT_EQ(header.size_bytes, 2u);
  EXPECT_EQ(header.n_tokens, 0);
  EXPECT_NE(engine.problem.find("its bytes are whole"), std::string::npos) << engine.problem;
  for (const SnapshotInfo& info : {state, header, engine}) {
    EXPECT_TRUE(info.damaged);
    EXPECT_FALSE(info.in_use);
    EXPECT_TRUE(info.name.ends_with(".swkv.damaged")) << info.name;
  }
  try {
    (void)store.show(by_state.name + ".damaged");
    ADD_FAILURE() << "it cannot be used";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_NE(std::string(error.what()).find("state checksum"), std::string::npos) << error.what();
  }
}

TEST_F(SnapshotStoreTest, VerifyReadsAllOfAFile) {
  const auto sound = save(1), damaged = save(2);
  auto bytes = internal::read_file_bytes(damaged.path);
  bytes.back() = static_cast<std::uint8_t>(bytes.back() ^ 1);
  internal::write_file(damaged.path, bytes);

  EXPECT_EQ(store.verify(sound.name).name, sound.name);
  EXPECT_NO_THROW((void)store.show(damaged.name)) << "its header is sound";
  EXPECT_EQ(code_of([&] { (void)store.verify(damaged.name); }), ErrorCode::kCorrupt);
}

TEST_F(SnapshotStoreTest, RemovesAndPrunes) {
  const auto a = save(1), b = save(2), c = save(3);
  set_last_used(a.path, 1'000'000'000);

  store.remove(b.name);
  EXPECT_EQ(code_of([&] { store.remove(b.name); }), ErrorCode::kUnreadable);
  const auto gone = store.prune(c.size_bytes);

  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].name, a.name);
  EXPECT_EQ(gone[0].n_tokens, 7);
  EXPECT_EQ(gone[0].size_bytes, a.size_bytes);
  EXPECT_EQ(store.list().size(), 1u);
}

TEST_F(SnapshotStoreTest, AFileInUseIsShownAndStays) {
  const auto saved = save(1);
  const auto open = internal::SnapshotFile::open(saved.path);

  EXPECT_TRUE(store.show(saved.name).in_use);
  EXPECT_EQ(code_of([&] { store.remove(saved.name); }), ErrorCode::kUnwritable);
  EXPECT_TRUE(store.prune(0).empty());
  EXPECT_EQ(store.list().size(), 1u);
}

TEST_F(SnapshotStoreTest, NamesThatCannotBeOneAreWrongArguments) {
  for (const std::string& name : {std::string("../x"), std::string("/x"), std::string(),
                                  std::string(300, 'x'), std::string("a\tb")}) {
    EXPECT_EQ(code_of([&] { (void)store.show(name); }), ErrorCode::kInvalidArgument) << name;
    EXPECT_EQ(code_of([&] { (void)store.verify(name); }), ErrorCode::kInvalidArgument) << name;
    EXPECT_EQ(code_of([&] { store.remove(name); }), ErrorCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(code_of([&] { (void)store.show("none"); }), ErrorCode::kUnreadable);
}

TEST_F(SnapshotStoreTest, InspectsAFileAnywhere) {
  const std::string path = parent / "mine.snapshot";
  internal::write_file(path, internal::some_file(7, 1000));

  const SnapshotInfo info = inspect_snapshot(path);

  EXPECT_EQ(info.name, "mine.snapshot");
  EXPECT_EQ(info.path, path);
  EXPECT_EQ(info.n_tokens, 7);
  EXPECT_NE(info.last_used_at, "");
  EXPECT_TRUE(is_snapshot(path));
  internal::write_file(path, {'G', 'G', 'U', 'F', 0, 0, 0, 0, 0});
  EXPECT_FALSE(is_snapshot(path));
  EXPECT_EQ(code_of([&] { (void)inspect_snapshot(path); }), ErrorCode::kCorrupt);
  EXPECT_FALSE(is_snapshot(parent / "missing"));
  EXPECT_FALSE(is_snapshot(parent.path()));
  EXPECT_EQ(code_of([&] { (void)inspect_snapshot(parent / "missing"); }), ErrorCode::kUnreadable);
}

// Sets a variable for one test, or takes it away.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(SnapshotDefaultFolder, FollowsTheCache) {
  const Variable cache("SWARMKV_CACHE", "/c"), xdg("XDG_CACHE_HOME", "/x"), home("HOME", "/h");
  EXPECT_EQ(SnapshotStore::default_folder(), "/c/snapshots");
  const Variable no_cache("SWARMKV_CACHE", nullptr);
  EXPECT_EQ(SnapshotStore::default_folder(), "/x/swarmkv/snapshots");
  const Variable empty_xdg("XDG_CACHE_HOME", "");
  EXPECT_EQ(SnapshotStore::default_folder(), "/h/.cache/swarmkv/snapshots");
  const Variable no_home("HOME", nullptr);
  EXPECT_THROW((void)SnapshotStore::default_folder(), Error);
}

}  // namespace
}  // namespace swarmkv
