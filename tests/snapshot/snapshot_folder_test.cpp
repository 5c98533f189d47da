// A folder of snapshots as one process sees it.
//
//   contract [0, 100)                 saved
//     contract + annex [0, 150)       saved
//       a question behind both [0, 180)
#include "snapshot/snapshot_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "snapshot/layout.h"
#include "support/snapshot_samples.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

struct SnapshotFolderTest : testing::Test {
  TemporaryFolder parent;
  SnapshotFolder folder{parent / "made/on/the/way"};
  std::vector<std::int32_t> question = some_tokens(180);

  [[nodiscard]] std::span<const std::int32_t> first(std::size_t n) const {
    return std::span(question).first(n);
  }
  SavedSnapshot save(std::size_t n_tokens, const SnapshotAbout& about = some_about()) const {
    return folder.save(about, first(n_tokens), some_state(40 * n_tokens));
  }
  [[nodiscard]] std::uint64_t found_tokens(const SnapshotQuery& query) const {
    const FoundSnapshot found = folder.find_longest(query);
    return found.file ? found.file->header().n_tokens : 0;
  }
  void damage(const std::string& name) const {
    auto bytes = read_file_bytes(folder.path() + "/" + name);
    bytes.back() = static_cast<std::uint8_t>(bytes.back() ^ 1);
    write_file(folder.path() + "/" + name, bytes);
  }
  [[nodiscard]] std::vector<std::string> files() const {
    auto names = names_in(folder.path());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(SnapshotFolderTest, FindsTheLongestStoredBeginning) {
  save(100);
  save(150);

  EXPECT_EQ(found_tokens(query_for(first(180))), 150u);
  EXPECT_EQ(found_tokens(query_for(first(150))), 150u) << "all of the tokens may be stored";
  EXPECT_EQ(found_tokens(query_for(first(149))), 100u) << "a file is used whole or not at all";
  EXPECT_EQ(found_tokens(query_for(first(99))), 0u);
  EXPECT_EQ(found_tokens(query_for({})), 0u);
  auto at_least = query_for(first(149));
  at_least.least_tokens = 101;
  EXPECT_EQ(found_tokens(at_least), 0u);
}

TEST_F(SnapshotFolderTest, GivesBackTheStateThatWasSaved) {
  const SavedSnapshot saved = save(100);

  const FoundSnapshot found = folder.find_longest(query_for(first(180)));

  ASSERT_TRUE(found.file);
  const auto state = some_state(4000);
  EXPECT_TRUE(std::equal(state.begin(), state.end(), found.file->state().begin(),
                         found.file->state().end()));
  EXPECT_EQ(found.file->path(), saved.path);
  EXPECT_EQ(fs::file_size(saved.path), saved.size_bytes);
  EXPECT_TRUE(found.rejected.empty());
}

TEST_F(SnapshotFolderTest, OtherTokensAreNotFound) {
  save(100);
  auto other = question;
  for (const std::size_t at : {0u, 50u, 99u}) {
    ++other[at];
    EXPECT_EQ(found_tokens(query_for(other)), 0u) << "token " << at;
    --other[at];
  }
  EXPECT_EQ(found_tokens(query_for(other)), 100u);
}

TEST_F(SnapshotFolderTest, EveryDifferenceOfIdentityIsAMissAndTheOriginalAHitAgain) {
  save(100);
  for (const SnapshotText& text : kSnapshotTexts) {
    SnapshotAbout here = some_about();
    text.in(here) += "x";
    auto query = query_for(question);
    query.identity = here.identity;
    query.arithmetic = here.arithmetic;

    const FoundSnapshot found = folder.find_longest(query);

    EXPECT_EQ(found.file.has_value(), here.identity == some_identity()) << text.field;
    if (found.file) continue;
    ASSERT_EQ(found.rejected.size(), 1u) << text.field;
    EXPECT_EQ(found.rejected[0].code, ErrorCode::kMismatch);
    EXPECT_EQ(found.rejected[0].n_tokens, 100u);
    EXPECT_FALSE(found.rejected[0].set_aside);
    EXPECT_EQ(found.rejected[0].reason.rfind(text.field, 0), 0u) << found.rejected[0].reason;
  }
  EXPECT_EQ(found_tokens(query_for(question)), 100u);
}

TEST_F(SnapshotFolderTest, BitEqualAnswersNeedTheSameArithmetic) {
  save(100);
  auto query = query_for(question);
  query.bit_equal = true;
  EXPECT_EQ(found_tokens(query), 100u);

  query.arithmetic.recipe = "grid=256";
  EXPECT_EQ(found_tokens(query), 0u);
  EXPECT_EQ(folder.find_longest(query).rejected.at(0).reason,
            "recipe grid=512 points=512, here grid=256");
  query.bit_equal = false;
  EXPECT_EQ(found_tokens(query), 100u) << "good enough where bits do not matter";
}

TEST_F(SnapshotFolderTest, OfFilesWithEqualTokensTheOneThatFitsIsTaken) {
  SnapshotAbout quantised = some_about(), sloppy = some_about();
  quantised.identity.cache_type_k = "q8_0";
  sloppy.arithmetic = {.deterministic = false, .recipe = "free"};
  save(100, quantised);
  save(100, sloppy);
  save(100);

  auto query = query_for(question);
  query.bit_equal = true;
  const FoundSnapshot found = folder.find_longest(query);

  ASSERT_TRUE(found.file);
  EXPECT_EQ(found.file->header().about.arithmetic, some_about().arithmetic);
  EXPECT_TRUE(found.rejected.empty()) << "of what was not needed nobody wants to hear";
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(SnapshotFolderTest, ADamagedFileIsSetAsideOnceAndTheNextBestTaken) {
  save(100);
  const SavedSnapshot best = save(150);
  damage(best.name);

  const FoundSnapshot found = folder.find_longest(query_for(question));
  const FoundSnapshot again = folder.find_longest(query_for(question));

  ASSERT_TRUE(found.file);
  EXPECT_EQ(found.file->header().n_tokens, 100u);
  ASSERT_EQ(found.rejected.size(), 1u);
  EXPECT_EQ(found.rejected[0].code, ErrorCode::kCorrupt);
  EXPECT_EQ(found.rejected[0].reason.rfind("state checksum: ", 0), 0u) << found.rejected[0].reason;
  EXPECT_TRUE(found.rejected[0].set_aside);
  EXPECT_TRUE(fs::exists(best.path + ".damaged"));
  EXPECT_TRUE(again.rejected.empty()) << "one warning, not one a run";
  EXPECT_FALSE(save(150).was_there);
  EXPECT_EQ(found_tokens(query_for(question)), 150u);
}

TEST_F(SnapshotFolderTest, AFileUnderAnothersNameIsDamaged) {
  const SavedSnapshot a = save(100), b = save(150);
  fs::rename(a.path, b.path);

  const FoundSnapshot found = folder.find_longest(query_for(question));

  EXPECT_FALSE(found.file);
  EXPECT_EQ(found.rejected.at(0).reason.rfind("tokens: ", 0), 0u);
  EXPECT_TRUE(found.rejected.at(0).set_aside);
}

TEST_F(SnapshotFolderTest, AFileOfANewerVersionIsLeftAlone) {
  const SavedSnapshot saved = save(100);
  auto bytes = read_file_bytes(saved.path);
  bytes[kAtVersion] = kSnapshotVersion + 1;
  write_file(saved.path, bytes);

  const FoundSnapshot found = folder.find_longest(query_for(question));

  EXPECT_EQ(found.rejected.at(0).code, ErrorCode::kUnsupported);
  EXPECT_FALSE(found.rejected.at(0).set_aside);
  EXPECT_TRUE(fs::exists(saved.path));
  EXPECT_TRUE(folder.prune(UINT64_MAX).empty()) << "nor is it damaged";
}

TEST_F(SnapshotFolderTest, SavingAgainKeepsASoundFileAndReplacesADamagedOne) {
  const SavedSnapshot first_time = save(100);
  const auto inode = [&] {
    struct stat about {};
    EXPECT_EQ(::stat(first_time.path.c_str(), &about), 0);
    return about.st_ino;
  };
  const auto before = inode();

  EXPECT_TRUE(save(100).was_there);
  EXPECT_EQ(inode(), before);
  damage(first_time.name);
  EXPECT_FALSE(save(100).was_there);
  EXPECT_EQ(found_tokens(query_for(question)), 100u);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(SnapshotFolderTest, OnlyItsUserCanReadIt) {
  const SavedSnapshot saved = save(100);
  struct stat file {
  }, made{};
  ASSERT_EQ(::stat(saved.path.c_str(), &file), 0);
  ASSERT_EQ(::stat((parent / "made").c_str(), &made), 0);
  EXPECT_EQ(file.st_mode & 07777, 0600u);
  EXPECT_EQ(made.st_mode & 07777, 0700u);

  ASSERT_EQ(::chmod(folder.path().c_str(), 0770), 0);
  try {
    const SnapshotFolder again(folder.path());
    ADD_FAILURE() << "somebody else could put files there";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("chmod go-w '" + folder.path() + "'"),
              std::string::npos)
        << "what to do, to be copied: " << error.what();
  }
}

TEST_F(SnapshotFolderTest, AFolderThatIsNoneIsAnError) {
  write_file(parent / "file", {1});
  fs::create_directory_symlink(folder.path(), parent / "link");
  for (const std::string& path :
       {parent / "file", parent / "file/below", parent / "link", parent / "link/", std::string(),
        std::string("/proc/none/of/ours"), std::string("a\0b", 3)}) {
    try {
      const SnapshotFolder other(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnwritable) << error.what();
    }
  }
  EXPECT_NO_THROW(SnapshotFolder(folder.path() + "//")) << "slashes at the end mean nothing";
}

TEST_F(SnapshotFolderTest, NoNameAndNoLinkLeadsOutOfTheFolder) {
  const std::vector<std::uint8_t> outside = some_file();
  write_file(parent / "outside.swkv", outside);
  const SavedSnapshot saved = save(100);
  fs::remove(saved.path);
  fs::create_symlink(parent / "outside.swkv", saved.path);
  fs::create_directory_symlink(parent.path(), folder.path() + "/sub.swkv");

  // A link is not read, not written through, and goes alone.
  const FoundSnapshot found = folder.find_longest(query_for(question));
  EXPECT_FALSE(found.file);
  EXPECT_EQ(found.rejected.at(0).code, ErrorCode::kUnreadable);
  EXPECT_THROW((void)folder.open(saved.name), Error);
  save(100);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(saved.path)));
  folder.remove("sub.swkv");
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder.path() + "/sub.swkv")));

  for (const std::string& name : {std::string("../outside.swkv"), parent / "outside.swkv",
                                  std::string(), std::string(300, 'x'), std::string("a\n.swkv")}) {
    EXPECT_THROW((void)folder.open(name), Error) << name;
    EXPECT_THROW(folder.remove(name), Error) << name;
    EXPECT_THROW((void)folder.full_name(name), Error) << name;
    EXPECT_THROW((void)folder.look_at(name), Error) << name;
    EXPECT_FALSE(folder.set_aside(name)) << name;
  }
  EXPECT_EQ(read_file_bytes(parent / "outside.swkv"), outside);
}

TEST_F(SnapshotFolderTest, ADocumentsNameIsALabelAndNoPath) {
  for (const std::string& name : {std::string("../../escape"), std::string("/tmp/x"), std::string(),
                                  std::string(300, 'd'), std::string("a\nb\0c", 5)}) {
    SnapshotAbout about = some_about();
    about.document = name;
    about.identity.lora =
        "adapter " + digest_of(std::vector<std::uint8_t>(name.begin(), name.end()));

    const SavedSnapshot saved = save(10, about);

    EXPECT_EQ(fs::path(saved.path).parent_path(), folder.path());
    EXPECT_EQ(SnapshotFile::open(saved.path).header().about.document, name);
  }
  EXPECT_EQ(files().size(), 5u);
  EXPECT_EQ(names_in(parent.path()), std::vector<std::string>{"made"});
}

TEST_F(SnapshotFolderTest, FilesOfOthersInTheFolderAreNotTouched) {
  write_file(folder.path() + "/notes.txt", {1, 2, 3});
  fs::create_directory(folder.path() + "/keep");
  save(100);

  EXPECT_EQ(folder.list().size(), 1u);
  EXPECT_EQ(folder.prune(0).size(), 1u);
  EXPECT_THROW(folder.remove("notes.txt"), Error);

  EXPECT_EQ(files(), (std::vector<std::string>{"keep", "notes.txt"}));
}

TEST_F(SnapshotFolderTest, ANameMayBeShortenedWhileItIsClear) {
  const SavedSnapshot a = save(100), b = save(150);
  std::size_t n_common = 0;
  while (a.name[n_common] == b.name[n_common]) ++n_common;

  EXPECT_EQ(folder.full_name(a.name), a.name);
  EXPECT_EQ(folder.full_name(a.name.substr(0, n_common + 1)), a.name);
  fs::copy_file(a.path, folder.path() + "/" + a.name.substr(0, 4) + ".swkv");
  EXPECT_THROW((void)folder.full_name(a.name.substr(0, 4)), Error) << "several";
  EXPECT_THROW((void)folder.full_name("zzz"), Error) << "none";
}

//  a.swkv   a.swkv.damaged   b.swkv
TEST_F(SnapshotFolderTest, AFileThatWasSetAsideDoesNotMakeTheNameOfTheNewOneUnclear) {
  const SavedSnapshot a = save(100);
  ASSERT_TRUE(folder.set_aside(a.name));
  EXPECT_EQ(folder.full_name(a.name.substr(0, 4)), a.name + ".damaged") << "there is no other";
  save(100);

  EXPECT_EQ(folder.full_name(a.name.substr(0, 4)), a.name);
  EXPECT_EQ(folder.full_name(a.name), a.name);
  EXPECT_EQ(folder.full_name(a.name + ".d"), a.name + ".damaged");
  EXPECT_EQ(folder.full_name(a.name + ".damaged"), a.name + ".damaged");
}

TEST_F(SnapshotFolderTest, ANameThatIsNotClearIsAnsweredWithAllThatItCouldBe) {
  const std::string same(20, '7');
  for (int i = 0; i < 23; ++i) {
    write_file(folder.path() + "/" + same + std::string(60, 'a') + std::to_string(10 + i) + ".swkv",
               {1});
  }
  const auto message = [&](const std::string& name) -> std::string {
    try {
      return "found " + folder.full_name(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnreadable);
      return error.what();
    }
  };
  const std::string some = message(same + std::string(60, 'a') + "3");  // 30, 31, 32
  for (const char* end : {"30", "31", "32"}) {
    EXPECT_NE(some.find("\n   " + same + std::string(60, 'a') + end + ".swkv"), std::string::npos)
        << "whole, on a line of its own: " << some;
  }
  EXPECT_NE(some.find("3 snapshots begin with"), std::string::npos) << some;
  EXPECT_EQ(some.find("more"), std::string::npos) << some;
  EXPECT_NE(message(same).find("\n   and 3 more"), std::string::npos) << message(same);
}

TEST_F(SnapshotFolderTest, TellsWhatIsWrongWithAFileAfterReadingAllOfIt) {
  const SavedSnapshot saved = save(100), other = save(150);
  EXPECT_EQ(folder.find_damage(saved.name), "");
  damage(saved.name);
  EXPECT_EQ(folder.find_damage(saved.name).rfind("state checksum: ", 0), 0u);
  ASSERT_TRUE(folder.set_aside(saved.name));
  EXPECT_EQ(folder.find_damage(saved.name + ".damaged").rfind("state checksum: ", 0), 0u);
  fs::rename(other.path, saved.path + ".damaged");
  EXPECT_EQ(folder.find_damage(saved.name + ".damaged"),
            "tokens: others than its name says: renamed or damaged");
}

TEST_F(SnapshotFolderTest, AFolderThatIsGoneIsAnErrorAndNothingMore) {
  save(100);
  fs::remove_all(folder.path());

  try {
    save(150);
    ADD_FAILURE() << "saved where nothing is";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnwritable) << error.what();
  }
  EXPECT_FALSE(fs::exists(folder.path()));
}

}  // namespace
}  // namespace swarmkv::internal
