// The header, byte by byte, without files.
#include "snapshot/format.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

#include "snapshot/layout.h"
#include "snapshot/little_endian.h"
#include "snapshot/snapshot_error.h"
#include "support/snapshot_samples.h"

namespace swarmkv::internal {
namespace {

using Bytes = std::vector<std::uint8_t>;

// "FIELD (CODE)" of the error, or "accepted".
std::string verdict(const Bytes& bytes) {
  try {
    (void)decode_snapshot_header(bytes, bytes.size(), "x.swkv");
    return "accepted";
  } catch (const SnapshotError& error) {
    EXPECT_NE(std::string(error.what()).find("'x.swkv': " + error.field() + ": "),
              std::string::npos)
        << error.what();
    EXPECT_FALSE(error.reason().empty());
    return error.field() + " (" + std::string(to_string(error.code())) + ")";
  }
}

TEST(SnapshotFormat, GivesBackWhatWasWritten) {
  const SnapshotAbout about = some_about();
  const Bytes bytes = some_file(5, 100, about);

  const SnapshotHeader header = decode_snapshot_header(bytes, bytes.size(), "x");

  EXPECT_EQ(header.about.identity, about.identity);
  EXPECT_EQ(header.about.arithmetic, about.arithmetic);
  EXPECT_EQ(header.about.document, about.document);
  EXPECT_EQ(header.about.model_name, about.model_name);
  EXPECT_EQ(header.about.created_at_s, about.created_at_s);
  EXPECT_EQ(header.n_tokens, 5u);
  EXPECT_EQ(header.state_bytes, 100u);
  EXPECT_EQ(header.state_offset % kStateAlignment, 0u);
  EXPECT_EQ(header.file_bytes, bytes.size());
  EXPECT_EQ(header.file_bytes, snapshot_file_bytes(about, 5, 100));
  EXPECT_EQ(header.state_digest, digest_of(some_state(100)));
}

TEST(SnapshotFormat, KeepsTextsOfEveryLengthThatFits) {
  SnapshotAbout about = some_about();
  about.document = std::string(kSnapshotMostTextBytes, 'd');
  about.model_name.clear();
  about.identity.lora = std::string("\0\n", 2);

  const Bytes bytes = some_file(1, 1, about);

  const SnapshotAbout read = decode_snapshot_header(bytes, bytes.size(), "x").about;
  EXPECT_EQ(read.document, about.document);
  EXPECT_EQ(read.model_name, "");
  EXPECT_EQ(read.identity.lora, about.identity.lora);
  about.document += 'd';
  EXPECT_THROW((void)some_file(1, 1, about), Error) << "longer than any reader accepts";
}

TEST(SnapshotFormat, RefusesToWriteASnapshotOfNothing) {
  const auto tokens = some_tokens(3);
  const std::string digest = digest_of(some_state(1));
  EXPECT_THROW((void)encode_snapshot_head(some_about(), {}, 1, digest), Error);
  EXPECT_THROW((void)encode_snapshot_head(some_about(), tokens, 0, digest), Error);
}

TEST(SnapshotFormat, RefusesEveryFlippedHeaderByte) {
  const Bytes good = some_file();
  const std::size_t n_header = decode_snapshot_header(good, good.size(), "x").header_bytes;
  for (std::size_t at = 0; at < n_header; ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      Bytes bytes = good;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ mask);
      EXPECT_NE(verdict(bytes), "accepted") << "byte " << at << " xor " << mask;
    }
  }
}

TEST(SnapshotFormat, RefusesAFileCutAnywhereInItsHeader) {
  const Bytes good = some_file();
  const std::size_t n_header = decode_snapshot_header(good, good.size(), "x").header_bytes;
  EXPECT_EQ(verdict({}), "magic (corrupt)");
  for (std::size_t n = 1; n <= n_header; ++n) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(verdict(cut),
              n < kSnapshotFixedBytes ? "header size (corrupt)" : "file size (corrupt)")
        << n;
  }
}

TEST(SnapshotFormat, SaysWhichKindOfFileItCannotRead) {
  Bytes other_kind = some_file(), other_order = some_file(), broken_order = some_file(),
        newer = some_file();
  other_kind[0] = 'G';
  std::reverse(other_order.begin() + kAtByteOrder, other_order.begin() + kAtByteOrder + 4);
  set_number(broken_order, kAtByteOrder, std::uint32_t{0x0a0b0c00});
  set_number(newer, kAtVersion, kSnapshotVersion + 1);

  EXPECT_EQ(verdict(other_kind), "magic (corrupt)");
  EXPECT_EQ(verdict(other_order), "byte order (unsupported)");
  EXPECT_EQ(verdict(broken_order), "byte order (corrupt)");
  EXPECT_EQ(verdict(newer), "format version (unsupported)");
}

TEST(SnapshotFormat, RefusesEveryImpossibleLengthByItsName) {
  const std::map<std::size_t, std::string> fields = {{kAtHeaderBytes, "header size"},
                                                     {kAtTokens, "tokens"},
                                                     {kAtStateOffset, "state offset"},
                                                     {kAtStateBytes, "state size"},
                                                     {kAtFileBytes, "file size"}};
  const Bytes good = some_file();
  const std::size_t n_header = decode_snapshot_header(good, good.size(), "x").header_bytes;
  for (const auto& [at, field] : fields) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 32,
          (std::uint64_t{1} << 63) - 1, ~std::uint64_t{0}, ~std::uint64_t{7}}) {
      Bytes bytes = good;
      set_number(bytes, at, value);
      EXPECT_EQ(verdict(bytes), field + " (corrupt)") << value;
      renew_checksum(bytes, n_header);
      EXPECT_EQ(verdict(bytes), field + " (corrupt)") << value << ", checksum renewed";
    }
    // Nearly right is not right either; one token too many may fit, and is met by its digest.
    if (at == kAtTokens) continue;
    for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{8}, ~std::uint64_t{0}}) {
      Bytes bytes = good;
      set_number(bytes, at, number_at<std::uint64_t>(bytes, at) + step);
      renew_checksum(bytes, n_header);
      EXPECT_NE(verdict(bytes), "accepted") << field << " + " << step;
    }
  }
}

TEST(SnapshotFormat, RefusesEveryImpossibleTextLengthByItsName) {
  const Bytes good = some_file();
  const std::size_t n_header = decode_snapshot_header(good, good.size(), "x").header_bytes;
  std::size_t at = kSnapshotFixedBytes;
  for (const SnapshotText& text : kSnapshotTexts) {
    for (const std::uint32_t value : {0x80000000u, 0xffffffffu, 4097u, 0x7fffffffu}) {
      Bytes bytes = good;
      set_number(bytes, at, value);
      renew_checksum(bytes, n_header);
      EXPECT_EQ(verdict(bytes), std::string(text.field) + " (corrupt)") << value;
    }
    // Zero moves all texts behind it: some later one, or the end, cannot be right.
    Bytes bytes = good;
    set_number(bytes, at, std::uint32_t{0});
    renew_checksum(bytes, n_header);
    EXPECT_NE(verdict(bytes), "accepted") << text.field;
    at += 4 + number_at<std::uint32_t>(good, at);
  }
}

TEST(SnapshotFormat, RefusesFlagsAndTextsThatItDoesNotKnow) {
  const Bytes good = some_file();
  const std::size_t n_header = decode_snapshot_header(good, good.size(), "x").header_bytes;
  for (const auto& [at, field] :
       std::map<std::size_t, std::string>{{kAtFlags, "flags"}, {kAtTexts, "texts"}}) {
    Bytes bytes = good;
    set_number(bytes, at, std::uint32_t{14});
    renew_checksum(bytes, n_header);
    EXPECT_EQ(verdict(bytes), field + " (corrupt)");
  }
}

// ---- the worked example of docs/snapshot_format.md ----

std::string dump(const Bytes& bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    std::string hex, text;
    for (std::size_t i = at; i < at + 16; ++i) {
      if (i % 8 == 0 && i > at) hex += " ";
      hex += i < bytes.size() ? fmt::format("{:02x} ", bytes[i]) : "   ";
      if (i < bytes.size()) text += std::isprint(bytes[i]) != 0 ? static_cast<char>(bytes[i]) : '.';
    }
    out += fmt::format("{:04x}  {} |{}|\n", at, hex, text);
  }
  return out;
}

TEST(SnapshotFormat, IsWhatTheDocumentationShows) {
  const char* root = std::getenv("SWARMKV_TEST_SOURCE_DIR");
  ASSERT_NE(root, nullptr) << "run through ctest, or set SWARMKV_TEST_SOURCE_DIR";
  const SnapshotAbout about{.identity = {.model_fingerprint = "5eed-98",
                                         .arch = "llama",
                                         .cache_type_k = "f16",
                                         .cache_type_v = "f16",
                                         .value_layout = "rows",
                                         .rope = "10000",
                                         .kv_rotation = "none",
                                         .lora = "none",
                                         .engine = "llama.cpp 0c1e570",
                                         .state_format = "2"},
                            .arithmetic = {.deterministic = true, .recipe = "grid=512"},
                            .document = "contract",
                            .model_name = "tiny",
                            .created_at_s = 1'767'225'600};
  const Bytes state = {'s', 't', 'a', 't', 'e'};
  Bytes bytes = encode_snapshot_head(about, std::vector<std::int32_t>{1, 500, 29'871}, state.size(),
                                     digest_of(state));
  bytes.insert(bytes.end(), state.begin(), state.end());

  const Bytes page = read_file_bytes(std::string(root) + "/docs/snapshot_format.md");
  EXPECT_NE(std::string(page.begin(), page.end()).find("```text\n" + dump(bytes) + "```"),
            std::string::npos)
      << "the example should be\n"
      << dump(bytes);
}

}  // namespace
}  // namespace swarmkv::internal
