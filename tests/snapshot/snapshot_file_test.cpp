// Reading files, whatever stands in them.
#include "snapshot/snapshot_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "base/process_info.h"
#include "snapshot/layout.h"
#include "snapshot/snapshot_error.h"
#include "support/faulty_calls.h"
#include "support/snapshot_samples.h"

namespace swarmkv::internal {
namespace {

using Bytes = std::vector<std::uint8_t>;

// "FIELD (CODE)" of whoever refuses the file first, or "accepted".
std::string verdict(const std::string& path) {
  try {
    SnapshotFile::open(path).verify();
    return "accepted";
  } catch (const SnapshotError& error) {
    EXPECT_NE(std::string(error.what()).find("'" + path + "'"), std::string::npos);
    return error.field() + " (" + std::string(to_string(error.code())) + ")";
  }
}

TEST(SnapshotFile, GivesTokensAndStateWithoutACopy) {
  const TemporaryFolder folder;
  write_file(folder / "a.swkv", some_file(5, 100'000));

  const SnapshotFile file = SnapshotFile::open(folder / "a.swkv");

  EXPECT_NO_THROW(file.verify());
  const auto tokens = some_tokens(5);
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), file.tokens().begin(), file.tokens().end()));
  const Bytes state = some_state(100'000);
  EXPECT_TRUE(std::equal(state.begin(), state.end(), file.state().begin(), file.state().end()));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.state().data()) % 64, 0u);
  const std::string path = folder / "a.swkv";
  const FileHandle handle = open_regular(AT_FDCWD, path, true, path, system_calls());
  EXPECT_EQ(read_snapshot_header(handle, path).state_digest, file.header().state_digest);
}

TEST(SnapshotFile, ReadsALongHeader) {
  SnapshotAbout about = some_about();
  about.document = std::string(4000, 'd');
  about.identity.rope = std::string(4000, 'r');
  const TemporaryFolder folder;
  write_file(folder / "a.swkv", some_file(5, 10, about));

  EXPECT_EQ(SnapshotFile::open(folder / "a.swkv").header().about.document, about.document);
}

TEST(SnapshotFile, SurvivesBeingMoved) {
  const TemporaryFolder folder;
  write_file(folder / "a.swkv", some_file());
  SnapshotFile first = SnapshotFile::open(folder / "a.swkv");

  SnapshotFile second = std::move(first);
  first = SnapshotFile::open(folder / "a.swkv");

  EXPECT_NO_THROW(second.verify());
  EXPECT_EQ(second.tokens().size(), 5u);
  EXPECT_EQ(first.tokens().size(), 5u);
}

void write_byte(const std::string& path, std::size_t at, std::uint8_t value) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(value));
}

// Each damage is refused at once, by the field it hit, and nothing is reserved for it.
TEST(SnapshotFile, RefusesEveryDamageToABody) {
  constexpr std::size_t kTokens = 300, kState = 60'000;
  const TemporaryFolder folder;
  const std::string path = folder / "a.swkv";
  const Bytes good = some_file(kTokens, kState);
  const SnapshotHeader header = decode_snapshot_header(good, good.size(), path);
  const auto field_at = [&](std::size_t at) -> std::string {
    if (at < header.header_bytes + 4 * kTokens) return "token digest (corrupt)";
    return at < header.state_offset ? "padding (corrupt)" : "state checksum (corrupt)";
  };
  const auto expect_refused = [&](std::size_t at, int mask) {
    write_byte(path, at, static_cast<std::uint8_t>(good[at] ^ mask));
    EXPECT_EQ(verdict(path), field_at(at)) << "byte " << at;
    write_byte(path, at, good[at]);
  };
  write_file(path, good);

  constexpr std::size_t kPositions = 200;
  for (std::size_t i = 0; i < kPositions; ++i) {
    // The first byte of the body, the last one, and what lies between them.
    const std::size_t at =
        header.header_bytes + i * (good.size() - 1 - header.header_bytes) / (kPositions - 1);
    expect_refused(at, 1 << (i % 8));
    std::filesystem::resize_file(path, at);
    EXPECT_EQ(verdict(path), "file size (corrupt)") << "cut at " << at;
    write_file(path, good);
  }
  for (std::size_t at = header.header_bytes + 4 * kTokens; at < header.state_offset; ++at) {
    expect_refused(at, 1);
  }
  EXPECT_EQ(verdict(path), "accepted") << "after all of that it is the good file again";
}

TEST(SnapshotFile, RefusesImpossibleLengthsAtOnceAndWithoutReservingMemory) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.swkv";
  const Bytes good = some_file(300, 60'000);
  const std::uint64_t n_header = decode_snapshot_header(good, good.size(), path).header_bytes;
  ASSERT_TRUE(reset_peak_rss()) << "else memory that others used before would hide ours";
  const std::uint64_t before = peak_rss_bytes();

  for (const std::size_t at :
       {kAtHeaderBytes, kAtTokens, kAtStateOffset, kAtStateBytes, kAtFileBytes}) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 32,
          (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
      Bytes bytes = good;
      set_number(bytes, at, value);
      renew_checksum(bytes, n_header);
      write_file(path, bytes);
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_NE(verdict(path), "accepted") << "at " << at << ": " << value;
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    }
  }

  EXPECT_LT(peak_rss_bytes(), before + (std::uint64_t{16} << 20));
}

TEST(SnapshotFile, RefusesEveryDamageToAHeader) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.swkv";
  const Bytes good = some_file();
  const std::uint64_t n_header = decode_snapshot_header(good, good.size(), path).header_bytes;
  for (std::size_t at = 0; at < n_header; ++at) {
    Bytes flipped = good;
    flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ 0xff);
    write_file(path, flipped);
    EXPECT_NE(verdict(path), "accepted") << "byte " << at;
    write_file(path, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at)));
    EXPECT_NE(verdict(path), "accepted") << "cut at " << at;
  }
  write_file(path, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n_header)));
  EXPECT_EQ(verdict(path), "file size (corrupt)") << "a header and nothing else";
  Bytes longer = good;
  longer.push_back(0);
  write_file(path, longer);
  EXPECT_EQ(verdict(path), "file size (corrupt)") << "one byte too many";
}

TEST(SnapshotFile, OneTokenTooManyIsNotTakenFromThePadding) {
  const TemporaryFolder folder;
  Bytes bytes = some_file(5, 100);
  const std::uint64_t n_header = decode_snapshot_header(bytes, bytes.size(), "x").header_bytes;
  ASSERT_LT(n_header + 6 * 4, bytes.size() - 100) << "there is room for it";
  bytes[kAtTokens] = 6;
  renew_checksum(bytes, n_header);
  write_file(folder / "a.swkv", bytes);

  EXPECT_EQ(verdict(folder / "a.swkv"), "token digest (corrupt)");
}

TEST(SnapshotFile, OpensNothingButRegularFiles) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  write_file(folder / "a.swkv", some_file());
  std::filesystem::create_symlink("a.swkv", folder / "link");

  EXPECT_EQ(verdict(folder / "missing"), "file (unreadable)");
  EXPECT_EQ(verdict(folder.path()), "file (unreadable)");
  EXPECT_EQ(verdict(folder / "pipe"), "file (unreadable)") << "and does not wait for a writer";
  EXPECT_EQ(verdict("/dev/zero"), "file (unreadable)");
  EXPECT_EQ(verdict(folder / "link"), "accepted") << "a link of the user's own";
}

TEST(SnapshotFile, AFileCutWhileItIsOpenIsAnErrorOfVerify) {
  const TemporaryFolder folder;
  write_file(folder / "a.swkv", some_file(5, 100'000));
  const SnapshotFile file = SnapshotFile::open(folder / "a.swkv");

  std::filesystem::resize_file(folder / "a.swkv", 50'000);

  try {
    file.verify();
    ADD_FAILURE() << "accepted";
  } catch (const SnapshotError& error) {
    EXPECT_EQ(error.field(), "state size") << error.what();
  }
}

TEST(SnapshotFile, EveryFailingSystemCallIsAnErrorWithTheFileInIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.swkv";
  write_file(path, some_file());
  int n_failed = 0;
  for (int nth = 1;; ++nth) {
    const FaultyCalls calls(nth, FaultyCalls::Fault::kError);
    try {
      SnapshotFile::open(path, calls).verify();
      if (calls.n_calls() < nth) break;
      EXPECT_EQ(nth, 3) << "only without its lock a file can be used";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnreadable) << nth;
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      ++n_failed;
    }
  }
  EXPECT_GE(n_failed, 6) << "open, two sizes, header, map, state";
}

}  // namespace
}  // namespace swarmkv::internal
