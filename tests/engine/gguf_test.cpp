// The GGUF reader on files built here, byte by byte, and on every way to cut or bend them.
//   magic, version, n_tensors, n_metadata | key, type, value ... | name, dimensions, type, offset
//   ... | data
#include "engine/gguf.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "engine/gguf_cursor.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

class Writer {
 public:
  template <typename T>
  Writer& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Writer& text(const std::string& value) {
    number<std::uint64_t>(value.size());
    bytes_ += value;
    return *this;
  }
  Writer& pair(const std::string& key, const std::string& value) {
    return text(key).number<std::uint32_t>(8).text(value);
  }
  Writer& pair(const std::string& key, std::uint32_t value) {
    return text(key).number<std::uint32_t>(4).number(value);
  }
  [[nodiscard]] std::string bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct Model {
  std::string bytes;
  std::size_t data_start = 0;
};

// One F32 tensor of 64 x 2 and one Q4_1 tensor of 64: 512 + 40 bytes of data.
Model small_model(std::uint64_t n_tensors = 2, std::uint64_t n_metadata = 6,
                  std::uint64_t second_offset = 512, std::uint64_t second_size = 64) {
  Writer out;
  out.number<std::uint32_t>(0x46554747).number<std::uint32_t>(3);
  out.number(n_tensors).number(n_metadata);
  out.pair("general.architecture", "llama").pair("general.name", "small");
  out.pair("general.file_type", 3u).pair("llama.block_count", 7u);
  out.text("tokenizer.ggml.tokens").number<std::uint32_t>(9).number<std::uint32_t>(8);
  out.number<std::uint64_t>(3).text("a").text("").text("ccc");
  out.text("llama.attention.head_count_kv").number<std::uint32_t>(9).number<std::uint32_t>(5);
  out.number<std::uint64_t>(2).number<std::int32_t>(3).number<std::int32_t>(0);
  out.text("first").number<std::uint32_t>(2).number<std::uint64_t>(64).number<std::uint64_t>(2);
  out.number<std::uint32_t>(0).number<std::uint64_t>(0);
  out.text("second").number<std::uint32_t>(1).number(second_size);
  out.number<std::uint32_t>(3).number(second_offset);
  Model model{out.bytes(), 0};
  model.bytes.resize((model.bytes.size() + 31) / 32 * 32, '\0');
  model.data_start = model.bytes.size();
  model.bytes.resize(model.bytes.size() + 512 + 40, 'x');
  return model;
}

GgufInfo read(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_gguf(in, bytes.size(), "test.gguf");
}

void expect_error(const std::string& bytes, ErrorCode code, const std::string& part) {
  try {
    (void)read(bytes);
    ADD_FAILURE() << "accepted, expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("test.gguf"), std::string::npos);
  }
}

TEST(Gguf, ReadsWhatInspectShows) {
  const GgufInfo info = read(small_model().bytes);
  EXPECT_EQ(info.arch, "llama");
  EXPECT_EQ(info.name, "small");
  EXPECT_EQ(info.quant, "Q4_1");
  EXPECT_EQ(info.n_layers, 7);
  EXPECT_EQ(info.n_vocab, 3);
  EXPECT_EQ(info.n_params, 192u);
  EXPECT_EQ(info.n_parts, 1);
  EXPECT_FALSE(info.has_chat_template);
  EXPECT_EQ(info.numbers("attention.head_count_kv"), (std::vector<std::int64_t>{3, 0}));
  EXPECT_FALSE(info.number("no.such.key").has_value());
}

// The runtime ends the process over them; it gives tokens without text a name.
TEST(Gguf, RefusesTwoTokensOfTheSameText) {
  std::string bytes = small_model().bytes;
  const std::size_t at = bytes.find("ccc");
  bytes.replace(at - 8, 11, std::string("\1\0\0\0\0\0\0\0a", 9));
  expect_error(bytes, ErrorCode::kCorrupt, "two tokens of its vocabulary are 'a'");
}

TEST(Gguf, RefusesTheFileCutAtAnyByte) {
  const std::string whole = small_model().bytes;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    try {
      (void)read(whole.substr(0, n));
      FAIL() << "accepted " << n << " of " << whole.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << n << ": " << error.what();
    }
  }
}

TEST(Gguf, NamesBothByteNumbersOfATruncatedTensor) {
  const Model model = small_model();
  const std::size_t whole = model.bytes.size();
  expect_error(model.bytes.substr(0, whole - 1), ErrorCode::kCorrupt,
               "tensor 'second' ends at byte " + std::to_string(whole) + ", the file has " +
                   std::to_string(whole - 1));
}

TEST(Gguf, SaysWhatAForeignFileLooksLike) {
  expect_error("", ErrorCode::kCorrupt, "empty");
  expect_error("%PDF-1.7 and so on", ErrorCode::kCorrupt, "PDF");
  expect_error(std::string("PK\x03\x04 and so on"), ErrorCode::kCorrupt, "ZIP");
  expect_error(std::string("\x50\0\0\0\0\0\0\0{\"a\":1}", 15), ErrorCode::kCorrupt, "safetensors");
  expect_error("version https://git-lfs", ErrorCode::kCorrupt, "LFS");
  expect_error("version: 1\ndocument: a", ErrorCode::kCorrupt, "a pipeline");
  expect_error("just some text", ErrorCode::kCorrupt, "not a GGUF file");
  expect_error("GG", ErrorCode::kCorrupt, "not a GGUF file");
}

TEST(Gguf, RefusesVersionsNobodyReads) {
  for (const std::uint32_t version : {0u, 1u, 4u, 0x03000000u}) {
    std::string bytes = small_model().bytes;
    std::memcpy(bytes.data() + 4, &version, sizeof version);
    expect_error(bytes, ErrorCode::kUnsupported, version > 1000 ? "byte order" : "version");
  }
}

TEST(Gguf, TrustsNoCount) {
  for (const std::uint64_t claim : {std::uint64_t{1} << 31, std::uint64_t{1} << 32,
                                    std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    expect_error(small_model(claim).bytes, ErrorCode::kCorrupt, std::to_string(claim));
    expect_error(small_model(2, claim).bytes, ErrorCode::kCorrupt, std::to_string(claim));
    const std::uint64_t aligned = claim / 32 * 32;
    expect_error(small_model(2, 6, aligned).bytes, ErrorCode::kCorrupt, "second");
    expect_error(small_model(2, 6, 512, aligned).bytes, ErrorCode::kCorrupt, "second");
  }
}

TEST(Gguf, RefusesTensorsThatAreNotAligned) {
  expect_error(small_model(2, 6, 513).bytes, ErrorCode::kCorrupt, "not a multiple of 32");
}

TEST(Gguf, RefusesRowsThatDoNotFillTheirBlocks) {
  expect_error(small_model(2, 6, 512, 63).bytes, ErrorCode::kCorrupt, "63");
}

TEST(Gguf, SurvivesEveryByteBeingBent) {
  const Model model = small_model();
  int refused = 0;
  for (std::size_t i = 0; i < model.data_start; ++i) {
    for (const int bend : {0x01, 0x80, 0xFF}) {
      std::string bytes = model.bytes;
      bytes[i] = static_cast<char>(bytes[i] ^ bend);
      try {
        (void)read(bytes);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100);  // most are lengths, and a bent length cannot be right
}

TEST(Gguf, SurvivesRandomBytesAfterAGoodHeader) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = small_model(random() % 4, random() % 8).bytes.substr(0, 24);
    const std::size_t n = random() % 400;
    for (std::size_t i = 0; i < n; ++i) bytes += static_cast<char>(random() % 12);
    try {
      (void)read(bytes);
    } catch (const Error& error) {
      ASSERT_NE(error.code(), ErrorCode::kInternal);
    }
  }
}

TEST(Gguf, NamesAMissingFileAndADirectory) {
  const auto code_of = [](const std::string& path, const std::string& part) {
    try {
      (void)read_gguf(path);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code_of("no-such-model.gguf", "no such file"), ErrorCode::kUnreadable);
  EXPECT_EQ(code_of(testing::TempDir(), "directory"), ErrorCode::kUnreadable);
  EXPECT_EQ(code_of("/dev/null", "not a regular file"), ErrorCode::kUnreadable);
}

}  // namespace
}  // namespace swarmkv::internal
